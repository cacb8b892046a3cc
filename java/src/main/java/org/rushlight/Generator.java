package org.rushlight;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/**
 * A stream of random numbers: PyTorch's generator, so that the same seed gives the same numbers.
 *
 * <pre>{@code
 * try (Generator generator = new Generator(0)) {
 *     System.out.println(Torch.rand(new long[] {2}, generator)); // tensor([0.4963, 0.7682])
 * }
 * }</pre>
 */
public final class Generator implements AutoCloseable {
    private final long handle;
    private final Cleaner.Cleanable cleanable;
    private volatile boolean closed;

    private Generator(Release release) {
        this.handle = release.handle();
        this.cleanable = Tensor.CLEANER.register(this, release);
    }

    /**
     * A generator of its own.
     *
     * @param seed where its stream starts
     */
    public Generator(long seed) {
        this(new Release(NativeCore.generatorNew(seed)));
    }

    /**
     * The generator that operators use when they are given none.
     *
     * @return the generator of this process
     */
    public static Generator ofProcess() {
        return new Generator(new Release(NativeCore.generatorDefault()));
    }

    /** A generator that owns a handle. */
    static Generator wrap(long handle) {
        return new Generator(new Release(handle));
    }

    private long handle() {
        if (closed) {
            throw new IllegalStateException("the generator is closed");
        }
        return handle;
    }

    /** Callers keep the generator reachable: it is an argument of theirs. */
    static long handleOrZero(@Nullable Generator generator) {
        return generator == null ? 0 : generator.handle();
    }

    /**
     * Starts the stream anew.
     *
     * @param seed where it starts
     * @return this generator
     */
    public Generator manualSeed(long seed) {
        try {
            NativeCore.generatorManualSeed(handle(), seed);
            return this;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The seed it was started with.
     *
     * @return the seed
     */
    public long initialSeed() {
        try {
            return NativeCore.generatorInitialSeed(handle());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The state, to be restored by {@link #setState}.
     *
     * @return a tensor of bytes
     */
    public Tensor getState() {
        try {
            return Tensor.wrap(NativeCore.generatorGetState(handle()));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Restores a state.
     *
     * @param state what {@link #getState} returned
     */
    public void setState(Tensor state) {
        Tensor.acquire(state);
        try {
            NativeCore.generatorSetState(handle(), state.handle());
        } finally {
            Tensor.release(state);
            Reference.reachabilityFence(this);
        }
    }

    /** Frees the native generator. Closing twice is allowed. */
    @Override
    public void close() {
        closed = true;
        cleanable.clean();
    }

    private record Release(long handle) implements Runnable {
        @Override
        public void run() {
            NativeCore.generatorFree(handle);
        }
    }
}
