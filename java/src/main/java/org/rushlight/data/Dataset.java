package org.rushlight.data;

import java.util.function.Function;

/**
 * Examples by their number. {@link #get} may be called from several threads at once.
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
 * @param <E> an example
 */
public interface Dataset<E> extends AutoCloseable {
    /**
     * One example. What it makes joins the innermost scope.
     *
     * @param index its number, from 0 on
     * @return the example
     */
    E get(long index);

    /**
     * Number of examples.
     *
     * @return the number
     */
    long size();

    /**
     * The same examples, transformed when they are asked for.
     *
     * @param transform what becomes of an example; several threads may call it
     * @param <R> what it becomes
     * @return a dataset over this one, which it closes
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

    /** Frees what the dataset holds. */
    @Override
    default void close() {}
}
