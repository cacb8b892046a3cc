package org.rushlight;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Applies an index: positions, slices and new dimensions create a view, and the remaining entries (tensors, and
 * booleans as tensors) go to the operators {@code index} and {@code index_put_}. Closing it frees the temporaries.
 */
final class Indexing implements AutoCloseable {
    private final Tensor self;
    /** The view created by the plain entries so far. */
    private Tensor view;
    /** The dimension of the view to which the next entry applies. */
    private int dim;
    /** For each dimension of the view up to the last tensor, the tensor that indexes it, or null; a mask is listed once. */
    private final List<@Nullable Tensor> places = new ArrayList<>();
    /** Number of dimensions without an entry in that list because a preceding mask covers them. */
    private int behindMasks;
    private final List<Tensor> made = new ArrayList<>();

    private Indexing(Tensor self) {
        this.self = self;
        this.view = self;
    }

    static Tensor get(Tensor tensor, Index... entries) {
        try (Indexing indexing = new Indexing(tensor)) {
            indexing.apply(entries);
            return indexing.places.isEmpty() ? indexing.takeView() : indexing.view.index(indexing.tensors());
        }
    }

    static void set(Tensor tensor, Tensor value, Index... entries) {
        try (Indexing indexing = new Indexing(tensor)) {
            indexing.apply(entries);
            if (indexing.places.isEmpty()) {
                indexing.view.copy_(indexing.withoutLeadingOnes(value, indexing.view.dim()));
            } else {
                indexing.view.indexPut_(indexing.tensors(), indexing.withoutLeadingOnes(value, 0));
            }
        }
    }

    static void set(Tensor tensor, Number value, Index... entries) {
        try (Indexing indexing = new Indexing(tensor)) {
            indexing.apply(entries);
            if (indexing.places.isEmpty()) {
                indexing.view.fill_(value);
            } else {
                indexing.view.indexPut_(indexing.tensors(), indexing.holding(Torch.full(new long[0], value, tensor.options())));
            }
        }
    }

    private void apply(Index... entries) {
        int ndim = self.dim();
        int rest = ndim - consumed(entries);
        if (rest < 0) {
            throw new TensorIndexException("too many indices for tensor of dimension " + ndim);
        }
        for (Index entry : entries) {
            if (entry instanceof Index.At at) {
                replaceView(view.select(dim, at.position()));
            } else if (entry instanceof Index.Slice slice) {
                if (!slice.equals(Index.ALL)) {
                    replaceView(view.slice(dim, slice.start(), slice.end(), slice.step()));
                }
                dim++;
            } else if (entry instanceof Index.None) {
                replaceView(view.unsqueeze(dim));
                dim++;
            } else if (entry instanceof Index.Ellipsis) {
                dim += rest;
            } else if (entry instanceof Index.Bool bool) {
                everythingOrNothing(bool.all());
            } else if (entry instanceof Index.Places at) {
                at(at.places());
            } else {
                throw new NullPointerException("an entry of the index is null");
            }
        }
    }

    /** Number of dimensions that the entries index. */
    private static int consumed(Index... entries) {
        int consumed = 0;
        boolean ellipsis = false;
        for (Index entry : entries) {
            if (entry instanceof Index.Ellipsis) {
                if (ellipsis) {
                    throw new TensorIndexException("an index can only have a single ellipsis ('...')");
                }
                ellipsis = true;
            } else if (entry instanceof Index.Places at && isMask(at.places())) {
                consumed += at.places().dim();
            } else if (!(entry instanceof Index.None || entry instanceof Index.Bool)) {
                consumed++;
            }
        }
        return consumed;
    }

    private static boolean isMask(Tensor places) {
        return places.dtype() == DType.BOOL || places.dtype() == DType.UINT8;
    }

    private void at(Tensor tensor) {
        int width = tensor.dim();
        if (!isMask(tensor)) {
            if (width == 0 && !tensor.isFloatingPoint() && !tensor.isComplex()) {
                replaceView(view.select(dim, tensor.itemLong()));
            } else {
                leave(tensor, 1);
            }
        } else if (width == 0) {
            everythingOrNothing(tensor.itemBoolean());
        } else {
            leave(tensor, width);
        }
    }

    /** Adds a tensor for {@code index}, which covers some dimensions of the view. */
    private void leave(Tensor tensor, int dims) {
        while (places.size() + behindMasks < dim) {
            places.add(null);
        }
        places.add(tensor);
        dim += dims;
        behindMasks += dims - 1;
    }

    /** Converts a boolean to positions in a dimension of size 1: all or nothing. */
    private void everythingOrNothing(boolean all) {
        replaceView(view.unsqueeze(dim));
        leave(holding(Torch.zeros(new long[] {all ? 1 : 0}, TensorOptions.of(DType.INT64).withDevice(self.device()))), 1);
    }

    private @Nullable Tensor[] tensors() {
        return places.toArray(Tensor[]::new);
    }

    private void replaceView(Tensor next) {
        view = holding(next);
    }

    private Tensor holding(Tensor tensor) {
        made.add(tensor);
        return tensor;
    }

    private Tensor takeView() {
        if (view == self) {
            return self.share();
        }
        made.remove(made.size() - 1);
        return view;
    }

    /** Removes leading dimensions of size 1 that a value has in addition to its target. */
    private Tensor withoutLeadingOnes(Tensor value, int dims) {
        Tensor result = value;
        while (result.dim() > dims && result.size(0) == 1) {
            result = holding(result.squeeze(0));
        }
        return result;
    }

    @Override
    public void close() {
        made.forEach(Tensor::close);
    }
}
