// Measures the overhead of a call from Java.
//   make bench-java
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.Torch;

class Overhead {
    private static final int CALLS = 2_000_000;

    public static void main(String[] arguments) {
        Torch.setNumThreads(1);
        try (Tensor a = Torch.ones(4); Tensor b = Torch.ones(4)) {
            for (int round = 0; round < 5; round++) {
                // The JIT compiler is still working in the first rounds.
                System.out.println("round " + (round + 1));
                report("add and close", time(() -> {
                    for (int i = 0; i < CALLS; i++) {
                        a.add(b).close();
                    }
                }));
                report("add in a scope of 100", time(() -> {
                    for (int i = 0; i < CALLS / 100; i++) {
                        try (Scope scope = new Scope()) {
                            for (int k = 0; k < 100; k++) {
                                a.add(b);
                            }
                        }
                    }
                }));
                report("add_", time(() -> {
                    for (int i = 0; i < CALLS; i++) {
                        a.add_(b);
                    }
                }));
                float[] values = {1, 2, 3, 4};
                report("new Tensor and close", time(() -> {
                    for (int i = 0; i < CALLS; i++) {
                        Tensor.of(values).close();
                    }
                }));
                report("share and close (a wrapper alone)", time(() -> {
                    for (int i = 0; i < CALLS; i++) {
                        a.share().close();
                    }
                }));
            }
        }
    }

    private static double time(Runnable body) {
        long start = System.nanoTime();
        body.run();
        return (System.nanoTime() - start) / (double) CALLS;
    }

    private static void report(String what, double nanoseconds) {
        System.out.printf("%-36s %7.0f ns%n", what, nanoseconds);
    }
}
