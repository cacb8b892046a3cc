package org.rushlight.nn;

import org.rushlight.Tensor;

/** Base class of the instance normalization layers. */
public abstract class InstanceNormNd extends ChannelNorm {
    private final int least;
    private final int most;

    InstanceNormNd(int least, int most, InstanceNormOptions<?> options) {
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
