// Measures the memory of temporaries that are not closed: 10^7 of 16 bytes from one thread and from eight, 20000 of a MiB from four.
//   make bench-java
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.rushlight.Tensor;
import org.rushlight.Torch;

class Temporaries {
    public static void main(String[] arguments) throws Exception {
        Torch.setNumThreads(1);
        measure(1, 4, 10_000_000);
        measure(8, 4, 10_000_000);
        measure(4, 262_144, 20_000);
    }

    private static void measure(int threads, long elements, int tensors) throws Exception {
        long start = System.nanoTime();
        long most = 0;
        try (Tensor a = Torch.ones(elements); Tensor b = Torch.ones(elements)) {
            List<Thread> workers = Stream.generate(() -> new Thread(() -> {
                for (int i = 0; i < tensors / threads; i++) {
                    a.add(b);
                }
            })).limit(threads).toList();
            workers.forEach(Thread::start);
            while (workers.stream().anyMatch(Thread::isAlive)) {
                most = Math.max(most, resident());
                Thread.sleep(2);
            }
        }
        System.out.printf("%d unclosed temporaries of %d elements, %d thread(s): %.1f s, at most %d MB resident%n", tensors, elements, threads,
            (System.nanoTime() - start) / 1e9, most >> 20);
    }

    private static long resident() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IllegalStateException("/proc/self/status has no VmRSS");
    }
}
