// Memory of a Java program that never closes a tensor: millions of temporaries, and threads that train for a long time. Each
// phase fails if the process gets larger than the bar, or if a thread computes something else than the others.
//   java -cp rushlight.jar tests/soak/Soak.java [temporaries] [minutes] [threads]
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import org.rushlight.Generator;
import org.rushlight.NoGrad;
import org.rushlight.Tensor;
import org.rushlight.Torch;
import org.rushlight.nn.Linear;
import org.rushlight.optim.SGD;

class Soak {
    /** The bar: bytes resident. */
    private static final long MOST = 512L << 20;
    private static final int STEPS = 20;

    public static void main(String[] arguments) throws Exception {
        long temporaries = arguments.length > 0 ? Long.parseLong(arguments[0]) : 10_000_000;
        double minutes = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 0;
        int threads = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 64;
        Torch.setNumThreads(1);
        try (Tensor a = Torch.ones(4); Tensor b = Torch.ones(4)) {
            for (int makers : new int[] {1, 8}) {
                watched(makers + " threads, " + temporaries + " temporaries", makers, thread -> {
                    for (long i = 0; i < temporaries / makers; i++) {
                        a.add(b);
                    }
                });
            }
        }
        long end = System.nanoTime() + (long) (minutes * 60e9);
        Set<Float> losses = ConcurrentHashMap.newKeySet();
        AtomicLong trained = new AtomicLong();
        watched(threads + " threads that train", threads, thread -> {
            do {
                losses.add(train());
                trained.incrementAndGet();
            } while (System.nanoTime() < end);
        });
        System.out.println(trained + " models of " + STEPS + " steps, losses " + losses);
        check(losses.size() == 1, "threads disagree: " + losses);
    }

    /** A model from its beginning to its last loss; nothing is closed. */
    private static float train() {
        Generator generator = new Generator(3);
        Tensor x = Torch.randn(new long[] {8, 16}, generator);
        Tensor y = Torch.randn(new long[] {8, 4}, generator);
        Linear layer = new Linear(16, 4);
        try (NoGrad noGrad = new NoGrad()) {
            layer.parameters().forEach(parameter -> parameter.fill_(0.1));
        }
        SGD optimizer = new SGD(layer.parameters(), 0.05);
        float loss = 0;
        for (int step = 0; step < STEPS; step++) {
            optimizer.zeroGrad();
            Tensor error = layer.forward(x).sub(y);
            Tensor mean = error.mul(error).mean();
            mean.backward();
            optimizer.step();
            loss = mean.item().floatValue();
        }
        return loss;
    }

    private static void watched(String what, int count, LongConsumer body) throws Exception {
        ConcurrentHashMap<Thread, Throwable> failures = new ConcurrentHashMap<>();
        List<Thread> threads = IntStream.range(0, count).mapToObj(number -> new Thread(() -> body.accept(number))).toList();
        threads.forEach(thread -> thread.setUncaughtExceptionHandler(failures::put));
        long start = System.nanoTime();
        long most = 0;
        threads.forEach(Thread::start);
        while (threads.stream().anyMatch(Thread::isAlive)) {
            most = Math.max(most, resident());
            Thread.sleep(2);
        }
        System.out.printf("%s: %.1f s, at most %d MB resident%n", what, (System.nanoTime() - start) / 1e9, most >> 20);
        check(failures.isEmpty(), failures.values().toString());
        check(most < MOST, what + ": " + (most >> 20) + " MB resident");
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
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
