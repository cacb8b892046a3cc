package org.rushlight.nn;

import org.rushlight.Tensor;

/** What the batch normalisations have in common. */
public abstract class BatchNormNd extends ChannelNorm<BatchNormNd.Options> {
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
            super(numFeatures, true, true);
        }

        /**
         * Sets momentum: share of the batch in the running statistics; NaN for the mean over all batches.
         *
         * @param value share of the batch in the running statistics; NaN for the mean over all batches
         * @return the changed options
         */
        public Options withMomentum(double value) {
            return with(options -> options.momentum = value);
        }
    }

    BatchNormNd(int least, int most, Options options) {
        super(options);
        this.least = least;
        this.most = most;
    }

    @Override
    public final Tensor forward(Tensor input) {
        checkOpen();
        Sizes.checkDim(input, least, most);
        boolean update = isTraining() && options.trackRunningStats;
        double momentum = Double.isNaN(options.momentum) ? 0 : options.momentum;
        if (update && numBatchesTracked != null) {
            numBatchesTracked.add_(1);
            momentum = Double.isNaN(options.momentum) ? 1.0 / numBatchesTracked.item().longValue() : momentum;
        }
        return Functional.batchNorm(
            input, runningMean, runningVar, weight, bias, isTraining() || !options.trackRunningStats, momentum, options.eps);
    }
}
