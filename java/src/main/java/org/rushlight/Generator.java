package org.rushlight;

import org.rushlight.internal.NativeCore;

/**
 * A random number generator: the same seed gives the same numbers as PyTorch's CPU generator.
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
     * Creates a generator.
     *
     * @param seed the seed
     */
    public Generator(long seed) {
        this(new Release(NativeCore.generatorNew(seed)));
    }

    /**
     * Returns the generator that operators use by default.
     *
     * @return the default generator of this process
     */
    public static Generator ofProcess() {
        return new Generator(new Release(NativeCore.generatorDefault()));
    }

    /** Wraps an owned handle. */
    static Generator wrap(long handle) {
        return new Generator(new Release(handle));
    }

    @Override
    String label() {
        return "the generator";
    }

    /** Returns an additional reference for the native side. */
    long retained() {
        acquire(this);
        try {
            return NativeCore.generatorRetain(handle());
        } finally {
            release(this);
        }
    }

    /**
     * Sets the seed.
     *
     * @param seed the seed
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
     * Returns the initial seed.
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
     * Returns the state, which {@link #setState} restores.
     *
     * @return a uint8 tensor
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
     * @param state a state returned by {@link #getState}
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
