package org.rushlight.nn;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rushlight.DType;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * Applies multi-head attention (Vaswani et al. 2017).
 *
 * <pre>{@code
 * try (MultiheadAttention attention = new MultiheadAttention(8, 2)) {
 *     Tensor x = Torch.ones(5, 3, 8); // (length, batch, features)
 *     System.out.println(Arrays.toString(attention.forward(x, x, x).output().shape())); // [5, 3, 8]
 * }
 * }</pre>
 */
public final class MultiheadAttention extends Module {
    private final Options options;
    private final boolean sameDim;
    private final @Nullable Tensor inProjWeight;
    private final @Nullable Tensor qProjWeight;
    private final @Nullable Tensor kProjWeight;
    private final @Nullable Tensor vProjWeight;
    private final @Nullable Tensor inProjBias;
    private final Linear outProj;
    private final @Nullable Tensor biasK;
    private final @Nullable Tensor biasV;

    /**
     * Results of attention.
     *
     * @param output attention outputs of shape {@code (L, N, embed_dim)}
     * @param weights attention weights; null unless requested
     */
    public record Output(Tensor output, @Nullable Tensor weights) {}

    /** Masks and other arguments of attention. Immutable: each {@code with} method returns a changed copy. */
    public static final class Masks extends ModuleOptions<Masks> {
        @Nullable Tensor keyPadding;
        @Nullable Tensor attention;
        boolean needWeights = true;
        boolean averageWeights = true;

        /** No masks; the weights are returned, averaged over the heads. */
        public Masks() {}

        /**
         * Sets the key padding mask.
         *
         * @param value booleans that are true at padding, of shape {@code (N, S)}; null for none
         * @return the changed copy
         */
        public Masks withKeyPadding(@Nullable Tensor value) {
            return with(masks -> masks.keyPadding = value);
        }

        /**
         * Sets the attention mask.
         *
         * @param value values added to the scores, or booleans that are true at masked positions, of shape {@code (L,
         *     S)}, or one for each batch and head; null for none
         * @return the changed copy
         */
        public Masks withAttention(@Nullable Tensor value) {
            return with(masks -> masks.attention = value);
        }

        /**
         * Sets whether the attention weights are returned.
         *
         * @param value whether to return them
         * @return the changed copy
         */
        public Masks withNeedWeights(boolean value) {
            return with(masks -> masks.needWeights = value);
        }

        /**
         * Sets whether the weights are averaged over the heads.
         *
         * @param value whether to return the mean, or the weights of each head
         * @return the changed copy
         */
        public Masks withAverageWeights(boolean value) {
            return with(masks -> masks.averageWeights = value);
        }
    }

    /** Options of {@link MultiheadAttention}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends ModuleOptions<Options> {
        final long embedDim;
        final long numHeads;
        double dropout = 0;
        boolean bias = true;
        boolean addBiasKv = false;
        boolean addZeroAttn = false;
        @Nullable Long kdim;
        @Nullable Long vdim;
        boolean batchFirst = false;

        /**
         * Creates PyTorch's default options.
         *
         * @param embedDim total dimension of the model
         * @param numHeads number of heads; {@code embedDim} is divided among them
         */
        public Options(long embedDim, long numHeads) {
            this.embedDim = embedDim;
            this.numHeads = numHeads;
        }

        /**
         * Sets dropout: dropout probability of the attention weights (default 0).
         *
         * @param value dropout probability of the attention weights (default 0)
         * @return the changed options
         */
        public Options withDropout(double value) {
            return with(options -> options.dropout = value);
        }

        /**
         * Sets bias: whether to add biases (default true).
         *
         * @param value whether to add biases (default true)
         * @return the changed options
         */
        public Options withBias(boolean value) {
            return with(options -> options.bias = value);
        }

        /**
         * Sets addBiasKv: whether to add learnable biases to the key and value sequences (default false).
         *
         * @param value whether to add learnable biases to the key and value sequences (default false)
         * @return the changed options
         */
        public Options withAddBiasKv(boolean value) {
            return with(options -> options.addBiasKv = value);
        }

        /**
         * Sets addZeroAttn: whether to add a batch of zeros to the key and value sequences (default false).
         *
         * @param value whether to add a batch of zeros to the key and value sequences (default false)
         * @return the changed options
         */
        public Options withAddZeroAttn(boolean value) {
            return with(options -> options.addZeroAttn = value);
        }

        /**
         * Sets kdim: number of key features (default: that of the queries).
         *
         * @param value number of key features (default: that of the queries)
         * @return the changed options
         */
        public Options withKdim(long value) {
            return with(options -> options.kdim = value);
        }

        /**
         * Sets vdim: number of value features (default: that of the queries).
         *
         * @param value number of value features (default: that of the queries)
         * @return the changed options
         */
        public Options withVdim(long value) {
            return with(options -> options.vdim = value);
        }

        /**
         * Sets batchFirst: whether inputs have shape {@code (N, L, E)} instead of {@code (L, N, E)} (default false).
         *
         * @param value whether inputs have shape {@code (N, L, E)} instead of {@code (L, N, E)} (default false)
         * @return the changed options
         */
        public Options withBatchFirst(boolean value) {
            return with(options -> options.batchFirst = value);
        }
    }

    /**
     * Creates the layer with default options.
     *
     * @param embedDim total dimension of the model
     * @param numHeads number of heads; {@code embedDim} is divided among them
     */
    public MultiheadAttention(long embedDim, long numHeads) {
        this(new Options(embedDim, numHeads));
    }

    /**
     * Creates the layer with options.
     *
     * @param options the options
     */
    public MultiheadAttention(Options options) {
        this.options = options;
        long embed = options.embedDim;
        if (embed % options.numHeads != 0) {
            throw new TensorValueException("embed_dim must be divisible by num_heads");
        }
        long kdim = options.kdim == null ? embed : options.kdim;
        long vdim = options.vdim == null ? embed : options.vdim;
        sameDim = kdim == embed && vdim == embed;
        inProjWeight = parameter("in_proj_weight", sameDim, 3 * embed, embed);
        qProjWeight = parameter("q_proj_weight", !sameDim, embed, embed);
        kProjWeight = parameter("k_proj_weight", !sameDim, embed, kdim);
        vProjWeight = parameter("v_proj_weight", !sameDim, embed, vdim);
        inProjBias = parameter("in_proj_bias", options.bias, 3 * embed);
        outProj = registerModule("out_proj", new Linear(embed, embed, options.bias));
        biasK = parameter("bias_k", options.addBiasKv, 1, 1, embed);
        biasV = parameter("bias_v", options.addBiasKv, 1, 1, embed);
        redraw();
    }

    private @Nullable Tensor parameter(String name, boolean wanted, long... shape) {
        return wanted ? registerParameter(name, Torch.empty(shape)) : null;
    }

    /** Resets the weights to newly sampled values. */
    public void resetParameters() {
        outProj.resetParameters();
        redraw();
    }

    private void redraw() {
        for (Tensor weight : new Tensor[] {inProjWeight, qProjWeight, kProjWeight, vProjWeight}) {
            if (weight != null) {
                Init.xavierUniform(weight, 1);
            }
        }
        if (inProjBias != null) {
            Init.constant(inProjBias, 0);
            Init.constant(Objects.requireNonNull(outProj.bias()), 0);
        }
        for (Tensor bias : new Tensor[] {biasK, biasV}) {
            if (bias != null) {
                Init.xavierNormal(bias, 1);
            }
        }
    }

    /** Applies self-attention. */
    @Override
    public Tensor forward(Tensor input) {
        return forward(input, input, input, new Masks().withNeedWeights(false)).output();
    }

    /**
     * Applies attention without masks.
     *
     * @param query queries of shape {@code (L, N, embed_dim)}
     * @param key keys of shape {@code (S, N, kdim)}
     * @param value values, {@code (source, batch, feature)}
     * @return outputs and attention weights
     */
    public Output forward(Tensor query, Tensor key, Tensor value) {
        return forward(query, key, value, new Masks());
    }

    /**
     * Applies attention.
     *
     * @param query queries of shape {@code (L, N, embed_dim)}
     * @param key keys of shape {@code (S, N, kdim)}
     * @param value values, {@code (source, batch, feature)}
     * @param masks the masks, and what is returned
     * @return outputs and attention weights
     */
    public Output forward(Tensor query, Tensor key, Tensor value, Masks masks) {
        checkOpen();
        if (query.dim() == 2) {
            int batch = options.batchFirst ? 0 : 1;
            Masks more = masks.keyPadding == null ? masks : masks.withKeyPadding(masks.keyPadding.unsqueeze(0));
            Tensor queries = query.unsqueeze(batch);
            Tensor keys = key == query ? queries : key.unsqueeze(batch);
            Output one = forward(queries, keys, value == key ? keys : value.unsqueeze(batch), more);
            return new Output(one.output().squeeze(batch), one.weights() == null ? null : one.weights().squeeze(0));
        }
        if (options.batchFirst) {
            Tensor queries = query.transpose(0, 1);
            Tensor keys = key == query ? queries : key.transpose(0, 1);
            Output steps = attend(queries, keys, value == key ? keys : value.transpose(0, 1), masks);
            return new Output(steps.output().transpose(0, 1), steps.weights());
        }
        return attend(query, key, value, masks);
    }

    private Output attend(Tensor query, Tensor key, Tensor value, Masks masks) {
        long target = query.size(0);
        long batch = query.size(1);
        long embed = query.size(2);
        long heads = options.numHeads;
        long all = batch * heads;
        long headDim = options.embedDim / heads;
        if (embed != options.embedDim) {
            throw new TensorValueException("was expecting embedding dimension of " + options.embedDim + ", but got " + embed);
        }
        Tensor[] projected = project(query, key, value);
        Tensor q = projected[0].mul(1 / Math.sqrt(headDim));
        Tensor k = projected[1];
        Tensor v = projected[2];
        Tensor mask = additive(masks.attention, query.dtype());
        Tensor padding = masks.keyPadding;
        if (biasK != null && biasV != null) {
            k = Torch.cat(k, biasK.repeat(1, batch, 1));
            v = Torch.cat(v, biasV.repeat(1, batch, 1));
            mask = withZeros(mask, -1);
            padding = withZeros(padding, -1);
        }
        q = split(q, all, headDim);
        k = split(k, all, headDim);
        v = split(v, all, headDim);
        if (options.addZeroAttn) {
            k = Objects.requireNonNull(withZeros(k, 1));
            v = Objects.requireNonNull(withZeros(v, 1));
            mask = withZeros(mask, -1);
            padding = withZeros(padding, -1);
        }
        long source = k.size(1);
        Tensor weights = Torch.bmm(q, k.transpose(1, 2));
        if (mask != null) {
            weights = weights.add(mask.dim() == 2 ? mask.unsqueeze(0) : mask);
        }
        if (padding != null) {
            Tensor scores = weights.view(batch, heads, target, source);
            Tensor hidden = padding.unsqueeze(1).unsqueeze(2);
            scores = hidden.dtype() == DType.BOOL ? scores.maskedFill(hidden, Double.NEGATIVE_INFINITY) : scores.add(hidden);
            weights = scores.view(all, target, source);
        }
        weights = Torch.dropout(Torch.softmax(weights, -1), options.dropout, isTraining());
        Tensor output = Torch.bmm(weights, v).transpose(0, 1).contiguous().view(target, batch, embed);
        output = outProj.forward(output);
        if (!masks.needWeights) {
            return new Output(output, null);
        }
        weights = weights.view(batch, heads, target, source);
        return new Output(output, masks.averageWeights ? weights.mean(1) : weights);
    }

    /** Projects queries, keys and values. */
    private Tensor[] project(Tensor query, Tensor key, Tensor value) {
        long embed = options.embedDim;
        if (inProjWeight == null) {
            return new Tensor[] {
                Torch.linear(query, Objects.requireNonNull(qProjWeight), part(inProjBias, 0, 1)),
                Torch.linear(key, Objects.requireNonNull(kProjWeight), part(inProjBias, 1, 2)),
                Torch.linear(value, Objects.requireNonNull(vProjWeight), part(inProjBias, 2, 3)),
            };
        }
        if (query == key && key == value) {
            return Torch.linear(query, inProjWeight, inProjBias).split(embed, -1);
        }
        Tensor first = Torch.linear(query, Objects.requireNonNull(part(inProjWeight, 0, 1)), part(inProjBias, 0, 1));
        if (key == value) {
            Tensor[] both = Torch.linear(key, Objects.requireNonNull(part(inProjWeight, 1, 3)), part(inProjBias, 1, 3)).split(embed, -1);
            return new Tensor[] {first, both[0], both[1]};
        }
        return new Tensor[] {
            first,
            Torch.linear(key, Objects.requireNonNull(part(inProjWeight, 1, 2)), part(inProjBias, 1, 2)),
            Torch.linear(value, Objects.requireNonNull(part(inProjWeight, 2, 3)), part(inProjBias, 2, 3)),
        };
    }

    private @Nullable Tensor part(@Nullable Tensor whole, long start, long end) {
        return whole == null ? null : whole.slice(0, start * options.embedDim, end * options.embedDim);
    }

    /** Converts a boolean mask to a mask that is added. */
    private static @Nullable Tensor additive(@Nullable Tensor mask, DType dtype) {
        if (mask == null || mask.dtype() != DType.BOOL) {
            return mask;
        }
        return Torch.zeros(mask.shape(), TensorOptions.of(dtype).withDevice(mask.device())).maskedFill(mask, Double.NEGATIVE_INFINITY);
    }

    /** Reshapes (L, N, E) to (N * heads, L, E / heads). */
    private static Tensor split(Tensor tensor, long all, long headDim) {
        return tensor.contiguous().view(-1, all, headDim).transpose(0, 1);
    }

    /** Appends zeros at the end of a dimension. */
    private static @Nullable Tensor withZeros(@Nullable Tensor tensor, int dim) {
        if (tensor == null) {
            return null;
        }
        long[] shape = tensor.shape();
        int at = dim < 0 ? dim + shape.length : dim;
        shape[at] = 1;
        return Torch.cat(new Tensor[] {tensor, Torch.zeros(shape, tensor.options())}, at);
    }
}
