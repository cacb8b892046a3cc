package org.rushlight;

import java.util.ArrayList;
import java.util.List;

/** Basic indexing, in terms of the view operators. */
final class Indexing {
    private Indexing() {}

    static Tensor get(Tensor tensor, Index... entries) {
        long named = 0;
        boolean ellipsis = false;
        for (Index entry : entries) {
            if (entry instanceof Index.Rest) {
                if (ellipsis) {
                    throw new TensorIndexException("an index can only have a single ellipsis ('...')");
                }
                ellipsis = true;
            } else if (!(entry instanceof Index.NewAxis)) {
                named++;
            }
        }
        int ndim = tensor.dim();
        if (named > ndim) {
            throw new TensorIndexException("too many indices for tensor of dimension " + ndim);
        }
        List<Tensor> steps = new ArrayList<>();
        try {
            step(tensor, ndim - named, steps, entries);
        } catch (RuntimeException e) {
            steps.forEach(Tensor::close);
            throw e;
        }
        if (steps.isEmpty()) {
            return tensor.share();
        }
        // The views in between are nobody's: the last one has its own share of the storage.
        Tensor result = steps.remove(steps.size() - 1);
        steps.forEach(Tensor::close);
        return result;
    }

    /** One view after the other. An ellipsis stands for {@code rest} dimensions. */
    private static void step(Tensor tensor, long rest, List<Tensor> steps, Index... entries) {
        Tensor result = tensor;
        long dim = 0;
        for (Index entry : entries) {
            Tensor next = result;
            if (entry instanceof Index.At at) {
                next = result.select(dim, at.position());
            } else if (entry instanceof Index.Slice slice) {
                if (slice.step() < 1) {
                    throw new TensorValueException("step must be greater than zero");
                }
                if (slice.start() != null || slice.end() != null || slice.step() != 1) {
                    next = result.slice(dim, slice.start(), slice.end(), slice.step());
                }
                dim++;
            } else if (entry instanceof Index.NewAxis) {
                next = result.unsqueeze(dim);
                dim++;
            } else {
                dim += rest;
            }
            if (next != result) {
                steps.add(next);
                result = next;
            }
        }
    }
}
