package org.rushlight.nn;

import org.rushlight.Tensor;

/** What the instance normalisations have in common. */
public abstract class InstanceNormNd extends ChannelNorm<InstanceNormNd.Options> {
    private final int least;
    private final int most;

    /** What a normalisation does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ChannelNormOptions<Options> {
        /**
         * The defaults of PyTorch.
         *
         * @param numFeatures channels
         */
        public Options(long numFeatures) {
            super(numFeatures, false, false);
        }

        /**
         * Sets momentum: share of the batch in the running statistics.
         *
         * @param value share of the batch in the running statistics
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
