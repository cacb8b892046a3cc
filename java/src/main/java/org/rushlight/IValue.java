package org.rushlight;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A value of a TorchScript program: an argument or a result of a method, or an attribute. Values are immutable, and any
 * number of threads may use one.
 *
 * <pre>{@code
 * IValue pair = IValue.tuple(Tensor.of(1f, 2f), "a");
 * System.out.println(pair.kind() + " " + pair.toTuple().get(1).toStr()); // TUPLE a
 * }</pre>
 *
 * <p>The tensors in a result belong to the innermost {@link Scope}, like those that operators return. {@link #close}
 * closes the tensors in a value at once. Any use of a closed value throws {@link IllegalStateException}.
 */
public final class IValue implements AutoCloseable {
    /** What a value is. */
    public enum Kind {
        /** None. */
        NONE,
        /** A tensor. */
        TENSOR,
        /** A boolean. */
        BOOL,
        /** An integer. Dtypes, layouts and memory formats are integers in programs. */
        INT,
        /** A floating-point number. */
        DOUBLE,
        /** A complex number. */
        COMPLEX,
        /** A string. */
        STRING,
        /** An element type, which only a {@link Checkpoint} has. */
        DTYPE,
        /** A device. */
        DEVICE,
        /** A random number generator. */
        GENERATOR,
        /** A list. */
        LIST,
        /** A tuple, with or without names. */
        TUPLE,
        /** A dict. */
        DICT
    }

    private final @Nullable Object content;
    private final Kind kind;
    private volatile boolean closed;

    private IValue(@Nullable Object content) {
        this.content = content;
        this.kind = kindOf(content);
    }

    private static Kind kindOf(@Nullable Object value) {
        if (value == null) {
            return Kind.NONE;
        }
        if (value instanceof Tensor) {
            return Kind.TENSOR;
        }
        if (value instanceof Scalar number) {
            return number.isBoolean() ? Kind.BOOL : number.isIntegral() ? Kind.INT : number.isComplex() ? Kind.COMPLEX : Kind.DOUBLE;
        }
        if (value instanceof String) {
            return Kind.STRING;
        }
        if (value instanceof DType) {
            return Kind.DTYPE;
        }
        if (value instanceof Device) {
            return Kind.DEVICE;
        }
        if (value instanceof Generator) {
            return Kind.GENERATOR;
        }
        if (value instanceof Map) {
            return Kind.DICT;
        }
        return value.getClass() == Object[].class ? Kind.TUPLE : Kind.LIST;
    }

    /**
     * Creates a value. Lists, arrays and maps are copied, tensors are shared.
     *
     * @param value null, a {@link Tensor}, a number ({@link Integer}, {@link Double}, {@link Scalar}, ...), a {@link
     *     Boolean}, a {@link String}, {@link DType}, {@link Layout}, {@link MemoryFormat}, {@link Device} or {@link
     *     Generator}; a {@link List} of values, {@code long[]}, {@code int[]}, {@code double[]}, {@code float[]}, {@code
     *     boolean[]}, {@code Tensor[]}, {@code String[]} or {@code Number[]} for a list; an {@code Object[]} for a tuple;
     *     a {@link Map} for a dict; or an {@code IValue}
     * @return the value
     * @throws TensorTypeException if programs have no such value
     */
    public static IValue of(@Nullable Object value) {
        return value instanceof IValue same ? same : new IValue(copy(value, Boxed.MAX_DEPTH));
    }

    /**
     * Creates a tuple.
     *
     * @param items its items, as in {@link #of}
     * @return the tuple
     */
    public static IValue tuple(@Nullable Object... items) {
        return of(Arrays.copyOf(items, items.length, Object[].class));
    }

    /** A value from the native side, which nobody else refers to. */
    static IValue received(@Nullable Object value) {
        return new IValue(value);
    }

    /** A copy that shares only immutable objects and tensors. */
    private static @Nullable Object copy(@Nullable Object value, int depth) {
        if (depth == 0) {
            throw new TensorTypeException("values are nested more than " + Boxed.MAX_DEPTH + " deep");
        }
        if (value == null || value instanceof Tensor || value instanceof String || value instanceof Device || value instanceof Generator) {
            return value;
        }
        if (value instanceof IValue boxed) {
            return boxed.content();
        }
        if (value instanceof Boolean truth) {
            return Scalar.of(truth);
        }
        if (value instanceof Number number) {
            return Scalar.of(number);
        }
        if (value instanceof DType dtype) {
            return Scalar.of(dtype.code());
        }
        if (value instanceof Layout layout) {
            return Scalar.of(layout.code());
        }
        if (value instanceof MemoryFormat format) {
            return Scalar.of(format.code());
        }
        return copyContainer(value, depth);
    }

    private static Object copyContainer(Object value, int depth) {
        if (value instanceof List<?> list) {
            List<@Nullable Object> items = new ArrayList<>(list.size());
            list.forEach(item -> items.add(copy(item, depth - 1)));
            return items;
        }
        if (value instanceof Map<?, ?> map) {
            Map<@Nullable Object, @Nullable Object> entries = new LinkedHashMap<>();
            map.forEach((key, item) -> entries.put(copy(key, depth - 1), copy(item, depth - 1)));
            return entries;
        }
        if (value instanceof long[] list) {
            return list.clone();
        }
        if (value instanceof double[] list) {
            return list.clone();
        }
        if (value instanceof boolean[] list) {
            return list.clone();
        }
        if (value instanceof int[] list) {
            return Arrays.stream(list).asLongStream().toArray();
        }
        if (value instanceof float[] list) {
            double[] wide = new double[list.length];
            Arrays.setAll(wide, index -> list[index]);
            return wide;
        }
        if (value instanceof Tensor[] list) {
            return list.clone();
        }
        if (value instanceof Number[] list) {
            return Arrays.stream(list).map(Scalar::of).toArray(Scalar[]::new);
        }
        if (value instanceof String[] list) {
            return list.clone();
        }
        if (value instanceof IValue[] list) {
            return copyContainer(Arrays.asList(list), depth);
        }
        if (value.getClass() == Object[].class) {
            @Nullable Object[] items = ((Object[]) value).clone();
            Arrays.setAll(items, index -> copy(items[index], depth - 1));
            return items;
        }
        throw new TensorTypeException("a " + value.getClass().getName() + " is no value of a program");
    }

    /** The value in the form that {@link Boxed} takes and returns. */
    @Nullable Object content() {
        if (closed) {
            throw new IllegalStateException("the value is closed");
        }
        return content;
    }

    /**
     * Returns what this value is.
     *
     * @return its kind
     */
    public Kind kind() {
        content();
        return kind;
    }

    private Object as(Kind wanted) {
        Object value = content();
        if (kind != wanted) {
            throw wrong(wanted.toString());
        }
        return Objects.requireNonNull(value);
    }

    private TensorTypeException wrong(String wanted) {
        return new TensorTypeException("the value is " + kind + ", not " + wanted);
    }

    /**
     * Returns whether this value is None.
     *
     * @return true for None
     */
    public boolean isNone() {
        return kind() == Kind.NONE;
    }

    /**
     * Returns whether this value is a tensor.
     *
     * @return true for a tensor
     */
    public boolean isTensor() {
        return kind() == Kind.TENSOR;
    }

    /**
     * Returns the tensor.
     *
     * @return the tensor that this value holds, not a copy
     * @throws TensorTypeException if this is no tensor
     */
    public Tensor toTensor() {
        return (Tensor) as(Kind.TENSOR);
    }

    /**
     * Returns the boolean.
     *
     * @return the boolean
     * @throws TensorTypeException if this is no boolean
     */
    public boolean toBool() {
        return ((Scalar) as(Kind.BOOL)).booleanValue();
    }

    /**
     * Returns the integer.
     *
     * @return the integer
     * @throws TensorTypeException if this is no integer
     */
    public long toLong() {
        return ((Scalar) as(Kind.INT)).longValue();
    }

    /**
     * Returns the floating-point number; an integer is converted.
     *
     * @return the number
     * @throws TensorTypeException if this is no integer or floating-point number
     */
    public double toDouble() {
        Object value = content();
        if (kind != Kind.INT && kind != Kind.DOUBLE) {
            throw wrong("DOUBLE");
        }
        return ((Scalar) Objects.requireNonNull(value)).doubleValue();
    }

    /**
     * Returns the element type.
     *
     * @return the element type
     * @throws TensorTypeException if this is none
     */
    public DType toDType() {
        return (DType) as(Kind.DTYPE);
    }

    /**
     * Returns the number of any kind: a boolean, an integer, a floating-point or a complex number.
     *
     * @return the number
     * @throws TensorTypeException if this is no number
     */
    public Scalar toScalar() {
        if (content() instanceof Scalar number) {
            return number;
        }
        throw wrong("a number");
    }

    /**
     * Returns the string.
     *
     * @return the string
     * @throws TensorTypeException if this is no string
     */
    public String toStr() {
        return (String) as(Kind.STRING);
    }

    /**
     * Returns the device.
     *
     * @return the device
     * @throws TensorTypeException if this is no device
     */
    public Device toDevice() {
        return (Device) as(Kind.DEVICE);
    }

    /**
     * Returns the items of the tuple.
     *
     * @return its items
     * @throws TensorTypeException if this is no tuple
     */
    public List<IValue> toTuple() {
        return Arrays.stream((@Nullable Object[]) as(Kind.TUPLE)).map(IValue::received).toList();
    }

    /**
     * Returns the items of the list.
     *
     * @return its items
     * @throws TensorTypeException if this is no list
     */
    public List<IValue> toList() {
        return items().stream().map(IValue::received).toList();
    }

    /**
     * Returns what the items of the list are. An empty list of integers, floating-point numbers, booleans or tensors has
     * the kind of its type.
     *
     * @return their kind; null if they are of several kinds, or an empty list has none
     * @throws TensorTypeException if this is no list
     */
    public @Nullable Kind elementKind() {
        Object list = as(Kind.LIST);
        if (list instanceof long[]) {
            return Kind.INT;
        }
        if (list instanceof double[]) {
            return Kind.DOUBLE;
        }
        if (list instanceof boolean[]) {
            return Kind.BOOL;
        }
        List<? extends @Nullable Object> items = items();
        if (items.isEmpty()) {
            return list instanceof Tensor[] ? Kind.TENSOR : list instanceof String[] ? Kind.STRING : null;
        }
        Kind first = kindOf(items.get(0));
        return items.stream().allMatch(item -> kindOf(item) == first) ? first : null;
    }

    /** The items of the list, numbers as scalars. */
    private List<? extends @Nullable Object> items() {
        Object list = as(Kind.LIST);
        if (list instanceof List<?> items) {
            return items;
        }
        if (list instanceof long[] ints) {
            return Arrays.stream(ints).mapToObj(Scalar::of).toList();
        }
        if (list instanceof double[] floats) {
            return Arrays.stream(floats).mapToObj(Scalar::of).toList();
        }
        if (list instanceof boolean[] truths) {
            List<Scalar> items = new ArrayList<>(truths.length);
            for (boolean truth : truths) {
                items.add(Scalar.of(truth));
            }
            return items;
        }
        return Arrays.asList((@Nullable Object[]) list);
    }

    /**
     * Returns the tensors of a list of tensors.
     *
     * @return the tensors, null for None
     * @throws TensorTypeException if this is no list, or an item is neither a tensor nor None
     */
    public List<@Nullable Tensor> toTensorList() {
        List<@Nullable Tensor> tensors = new ArrayList<>();
        for (Object item : items()) {
            if (item != null && !(item instanceof Tensor)) {
                throw new TensorTypeException("the list has an item that is " + kindOf(item) + ", not TENSOR");
            }
            tensors.add((Tensor) item);
        }
        return Collections.unmodifiableList(tensors);
    }

    /**
     * Returns the numbers of a list of integers.
     *
     * @return a copy
     * @throws TensorTypeException if this is no list, or an item is no integer
     */
    public long[] toLongArray() {
        return toList().stream().mapToLong(IValue::toLong).toArray();
    }

    /**
     * Returns the numbers of a list of floating-point numbers; integers are converted.
     *
     * @return a copy
     * @throws TensorTypeException if this is no list, or an item is no integer or floating-point number
     */
    public double[] toDoubleArray() {
        return toList().stream().mapToDouble(IValue::toDouble).toArray();
    }

    /**
     * Returns the booleans of a list of booleans.
     *
     * @return a copy
     * @throws TensorTypeException if this is no list, or an item is no boolean
     */
    public boolean[] toBooleanArray() {
        List<IValue> items = toList();
        boolean[] truths = new boolean[items.size()];
        for (int i = 0; i < truths.length; i++) {
            truths[i] = items.get(i).toBool();
        }
        return truths;
    }

    /**
     * Returns the strings of a list of strings.
     *
     * @return the strings
     * @throws TensorTypeException if this is no list, or an item is no string
     */
    public List<String> toStringList() {
        return toList().stream().map(IValue::toStr).toList();
    }

    /**
     * Returns the entries of the dict, in their order.
     *
     * @return the values by key: a {@link String}, {@link Long}, {@link Double}, {@link Boolean}, {@link Scalar} for a
     *     complex number, or {@link Tensor}
     * @throws TensorTypeException if this is no dict
     */
    public Map<Object, IValue> toDict() {
        Map<Object, IValue> entries = new LinkedHashMap<>();
        ((Map<?, ?>) as(Kind.DICT)).forEach((key, value) -> entries.put(key(key), received(value)));
        return Collections.unmodifiableMap(entries);
    }

    private static Object key(@Nullable Object key) {
        return switch (kindOf(key)) {
            case BOOL -> ((Scalar) Objects.requireNonNull(key)).booleanValue();
            case INT -> ((Scalar) Objects.requireNonNull(key)).longValue();
            case DOUBLE -> ((Scalar) Objects.requireNonNull(key)).doubleValue();
            default -> Objects.requireNonNull(key);
        };
    }

    /**
     * Returns the entries of a dict with strings as keys, in their order.
     *
     * @return the values by key
     * @throws TensorTypeException if this is no dict, or a key is no string
     */
    public Map<String, IValue> toStringDict() {
        Map<String, IValue> entries = new LinkedHashMap<>();
        ((Map<?, ?>) as(Kind.DICT)).forEach((key, value) -> {
            if (!(key instanceof String name)) {
                throw new TensorTypeException("the dict has a key that is " + kindOf(key) + ", not STRING");
            }
            entries.put(name, received(value));
        });
        return Collections.unmodifiableMap(entries);
    }

    /** Closes the tensors and generators in this value. Closing twice is allowed. */
    @Override
    public void close() {
        closed = true;
        visit(content, owner -> {
            if (owner instanceof NativeOwner handle) {
                handle.close();
            }
        });
    }

    private static void visit(@Nullable Object value, Consumer<@Nullable Object> visitor) {
        if (value instanceof List<?> list) {
            list.forEach(item -> visit(item, visitor));
        } else if (value instanceof Map<?, ?> map) {
            map.forEach((key, item) -> {
                visit(key, visitor);
                visit(item, visitor);
            });
        } else if (value instanceof Object[] items) {
            for (Object item : items) {
                visit(item, visitor);
            }
        } else {
            visitor.accept(value);
        }
    }

    /** Returns the value as Python prints it, except for strings in containers, which are in double quotes. */
    @Override
    public String toString() {
        return closed ? "the value is closed" : content instanceof String text ? text : format(content);
    }

    private static String format(@Nullable Object value) {
        return switch (kindOf(value)) {
            case NONE -> "None";
            case BOOL -> ((Scalar) Objects.requireNonNull(value)).booleanValue() ? "True" : "False";
            case STRING -> "\"" + value + "\"";
            case LIST -> joined(received(value).items(), "[", "]");
            case TUPLE -> {
                List<? extends @Nullable Object> items = Arrays.asList((@Nullable Object[]) Objects.requireNonNull(value));
                yield joined(items, "(", items.size() == 1 ? ",)" : ")");
            }
            case DICT -> ((Map<?, ?>) Objects.requireNonNull(value)).entrySet().stream()
                .map(entry -> format(entry.getKey()) + ": " + format(entry.getValue())).collect(Collectors.joining(", ", "{", "}"));
            default -> String.valueOf(value);
        };
    }

    private static String joined(List<? extends @Nullable Object> items, String open, String close) {
        return items.stream().map(IValue::format).collect(Collectors.joining(", ", open, close));
    }
}
