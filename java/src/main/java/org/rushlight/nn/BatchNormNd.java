package org.rushlight.nn;

import org.rushlight.Tensor;

/** Base class of the batch normalization layers. */
public abstract class BatchNormNd extends ChannelNorm {
    private final int least;
    private final int most;

    BatchNormNd(int least, int most, BatchNormOptions<?> options) {
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
