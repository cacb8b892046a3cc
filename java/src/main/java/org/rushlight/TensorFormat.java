package org.rushlight;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/** Text of a tensor as PyTorch prints it: 4 digits, 80 columns, 3 entries at each edge above 1,000 elements. */
final class TensorFormat {
    private static final int PRECISION = 4;
    private static final int WIDTH = 80;
    private static final int EDGE = 3;
    private static final int THRESHOLD = 1000;
    private static final String PREFIX = "tensor(";

    private final long[] shape;
    private final boolean summarize;
    private final String[] texts;
    private final int width;

    private TensorFormat(long[] shape, boolean summarize, Entries entries) {
        this.shape = shape;
        this.summarize = summarize;
        this.texts = entries.texts();
        this.width = entries.width();
    }

    /** The text of each element, and the width that decides how many fit on a line. */
    private record Entries(String[] texts, int width) {
        static Entries of(String[] texts) {
            return new Entries(texts, Stream.of(texts).mapToInt(String::length).max().orElse(0));
        }
    }

    static String format(Tensor tensor) {
        DType dtype = tensor.dtype();
        long[] shape = tensor.shape();
        List<String> suffixes = new ArrayList<>();
        Device device = tensor.device();
        String body;
        if (device.type() == Device.Type.META) {
            body = "...";
            suffixes.add("device='meta'");
            suffixes.add("size=" + sizes(shape));
            if (dtype != Torch.getDefaultDtype()) {
                suffixes.add("dtype=" + dtype);
            }
        } else {
            body = tensor.numel() == 0 ? "[]" : Torch.pinned(() -> body(tensor, dtype, shape));
            if (tensor.numel() == 0 && shape.length != 1) {
                suffixes.add("size=" + sizes(shape));
            }
            boolean implied = dtype == Torch.getDefaultDtype()
                || tensor.numel() != 0 && (dtype == DType.INT64 || dtype == DType.BOOL);
            if (!implied) {
                suffixes.add("dtype=" + dtype);
            }
        }
        String gradFn = tensor.gradFn();
        if (gradFn != null) {
            suffixes.add("grad_fn=<" + gradFn + ">");
        } else if (tensor.requiresGrad()) {
            suffixes.add("requires_grad=True");
        }
        return withSuffixes(body, suffixes);
    }

    private static String withSuffixes(String body, List<String> suffixes) {
        StringBuilder out = new StringBuilder(PREFIX).append(body);
        int column = out.length() - out.lastIndexOf("\n") - 1;
        for (String suffix : suffixes) {
            if (column + suffix.length() + 3 > WIDTH) {
                out.append(",\n").append(" ".repeat(PREFIX.length())).append(suffix);
                column = PREFIX.length() + suffix.length();
            } else {
                out.append(", ").append(suffix);
                column += suffix.length() + 2;
            }
        }
        return out.append(")").toString();
    }

    private static String sizes(long[] shape) {
        StringBuilder out = new StringBuilder("(");
        for (int i = 0; i < shape.length; i++) {
            out.append(i == 0 ? "" : ", ").append(shape[i]);
        }
        return out.append(shape.length == 1 ? ",)" : ")").toString();
    }

    private static String body(Tensor tensor, DType dtype, long[] shape) {
        boolean summarize = tensor.numel() > THRESHOLD;
        if (summarize) {
            try (NoGrad guard = new NoGrad(); Tensor edges = edges(tensor, shape)) {
                return new TensorFormat(shape, guard != null, entries(edges, dtype)).lines(0, 0, PREFIX.length(), new int[1]);
            }
        }
        return new TensorFormat(shape, false, entries(tensor, dtype)).lines(0, 0, PREFIX.length(), new int[1]);
    }

    /** The entries that a shortened text shows. */
    private static Tensor edges(Tensor tensor, long[] shape) {
        Tensor result = tensor.share();
        for (int dim = 0; dim < shape.length; dim++) {
            if (shape[dim] > 2 * EDGE) {
                Tensor whole = result;
                try (Tensor head = whole.slice(dim, 0L, (long) EDGE, 1); Tensor tail = whole.slice(dim, shape[dim] - EDGE, shape[dim], 1)) {
                    result = Torch.cat(new Tensor[] {head, tail}, dim);
                } finally {
                    whole.close();
                }
            }
        }
        return result;
    }

    private static Entries entries(Tensor tensor, DType dtype) {
        if (dtype.isComplex()) {
            return complexEntries(tensor);
        }
        if (dtype == DType.BOOL) {
            boolean[] values = tensor.toBooleanArray();
            String[] texts = new String[values.length];
            for (int i = 0; i < values.length; i++) {
                texts[i] = values[i] ? "True" : "False";
            }
            return Entries.of(texts);
        }
        if (dtype.isFloatingPoint()) {
            try (NoGrad guard = new NoGrad(); Tensor wide = tensor.to(DType.FLOAT64)) {
                assert guard != null;
                return floatEntries(wide.toDoubleArray());
            }
        }
        try (Tensor wide = tensor.to(DType.INT64)) {
            long[] values = wide.toLongArray();
            String[] texts = new String[values.length];
            for (int i = 0; i < values.length; i++) {
                texts[i] = dtype == DType.UINT64 ? Long.toUnsignedString(values[i]) : Long.toString(values[i]);
            }
            return Entries.of(texts);
        }
    }

    /** Complex elements are stored as pairs, and each part has a format of its own. */
    private static Entries complexEntries(Tensor tensor) {
        double[] pairs;
        try (NoGrad guard = new NoGrad(); Tensor wide = tensor.to(DType.COMPLEX128)) {
            assert guard != null;
            pairs = new double[Math.toIntExact(2 * wide.numel())];
            wide.copyPairs(pairs);
        }
        double[] real = new double[pairs.length / 2];
        double[] imag = new double[pairs.length / 2];
        for (int i = 0; i < real.length; i++) {
            real[i] = pairs[2 * i];
            imag[i] = pairs[2 * i + 1];
        }
        Entries reals = floatEntries(real);
        Entries imags = floatEntries(DoubleStream.of(imag).map(Math::abs).toArray());
        String[] texts = reals.texts().clone();
        for (int i = 0; i < real.length; i++) {
            boolean negative = Double.doubleToRawLongBits(imag[i]) < 0;
            texts[i] += (negative ? "-" : "+") + imags.texts()[i] + "j";
        }
        return new Entries(texts, reals.width() + imags.width() + 2);
    }

    /**
     * One format for all: scientific for wide ranges, without decimals if all are whole, else four digits. Only numbers that are finite
     * and not zero decide it, and the width.
     */
    private static Entries floatEntries(double[] values) {
        double[] deciding = DoubleStream.of(values).filter(v -> Double.isFinite(v) && v != 0).toArray();
        boolean whole = DoubleStream.of(deciding).allMatch(v -> v == Math.ceil(v));
        double max = DoubleStream.of(deciding).map(Math::abs).max().orElse(0);
        double min = DoubleStream.of(deciding).map(Math::abs).min().orElse(0);
        boolean scientific = deciding.length > 0 && (max / min > 1000 || max > 1e8 || !whole && min < 1e-4);
        String pattern = scientific ? "%." + PRECISION + "e" : whole ? "%.0f." : "%." + PRECISION + "f";
        int width = DoubleStream.of(deciding).mapToInt(v -> format(pattern, v).length()).max().orElse(1);
        String[] texts = new String[values.length];
        for (int i = 0; i < values.length; i++) {
            String text = format(pattern, values[i]);
            texts[i] = " ".repeat(Math.max(0, width - text.length())) + text;
        }
        return new Entries(texts, width);
    }

    private static String format(String pattern, double value) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        return Double.isInfinite(value) ? (value > 0 ? "inf" : "-inf") : String.format(Locale.ROOT, pattern, value);
    }

    private int shown(int dim) {
        return summarize && shape[dim] > 2 * EDGE ? 2 * EDGE : (int) shape[dim];
    }

    /** The text of the part below dimension {@code dim}; {@code next[0]} is the next entry. */
    private String lines(int dim, int depth, int indent, int[] next) {
        if (dim == shape.length) {
            return pad(texts[next[0]++]);
        }
        boolean dots = summarize && shape[dim] > 2 * EDGE;
        int shown = shown(dim);
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < shown; i++) {
            if (dots && i == EDGE) {
                parts.add(dim == shape.length - 1 ? " ..." : "...");
            }
            parts.add(lines(dim + 1, depth + 1, indent + 1, next));
        }
        if (dim < shape.length - 1) {
            String gap = "," + "\n".repeat(shape.length - 1 - dim) + " ".repeat(indent + 1);
            return "[" + String.join(gap, parts) + "]";
        }
        int perLine = Math.max(1, (WIDTH - indent) / (width + 2));
        StringBuilder out = new StringBuilder("[");
        for (int i = 0; i < parts.size(); i++) {
            if (i > 0) {
                out.append(",").append(i % perLine == 0 ? "\n" + " ".repeat(indent + 1) : " ");
            }
            out.append(parts.get(i));
        }
        return out.append("]").toString();
    }

    private String pad(String text) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }
}
