package org.rushlight;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/** Formats a tensor as PyTorch prints it: 4 digits, 80 columns, 3 entries at each edge above 1,000 elements. */
final class TensorFormat {
    private static final int PRECISION = 4;
    private static final int WIDTH = 80;
    private static final int EDGE = 3;
    private static final int THRESHOLD = 1000;
    private static final String PREFIX = "tensor(";

    private final long[] shape;
    private final boolean summarize;
    private final String[] strings;
    private final int width;

    private TensorFormat(long[] shape, boolean summarize, Entries entries) {
        this.shape = shape;
        this.summarize = summarize;
        this.strings = entries.strings();
        this.width = entries.width();
    }

    /** The string of each element, and the width that determines how many fit on a line. */
    private record Entries(String[] strings, int width) {
        static Entries of(String[] strings) {
            return new Entries(strings, Stream.of(strings).mapToInt(String::length).max().orElse(0));
        }
    }

    static String format(Tensor tensor) {
        DType dtype = tensor.dtype();
        long[] shape = tensor.shape();
        List<String> suffixes = new ArrayList<>();
        Device device = tensor.device();
        String body;
        Layout layout = tensor.layout();
        if (layout != Layout.STRIDED) {
            body = components(tensor, layout);
            suffixes.add("size=" + sizes(shape));
            suffixes.add("nnz=" + tensor.nnz());
            if (dtype != Torch.getDefaultDtype()) {
                suffixes.add("dtype=" + dtype);
            }
            suffixes.add("layout=torch." + (layout == Layout.SPARSE ? "sparse_coo" : layout.name().toLowerCase(Locale.ROOT)));
        } else if (tensor.isQuantized()) {
            try (Tensor numbers = tensor.dequantize()) {
                body = numbers.numel() == 0 ? "[]" : Torch.pinned(() -> body(numbers, DType.FLOAT32, shape, PREFIX.length()));
            }
            suffixes.add("size=" + sizes(shape));
            suffixes.add("dtype=" + dtype);
            addQuantizer(tensor, suffixes);
        } else if (device.type() == Device.Type.META) {
            body = "...";
            suffixes.add("device='meta'");
            suffixes.add("size=" + sizes(shape));
            if (dtype != Torch.getDefaultDtype()) {
                suffixes.add("dtype=" + dtype);
            }
        } else {
            body = tensor.numel() == 0 ? "[]" : Torch.pinned(() -> body(tensor, dtype, shape, PREFIX.length()));
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
        return withSuffixes(body, suffixes, layout == Layout.SPARSE);
    }

    /** The parameters of a quantized tensor. */
    private static void addQuantizer(Tensor tensor, List<String> suffixes) {
        QScheme scheme = tensor.qscheme();
        if (scheme == QScheme.PER_TENSOR_AFFINE) {
            suffixes.add("quantization_scheme=torch.per_tensor_affine");
            suffixes.add("scale=" + tensor.qScale());
            suffixes.add("zero_point=" + tensor.qZeroPoint());
            return;
        }
        String parameters = scheme == QScheme.PER_CHANNEL_AFFINE_FLOAT_QPARAMS ? "_float_qparams" : "";
        suffixes.add("quantization_scheme=torch.per_channel_affine" + parameters);
        try (Tensor scales = tensor.qPerChannelScales(); Tensor zeros = tensor.qPerChannelZeroPoints()) {
            suffixes.add("scale=" + scales);
            suffixes.add("zero_point=" + zeros);
        }
        suffixes.add("axis=" + tensor.qPerChannelAxis());
    }

    /** The components of a sparse tensor, one below the other. */
    private static String components(Tensor tensor, Layout layout) {
        try (NoGrad guard = new NoGrad(); Tensor plain = tensor.detach()) {
            List<String> lines = new ArrayList<>();
            switch (layout) {
                case SPARSE -> {
                    lines.add(component("indices", call(plain, "_indices")));
                    lines.add(component("values", call(plain, "_values")));
                }
                case SPARSE_CSR -> {
                    lines.add(component("crow_indices", plain.crowIndices()));
                    lines.add(component("col_indices", plain.colIndices()));
                    lines.add(component("values", plain.values()));
                }
                default -> {
                    lines.add(component("ccol_indices", plain.ccolIndices()));
                    lines.add(component("row_indices", plain.rowIndices()));
                    lines.add(component("values", plain.values()));
                }
            }
            return guard == null ? "" : String.join(",\n" + " ".repeat(PREFIX.length()), lines);
        }
    }

    private static Tensor call(Tensor tensor, String operator) {
        return (Tensor) Library.call(operator, tensor)[0];
    }

    /** Formats a component and closes it. */
    private static String component(String name, Tensor component) {
        try (component) {
            String start = name + "=" + PREFIX;
            long[] shape = component.shape();
            String body = component.numel() == 0
                ? "[], size=" + sizes(shape)
                : body(component, component.dtype(), shape, PREFIX.length() + start.length());
            return start + body + ")";
        }
    }

    private static String withSuffixes(String body, List<String> suffixes, boolean startsLine) {
        boolean newLine = startsLine;
        StringBuilder out = new StringBuilder(PREFIX).append(body);
        int column = out.length() - out.lastIndexOf("\n") - 1;
        for (String suffix : suffixes) {
            if (newLine || column + suffix.length() + 3 > WIDTH) {
                newLine = false;
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

    private static String body(Tensor tensor, DType dtype, long[] shape, int indent) {
        boolean summarize = tensor.numel() > THRESHOLD;
        if (summarize) {
            try (NoGrad guard = new NoGrad(); Tensor edges = edges(tensor, shape)) {
                return new TensorFormat(shape, guard != null, entries(edges, dtype)).lines(0, 0, indent, new int[1]);
            }
        }
        return new TensorFormat(shape, false, entries(tensor, dtype)).lines(0, 0, indent, new int[1]);
    }

    /** The entries shown in summarized output. */
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
            String[] strings = new String[values.length];
            for (int i = 0; i < values.length; i++) {
                strings[i] = values[i] ? "True" : "False";
            }
            return Entries.of(strings);
        }
        if (dtype.isFloatingPoint()) {
            try (NoGrad guard = new NoGrad(); Tensor wide = tensor.to(DType.FLOAT64)) {
                assert guard != null;
                return floatEntries(wide.toDoubleArray());
            }
        }
        try (Tensor wide = tensor.to(DType.INT64)) {
            long[] values = wide.toLongArray();
            String[] strings = new String[values.length];
            for (int i = 0; i < values.length; i++) {
                strings[i] = dtype == DType.UINT64 ? Long.toUnsignedString(values[i]) : Long.toString(values[i]);
            }
            return Entries.of(strings);
        }
    }

    /** Complex elements are stored as pairs, and each part has its own format. */
    private static Entries complexEntries(Tensor tensor) {
        double[] pairs;
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            pairs = tensor.toComplexArray();
        }
        double[] real = new double[pairs.length / 2];
        double[] imag = new double[pairs.length / 2];
        for (int i = 0; i < real.length; i++) {
            real[i] = pairs[2 * i];
            imag[i] = pairs[2 * i + 1];
        }
        Entries reals = floatEntries(real);
        Entries imags = floatEntries(DoubleStream.of(imag).map(Math::abs).toArray());
        String[] strings = reals.strings().clone();
        for (int i = 0; i < real.length; i++) {
            boolean negative = Double.doubleToRawLongBits(imag[i]) < 0;
            strings[i] += (negative ? "-" : "+") + imags.strings()[i] + "j";
        }
        return new Entries(strings, reals.width() + imags.width() + 2);
    }

    /**
     * Determines one format for all elements: scientific for wide ranges, without decimals if all are integers,
     * otherwise four digits. Only finite nonzero numbers determine it and the width.
     */
    private static Entries floatEntries(double[] values) {
        double[] deciding = DoubleStream.of(values).filter(v -> Double.isFinite(v) && v != 0).toArray();
        boolean whole = DoubleStream.of(deciding).allMatch(v -> v == Math.ceil(v));
        double max = DoubleStream.of(deciding).map(Math::abs).max().orElse(0);
        double min = DoubleStream.of(deciding).map(Math::abs).min().orElse(0);
        boolean scientific = deciding.length > 0 && (max / min > 1000 || max > 1e8 || !whole && min < 1e-4);
        String pattern = scientific ? "%." + PRECISION + "e" : whole ? "%.0f." : "%." + PRECISION + "f";
        int width = DoubleStream.of(deciding).mapToInt(v -> format(pattern, v).length()).max().orElse(1);
        String[] strings = new String[values.length];
        for (int i = 0; i < values.length; i++) {
            String text = format(pattern, values[i]);
            strings[i] = " ".repeat(Math.max(0, width - text.length())) + text;
        }
        return new Entries(strings, width);
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

    /** Formats the part below dimension {@code dim}; {@code next[0]} is the next entry. */
    private String lines(int dim, int depth, int indent, int[] next) {
        if (dim == shape.length) {
            return pad(strings[next[0]++]);
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
