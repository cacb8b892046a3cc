package org.rushlight;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Encodes values of any type for the native side: a list of numbers and a list of strings. A value is a tag followed by
 * its contents: integers as they are, floating-point numbers as their bits, a list as its length and its elements, a
 * string as its index in the list of strings.
 */
final class Boxed {
    private static final int NONE = 0;
    private static final int SCALAR = 1;
    private static final int STRING = 2;
    private static final int DTYPE = 3;
    private static final int LAYOUT = 4;
    private static final int DEVICE = 5;
    private static final int MEMORY_FORMAT = 6;
    private static final int GENERATOR = 7;
    private static final int TENSOR = 8;
    private static final int TENSORS = 9;
    private static final int INTS = 10;
    private static final int FLOATS = 11;
    private static final int BOOLS = 12;
    private static final int SCALARS = 13;
    private static final int STRINGS = 14;
    private static final int LIST = 15;
    private static final int TUPLE = 16;
    private static final int DICT = 17;

    /** How deep values may nest. */
    static final int MAX_DEPTH = 64;

    /** Converts an owner to the number of its handle. */
    private interface Handles {
        long of(@Nullable NativeOwner owner);
    }

    private long[] numbers = new long[16];
    private int size;
    private final List<String> strings = new ArrayList<>();
    private final List<NativeOwner> held = new ArrayList<>();
    private final Handles handles;
    private int depth;

    private Boxed(Handles handles) {
        this.handles = handles;
    }

    /**
     * Encodes the arguments of a call. Tensors and generators must be acquired ({@link #held}) while the native side
     * uses them.
     */
    static Boxed arguments(@Nullable Object... values) {
        Boxed boxed = new Boxed(NativeOwner::handleOrZero);
        for (Object value : values) {
            boxed.add(value);
        }
        return boxed;
    }

    /** Encodes the results of a kernel: the native side receives its own references. */
    static Object[] results(@Nullable Object... values) {
        // Without references first: values that cannot be converted, or are closed, throw before one is created.
        NativeOwner[] held = arguments(values).held();
        NativeOwner.acquire(held);
        try {
            Boxed boxed = new Boxed(Boxed::retained);
            for (Object value : values) {
                boxed.add(value);
            }
            return new Object[] {boxed.numbers(), boxed.strings()};
        } finally {
            NativeOwner.release(held);
        }
    }

    private static long retained(@Nullable NativeOwner owner) {
        return owner instanceof Generator generator ? generator.retained() : Tensor.retained((Tensor) owner);
    }

    long[] numbers() {
        return Arrays.copyOf(numbers, size);
    }

    String[] strings() {
        return strings.toArray(String[]::new);
    }

    NativeOwner[] held() {
        return held.toArray(NativeOwner[]::new);
    }

    private void put(long number) {
        if (size == numbers.length) {
            numbers = Arrays.copyOf(numbers, 2 * size);
        }
        numbers[size++] = number;
    }

    private void put(long tag, long payload) {
        put(tag);
        put(payload);
    }

    private void put(@Nullable NativeOwner owner) {
        if (owner != null) {
            held.add(owner);
        }
        put(handles.of(owner));
    }

    private void putParts(Number number) {
        Scalar scalar = Scalar.of(number);
        put(scalar.tag(), scalar.bits());
        put(Double.doubleToRawLongBits(scalar.imag()));
    }

    private void add(@Nullable Object value) {
        if (value == null) {
            put(NONE);
        } else if (value instanceof IValue boxed) {
            add(boxed.content());
        } else if (value instanceof Tensor tensor) {
            put(TENSOR);
            put(tensor);
        } else if (value instanceof Number number) {
            put(SCALAR);
            putParts(number);
        } else if (value instanceof Boolean truth) {
            put(SCALAR);
            putParts(Scalar.of(truth));
        } else if (value instanceof String text) {
            put(STRING, strings.size());
            strings.add(text);
        } else if (value instanceof DType dtype) {
            put(DTYPE, dtype.code());
        } else if (value instanceof Layout layout) {
            put(LAYOUT, layout.code());
        } else if (value instanceof Device device) {
            put(DEVICE, device.packed());
        } else if (value instanceof MemoryFormat format) {
            put(MEMORY_FORMAT, format.code());
        } else if (value instanceof Generator generator) {
            put(GENERATOR);
            put(generator);
        } else {
            addList(value);
        }
    }

    private void addList(Object value) {
        if (value instanceof List<?> list) {
            if (list.stream().anyMatch(IValue.class::isInstance)) {
                addList(list.stream().map(item -> item instanceof IValue boxed ? boxed.content() : item).collect(Collectors.toList()));
            } else if (list.stream().allMatch(item -> item == null || item instanceof Tensor)) {
                addList(list.toArray(Tensor[]::new));
            } else if (list.stream().allMatch(item -> item instanceof Number || item instanceof Boolean)) {
                addNumbers(list);
            } else if (list.stream().allMatch(String.class::isInstance)) {
                addList(list.toArray(String[]::new));
            } else {
                addItems(LIST, list);
            }
        } else if (value instanceof Map<?, ?> map) {
            List<@Nullable Object> entries = new ArrayList<>(2 * map.size());
            map.forEach((key, item) -> {
                entries.add(key);
                entries.add(item);
            });
            addItems(DICT, entries);
        } else if (value instanceof int[] list) {
            addList(Arrays.stream(list).asLongStream().toArray());
        } else if (value instanceof float[] list) {
            put(FLOATS, list.length);
            for (float number : list) {
                put(Double.doubleToRawLongBits(number));
            }
        } else if (value instanceof Tensor[] list) {
            put(TENSORS, list.length);
            for (Tensor tensor : list) {
                put(tensor);
            }
        } else if (value instanceof long[] list) {
            put(INTS, list.length);
            for (long number : list) {
                put(number);
            }
        } else if (value instanceof double[] list) {
            put(FLOATS, list.length);
            for (double number : list) {
                put(Double.doubleToRawLongBits(number));
            }
        } else if (value instanceof boolean[] list) {
            put(BOOLS, list.length);
            for (boolean truth : list) {
                put(truth ? 1 : 0);
            }
        } else if (value instanceof Number[] list) {
            addNumbers(Arrays.asList(list));
        } else if (value instanceof String[] list) {
            put(STRINGS, list.length);
            for (String text : list) {
                put(strings.size());
                strings.add(text);
            }
        } else if (value instanceof Object[] tuple && value.getClass() == Object[].class) {
            addItems(TUPLE, Arrays.asList(tuple));
        } else {
            throw new TensorTypeException("an operator takes no " + value.getClass().getName());
        }
    }

    /** Encodes the items of a list or tuple, or the keys and values of a dict. */
    private void addItems(int tag, List<?> items) {
        if (++depth > MAX_DEPTH) {
            throw new TensorTypeException("values are nested more than " + MAX_DEPTH + " deep");
        }
        put(tag, tag == DICT ? items.size() / 2 : items.size());
        for (Object item : items) {
            add(item);
        }
        depth--;
    }

    /** Encodes numbers of any kind; the native side converts them to the types of the schema. */
    private void addNumbers(List<?> list) {
        put(SCALARS, list.size());
        for (Object item : list) {
            if (item instanceof Number number) {
                putParts(number);
            } else if (item instanceof Boolean truth) {
                putParts(Scalar.of(truth));
            } else {
                throw new TensorTypeException("an operator takes no list with " + (item == null ? "null" : "a " + item.getClass().getName()));
            }
        }
    }

    // Decoding.

    /** Decodes values from the native side: handles become tensors of the innermost scope. */
    static @Nullable Object[] values(long[] numbers, String[] strings) {
        List<@Nullable Object> values = new ArrayList<>();
        Reader reader = new Reader(numbers, strings);
        while (reader.at < numbers.length) {
            values.add(reader.value());
        }
        return values.toArray();
    }

    /** The single result of an operator, which the native side returned as its numbers and strings. */
    static Object result(Object[] encoded) {
        return Objects.requireNonNull(values((long[]) encoded[0], (String[]) encoded[1])[0]);
    }

    private static final class Reader {
        private final long[] numbers;
        private final String[] strings;
        private int at;

        Reader(long[] numbers, String[] strings) {
            this.numbers = numbers;
            this.strings = strings;
        }

        private long next() {
            return numbers[at++];
        }

        private int code() {
            return (int) next();
        }

        private Scalar scalar() {
            int tag = code();
            long bits = next();
            return Scalar.ofParts(tag, bits, Double.longBitsToDouble(next()));
        }

        @Nullable Object value() {
            int tag = code();
            switch (tag) {
                case NONE:
                    return null;
                case SCALAR:
                    return scalar();
                case STRING:
                    return strings[code()];
                case DTYPE:
                    return DType.of(code());
                case LAYOUT:
                    return ofCode(Layout.values(), Layout::code);
                case DEVICE:
                    return Device.ofPacked(code());
                case MEMORY_FORMAT:
                    return ofCode(MemoryFormat.values(), MemoryFormat::code);
                case GENERATOR:
                    return Generator.wrap(next());
                case TENSOR:
                    return Tensor.wrapNullable(next());
                default:
                    return list(tag, code());
            }
        }

        private Object list(int tag, int length) {
            switch (tag) {
                case TENSORS:
                    Tensor[] tensors = new Tensor[length];
                    for (int i = 0; i < length; i++) {
                        tensors[i] = Tensor.wrapNullable(next());
                    }
                    return tensors;
                case INTS:
                    long[] ints = new long[length];
                    for (int i = 0; i < length; i++) {
                        ints[i] = next();
                    }
                    return ints;
                case FLOATS:
                    double[] floats = new double[length];
                    for (int i = 0; i < length; i++) {
                        floats[i] = Double.longBitsToDouble(next());
                    }
                    return floats;
                case BOOLS:
                    boolean[] booleans = new boolean[length];
                    for (int i = 0; i < length; i++) {
                        booleans[i] = next() != 0;
                    }
                    return booleans;
                case SCALARS:
                    Scalar[] scalars = new Scalar[length];
                    for (int i = 0; i < length; i++) {
                        scalars[i] = scalar();
                    }
                    return scalars;
                case STRINGS:
                    String[] list = new String[length];
                    for (int i = 0; i < length; i++) {
                        list[i] = strings[code()];
                    }
                    return list;
                case LIST:
                    return Arrays.asList(items(length));
                case TUPLE:
                    return items(length);
                case DICT:
                    Map<@Nullable Object, @Nullable Object> dict = new LinkedHashMap<>();
                    for (int i = 0; i < length; i++) {
                        Object key = value();
                        dict.put(key, value());
                    }
                    return dict;
                default:
                    throw new IllegalStateException(tag + " is not the tag of a value");
            }
        }

        private @Nullable Object[] items(int length) {
            @Nullable Object[] items = new Object[length];
            for (int i = 0; i < length; i++) {
                items[i] = value();
            }
            return items;
        }

        private <E> E ofCode(E[] constants, java.util.function.ToIntFunction<E> code) {
            int wanted = code();
            for (E constant : constants) {
                if (code.applyAsInt(constant) == wanted) {
                    return constant;
                }
            }
            throw new IllegalArgumentException("number " + wanted + " is not supported");
        }
    }
}
