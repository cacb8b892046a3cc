package org.rushlight;

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
public final class Generator extends NativeOwner {
    private Generator(Release release) {
        super(release.handle(), release);
    }

    private record Release(long handle) implements Runnable {
        @Override
        public void run() {
            NativeCore.generatorFree(handle);
        }
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

    @Override
    String label() {
        return "the generator";
    }

    /** A share of its own for the native side. */
    long retained() {
        acquire(this);
        try {
            return NativeCore.generatorRetain(handle());
        } finally {
            release(this);
        }
    }

    /**
     * Starts the stream anew.
     *
     * @param seed where it starts
     * @return this generator
     */
    public Generator manualSeed(long seed) {
        acquire(this);
        try {
            NativeCore.generatorManualSeed(handle(), seed);
            return this;
        } finally {
            release(this);
        }
    }

    /**
     * The seed it was started with.
     *
     * @return the seed
     */
    public long initialSeed() {
        acquire(this);
        try {
            return NativeCore.generatorInitialSeed(handle());
        } finally {
            release(this);
        }
    }

    /**
     * The state, to be restored by {@link #setState}.
     *
     * @return a tensor of bytes
     */
    public Tensor getState() {
        acquire(this);
        try {
            return Tensor.wrap(NativeCore.generatorGetState(handle()));
        } finally {
            release(this);
        }
    }

    /**
     * Restores a state.
     *
     * @param state what {@link #getState} returned
     */
    public void setState(Tensor state) {
        acquire(this, state);
        try {
            NativeCore.generatorSetState(handle(), state.handle());
        } finally {
            release(this, state);
        }
    }

    /** Frees the native generator. Closing twice is allowed. */
    @Override
    public void close() {
        super.close();
    }
}
