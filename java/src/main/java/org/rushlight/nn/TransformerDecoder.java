package org.rushlight.nn;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * A stack of decoder layers, optionally followed by a normalization.
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
     * Creates a stack without a normalization.
     *
     * @param layer a layer, of which the stack has copies
     * @param numLayers number of layers
     */
    public TransformerDecoder(TransformerDecoderLayer layer, long numLayers) {
        this(layer, numLayers, null);
    }

    /**
     * Creates a stack.
     *
     * @param layer a layer, of which the stack has copies
     * @param numLayers number of layers
     * @param norm normalization of the output, which becomes part of the stack; or null
     */
    public TransformerDecoder(TransformerDecoderLayer layer, long numLayers, @Nullable LayerNorm norm) {
        for (long i = 0; i < numLayers; i++) {
            layers.add(layer.copy());
        }
        registerModule("layers", new ModuleList(layers));
        this.norm = norm == null ? null : registerModule("norm", norm);
    }

    /**
     * Applies all layers and the normalization.
     *
     * @param target tensor of shape {@code (T, N, E)}
     * @param memory output of the encoder
     * @param masks the masks
     * @return tensor of the shape of the target
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
