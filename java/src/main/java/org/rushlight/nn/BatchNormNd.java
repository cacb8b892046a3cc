package org.rushlight.nn;

import org.jspecify.annotations.Nullable;
import org.rushlight.DType;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.Torch;

/** What the batch normalisations have in common: weight, bias and running statistics. */
public abstract class BatchNormNd extends Module {
    final Options options;
    final @Nullable Tensor weight;
    final @Nullable Tensor bias;
    final @Nullable Tensor runningMean;
    final @Nullable Tensor runningVar;
    final @Nullable Tensor numBatchesTracked;
    private final int least;
    private final int most;

    /** What a normalisation does. Immutable: each {@code with} returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long numFeatures;
        double eps = 1e-5;
        @Nullable Double momentum = 0.1;
        boolean affine = true;
        boolean trackRunningStats = true;

        /**
         * The defaults of PyTorch.
         *
         * @param numFeatures channels
         */
        public Options(long numFeatures) {
            this.numFeatures = numFeatures;
        }

        /**
         * Sets eps: added to the variance.
         *
         * @param value added to the variance
         * @return the changed options
         */
        public Options withEps(double value) {
            return with(options -> options.eps = value);
        }

        /**
         * Sets momentum: share of the batch in the running statistics; NaN for the mean over all batches.
         *
         * @param value share of the batch in the running statistics; NaN for the mean over all batches
         * @return the changed options
         */
        public Options withMomentum(double value) {
            return with(options -> options.momentum = Double.isNaN(value) ? null : Double.valueOf(value));
        }

        /**
         * Sets affine: learn a weight and a bias.
         *
         * @param value learn a weight and a bias
         * @return the changed options
         */
        public Options withAffine(boolean value) {
            return with(options -> options.affine = value);
        }

        /**
         * Sets trackRunningStats: keep running statistics, and use them in evaluation.
         *
         * @param value keep running statistics, and use them in evaluation
         * @return the changed options
         */
        public Options withTrackRunningStats(boolean value) {
            return with(options -> options.trackRunningStats = value);
        }
    }

    BatchNormNd(int least, int most, Options options) {
        this.options = options;
        this.least = least;
        this.most = most;
        long count = options.numFeatures;
        weight = options.affine ? registerParameter("weight", Torch.ones(count)) : null;
        bias = options.affine ? registerParameter("bias", Torch.zeros(count)) : null;
        boolean track = options.trackRunningStats;
        runningMean = track ? registerBuffer("running_mean", Torch.zeros(count)) : null;
        runningVar = track ? registerBuffer("running_var", Torch.ones(count)) : null;
        numBatchesTracked = track ? registerBuffer("num_batches_tracked", Torch.zeros(new long[0], TensorOptions.of(DType.INT64))) : null;
    }

    /** Lets the running statistics start anew. */
    public final void resetRunningStats() {
        if (runningMean != null && runningVar != null && numBatchesTracked != null) {
            runningMean.zero_();
            runningVar.fill_(1);
            numBatchesTracked.zero_();
        }
    }

    /**
     * The weight, one number per channel.
     *
     * @return the parameter, or null
     */
    public final @Nullable Tensor weight() {
        return weight;
    }

    /**
     * The bias, one number per channel.
     *
     * @return the parameter, or null
     */
    public final @Nullable Tensor bias() {
        return bias;
    }

    /**
     * The running means.
     *
     * @return the buffer, or null
     */
    public final @Nullable Tensor runningMean() {
        return runningMean;
    }

    /**
     * The running variances.
     *
     * @return the buffer, or null
     */
    public final @Nullable Tensor runningVar() {
        return runningVar;
    }

    @Override
    public final Tensor forward(Tensor input) {
        Sizes.checkDim(input, least, most);
        boolean update = isTraining() && options.trackRunningStats;
        double momentum = options.momentum == null ? 0 : options.momentum;
        if (update && numBatchesTracked != null) {
            numBatchesTracked.add_(1);
            momentum = options.momentum == null ? 1.0 / numBatchesTracked.item().longValue() : momentum;
        }
        return Functional.batchNorm(
            input, runningMean, runningVar, weight, bias, isTraining() || !options.trackRunningStats, momentum, options.eps);
    }

    @Override
    protected final String extraRepr() {
        return new Repr().add(options.numFeatures).named("eps", options.eps).named("momentum", options.momentum)
            .named("affine", options.affine).named("track_running_stats", options.trackRunningStats).toString();
    }
}
