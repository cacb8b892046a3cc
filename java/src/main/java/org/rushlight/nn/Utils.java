package org.rushlight.nn;

import java.util.ArrayList;
import java.util.List;
import org.rushlight.DType;
import org.rushlight.Device;
import org.rushlight.Library;
import org.rushlight.NoGrad;
import org.rushlight.Results;
import org.rushlight.RushlightException;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * Gradient clipping, conversion of parameters to vectors, and packed sequences: {@code torch.nn.utils}.
 *
 * <pre>{@code
 * Tensor w = Torch.ones(4).requiresGrad_(true);
 * w.mul(3).sum().backward();
 * System.out.println(Utils.clipGradNorm(List.of(w), 1)); // 6.0
 * System.out.println(w.grad().norm().itemFloat() <= 1); // true
 * }</pre>
 */
public final class Utils {
    private Utils() {}

    /**
     * Clips the Euclidean norm of all gradients together to {@code maxNorm}, by scaling them.
     *
     * @param parameters the parameters whose gradients are clipped
     * @param maxNorm maximum norm
     * @return the norm before clipping
     */
    public static double clipGradNorm(Iterable<Tensor> parameters, double maxNorm) {
        return clipGradNorm(parameters, maxNorm, 2, false);
    }

    /**
     * Clips the norm of all gradients together to {@code maxNorm}, by scaling them.
     *
     * @param parameters the parameters whose gradients are clipped
     * @param maxNorm maximum norm
     * @param normType degree of the norm; infinity for the maximum norm
     * @param errorIfNonfinite whether to throw if the norm is infinite or NaN
     * @return the norm before clipping
     */
    public static double clipGradNorm(Iterable<Tensor> parameters, double maxNorm, double normType, boolean errorIfNonfinite) {
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            List<Tensor> gradients = gradients(parameters);
            if (gradients.isEmpty()) {
                return 0;
            }
            Tensor[] norms = gradients.stream().map(gradient -> Torch.linalgVectorNorm(gradient, normType)).toArray(Tensor[]::new);
            Tensor total = norms.length == 1 ? norms[0] : Torch.linalgVectorNorm(Torch.stack(norms), normType);
            double norm = total.item().doubleValue();
            if (errorIfNonfinite && !Double.isFinite(norm)) {
                throw new RushlightException("The total norm of order " + Repr.text(normType) + " for gradients from `parameters` is"
                    + " non-finite, so it cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway,"
                    + " set `error_if_nonfinite=False`");
            }
            Tensor scale = total.add(1e-6).reciprocal().mul(maxNorm).clampMax(1.0);
            gradients.forEach(gradient -> gradient.mul_(scale));
            return norm;
        }
    }

    /**
     * Clamps each element of the gradients to {@code [-value, value]}.
     *
     * @param parameters the parameters whose gradients are clipped
     * @param value maximum absolute value
     */
    public static void clipGradValue(Iterable<Tensor> parameters, double value) {
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            gradients(parameters).forEach(gradient -> gradient.clamp_(-value, value));
        }
    }

    private static List<Tensor> gradients(Iterable<Tensor> parameters) {
        List<Tensor> gradients = new ArrayList<>();
        for (Tensor parameter : parameters) {
            Tensor gradient = parameter.grad();
            if (gradient != null) {
                gradients.add(gradient.detach());
            }
        }
        return gradients;
    }

    /**
     * Concatenates the elements of all parameters.
     *
     * @param parameters the parameters
     * @return a vector
     */
    public static Tensor parametersToVector(Iterable<Tensor> parameters) {
        List<Tensor> parts = new ArrayList<>();
        parameters.forEach(parameter -> parts.add(parameter.reshape(-1)));
        return Torch.cat(parts.toArray(Tensor[]::new));
    }

    /**
     * Copies slices of a vector into the parameters.
     *
     * @param vector vector with as many elements as the parameters together
     * @param parameters the parameters
     */
    public static void vectorToParameters(Tensor vector, Iterable<Tensor> parameters) {
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            long start = 0;
            for (Tensor parameter : parameters) {
                long count = parameter.numel();
                parameter.copy_(vector.narrow(0, start, count).viewAs(parameter));
                start += count;
            }
        }
    }

    /**
     * Packs padded sequences, sorted by decreasing length.
     *
     * @param input tensor of shape {@code (T, N, *)}
     * @param lengths length of each sequence, int64
     * @return the packed sequences
     */
    public static PackedSequence packPaddedSequence(Tensor input, Tensor lengths) {
        return packPaddedSequence(input, lengths, false, true);
    }

    /**
     * Packs padded sequences.
     *
     * @param input tensor of shape {@code (T, N, *)}, or {@code (N, T, *)}
     * @param lengths length of each sequence, int64
     * @param batchFirst whether the batch is the first dimension
     * @param enforceSorted whether the lengths must be decreasing; otherwise the sequences are sorted
     * @return the packed sequences
     */
    public static PackedSequence packPaddedSequence(Tensor input, Tensor lengths, boolean batchFirst, boolean enforceSorted) {
        Tensor sequences = input;
        Tensor falling = lengths.to(DType.INT64);
        Tensor sorted = null;
        Tensor unsorted = null;
        if (!enforceSorted) {
            Results.ValuesIndices order = falling.sort(-1, true);
            falling = order.values();
            sorted = order.indices();
            unsorted = invertPermutation(sorted);
            sequences = input.indexSelect(batchFirst ? 0 : 1, sorted);
        }
        Object[] packed = Library.call("aten::_pack_padded_sequence", sequences, falling, batchFirst);
        return new PackedSequence((Tensor) packed[0], (Tensor) packed[1], sorted, unsorted);
    }

    /**
     * Inverts a permutation.
     *
     * @param permutation a permutation
     * @return the inverse permutation
     */
    public static Tensor invertPermutation(Tensor permutation) {
        Tensor places = Torch.arange(permutation.numel(), TensorOptions.of(DType.INT64).withDevice(permutation.device()));
        return Torch.emptyLike(permutation).scatter_(0, permutation, places);
    }

    /**
     * Padded sequences and their lengths.
     *
     * @param output tensor of shape {@code (T, N, *)}, or {@code (N, T, *)}
     * @param lengths length of each sequence
     */
    public record Padded(Tensor output, Tensor lengths) {}

    /**
     * Unpacks sequences, padded with zeros.
     *
     * @param sequence the packed sequences
     * @return the padded tensor and the lengths
     */
    public static Padded padPackedSequence(PackedSequence sequence) {
        return padPackedSequence(sequence, false, 0, -1);
    }

    /**
     * Unpacks sequences.
     *
     * @param sequence the packed sequences
     * @param batchFirst whether the batch becomes the first dimension
     * @param paddingValue padding value
     * @param totalLength number of time steps of the output; -1 for the length of the longest sequence
     * @return the padded tensor and the lengths
     */
    public static Padded padPackedSequence(PackedSequence sequence, boolean batchFirst, double paddingValue, long totalLength) {
        long longest = sequence.batchSizes().size(0);
        if (totalLength != -1 && totalLength < longest) {
            throw new TensorValueException("Expected total_length to be at least the length of the longest sequence in input, but got"
                + " total_length=" + totalLength + " and max sequence length being " + longest);
        }
        Object[] padded = Library.call("aten::_pad_packed_sequence", sequence.data(), sequence.batchSizes(), batchFirst, paddingValue,
            totalLength == -1 ? longest : totalLength);
        Tensor output = (Tensor) padded[0];
        Tensor lengths = (Tensor) padded[1];
        Tensor order = sequence.unsortedIndices();
        return order == null
            ? new Padded(output, lengths)
            : new Padded(output.indexSelect(batchFirst ? 0 : 1, order), lengths.indexSelect(0, order.to(Device.CPU, DType.INT64)));
    }

    /**
     * Stacks sequences of different lengths in one tensor, padded with zeros.
     *
     * @param sequences sequences of shape {@code (L, *)}
     * @return tensor of shape {@code (T, N, *)}, where {@code T} is the longest length
     */
    public static Tensor padSequence(List<Tensor> sequences) {
        return padSequence(sequences, false, 0);
    }

    /**
     * Stacks sequences of different lengths in one padded tensor.
     *
     * @param sequences sequences of shape {@code (L, *)}
     * @param batchFirst whether the batch becomes the first dimension
     * @param paddingValue padding value
     * @return tensor of shape {@code (T, N, *)}, or {@code (N, T, *)}
     */
    public static Tensor padSequence(List<Tensor> sequences, boolean batchFirst, double paddingValue) {
        return Torch.padSequence(sequences.toArray(Tensor[]::new), batchFirst, paddingValue);
    }

    /**
     * Packs sequences.
     *
     * @param sequences sequences of shape {@code (L, *)}
     * @param enforceSorted whether the lengths must be decreasing; otherwise the sequences are sorted
     * @return the packed sequences
     */
    public static PackedSequence packSequence(List<Tensor> sequences, boolean enforceSorted) {
        long[] lengths = sequences.stream().mapToLong(sequence -> sequence.size(0)).toArray();
        return packPaddedSequence(padSequence(sequences), Tensor.of(lengths), false, enforceSorted);
    }
}
