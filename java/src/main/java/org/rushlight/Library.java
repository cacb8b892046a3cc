package org.rushlight;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;
import org.rushlight.internal.Upcalls;

/**
 * Calls operators by name, and defines operators written in Java, like {@code TORCH_LIBRARY} in C++. Every language can
 * call them by name.
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
 * <p>Closing a library removes its operators.
 */
public final class Library implements AutoCloseable {
    private final String namespace;
    private final Map<String, Long> operators = new LinkedHashMap<>();
    private boolean closed;

    /** Dispatch key of a kernel. */
    public enum Key {
        /** Inputs on the CPU. */
        CPU,
        /** Inputs on a CUDA device. */
        CUDA,
        /** Inputs on the meta device: only shapes and dtypes are computed. */
        META,
        /** An input requires a gradient: the kernel records its own {@link AutogradFunction}. */
        AUTOGRAD,
        /** Composed of other operators: runs on any device and is differentiable. */
        COMPOSITE
    }

    /** A kernel in Java. Any thread may call it. */
    @FunctionalInterface
    public interface Kernel {
        /**
         * Computes the results. The arguments, and tensors created during the call except the results, are closed when
         * it returns.
         *
         * @param arguments all arguments of the schema in order, with defaults filled in
         * @return the result: a value of the schema's type, an {@code Object[]} for several, null for none;
         *     a tuple is an {@code Object[]} inside of one
         */
        @Nullable Object call(Arguments arguments);
    }

    /** The arguments of a kernel, by position in the schema. */
    public static final class Arguments {
        private final @Nullable Object[] values;

        Arguments(@Nullable Object[] values) {
            this.values = values;
        }

        /**
         * Returns the number of arguments.
         *
         * @return the number
         */
        public int size() {
            return values.length;
        }

        /**
         * Returns an argument of any type: a {@link Tensor}, {@link Scalar}, {@link String}, {@link DType}, {@link
         * Device}, {@code Tensor[]}, {@code long[]}, {@code double[]}, {@code boolean[]}, ...
         *
         * @param index its position
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
         * Returns a tensor argument.
         *
         * @param index its position
         * @return the tensor
         */
        public Tensor tensor(int index) {
            return as(index, Tensor.class);
        }

        /**
         * Returns a tensor list argument.
         *
         * @param index its position
         * @return the tensors; null elements are None
         */
        public @Nullable Tensor[] tensors(int index) {
            return as(index, Tensor[].class);
        }

        /**
         * Returns a number argument: {@code int}, {@code float}, {@code bool} or {@code Scalar}.
         *
         * @param index its position
         * @return the number
         */
        public Scalar number(int index) {
            return as(index, Scalar.class);
        }

        /**
         * Returns an integer list argument.
         *
         * @param index its position
         * @return the numbers
         */
        public long[] longs(int index) {
            return as(index, long[].class);
        }

        /**
         * Returns a floating-point list argument.
         *
         * @param index its position
         * @return the numbers
         */
        public double[] doubles(int index) {
            return as(index, double[].class);
        }

        /**
         * Returns a string argument.
         *
         * @param index its position
         * @return the string
         */
        public String string(int index) {
            return as(index, String.class);
        }
    }

    /**
     * Creates a library without operators.
     *
     * @param namespace namespace of its operators, the part before {@code ::}
     */
    public Library(String namespace) {
        if (!namespace.matches("\\w+")) {
            throw new TensorValueException("'" + namespace + "' is not a namespace");
        }
        this.namespace = namespace;
    }

    /**
     * Defines an operator, initially without a kernel.
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
     * Registers a kernel for an operator, replacing the previous one for the same key.
     *
     * @param name its name as in the schema, with the overload after a dot if it has one
     * @param key dispatch key of the kernel
     * @param kernel the kernel
     * @return this library
     * @throws NullPointerException if the kernel is null; use {@link #remove} to remove one
     */
    public synchronized Library implement(String name, Key key, Kernel kernel) {
        Objects.requireNonNull(kernel, () -> "the kernel of '" + name + "' for " + key + " is null");
        Upcalls.OfValues upcall = (numbers, strings) -> run(kernel, numbers, strings);
        NativeCore.opImplement(operator(name), key.ordinal(), upcall);
        return this;
    }

    @SuppressWarnings("try")
    private static Object[] run(Kernel kernel, long[] numbers, String[] strings) {
        @Nullable Object[] arguments = {};
        try (Scope scope = new Scope()) {
            arguments = Boxed.values(numbers, strings);
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
     * Removes the kernel for a key.
     *
     * @param name name of the operator, as in {@link #implement}
     * @param key dispatch key of the kernel
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

    /** Removes the operators. Closing twice is allowed. */
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
     * @param name {@code aten::add.Tensor}, {@code my::op}; without a namespace, one of PyTorch's operators
     * @param arguments arguments in schema order; missing ones take their defaults
     * @return the results
     */
    public static @Nullable Object[] call(String name, @Nullable Object... arguments) {
        return call(name, arguments, Map.of());
    }

    /**
     * Calls an operator by name, with keyword arguments.
     *
     * @param name {@code aten::add.Tensor}, {@code my::op}; without a namespace, one of PyTorch's operators
     * @param arguments positional arguments, in schema order
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
                base(name), overload(name), boxed.numbers(), boxed.strings(), keywords.keySet().toArray(String[]::new));
            return Boxed.values((long[]) results[0], (String[]) results[1]);
        } finally {
            NativeOwner.release(held);
        }
    }

    /**
     * Returns the schema of an operator.
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
