package org.rushlight.nn;

import java.util.Arrays;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/** Sizes per dimension, and other checks that modules share. */
final class Sizes {
    /** Replaces -1 in an output size by the input size. */
    static final long OWN = -1;

    private Sizes() {}

    /** Expands a single number to all dimensions. */
    static long[] expand(String name, long[] values, int dims) {
        if (values.length == dims) {
            return values.clone();
        }
        if (values.length != 1) {
            throw new TensorValueException("Expected 1 or " + dims + " values for " + name + ", but instead got " + values.length);
        }
        long[] all = new long[dims];
        Arrays.fill(all, values[0]);
        return all;
    }

    static boolean all(long[] values, long value) {
        return Arrays.stream(values).allMatch(each -> each == value);
    }

    /** Checks a row index of a table; negative counts from the end. */
    static long row(long index, long rows) {
        if (index >= rows || index < -rows) {
            throw new TensorValueException("Padding_idx must be within num_embeddings");
        }
        return index < 0 ? index + rows : index;
    }

    /** Formats the shape as PyTorch does. */
    static String text(Tensor tensor) {
        return Arrays.toString(tensor.shape());
    }

    /** Checks that an input has the number of dimensions that the layer accepts. */
    static void checkDim(Tensor input, int least, int most) {
        int dim = input.dim();
        if (dim < least || dim > most) {
            throw new TensorValueException(
                "expected " + least + "D" + (most == least ? "" : " or " + most + "D") + " input (got " + dim + "D input)");
        }
    }
}
