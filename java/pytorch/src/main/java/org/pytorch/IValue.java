package org.pytorch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rushlight.IValue.Kind;

/**
 * An argument or a result of a method of a {@link Module}: a value of one of 14 types. The methods {@code is...} tell the
 * type, the methods {@code to...} return the value, and throw {@link IllegalStateException} if it is of another type.
 */
public final class IValue {
    /** The types, in the order of PyTorch's numbers for them, which begin at 1. */
    private enum Type {
        NULL, TENSOR, BOOL, LONG, DOUBLE, STRING, TUPLE, BOOL_LIST, LONG_LIST, DOUBLE_LIST, TENSOR_LIST, LIST, DICT_STRING_KEY, DICT_LONG_KEY,
        /** A result: dicts of both kinds without entries look the same. */
        EMPTY_DICT
    }

    private final Type type;
    private final @Nullable Object value;

    private IValue(Type type, @Nullable Object value) {
        this.type = type;
        this.value = value;
    }

    // Creation.

    /**
     * Returns None, the value of an optional argument that is not given.
     *
     * @return None
     */
    public static IValue optionalNull() {
        return new IValue(Type.NULL, null);
    }

    private static IValue of(Type type, @Nullable Object value) {
        return new IValue(type, Objects.requireNonNull(value, "the value is null; optionalNull() is None"));
    }

    /**
     * Creates a value of type Tensor.
     *
     * @param tensor the tensor, which is shared
     * @return the value
     */
    public static IValue from(Tensor tensor) {
        return of(Type.TENSOR, tensor);
    }

    /**
     * Creates a value of type bool.
     *
     * @param value the boolean
     * @return the value
     */
    public static IValue from(boolean value) {
        return of(Type.BOOL, value);
    }

    /**
     * Creates a value of type int.
     *
     * @param value the integer
     * @return the value
     */
    public static IValue from(long value) {
        return of(Type.LONG, value);
    }

    /**
     * Creates a value of type float.
     *
     * @param value the number
     * @return the value
     */
    public static IValue from(double value) {
        return of(Type.DOUBLE, value);
    }

    /**
     * Creates a value of type str.
     *
     * @param value the string
     * @return the value
     */
    public static IValue from(String value) {
        return of(Type.STRING, value);
    }

    /**
     * Creates a value of type List[bool].
     *
     * @param list the items
     * @return the value
     */
    public static IValue listFrom(boolean... list) {
        return of(Type.BOOL_LIST, list);
    }

    /**
     * Creates a value of type List[int].
     *
     * @param list the items
     * @return the value
     */
    public static IValue listFrom(long... list) {
        return of(Type.LONG_LIST, list);
    }

    /**
     * Creates a value of type List[float].
     *
     * @param list the items
     * @return the value
     */
    public static IValue listFrom(double... list) {
        return of(Type.DOUBLE_LIST, list);
    }

    /**
     * Creates a value of type List[Tensor].
     *
     * @param list the items
     * @return the value
     */
    public static IValue listFrom(Tensor... list) {
        return of(Type.TENSOR_LIST, list);
    }

    /**
     * Creates a list of values of one type.
     *
     * @param array the items
     * @return the value
     * @throws IllegalArgumentException if the items are of several types
     */
    public static IValue listFrom(IValue... array) {
        for (IValue item : array) {
            if (item.type != array[0].type) {
                throw new IllegalArgumentException("the items of a list are of one type, but there are " + array[0].type + " and " + item.type);
            }
        }
        return of(Type.LIST, array);
    }

    /**
     * Creates a tuple.
     *
     * @param array the items
     * @return the value
     */
    public static IValue tupleFrom(IValue... array) {
        return of(Type.TUPLE, array);
    }

    /**
     * Creates a dict with strings as keys.
     *
     * @param map the entries
     * @return the value
     */
    public static IValue dictStringKeyFrom(Map<String, IValue> map) {
        return of(Type.DICT_STRING_KEY, map);
    }

    /**
     * Creates a dict with integers as keys.
     *
     * @param map the entries
     * @return the value
     */
    public static IValue dictLongKeyFrom(Map<Long, IValue> map) {
        return of(Type.DICT_LONG_KEY, map);
    }

    // Queries.

    /**
     * Returns whether this is None.
     *
     * @return true for None
     */
    public boolean isNull() {
        return type == Type.NULL;
    }

    /**
     * Returns whether this is a tensor.
     *
     * @return true for a tensor
     */
    public boolean isTensor() {
        return type == Type.TENSOR;
    }

    /**
     * Returns whether this is a boolean.
     *
     * @return true for a boolean
     */
    public boolean isBool() {
        return type == Type.BOOL;
    }

    /**
     * Returns whether this is an integer.
     *
     * @return true for an integer
     */
    public boolean isLong() {
        return type == Type.LONG;
    }

    /**
     * Returns whether this is a floating-point number.
     *
     * @return true for a floating-point number
     */
    public boolean isDouble() {
        return type == Type.DOUBLE;
    }

    /**
     * Returns whether this is a string.
     *
     * @return true for a string
     */
    public boolean isString() {
        return type == Type.STRING;
    }

    /**
     * Returns whether this is a tuple.
     *
     * @return true for a tuple
     */
    public boolean isTuple() {
        return type == Type.TUPLE;
    }

    /**
     * Returns whether this is a list of booleans.
     *
     * @return true for a list of booleans
     */
    public boolean isBoolList() {
        return type == Type.BOOL_LIST;
    }

    /**
     * Returns whether this is a list of integers.
     *
     * @return true for a list of integers
     */
    public boolean isLongList() {
        return type == Type.LONG_LIST;
    }

    /**
     * Returns whether this is a list of floating-point numbers.
     *
     * @return true for a list of floating-point numbers
     */
    public boolean isDoubleList() {
        return type == Type.DOUBLE_LIST;
    }

    /**
     * Returns whether this is a list of tensors.
     *
     * @return true for a list of tensors
     */
    public boolean isTensorList() {
        return type == Type.TENSOR_LIST;
    }

    /**
     * Returns whether this is a list of other values.
     *
     * @return true for a list that is none of booleans, integers, floating-point numbers or tensors
     */
    public boolean isList() {
        return type == Type.LIST;
    }

    /**
     * Returns whether this is a dict with strings as keys.
     *
     * @return true for such a dict, and for a result that is a dict without entries
     */
    public boolean isDictStringKey() {
        return type == Type.DICT_STRING_KEY || type == Type.EMPTY_DICT;
    }

    /**
     * Returns whether this is a dict with integers as keys.
     *
     * @return true for such a dict, and for a result that is a dict without entries
     */
    public boolean isDictLongKey() {
        return type == Type.DICT_LONG_KEY || type == Type.EMPTY_DICT;
    }

    // Values.

    private Object as(Type wanted) {
        if (type != wanted) {
            throw new IllegalStateException("the value is of type " + type + ", not " + wanted);
        }
        return Objects.requireNonNull(value);
    }

    /**
     * Returns the tensor.
     *
     * @return the object itself that {@link #from(Tensor)} got
     * @throws IllegalStateException if this is no tensor
     */
    public Tensor toTensor() {
        return (Tensor) as(Type.TENSOR);
    }

    /**
     * Returns the boolean.
     *
     * @return the boolean
     * @throws IllegalStateException if this is no boolean
     */
    public boolean toBool() {
        return (Boolean) as(Type.BOOL);
    }

    /**
     * Returns the integer.
     *
     * @return the integer
     * @throws IllegalStateException if this is no integer
     */
    public long toLong() {
        return (Long) as(Type.LONG);
    }

    /**
     * Returns the floating-point number.
     *
     * @return the number
     * @throws IllegalStateException if this is no floating-point number
     */
    public double toDouble() {
        return (Double) as(Type.DOUBLE);
    }

    /**
     * Returns the string.
     *
     * @return the string
     * @throws IllegalStateException if this is no string
     */
    public String toStr() {
        return (String) as(Type.STRING);
    }

    /**
     * Returns the items of the list of booleans.
     *
     * @return the items
     * @throws IllegalStateException if this is no list of booleans
     */
    public boolean[] toBoolList() {
        return (boolean[]) as(Type.BOOL_LIST);
    }

    /**
     * Returns the items of the list of integers.
     *
     * @return the items
     * @throws IllegalStateException if this is no list of integers
     */
    public long[] toLongList() {
        return (long[]) as(Type.LONG_LIST);
    }

    /**
     * Returns the items of the list of floating-point numbers.
     *
     * @return the items
     * @throws IllegalStateException if this is no list of floating-point numbers
     */
    public double[] toDoubleList() {
        return (double[]) as(Type.DOUBLE_LIST);
    }

    /**
     * Returns the items of the list of tensors.
     *
     * @return the items
     * @throws IllegalStateException if this is no list of tensors
     */
    public Tensor[] toTensorList() {
        return (Tensor[]) as(Type.TENSOR_LIST);
    }

    /**
     * Returns the items of the list of other values.
     *
     * @return the items
     * @throws IllegalStateException if this is no such list
     */
    public IValue[] toList() {
        return (IValue[]) as(Type.LIST);
    }

    /**
     * Returns the items of the tuple.
     *
     * @return the items
     * @throws IllegalStateException if this is no tuple
     */
    public IValue[] toTuple() {
        return (IValue[]) as(Type.TUPLE);
    }

    /**
     * Returns the entries of the dict with strings as keys.
     *
     * @return the entries
     * @throws IllegalStateException if this is no such dict
     */
    @SuppressWarnings("unchecked")
    public Map<String, IValue> toDictStringKey() {
        return type == Type.EMPTY_DICT ? new LinkedHashMap<>() : (Map<String, IValue>) as(Type.DICT_STRING_KEY);
    }

    /**
     * Returns the entries of the dict with integers as keys.
     *
     * @return the entries
     * @throws IllegalStateException if this is no such dict
     */
    @SuppressWarnings("unchecked")
    public Map<Long, IValue> toDictLongKey() {
        return type == Type.EMPTY_DICT ? new LinkedHashMap<>() : (Map<Long, IValue>) as(Type.DICT_LONG_KEY);
    }

    // Conversion.

    /** The value as {@link org.rushlight.IValue#of} takes it; its tensors join the innermost scope. */
    @Nullable Object unwrap() {
        return switch (type) {
            case TENSOR -> toTensor().unwrap();
            case TENSOR_LIST -> Arrays.stream(toTensorList()).map(Tensor::unwrap).toArray(org.rushlight.Tensor[]::new);
            case TUPLE -> unwrap(toTuple()).toArray();
            case LIST -> unwrap(toList());
            case DICT_STRING_KEY -> unwrap(toDictStringKey());
            case DICT_LONG_KEY -> unwrap(toDictLongKey());
            case EMPTY_DICT -> Map.of();
            default -> value;
        };
    }

    private static List<@Nullable Object> unwrap(IValue[] items) {
        List<@Nullable Object> values = new ArrayList<>(items.length);
        for (IValue item : items) {
            values.add(item.unwrap());
        }
        return values;
    }

    private static Map<Object, @Nullable Object> unwrap(Map<?, IValue> entries) {
        Map<Object, @Nullable Object> values = new LinkedHashMap<>();
        entries.forEach((key, item) -> values.put(key, item.unwrap()));
        return values;
    }

    /** A result of the binding. */
    static IValue wrap(org.rushlight.IValue value) {
        return switch (value.kind()) {
            case NONE -> optionalNull();
            case TENSOR -> from(Tensor.wrap(value.toTensor()));
            case BOOL -> from(value.toBool());
            case INT -> from(value.toLong());
            case DOUBLE -> from(value.toDouble());
            case STRING -> from(value.toStr());
            case TUPLE -> tupleFrom(wrap(value.toTuple()));
            case LIST -> wrapList(value);
            case DICT -> wrapDict(value.toDict());
            case COMPLEX, DTYPE, DEVICE, GENERATOR -> throw new IllegalArgumentException("a value of kind " + value.kind() + " has no form in org.pytorch");
        };
    }

    private static IValue[] wrap(List<org.rushlight.IValue> items) {
        return items.stream().map(IValue::wrap).toArray(IValue[]::new);
    }

    private static IValue wrapList(org.rushlight.IValue list) {
        Kind kind = list.elementKind();
        if (kind == Kind.BOOL) {
            return listFrom(list.toBooleanArray());
        }
        if (kind == Kind.INT) {
            return listFrom(list.toLongArray());
        }
        if (kind == Kind.DOUBLE) {
            return listFrom(list.toDoubleArray());
        }
        if (kind == Kind.TENSOR) {
            return listFrom(list.toTensorList().stream().map(Objects::requireNonNull).map(Tensor::wrap).toArray(Tensor[]::new));
        }
        return of(Type.LIST, wrap(list.toList()));
    }

    private static IValue wrapDict(Map<Object, org.rushlight.IValue> entries) {
        if (entries.isEmpty()) {
            return of(Type.EMPTY_DICT, Collections.emptyMap());
        }
        Map<Object, IValue> values = new LinkedHashMap<>();
        entries.forEach((key, item) -> values.put(key, wrap(item)));
        if (values.keySet().stream().allMatch(String.class::isInstance)) {
            return of(Type.DICT_STRING_KEY, values);
        }
        if (values.keySet().stream().allMatch(Long.class::isInstance)) {
            return of(Type.DICT_LONG_KEY, values);
        }
        throw new IllegalArgumentException("a dict whose keys are neither strings nor integers has no form in org.pytorch");
    }
}
