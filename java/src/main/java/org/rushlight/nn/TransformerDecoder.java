package org.rushlight.nn;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * Copies of a layer, one on the other, and a norm behind them.
 *
 * <pre>{@code
 * try (TransformerDecoder decoder = new TransformerDecoder(new TransformerDecoderLayer(8, 2), 3)) {
 *     Tensor y = decoder.forward(Torch.ones(6, 4, 8), Torch.ones(5, 4, 8), new Transformer.Masks());
 *     System.out.println(Arrays.toString(y.shape())); // [6, 4, 8]
 * }
 * }</pre>
 */
public final class TransformerDecoder extends Module {
    private final List<TransformerDecoderLayer> layers = new ArrayList<>();
    private final @Nullable LayerNorm norm;

    /**
     * A stack without a norm.
     *
     * @param layer a layer; the stack has copies of it
     * @param numLayers how many
     */
    public TransformerDecoder(TransformerDecoderLayer layer, long numLayers) {
        this(layer, numLayers, null);
    }

    /**
     * A stack.
     *
     * @param layer a layer; the stack has copies of it
     * @param numLayers how many
     * @param norm the norm behind them, which becomes part of the stack; or null
     */
    public TransformerDecoder(TransformerDecoderLayer layer, long numLayers, @Nullable LayerNorm norm) {
        for (long i = 0; i < numLayers; i++) {
            layers.add(layer.copy());
        }
        registerModule("layers", new ModuleList(layers));
        this.norm = norm == null ? null : registerModule("norm", norm);
    }

    /**
     * Through all layers and the norm.
     *
     * @param target {@code (step, batch, feature)}
     * @param memory what the encoder has made of the source
     * @param masks what does not count
     * @return like the target
     */
    public Tensor forward(Tensor target, Tensor memory, Transformer.Masks masks) {
        checkOpen();
        Tensor value = target;
        for (TransformerDecoderLayer layer : layers) {
            value = layer.forward(value, memory, masks);
        }
        return norm == null ? value : norm.forward(value);
    }
}
