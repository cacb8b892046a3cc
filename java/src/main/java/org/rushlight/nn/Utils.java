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
 * Limits on gradients, parameters as one vector, and sequences of different lengths: {@code torch.nn.utils}.
 *
 * <pre>{@code
 * Tensor w = Torch.ones(4).requires_grad_(true);
 * w.mul(3).sum().backward();
 * System.out.println(Utils.clipGradNorm(List.of(w), 1)); // 6.0
 * System.out.println(w.grad().norm().itemFloat() <= 1); // true
 * }</pre>
 */
public final class Utils {
    private Utils() {}

    /**
     * Scales gradients down so that the Euclidean norm of all of them together is at most {@code maxNorm}.
     *
     * @param parameters whose gradients
     * @param maxNorm the limit
     * @return the norm before
     */
    public static double clipGradNorm(Iterable<Tensor> parameters, double maxNorm) {
        return clipGradNorm(parameters, maxNorm, 2, false);
    }

    /**
     * Scales gradients down so that the norm of all of them together is at most {@code maxNorm}.
     *
     * @param parameters whose gradients
     * @param maxNorm the limit
     * @param normType degree of the norm; infinity for the largest element
     * @param errorIfNonfinite throw if the norm is infinite or NaN
     * @return the norm before
     */
    public static double clipGradNorm(Iterable<Tensor> parameters, double maxNorm, double normType, boolean errorIfNonfinite) {
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            List<Tensor> gradients = gradients(parameters);
            if (gradients.isEmpty()) {
                return 0;
            }
            Tensor[] norms = gradients.stream().map(gradient -> Torch.linalg_vector_norm(gradient, normType)).toArray(Tensor[]::new);
            Tensor total = norms.length == 1 ? norms[0] : Torch.linalg_vector_norm(Torch.stack(norms), normType);
            double norm = total.item().doubleValue();
            if (errorIfNonfinite && !Double.isFinite(norm)) {
                throw new RushlightException("The total norm of order " + Repr.text(normType) + " for gradients from `parameters` is"
                    + " non-finite, so it cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway,"
                    + " set `error_if_nonfinite=False`");
            }
            Tensor scale = total.add(1e-6).reciprocal().mul(maxNorm).clamp_max(1.0);
            gradients.forEach(gradient -> gradient.mul_(scale));
            return norm;
        }
    }

    /**
     * Brings each element of the gradients into {@code [-value, value]}.
     *
     * @param parameters whose gradients
     * @param value the limit
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
     * All elements of the parameters, one parameter after the other.
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
     * Copies parts of a vector into the parameters.
     *
     * @param vector as many elements as the parameters have
     * @param parameters the parameters
     */
    public static void vectorToParameters(Tensor vector, Iterable<Tensor> parameters) {
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            long start = 0;
            for (Tensor parameter : parameters) {
                long count = parameter.numel();
                parameter.copy_(vector.narrow(0, start, count).view_as(parameter));
                start += count;
            }
        }
    }

    /**
     * Packs padded sequences of falling lengths.
     *
     * @param input {@code (step, batch, ...)}
     * @param lengths length of each sequence, int64
     * @return the sequences, packed
     */
    public static PackedSequence packPaddedSequence(Tensor input, Tensor lengths) {
        return packPaddedSequence(input, lengths, false, true);
    }

    /**
     * Packs padded sequences.
     *
     * @param input {@code (step, batch, ...)}, or {@code (batch, step, ...)}
     * @param lengths length of each sequence, int64
     * @param batchFirst the batch is the first dimension
     * @param enforceSorted the lengths must fall; else the sequences are sorted
     * @return the sequences, packed
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
            sequences = input.index_select(batchFirst ? 0 : 1, sorted);
        }
        Object[] packed = Library.call("aten::_pack_padded_sequence", sequences, falling, batchFirst);
        return new PackedSequence((Tensor) packed[0], (Tensor) packed[1], sorted, unsorted);
    }

    /**
     * Where each place went.
     *
     * @param permutation an order
     * @return the order that undoes it
     */
    public static Tensor invertPermutation(Tensor permutation) {
        Tensor places = Torch.arange(permutation.numel(), TensorOptions.of(DType.INT64).withDevice(permutation.device()));
        return Torch.empty_like(permutation).scatter_(0, permutation, places);
    }

    /**
     * Padded sequences.
     *
     * @param output {@code (step, batch, ...)}, or {@code (batch, step, ...)}
     * @param lengths length of each sequence
     */
    public record Padded(Tensor output, Tensor lengths) {}

    /**
     * Pads packed sequences with zeros.
     *
     * @param sequence the sequences
     * @return one tensor, and the lengths
     */
    public static Padded padPackedSequence(PackedSequence sequence) {
        return padPackedSequence(sequence, false, 0, -1);
    }

    /**
     * Pads packed sequences.
     *
     * @param sequence the sequences
     * @param batchFirst the batch becomes the first dimension
     * @param paddingValue what stands behind the end of a sequence
     * @param totalLength steps of the output; -1 for those of the longest sequence
     * @return one tensor, and the lengths
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
            : new Padded(output.index_select(batchFirst ? 0 : 1, order), lengths.index_select(0, order.to(Device.CPU, DType.INT64)));
    }

    /**
     * Sequences side by side in one tensor, the short ones padded with zeros.
     *
     * @param sequences sequences of {@code (step, ...)}
     * @return {@code (longest, batch, ...)}
     */
    public static Tensor padSequence(List<Tensor> sequences) {
        return padSequence(sequences, false, 0);
    }

    /**
     * Sequences side by side in one tensor, the short ones padded.
     *
     * @param sequences sequences of {@code (step, ...)}
     * @param batchFirst the batch becomes the first dimension
     * @param paddingValue what stands behind the end of a sequence
     * @return {@code (longest, batch, ...)}, or {@code (batch, longest, ...)}
     */
    public static Tensor padSequence(List<Tensor> sequences, boolean batchFirst, double paddingValue) {
        return Torch.pad_sequence(sequences.toArray(Tensor[]::new), batchFirst, paddingValue);
    }

    /**
     * Packs sequences.
     *
     * @param sequences sequences of {@code (step, ...)}
     * @param enforceSorted the lengths must fall; else the sequences are sorted
     * @return the sequences, packed
     */
    public static PackedSequence packSequence(List<Tensor> sequences, boolean enforceSorted) {
        long[] lengths = sequences.stream().mapToLong(sequence -> sequence.size(0)).toArray();
        return packPaddedSequence(padSequence(sequences), Tensor.of(lengths), false, enforceSorted);
    }
}
