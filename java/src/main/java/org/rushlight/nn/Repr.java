package org.rushlight.nn;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Builds the string between the parentheses of a printed module, with numbers and booleans as Python prints them. */
final class Repr {
    private final StringBuilder text = new StringBuilder();

    Repr add(Object value) {
        if (!text.isEmpty()) {
            text.append(", ");
        }
        text.append(text(value));
        return this;
    }

    Repr named(String name, @Nullable Object value) {
        if (!text.isEmpty()) {
            text.append(", ");
        }
        text.append(name).append('=').append(text(value));
        return this;
    }

    Repr namedIf(boolean wanted, String name, @Nullable Object value) {
        return wanted ? named(name, value) : this;
    }

    /** A single number as it is, several as a tuple. */
    Repr sizes(String name, long[] values) {
        return named(name, values.length == 1 ? (Object) values[0] : values);
    }

    static String text(@Nullable Object value) {
        if (value == null) {
            return "None";
        }
        if (value instanceof Boolean truth) {
            return truth ? "True" : "False";
        }
        if (value instanceof Double number) {
            return number(number);
        }
        if (value instanceof long[] sizes) {
            StringBuilder out = new StringBuilder("(");
            for (int i = 0; i < sizes.length; i++) {
                out.append(i == 0 ? "" : ", ").append(sizes[i] == Sizes.OWN ? "None" : Long.toString(sizes[i]));
            }
            return out.append(sizes.length == 1 ? ",)" : ")").toString();
        }
        if (value instanceof double[] numbers) {
            StringBuilder out = new StringBuilder("(");
            for (int i = 0; i < numbers.length; i++) {
                out.append(i == 0 ? "" : ", ").append(number(numbers[i]));
            }
            return out.append(numbers.length == 1 ? ",)" : ")").toString();
        }
        return value.toString();
    }

    /** A float as Python prints it. */
    static String number(double value) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        double size = Math.abs(value);
        if (size == 0 || size >= 1e-4 && size < 1e16) {
            String plain = new java.math.BigDecimal(Double.toString(value)).stripTrailingZeros().toPlainString();
            return plain.contains(".") ? plain : plain + ".0";
        }
        String[] parts = Double.toString(value).toLowerCase(Locale.ROOT).split("e");
        String mantissa = parts[0].endsWith(".0") ? parts[0].substring(0, parts[0].length() - 2) : parts[0];
        int exponent = Integer.parseInt(parts[1]);
        return mantissa + (exponent < 0 ? "e-" : "e+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
