package digits;

import org.rushlight.NoGrad;
import org.rushlight.Tensor;
import org.rushlight.nn.BatchNorm2d;
import org.rushlight.nn.Conv2d;
import org.rushlight.nn.Dropout;
import org.rushlight.nn.Functional;
import org.rushlight.nn.Linear;
import org.rushlight.nn.Module;

/** The network. The names of its parts are those in the state dict. */
final class Net extends Module {
    // Convolution and linear layer initialize their weights on construction.
    private final Module conv1 = registerModule("conv1", convolution(1, 16));
    private final Module norm1 = registerModule("norm1", new BatchNorm2d(16));
    private final Module conv2 = registerModule("conv2", convolution(16, 32));
    private final Module norm2 = registerModule("norm2", new BatchNorm2d(32));
    private final Module dropout = registerModule("dropout", new Dropout(0.25));
    private final Module output = registerModule("output", new Linear(32 * 2 * 2, 10));

    /** A norm removes the effect of a preceding bias, so the convolutions have none. */
    private static Conv2d convolution(long inChannels, long outChannels) {
        return new Conv2d(new Conv2d.Options(inChannels, outChannels, 3).withPadding(1).withBias(false));
    }

    /** The scores of each class, [N, 10]. */
    @Override
    public Tensor forward(Tensor images) {
        Tensor x = Functional.avgPool2d(Functional.gelu(norm1.forward(conv1.forward(images))), 2); // [N, 16, 4, 4]
        x = Functional.avgPool2d(Functional.gelu(norm2.forward(conv2.forward(x))), 2); // [N, 32, 2, 2]
        return output.forward(dropout.forward(x.flatten(1)));
    }

    /** The scores, without recording gradients. Leaves the model in evaluation mode. */
    Tensor logits(Tensor images) {
        try (NoGrad guard = new NoGrad()) {
            eval();
            return forward(images);
        }
    }
}
