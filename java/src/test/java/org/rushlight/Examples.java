package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Compares the result of an example with the documented one.
 *
 * <p>The documented results are one string: {@code float32[2,1] 1.5 nan} has dtype, sizes and elements. A complex number is two
 * numbers, a boolean 0 or 1; a question mark in place of the elements stands for any. {@code none} is no tensor. Semicolons separate
 * several.
 */
final class Examples {
    private Examples() {}

    @SuppressWarnings("try") // the scope is there to close what the example creates
    static void check(String documented, Supplier<Object> call) {
        try (Scope scope = new Scope()) {
            Torch.manualSeed(0);
            List<Tensor> results = new ArrayList<>();
            gather(call.get(), results);
            String[] expected = documented.split("; ");
            assertEquals(expected.length, results.size());
            for (int index = 0; index < expected.length; index++) {
                compare(expected[index], results.get(index));
            }
        }
    }

    /** The tensors of a tensor, a record, an array or a list, in order. */
    private static void gather(Object result, List<Tensor> results) {
        if (result == null || result instanceof Tensor) {
            results.add((Tensor) result);
        } else if (result instanceof Object[] array) {
            gather(Arrays.asList(array), results);
        } else if (result instanceof Iterable<?> items) {
            items.forEach(item -> gather(item, results));
        } else {
            for (RecordComponent component : result.getClass().getRecordComponents()) {
                try {
                    gather(component.getAccessor().invoke(result), results);
                } catch (ReflectiveOperationException error) {
                    throw new AssertionError(error);
                }
            }
        }
    }

    /** Dtype and sizes must be equal, floating point elements within a relative 1e-5, others equal. */
    private static void compare(String documented, Tensor actual) {
        if (documented.equals("none")) {
            assertNull(actual);
            return;
        }
        assertNotNull(actual);
        int open = documented.indexOf('[');
        int close = documented.indexOf(']');
        DType dtype = DType.valueOf(documented.substring(0, open).toUpperCase(Locale.ROOT));
        assertEquals(dtype, actual.dtype());
        assertArrayEquals(longs(documented.substring(open + 1, close), ","), actual.shape());
        String elements = documented.substring(close + 1).strip();
        if (elements.equals("?")) {
            return;
        }
        if (dtype.isComplex()) {
            assertClose(elements, Torch.viewAsReal(actual.resolveConj()), DType.FLOAT64);
        } else if (dtype.isFloatingPoint()) {
            assertClose(elements, actual, dtype);
        } else {
            long[] numbers = actual.to(DType.INT64).contiguous().toLongArray();
            assertArrayEquals(longs(elements, " "), numbers);
        }
    }

    private static long[] longs(String text, String separator) {
        return text.isEmpty() ? new long[0] : Arrays.stream(text.split(separator)).mapToLong(Long::parseLong).toArray();
    }

    private static void assertClose(String elements, Tensor actual, DType dtype) {
        double[] expected = elements.isEmpty()
                ? new double[0]
                : Arrays.stream(elements.split(" ")).mapToDouble(Examples::parse).toArray();
        // Half precision literals are rounded as the result is.
        Tensor rounded = Tensor.of(expected, new long[] {expected.length}).to(dtype).to(DType.FLOAT64);
        double[] wanted = rounded.toDoubleArray();
        double[] numbers = actual.to(DType.FLOAT64).contiguous().toDoubleArray();
        assertEquals(wanted.length, numbers.length);
        for (int index = 0; index < wanted.length; index++) {
            double difference = Math.abs(numbers[index] - wanted[index]);
            boolean same = Double.isFinite(wanted[index])
                    ? difference <= 1e-8 + 1e-5 * Math.abs(wanted[index])
                    : Double.compare(numbers[index], wanted[index]) == 0;
            assertTrue(same, "element " + index + " is " + numbers[index] + ", not " + wanted[index]);
        }
    }

    private static double parse(String number) {
        return switch (number) {
            case "nan" -> Double.NaN;
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(number);
        };
    }
}
