package org.rushlight.data;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.rushlight.Scope;
import org.rushlight.Tensor;

/**
 * A batch, and those of its tensors that were made for it: they belong to no scope, but to the loader. Others are the dataset's.
 *
 * @param batch the batch
 * @param examples how many examples it is of
 * @param made the tensors
 * @param <B> the class of the batch
 */
record Prepared<B>(B batch, int examples, List<Tensor> made) {
    /** What the messages of a tensor call it when its batch is over. */
    private static final String OVER = "of an earlier batch of a DataLoader";

    /** Makes a batch, and frees what was made on the way. */
    static <B> Prepared<B> of(int examples, Supplier<? extends B> make) {
        try (Scope scope = new Scope()) {
            B batch = make.get();
            List<Tensor> made = new ArrayList<>();
            TensorTree.forEach(batch, tensor -> {
                if (scope.contains(tensor)) {
                    made.add(tensor);
                }
            });
            // Not before all were found: what is refused on the way is freed.
            made.forEach(Tensor::unscoped);
            return new Prepared<>(batch, examples, made);
        }
    }

    void free() {
        for (Tensor tensor : made) {
            try {
                tensor.named(OVER);
            } catch (IllegalStateException e) {
                continue; // Its user has closed it.
            }
            tensor.close();
        }
    }
}
