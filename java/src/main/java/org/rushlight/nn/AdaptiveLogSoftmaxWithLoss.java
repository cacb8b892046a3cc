package org.rushlight.nn;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * Adaptive softmax, an efficient approximation of softmax over many classes whose frequencies differ (Grave et al.
 * 2017).
 *
 * <pre>{@code
 * try (AdaptiveLogSoftmaxWithLoss head = new AdaptiveLogSoftmaxWithLoss(16, 20, 5, 10)) {
 *     System.out.println(Arrays.toString(head.logProb(Torch.ones(4, 16)).shape())); // [4, 20]
 * }
 * }</pre>
 */
public final class AdaptiveLogSoftmaxWithLoss extends Module {
    private final Options options;
    private final long[] ends;
    private final Linear head;
    private final List<Sequential> tail = new ArrayList<>();

    /** Options of {@link AdaptiveLogSoftmaxWithLoss}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long inFeatures;
        final long nClasses;
        final long[] cutoffs;
        double divValue = 4;
        boolean headBias = false;

        /**
         * Creates PyTorch's default options.
         *
         * @param inFeatures number of input features
         * @param nClasses number of classes
         * @param cutoffs class indices at which the clusters of rarer classes begin, increasing
         */
        public Options(long inFeatures, long nClasses, long... cutoffs) {
            this.inFeatures = inFeatures;
            this.nClasses = nClasses;
            this.cutoffs = cutoffs.clone();
        }

        /**
         * Sets divValue: factor by which the feature size of each further cluster is divided (default 4).
         *
         * @param value factor by which the feature size of each further cluster is divided (default 4)
         * @return the changed options
         */
        public Options withDivValue(double value) {
            return with(options -> options.divValue = value);
        }

        /**
         * Sets headBias: whether the head has a bias (default false).
         *
         * @param value whether the head has a bias (default false)
         * @return the changed options
         */
        public Options withHeadBias(boolean value) {
            return with(options -> options.headBias = value);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param inFeatures number of input features
     * @param nClasses number of classes
     * @param cutoffs class indices at which the clusters of rarer classes begin, increasing
     */
    public AdaptiveLogSoftmaxWithLoss(long inFeatures, long nClasses, long... cutoffs) {
        this(new Options(inFeatures, nClasses, cutoffs));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public AdaptiveLogSoftmaxWithLoss(Options options) {
        this.options = options;
        long before = 0;
        boolean rising = options.cutoffs.length > 0;
        for (long cutoff : options.cutoffs) {
            rising &= cutoff > before && cutoff < options.nClasses;
            before = cutoff;
        }
        if (!rising) {
            throw new TensorValueException("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where"
                + " each value is between 1 and n_classes-1");
        }
        if (options.divValue == 0) {
            throw new TensorValueException("div_value should not be equal to 0");
        }
        ends = Arrays.copyOf(options.cutoffs, options.cutoffs.length + 1);
        ends[ends.length - 1] = options.nClasses;
        int clusters = ends.length - 1;
        head = registerModule("head", new Linear(options.inFeatures, ends[0] + clusters, options.headBias));
        for (int i = 0; i < clusters; i++) {
            long hidden = (long) (options.inFeatures / Math.pow(options.divValue, i + 1));
            tail.add(new Sequential(
                new Linear(options.inFeatures, hidden, false), new Linear(hidden, ends[i + 1] - ends[i], false)));
        }
        registerModule("tail", new ModuleList(tail));
    }

    /**
     * Results of {@code forward}.
     *
     * @param output log probability of each target
     * @param loss mean negative log likelihood
     */
    public record Output(Tensor output, Tensor loss) {}

    /**
     * Computes the log probability of each target, and the mean loss.
     *
     * @param input tensor of shape {@code (N, in_features)} or {@code (in_features)}
     * @param target class indices of shape {@code (N)} or {@code ()}
     * @return both results
     */
    public Output forward(Tensor input, Tensor target) {
        checkOpen();
        if (target.dim() > 1) {
            throw new TensorValueException("0D or 1D target tensor expected, multi-target not supported");
        }
        if (input.dim() != target.dim() + 1) {
            throw new TensorValueException(target.dim() + "D target tensor expects " + (target.dim() + 1)
                + "D input tensors, but found inputs with size " + Sizes.text(input));
        }
        if (target.dim() == 0) {
            Output one = forward(input.unsqueeze(0), target.unsqueeze(0));
            return new Output(one.output().squeeze(0), one.loss());
        }
        long batch = target.size(0);
        long used = 0;
        Tensor output = Torch.zeros(new long[] {batch}, input.options());
        Tensor places = Torch.zerosLike(target);
        long low = 0;
        for (int i = 0; i < ends.length; i++) {
            Tensor rows = target.ge(low).logicalAnd(target.lt(ends[i])).nonzero().squeeze(1);
            if (rows.numel() > 0) {
                Tensor relative = target.indexSelect(0, rows).sub(low);
                if (i == 0) {
                    places.indexCopy_(0, rows, relative);
                } else {
                    Tensor local = tail.get(i - 1).forward(input.indexSelect(0, rows)).logSoftmax(1);
                    places.indexFill_(0, rows, ends[0] + i - 1);
                    output.indexCopy_(0, rows, local.gather(1, relative.unsqueeze(1)).squeeze(1));
                }
            }
            used += rows.numel();
            low = ends[i];
        }
        if (used != batch) {
            throw new TensorValueException("Target values should be in [0, " + (options.nClasses - 1) + "], but values in range ["
                + target.min().item() + ", " + target.max().item() + "] were found. ");
        }
        output = output.add(head.forward(input).logSoftmax(1).gather(1, places.unsqueeze(1)).squeeze(1));
        return new Output(output, output.neg().mean());
    }

    /**
     * Computes the log probabilities of all classes.
     *
     * @param input tensor of shape {@code (N, in_features)}
     * @return tensor of shape {@code (N, n_classes)}
     */
    public Tensor logProb(Tensor input) {
        return logProb(input, head.forward(input));
    }

    private Tensor logProb(Tensor input, Tensor scores) {
        Tensor known = scores.logSoftmax(1);
        Tensor[] parts = new Tensor[ends.length];
        parts[0] = known.slice(1, 0, ends[0]);
        for (int i = 1; i < ends.length; i++) {
            parts[i] = tail.get(i - 1).forward(input).logSoftmax(1).add(known.select(1, ends[0] + i - 1).unsqueeze(1));
        }
        return Torch.cat(parts, 1);
    }

    /**
     * Returns the most probable class of each row.
     *
     * @param input tensor of shape {@code (N, in_features)}
     * @return class indices of shape {@code (N)}
     */
    public Tensor predict(Tensor input) {
        Tensor scores = head.forward(input);
        Tensor output = scores.argmax(1L);
        Tensor rare = output.ge(ends[0]);
        if (!rare.any().item().booleanValue()) {
            return output;
        }
        Tensor rows = rare.nonzero().squeeze(1);
        Tensor full = logProb(input.indexSelect(0, rows), scores.indexSelect(0, rows));
        return output.indexCopy_(0, rows, full.argmax(1L));
    }
}
