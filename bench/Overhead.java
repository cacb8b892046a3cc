// What a call from Java costs, and what 10^7 temporaries that nobody closes do to memory.
//   make bench-java
import java.nio.file.Files;
import java.nio.file.Path;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.Torch;

class Overhead {
    private static final int CALLS = 2_000_000;

    public static void main(String[] arguments) throws Exception {
        Torch.setNumThreads(1);
        try (Tensor a = Torch.ones(4); Tensor b = Torch.ones(4)) {
            for (int round = 0; round < 5; round++) {
                // The first rounds are those of a compiler that still works.
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
            long most = 0;
            long start = System.nanoTime();
            for (int i = 0; i < 10_000_000; i++) {
                a.add(b);
                if (i % 100_000 == 0) {
                    most = Math.max(most, resident());
                }
            }
            System.out.printf("10^7 unclosed temporaries: %.1f s, at most %d MB resident, %d live handles at the end%n",
                (System.nanoTime() - start) / 1e9, most >> 20, Torch.memoryStats().liveHandles());
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

    private static long resident() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        return 0;
    }
}
