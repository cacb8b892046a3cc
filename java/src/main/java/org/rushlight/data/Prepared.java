package org.rushlight.data;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.rushlight.Scope;
import org.rushlight.Tensor;

/**
 * A batch, and the tensors that were created for it: these belong to no scope, but to the loader. Other tensors belong
 * to the dataset.
 *
 * @param batch the batch
 * @param number its index in the epoch
 * @param examples number of examples in it
 * @param made the tensors created for it
 * @param <B> the class of the batch
 */
record Prepared<B>(B batch, int number, int examples, List<Tensor> made) {
    /** Name of a tensor of a past batch in messages. */
    private static final String OVER = "of an earlier batch of a DataLoader";

    /** Creates a batch, and frees the temporaries. */
    static <B> Prepared<B> of(int number, int examples, Supplier<? extends B> make) {
        try (Scope scope = new Scope()) {
            B batch = make.get();
            List<Tensor> made = new ArrayList<>();
            TensorTree.forEach(batch, tensor -> {
                if (scope.contains(tensor)) {
                    made.add(tensor);
                }
            });
            // Only after all were found: on an error the tensors are freed.
            made.forEach(Tensor::unscoped);
            return new Prepared<>(batch, number, examples, made);
        }
    }

    void free() {
        for (Tensor tensor : made) {
            try {
                tensor.named(OVER);
            } catch (IllegalStateException e) {
                continue; // The caller has closed it.
            }
            tensor.close();
        }
    }
}
