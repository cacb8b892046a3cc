package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Profiles of this thread, and of all threads. Ranges and scopes are resources that only end. */
@SuppressWarnings("try")
class ProfilerTest {
    private static Profiler start() {
        return Profiler.start(new Profiler.Options().withThisThread(true).withRecordShapes(true).withProfileMemory(true));
    }

    private static Profiler.Event find(List<Profiler.Event> events, String name) {
        return events.stream().filter(event -> event.name().equals(name)).findFirst().orElseThrow();
    }

    @Test
    void operatorsNodesAndRangesAreRecorded() {
        try (Scope scope = new Scope(); Profiler profiler = start()) {
            Tensor x = Torch.ones(2, 3).requiresGrad_(true);
            try (Profiler.Range range = Profiler.record("step")) {
                x.mul(x).sum().backward();
            }
            assertTrue(Profiler.isEnabled());
            profiler.stop();
            assertFalse(Profiler.isEnabled());
            List<Profiler.Event> events = profiler.events();
            Profiler.Event step = find(events, "step");
            Profiler.Event forward = find(events, "aten::mul");
            Profiler.Event node = find(events, "MulBackward0");
            assertEquals(Profiler.Scope.USER_SCOPE, step.scope());
            assertEquals(step, events.get(forward.parent()));
            assertEquals(Profiler.Scope.BACKWARD_FUNCTION, node.scope());
            assertEquals(forward.sequence(), node.sequence());
            assertEquals(forward.thread(), node.forwardThread());
            assertEquals(List.of(2L, 3L), forward.inputs().get(1).sizes());
            assertEquals(DType.FLOAT32, forward.inputs().get(1).dtype());
            assertEquals(24, forward.allocated());
            assertEquals(24, forward.selfBytes());
            int parent = events.indexOf(step);
            long inner = events.stream().filter(event -> event.parent() == parent).mapToLong(Profiler.Event::durationNanos).sum();
            assertEquals(step.durationNanos() - inner, step.selfNanos());
            assertTrue(node.startNanos() >= forward.startNanos() + forward.durationNanos());
        }
    }

    @Test
    void tableAndTraceShowTheEvents(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("trace.json");
        try (Scope scope = new Scope(); Profiler profiler = start()) {
            try (Profiler.Range range = Profiler.record("a \"quoted\" name")) {
                Torch.ones(2).neg();
            }
            assertThrows(IllegalStateException.class, profiler::table);
            profiler.stop();
            String table = profiler.table("count", 1, true);
            assertTrue(table.contains("Self CPU %") && table.contains("CPU Mem") && table.contains("Input Shapes"), table);
            assertEquals(6, table.lines().count());
            assertTrue(profiler.table().contains("aten::neg"));
            assertThrows(TensorValueException.class, () -> profiler.table("speed", -1, false));
            profiler.exportChromeTrace(file);
            assertThrows(RushlightIOException.class, () -> profiler.exportChromeTrace(folder.resolve("none").resolve("trace.json")));
        }
        String trace = Files.readString(file);
        assertTrue(trace.contains("\"name\":\"a \\\"quoted\\\" name\"") && trace.contains("\"name\":\"aten::neg\""), trace);
    }

    @Test
    void rangesEndWhenAnExceptionLeavesThem() {
        try (Scope scope = new Scope(); Profiler profiler = start()) {
            Tensor x = Torch.ones(2);
            assertThrows(RushlightException.class, () -> {
                try (Profiler.Range range = Profiler.record("fails")) {
                    x.mm(x);
                }
            });
            x.neg();
            profiler.stop();
            List<Profiler.Event> events = profiler.events();
            assertEquals(0, find(events, "fails").depth());
            assertEquals(1, find(events, "aten::mm").depth());
            assertEquals(0, find(events, "aten::neg").depth());
        }
    }

    @Test
    void nothingIsRecordedWithoutAProfile() {
        Profiler.record("nothing").close();
        Profiler profiler = start();
        RushlightException error = assertThrows(RushlightException.class, ProfilerTest::start);
        assertTrue(error.getMessage().contains("already on"), error.getMessage());
        profiler.stop();
        assertEquals(List.of(), profiler.events());
        profiler.close();
        profiler.close();
        assertThrows(IllegalStateException.class, profiler::events);
    }

    @Test
    void aProfileOfAllThreadsRecordsOtherThreads() throws InterruptedException {
        try (Profiler profiler = Profiler.start()) {
            Thread other = new Thread(() -> Profiler.record("on another thread").close());
            other.start();
            other.join();
            Profiler.record("here").close();
            profiler.stop();
            List<Profiler.Event> events = profiler.events();
            assertTrue(find(events, "on another thread").thread() != find(events, "here").thread());
        }
    }
}
