package app;

import org.rushlight.Tensor;

/** Prints a sum, so that the native library is found and loaded. */
public final class Main {
    private Main() {}

    /**
     * The program.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        try (Tensor values = Tensor.of(1f, 2f); Tensor sum = values.add(values)) {
            System.out.println(sum);
        }
    }
}
