package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.DType;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.Torch;

/** Parameters shared by batch and instance normalization: weight, bias and running statistics. */
abstract class ChannelNorm extends Module {
    final ChannelNormOptions<?> options;
    final @Nullable Tensor weight;
    final @Nullable Tensor bias;
    final @Nullable Tensor runningMean;
    final @Nullable Tensor runningVar;
    final @Nullable Tensor numBatchesTracked;

    ChannelNorm(ChannelNormOptions<?> options) {
        this.options = options;
        long count = options.numFeatures;
        weight = options.affine ? registerParameter("weight", Torch.ones(count)) : null;
        bias = options.affine ? registerParameter("bias", Torch.zeros(count)) : null;
        boolean track = options.trackRunningStats;
        runningMean = track ? registerBuffer("running_mean", Torch.zeros(count)) : null;
        runningVar = track ? registerBuffer("running_var", Torch.ones(count)) : null;
        numBatchesTracked = track ? registerBuffer("num_batches_tracked", Torch.zeros(new long[0], TensorOptions.of(DType.INT64))) : null;
    }

    /** Resets the running statistics. */
    public void resetRunningStats() {
        if (runningMean != null && runningVar != null && numBatchesTracked != null) {
            runningMean.zero_();
            runningVar.fill_(1);
            numBatchesTracked.zero_();
        }
    }

    /**
     * Returns the weight, of shape {@code (C)}.
     *
     * @return the parameter, or null
     */
    public @Nullable Tensor weight() {
        return weight;
    }

    /**
     * Returns the bias, of shape {@code (C)}.
     *
     * @return the parameter, or null
     */
    public @Nullable Tensor bias() {
        return bias;
    }

    /**
     * Returns the running means.
     *
     * @return the buffer, or null
     */
    public @Nullable Tensor runningMean() {
        return runningMean;
    }

    /**
     * Returns the running variances.
     *
     * @return the buffer, or null
     */
    public @Nullable Tensor runningVar() {
        return runningVar;
    }

    @Override
    protected final String extraRepr() {
        return new Repr().add(options.numFeatures).named("eps", options.eps)
            .named("momentum", Double.isNaN(options.momentum) ? null : options.momentum).named("affine", options.affine)
            .named("track_running_stats", options.trackRunningStats).toString();
    }
}
