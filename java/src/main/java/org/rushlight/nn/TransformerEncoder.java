package org.rushlight.nn;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rushlight.Tensor;

/**
 * A stack of decoder layers, optionally followed by a normalization.
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
     * Creates a stack without a normalization.
     *
     * @param layer a layer, of which the stack has copies
     * @param numLayers number of layers
     */
    public TransformerEncoder(TransformerEncoderLayer layer, long numLayers) {
        this(layer, numLayers, null);
    }

    /**
     * Creates a stack.
     *
     * @param layer a layer, of which the stack has copies
     * @param numLayers number of layers
     * @param norm normalization of the output, which becomes part of the stack; or null
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
     * Applies all layers and the normalization.
     *
     * @param source tensor of shape {@code (S, N, E)}
     * @param masks the masks
     * @return tensor of the shape of the source
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
