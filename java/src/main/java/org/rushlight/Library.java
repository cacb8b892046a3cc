package org.rushlight;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;
import org.rushlight.internal.Upcalls;

/**
 * Operators by name, and operators written in Java, as {@code TORCH_LIBRARY} defines them in C++: whoever calls by name, from any language,
 * calls them.
 *
 * <pre>{@code
 * try (Library library = new Library("my")) {
 *     library.define("scaled_add(Tensor self, Tensor other, float scale=1) -> Tensor");
 *     library.implement("scaled_add", Library.Key.COMPOSITE,
 *         arguments -> arguments.tensor(0).add(arguments.tensor(1).mul(arguments.number(2))));
 *     Tensor y = (Tensor) Library.call("my::scaled_add", a, b, 2.0)[0];
 * }
 * }</pre>
 *
 * <p>Closing a library takes its operators away.
 */
public final class Library implements AutoCloseable {
    private final String namespace;
    private final Map<String, Long> operators = new LinkedHashMap<>();
    private boolean closed;

    /** What a kernel is for. */
    public enum Key {
        /** Inputs on the CPU. */
        CPU,
        /** Inputs on a CUDA device. */
        CUDA,
        /** Inputs on the meta device: only shapes and dtypes are computed. */
        META,
        /** Some input requires a gradient: the kernel records an {@link AutogradFunction} of its own. */
        AUTOGRAD,
        /** Made of other operators: for any device, and the gradient comes for free. */
        COMPOSITE
    }

    /** A kernel in Java. It may be called from any thread. */
    @FunctionalInterface
    public interface Kernel {
        /**
         * Computes the results. Its arguments, and tensors that it makes, are closed when it returns, but for the results.
         *
         * @param arguments every argument of the schema in order, defaults filled in
         * @return the result: a value that the schema names, an {@code Object[]} for several, null for none
         */
        @Nullable Object call(Arguments arguments);
    }

    /** The arguments of a kernel, by their place in the schema. */
    public static final class Arguments {
        private final @Nullable Object[] values;

        Arguments(@Nullable Object[] values) {
            this.values = values;
        }

        /**
         * Number of arguments.
         *
         * @return the number
         */
        public int size() {
            return values.length;
        }

        /**
         * An argument of any kind: a {@link Tensor}, {@link Scalar}, {@link String}, {@link DType}, {@link Device}, {@code Tensor[]},
         * {@code long[]}, {@code double[]}, {@code boolean[]}, ...
         *
         * @param index its place
         * @return the value, or null for None
         */
        public @Nullable Object get(int index) {
            return values[index];
        }

        private <T> T as(int index, Class<T> type) {
            Object value = values[index];
            if (!type.isInstance(value)) {
                throw new TensorTypeException("argument " + index + " is "
                    + (value == null ? "None" : "a " + value.getClass().getSimpleName()) + ", not a " + type.getSimpleName());
            }
            return type.cast(value);
        }

        /**
         * A tensor.
         *
         * @param index its place
         * @return the tensor
         */
        public Tensor tensor(int index) {
            return as(index, Tensor.class);
        }

        /**
         * Tensors.
         *
         * @param index their place
         * @return the tensors; null elements are None
         */
        public @Nullable Tensor[] tensors(int index) {
            return as(index, Tensor[].class);
        }

        /**
         * A number: {@code int}, {@code float}, {@code bool} or {@code Scalar}.
         *
         * @param index its place
         * @return the number
         */
        public Scalar number(int index) {
            return as(index, Scalar.class);
        }

        /**
         * Integers.
         *
         * @param index their place
         * @return the numbers
         */
        public long[] longs(int index) {
            return as(index, long[].class);
        }

        /**
         * Real numbers.
         *
         * @param index their place
         * @return the numbers
         */
        public double[] doubles(int index) {
            return as(index, double[].class);
        }

        /**
         * A text.
         *
         * @param index its place
         * @return the text
         */
        public String string(int index) {
            return as(index, String.class);
        }
    }

    /**
     * A library without operators.
     *
     * @param namespace what stands before {@code ::} in the names of its operators
     */
    public Library(String namespace) {
        if (!namespace.matches("\\w+")) {
            throw new TensorValueException("'" + namespace + "' is not a namespace");
        }
        this.namespace = namespace;
    }

    /**
     * Defines an operator. It has no kernel yet.
     *
     * @param schema its name and signature in PyTorch's grammar, without the namespace
     * @return this library
     */
    public synchronized Library define(String schema) {
        check();
        int end = schema.indexOf('(');
        if (end < 0) {
            throw new TensorValueException("'" + schema + "' is not a schema: name(Tensor self, ...) -> Tensor");
        }
        long operator = NativeCore.opDefine(namespace + "::" + schema.strip());
        operators.put(schema.substring(0, end).strip(), operator);
        return this;
    }

    /**
     * Gives an operator a kernel, in place of a former one for the same key.
     *
     * @param name its name as in the schema, with the overload after a dot, if it has one
     * @param key what the kernel is for
     * @param kernel the kernel
     * @return this library
     * @throws NullPointerException if the kernel is null: {@link #remove} takes one away
     */
    public synchronized Library implement(String name, Key key, Kernel kernel) {
        Objects.requireNonNull(kernel, () -> "the kernel of '" + name + "' for " + key + " is null");
        Upcalls.OfValues upcall = (numbers, texts) -> run(kernel, numbers, texts);
        NativeCore.opImplement(operator(name), key.ordinal(), upcall);
        return this;
    }

    @SuppressWarnings("try")
    private static Object[] run(Kernel kernel, long[] numbers, String[] texts) {
        @Nullable Object[] arguments = {};
        try (Scope scope = new Scope()) {
            arguments = Boxed.values(numbers, texts);
            Object result = kernel.call(new Arguments(arguments.clone()));
            if (result instanceof Object[] several && !(result instanceof Tensor[]) && !(result instanceof Number[])) {
                return Boxed.results(several);
            }
            return result == null ? Boxed.results() : Boxed.results(result);
        } finally {
            for (Object argument : arguments) {
                if (argument instanceof Generator generator) {
                    generator.close();
                }
            }
        }
    }

    /**
     * Takes the kernel for a key away.
     *
     * @param name name of the operator, as in {@link #implement}
     * @param key what the kernel is for
     */
    public synchronized void remove(String name, Key key) {
        NativeCore.opImplement(operator(name), key.ordinal(), null);
    }

    private long operator(String name) {
        check();
        Long operator = operators.get(name);
        if (operator == null) {
            throw new UnknownOperatorException("the library '" + namespace + "' has no operator '" + name + "'");
        }
        return operator;
    }

    private void check() {
        if (closed) {
            throw new IllegalStateException("the library '" + namespace + "' is closed");
        }
    }

    /** Takes the operators away. Closing twice is allowed. */
    @Override
    public synchronized void close() {
        closed = true;
        for (var operators = this.operators.values().iterator(); operators.hasNext();) {
            NativeCore.opUndefine(operators.next());
            operators.remove();
        }
    }

    /**
     * Calls an operator by name.
     *
     * @param name {@code aten::add.Tensor}, {@code my::op}; without a namespace one of PyTorch's
     * @param arguments arguments in the order of the schema; those that are missing take their defaults
     * @return the results
     */
    public static @Nullable Object[] call(String name, @Nullable Object... arguments) {
        return call(name, arguments, Map.of());
    }

    /**
     * Calls an operator by name, with some arguments by name.
     *
     * @param name {@code aten::add.Tensor}, {@code my::op}; without a namespace one of PyTorch's
     * @param arguments the first arguments, in the order of the schema
     * @param keywords further arguments by their names in the schema
     * @return the results
     */
    public static @Nullable Object[] call(String name, @Nullable Object[] arguments, Map<String, ? extends @Nullable Object> keywords) {
        @Nullable Object[] all = java.util.Arrays.copyOf(arguments, arguments.length + keywords.size());
        int at = arguments.length;
        for (Object value : keywords.values()) {
            all[at++] = value;
        }
        Boxed boxed = Boxed.arguments(all);
        NativeOwner[] held = boxed.held();
        NativeOwner.acquire(held);
        try {
            Object[] results = NativeCore.opCall(
                base(name), overload(name), boxed.numbers(), boxed.texts(), keywords.keySet().toArray(String[]::new));
            return Boxed.values((long[]) results[0], (String[]) results[1]);
        } finally {
            NativeOwner.release(held);
        }
    }

    /**
     * The schema of an operator.
     *
     * @param name its name, as in {@link #call(String, Object...)}
     * @return its signature in PyTorch's grammar
     */
    public static String schema(String name) {
        return NativeCore.opSchema(base(name), overload(name));
    }

    private static String base(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }

    private static String overload(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? "" : name.substring(dot + 1);
    }
}
