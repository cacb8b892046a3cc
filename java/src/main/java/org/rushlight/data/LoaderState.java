package org.rushlight.data;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rushlight.DType;
import org.rushlight.Tensor;

/**
 * The position of a {@link DataLoader} in an epoch.
 *
 * @param batches number of batches that were returned
 * @param examples number of examples in them
 * @param rest the indices of the examples of each remaining batch
 */
record LoaderState(long batches, long examples, List<long[]> rest) {
    /** No epoch runs, or it has ended. */
    static final LoaderState NONE = new LoaderState(0, 0, List.of());

    Map<String, Tensor> tensors() {
        long[] sizes = rest.stream().mapToLong(batch -> batch.length).toArray();
        long[] indices = rest.stream().flatMapToLong(Arrays::stream).toArray();
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("indices", Tensor.of(indices));
        tensors.put("batch_sizes", Tensor.of(sizes));
        tensors.put("batches", Tensor.of(new long[] {batches}, new long[0]));
        tensors.put("examples", Tensor.of(new long[] {examples}, new long[0]));
        return tensors;
    }

    /** Reads a position, which may come from a file; {@code size} is the number of examples of the dataset. */
    static LoaderState of(Map<String, Tensor> tensors, long size) {
        long[] indices = numbers(tensors, "indices", 1);
        long[] sizes = numbers(tensors, "batch_sizes", 1);
        long batches = numbers(tensors, "batches", 0)[0];
        long examples = numbers(tensors, "examples", 0)[0];
        if (tensors.size() != 4 || batches < 0 || examples < 0) {
            throw wrong(tensors);
        }
        for (long index : indices) {
            if (index < 0 || index >= size) {
                throw new IllegalArgumentException("the position of a DataLoader has the index " + index + ", but the dataset has " + size + " examples");
            }
        }
        List<long[]> rest = new ArrayList<>();
        int at = 0;
        for (long length : sizes) {
            if (length < 0 || length > indices.length - at) {
                throw wrong(tensors);
            }
            rest.add(Arrays.copyOfRange(indices, at, at += (int) length));
        }
        if (at != indices.length) {
            throw wrong(tensors);
        }
        return new LoaderState(batches, examples, rest);
    }

    private static long[] numbers(Map<String, Tensor> tensors, String name, int dim) {
        @Nullable Tensor tensor = tensors.get(name);
        if (tensor == null || tensor.dim() != dim || tensor.dtype() != DType.INT64) {
            throw wrong(tensors);
        }
        return tensor.toLongArray();
    }

    private static IllegalArgumentException wrong(Map<String, Tensor> tensors) {
        return new IllegalArgumentException("this is not the position of a DataLoader: " + tensors.keySet());
    }
}
