package org.rushlight.data;

import java.util.function.Function;

/**
 * A collection of examples accessed by index. Several threads may call {@link #get} at once.
 *
 * <pre>{@code
 * Dataset<Example> squares = new Dataset<>() {
 *     @Override
 *     public Example get(long index) {
 *         return new Example(Tensor.of((float) index), Tensor.of((float) (index * index)));
 *     }
 *
 *     @Override
 *     public long size() {
 *         return 10;
 *     }
 * };
 * System.out.println(squares.get(3).target()); // tensor([9.])
 * }</pre>
 *
 * @param <E> the type of an example
 */
public interface Dataset<E> extends AutoCloseable {
    /**
     * Returns an example. Tensors created for it join the innermost scope.
     *
     * @param index index of the example, starting at 0
     * @return the example
     */
    E get(long index);

    /**
     * Returns the number of examples.
     *
     * @return the number
     */
    long size();

    /**
     * Returns the same examples with a transform that is applied on access.
     *
     * @param transform the transform; several threads may call it
     * @param <R> the type of the transformed example
     * @return a dataset that wraps this one and closes it
     */
    default <R> Dataset<R> map(Function<? super E, ? extends R> transform) {
        Dataset<E> source = this;
        return new Dataset<>() {
            @Override
            public R get(long index) {
                return transform.apply(source.get(index));
            }

            @Override
            public long size() {
                return source.size();
            }

            @Override
            public void close() {
                source.close();
            }
        };
    }

    /** Frees the tensors of the dataset. */
    @Override
    default void close() {}
}
