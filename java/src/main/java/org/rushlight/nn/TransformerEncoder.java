package org.rushlight.nn;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * Copies of a layer, one on the other, and a norm behind them.
 *
 * <pre>{@code
 * try (TransformerEncoder encoder = new TransformerEncoder(new TransformerEncoderLayer(8, 2), 3)) {
 *     System.out.println(Arrays.toString(encoder.forward(Torch.ones(5, 4, 8)).shape())); // [5, 4, 8]
 * }
 * }</pre>
 */
public final class TransformerEncoder extends Module {
    private final List<TransformerEncoderLayer> layers = new ArrayList<>();
    private final @Nullable LayerNorm norm;

    /**
     * A stack without a norm.
     *
     * @param layer a layer; the stack has copies of it
     * @param numLayers how many
     */
    public TransformerEncoder(TransformerEncoderLayer layer, long numLayers) {
        this(layer, numLayers, null);
    }

    /**
     * A stack.
     *
     * @param layer a layer; the stack has copies of it
     * @param numLayers how many
     * @param norm the norm behind them, which becomes part of the stack; or null
     */
    public TransformerEncoder(TransformerEncoderLayer layer, long numLayers, @Nullable LayerNorm norm) {
        for (long i = 0; i < numLayers; i++) {
            layers.add(layer.copy());
        }
        registerModule("layers", new ModuleList(layers));
        this.norm = norm == null ? null : registerModule("norm", norm);
    }

    @Override
    public Tensor forward(Tensor source) {
        return forward(source, new Transformer.Masks());
    }

    /**
     * Through all layers and the norm.
     *
     * @param source {@code (step, batch, feature)}
     * @param masks what does not count
     * @return like the source
     */
    public Tensor forward(Tensor source, Transformer.Masks masks) {
        checkOpen();
        Tensor value = source;
        for (TransformerEncoderLayer layer : layers) {
            value = layer.forward(value, masks);
        }
        return norm == null ? value : norm.forward(value);
    }
}
