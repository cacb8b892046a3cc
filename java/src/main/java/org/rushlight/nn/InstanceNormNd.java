package org.rushlight.nn;

import org.rushlight.Tensor;

/** Base class of the instance normalization layers. */
public abstract class InstanceNormNd extends ChannelNorm<InstanceNormNd.Options> {
    private final int least;
    private final int most;

    /** Options of a normalization layer. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ChannelNormOptions<Options> {
        /**
         * Creates PyTorch's default options.
         *
         * @param numFeatures number of channels {@code C}
         */
        public Options(long numFeatures) {
            super(numFeatures, false, false);
        }

        /**
         * Sets momentum: weight of the batch in the update of the running statistics (default 0.1).
         *
         * @param value weight of the batch in the update of the running statistics (default 0.1)
         * @return the changed options
         */
        public Options withMomentum(double value) {
            return with(options -> options.momentum = value);
        }
    }

    InstanceNormNd(int least, int most, Options options) {
        super(options);
        this.least = least;
        this.most = most;
    }

    @Override
    public final Tensor forward(Tensor input) {
        checkOpen();
        Sizes.checkDim(input, least, most);
        if (input.dim() == least) {
            return normalise(input.unsqueeze(0)).squeeze(0);
        }
        return normalise(input);
    }

    private Tensor normalise(Tensor input) {
        return Functional.instanceNorm(
            input, runningMean, runningVar, weight, bias, isTraining() || !options.trackRunningStats, options.momentum, options.eps);
    }
}
