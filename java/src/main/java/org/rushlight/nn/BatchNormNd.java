package org.rushlight.nn;

import org.rushlight.Tensor;

/** Base class of the batch normalization layers. */
public abstract class BatchNormNd extends ChannelNorm<BatchNormNd.Options> {
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
            super(numFeatures, true, true);
        }

        /**
         * Sets momentum: weight of the batch in the update of the running statistics (default 0.1); NaN for a
         * cumulative average.
         *
         * @param value weight of the batch in the update of the running statistics (default 0.1); NaN for a cumulative
         *     average
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
