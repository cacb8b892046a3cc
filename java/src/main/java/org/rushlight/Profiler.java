package org.rushlight;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeProfiler;

/**
 * Records which operators run, how long they take and how much memory they allocate: every call of an operator, also those
 * inside of other operators, the nodes of backward passes, and the ranges of the program ({@link #record}).
 *
 * <pre>{@code
 * Tensor x = Torch.ones(2, 3);
 * try (Profiler profiler = Profiler.start()) {
 *     try (Profiler.Range step = Profiler.record("step")) {
 *         x.neg().close();
 *     }
 *     profiler.stop();
 *     System.out.println(profiler.events().get(0).name()); // step
 *     System.out.println(profiler.events().get(1).name()); // aten::neg
 * }
 * }</pre>
 *
 * <p>There is at most one profile of all threads, and one of each thread ({@link Options#withThisThread}). Without a profile a call
 * of an operator reads one more word of memory.
 */
public final class Profiler implements AutoCloseable {
    private final Object lock = new Object();
    private @Nullable Recorded recorded;
    private boolean closed;

    /** What a profile records besides names, times and threads. */
    public static final class Options {
        private final boolean recordShapes;
        private final boolean profileMemory;
        private final boolean thisThread;

        /** Options that record the names, times and threads of the calls of all threads. */
        public Options() {
            this(false, false, false);
        }

        private Options(boolean recordShapes, boolean profileMemory, boolean thisThread) {
            this.recordShapes = recordShapes;
            this.profileMemory = profileMemory;
            this.thisThread = thisThread;
        }

        /**
         * Returns options that say whether the shapes and dtypes of arguments are recorded.
         *
         * @param on false by default
         * @return the options
         */
        public Options withRecordShapes(boolean on) {
            return new Options(on, profileMemory, thisThread);
        }

        /**
         * Returns options that say whether the bytes of tensor memory on the CPU are recorded that calls allocate and free.
         *
         * @param on false by default
         * @return the options
         */
        public Options withProfileMemory(boolean on) {
            return new Options(recordShapes, on, thisThread);
        }

        /**
         * Returns options that say whether only the calls of the thread that starts the profile are recorded. That thread has to
         * stop it as well.
         *
         * @param on false by default
         * @return the options
         */
        public Options withThisThread(boolean on) {
            return new Options(recordShapes, profileMemory, on);
        }
    }

    /** The kind of an event. */
    public enum Scope {
        /** An operator. */
        FUNCTION,
        /** A node of a backward pass. */
        BACKWARD_FUNCTION,
        /** A function or method of TorchScript. */
        TORCHSCRIPT_FUNCTION,
        /** The dtype of a kernel. */
        KERNEL_FUNCTION_DTYPE,
        /** A method of a custom class. */
        CUSTOM_CLASS,
        /** A feature of the build. */
        BUILD_FEATURE,
        /** An operator of the interpreter for mobile devices. */
        LITE_INTERPRETER,
        /** A range of the program. */
        USER_SCOPE,
        /** An operator of the static runtime. */
        STATIC_RUNTIME_OP,
        /** A model of the static runtime. */
        STATIC_RUNTIME_MODEL
    }

    /**
     * A tensor among the arguments of a call, or an argument without one.
     *
     * @param argument index of the argument; the tensors of a list have the same one
     * @param dtype the dtype of the tensor; null if the argument has no tensor
     * @param sizes its sizes
     */
    public record Input(int argument, @Nullable DType dtype, List<Long> sizes) {}

    /**
     * One call of an operator, of a node or of a range. Times are in nanoseconds.
     *
     * @param name {@code aten::add}, {@code MulBackward0}, or the name of the range
     * @param scope its kind
     * @param depth number of events that enclose it
     * @param parent index of the event that encloses it on the same thread; -1: none
     * @param thread number of its thread
     * @param forwardThread of a node: the thread that recorded it; 0 for other events
     * @param sequence number that connects an operator with its node, among those of a thread; -1: none
     * @param startNanos from the start of the profile to the beginning of the call
     * @param durationNanos from its beginning to its end
     * @param selfNanos duration without those of the events that it encloses
     * @param allocated bytes that its thread allocated meanwhile
     * @param freed bytes that its thread freed meanwhile
     * @param selfBytes bytes allocated less bytes freed, without those of the events that it encloses
     * @param inputs the tensors among the arguments, if shapes are recorded
     */
    public record Event(
            String name,
            Scope scope,
            int depth,
            int parent,
            long thread,
            long forwardThread,
            long sequence,
            long startNanos,
            long durationNanos,
            long selfNanos,
            long allocated,
            long freed,
            long selfBytes,
            List<Input> inputs) {}

    /** A range of the program. */
    public static final class Range implements AutoCloseable {
        private final AtomicLong handle;

        private Range(long handle) {
            this.handle = new AtomicLong(handle);
        }

        /** Ends the range, on any thread. Closing twice is allowed. */
        @Override
        public void close() {
            NativeProfiler.end(handle.getAndSet(0));
        }
    }

    /** A native profile. */
    private static final class Recorded extends NativeOwner {
        Recorded(long profile) {
            super(profile, () -> NativeProfiler.free(profile));
        }

        @Override
        String label() {
            return "this Profiler";
        }
    }

    private Profiler() {}

    /**
     * Starts a profile of all threads.
     *
     * @return the profile
     * @throws RushlightException if one is running
     */
    public static Profiler start() {
        return start(new Options());
    }

    /**
     * Starts a profile.
     *
     * @param options what it records
     * @return the profile
     * @throws RushlightException if one of the same kind is running
     */
    public static Profiler start(Options options) {
        NativeProfiler.start(options.recordShapes, options.profileMemory, options.thisThread);
        return new Profiler();
    }

    /**
     * Returns whether a profile of this thread or of all threads is running.
     *
     * @return whether one is running
     */
    public static boolean isEnabled() {
        return NativeProfiler.isEnabled();
    }

    /**
     * Begins a range of the program. Without a profile it has no effect.
     *
     * @param name the name
     * @return the range, which ends when it is closed
     */
    public static Range record(String name) {
        return new Range(NativeProfiler.begin(Objects.requireNonNull(name, "name")));
    }

    /**
     * Stops the profile. Calls that are still running end at this time. Stopping twice is allowed.
     *
     * @throws OutOfNativeMemoryException if there was not enough memory to record all events
     * @throws IllegalStateException if the profile is closed
     */
    public void stop() {
        synchronized (lock) {
            if (closed) {
                throw new IllegalStateException("this Profiler is closed");
            }
            if (recorded == null) {
                recorded = new Recorded(NativeProfiler.stop());
            }
        }
    }

    /** The native profile, which is stopped. */
    private Recorded stopped() {
        synchronized (lock) {
            if (closed || recorded == null) {
                throw new IllegalStateException(closed ? "this Profiler is closed" : "this Profiler is running: stop() comes first");
            }
            return recorded;
        }
    }

    /**
     * Returns the profile as a table with a row for each name, in the order of first calls.
     *
     * @return lines of text
     * @throws IllegalStateException if the profile is running
     */
    public String table() {
        return table("", -1, false);
    }

    /**
     * Returns the profile as a table, largest values first.
     *
     * @param sortBy {@code self_cpu_time_total}, {@code cpu_time_total}, {@code cpu_time}, {@code count},
     *     {@code self_cpu_memory_usage} or {@code cpu_memory_usage}; empty: the order of first calls
     * @param rows the most rows; -1: all
     * @param byShape whether there is a row for each name and shapes of arguments, instead of each name
     * @return lines of text
     * @throws TensorValueException if there is no such column
     * @throws IllegalStateException if the profile is running
     */
    public String table(String sortBy, int rows, boolean byShape) {
        Recorded profile = stopped();
        NativeOwner.acquire(profile);
        try {
            return NativeProfiler.table(profile.handle(), sortBy, rows, byShape);
        } finally {
            NativeOwner.release(profile);
        }
    }

    /**
     * Writes the profile in Chrome's format, for {@code chrome://tracing} and Perfetto.
     *
     * @param path the file
     * @throws RushlightIOException if it cannot be written
     * @throws IllegalStateException if the profile is running
     */
    public void exportChromeTrace(Path path) {
        Recorded profile = stopped();
        if (!FileNames.reachNative(path)) {
            try {
                Path part = Files.createTempFile("rushlight", ".json");
                exportChromeTrace(part);
                Files.move(part, path, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException e) {
                throw StateDict.failed("cannot write " + path.toUri(), e);
            }
            return;
        }
        NativeOwner.acquire(profile);
        try {
            NativeProfiler.chromeTrace(profile.handle(), path.toString());
        } finally {
            NativeOwner.release(profile);
        }
    }

    /**
     * Returns all events: thread after thread, those of a thread in the order in which they began.
     *
     * @return an unmodifiable list
     * @throws IllegalStateException if the profile is running
     */
    public List<Event> events() {
        Recorded profile = stopped();
        NativeOwner.acquire(profile);
        try {
            return new Reader(NativeProfiler.names(profile.handle()), NativeProfiler.events(profile.handle())).events();
        } finally {
            NativeOwner.release(profile);
        }
    }

    /** Stops the profile and frees it. Closing twice is allowed. */
    @Override
    public void close() {
        synchronized (lock) {
            if (closed) {
                return;
            }
            try {
                stop();
            } finally {
                closed = true;
            }
            recorded.close();
        }
    }

    /** Reads events from their numbers ({@link NativeProfiler#events}). */
    private static final class Reader {
        private static final Scope[] SCOPES = Scope.values();

        private final String[] names;
        private final long[] numbers;
        private int at;

        Reader(String[] names, long[] numbers) {
            this.names = names;
            this.numbers = numbers;
        }

        private long next() {
            return numbers[at++];
        }

        List<Event> events() {
            List<Event> events = new ArrayList<>();
            while (at < numbers.length) {
                events.add(event());
            }
            return Collections.unmodifiableList(events);
        }

        private Event event() {
            // Arguments are evaluated from left to right.
            return new Event(
                    names[(int) next()],
                    SCOPES[(int) next()],
                    (int) next(),
                    (int) next(),
                    next(),
                    next(),
                    next(),
                    next(),
                    next(),
                    next(),
                    next(),
                    next(),
                    next(),
                    inputs((int) next()));
        }

        private List<Input> inputs(int count) {
            List<Input> inputs = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                int argument = (int) next();
                int dtype = (int) next();
                List<Long> sizes = new ArrayList<>();
                for (long left = next(); left > 0; left--) {
                    sizes.add(next());
                }
                inputs.add(new Input(argument, dtype < 0 ? null : DType.of(dtype), Collections.unmodifiableList(sizes)));
            }
            return Collections.unmodifiableList(inputs);
        }
    }
}
