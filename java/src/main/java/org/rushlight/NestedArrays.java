package org.rushlight;

import java.lang.reflect.Array;
import java.util.Map;
import org.rushlight.internal.NativeCore;

/** Reads nested arrays as the elements of a tensor. */
final class NestedArrays {
    /** The dtype for each type of an innermost array. */
    private static final Map<Class<?>, DType> DTYPES = Map.of(float.class, DType.FLOAT32, double.class, DType.FLOAT64, int.class, DType.INT32,
        long.class, DType.INT64, short.class, DType.INT16, byte.class, DType.UINT8, boolean.class, DType.BOOL);

    private final long[] shape;
    /** Returns the elements, in a one-dimensional array. */
    private final Object flat;
    private int filled;

    private NestedArrays(Class<?> element, long[] shape, int count) {
        this.shape = shape;
        this.flat = Array.newInstance(element, count);
    }

    static Tensor tensor(Object[] nested) {
        Class<?> element = nested.getClass();
        int dims = 0;
        while (element.isArray()) {
            dims++;
            element = element.getComponentType();
        }
        DType dtype = DTYPES.get(element);
        if (dtype == null) {
            throw new TensorTypeException("a tensor is made of arrays of numbers or booleans (float[][], long[][][]), not of "
                + nested.getClass().getSimpleName());
        }
        long[] shape = shape(nested, dims);
        NestedArrays arrays = new NestedArrays(element, shape, count(shape));
        arrays.fill(nested, 0);
        return Tensor.wrap(NativeCore.fromArray(arrays.flat, shape, dtype.code()));
    }

    /** Returns the length of the first array at each depth. */
    private static long[] shape(Object nested, int dims) {
        long[] shape = new long[dims];
        Object first = nested;
        for (int dim = 0; dim < dims && first != null; dim++) {
            shape[dim] = Array.getLength(first);
            first = dim + 1 < dims && shape[dim] > 0 ? Array.get(first, 0) : null;
        }
        return shape;
    }

    private static int count(long[] shape) {
        long count = 1;
        for (long size : shape) {
            count *= size;
            if (count > Integer.MAX_VALUE - 8) {
                throw new TensorValueException("nested arrays of more than " + (Integer.MAX_VALUE - 8) + " elements do not fit into one");
            }
        }
        return (int) count;
    }

    private void fill(Object array, int dim) {
        if (array == null) {
            throw new TensorValueException("an array at dim " + dim + " is null");
        }
        int length = Array.getLength(array);
        if (length != shape[dim]) {
            throw new TensorValueException("expected sequence of length " + shape[dim] + " at dim " + dim + " (got " + length + ")");
        }
        if (dim + 1 == shape.length) {
            System.arraycopy(array, 0, flat, filled, length);
            filled += length;
            return;
        }
        for (Object inner : (Object[]) array) {
            fill(inner, dim + 1);
        }
    }
}
