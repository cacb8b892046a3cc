package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files whose names are not ASCII, in a JVM for which they are: with {@code LC_ALL=C} Java keeps their bytes, but not their characters. */
class FileNamesTest {
    private static final Path DATA = Path.of("..", "tests", "data").toAbsolutePath().normalize();

    /** A shell creates the folder, since this JVM may not be able to name it either. */
    private static void prepare(Path folder) throws IOException, InterruptedException {
        String script = "d=\"$1/$(printf 'gewichte-\\303\\274')\" && mkdir \"$d\" && cp \"$2/io/model.pt\" \"$2/script/net.pt\" \"$d\"";
        Process shell = new ProcessBuilder("sh", "-c", script, "sh", folder.toString(), DATA.toString()).redirectErrorStream(true).start();
        assertEquals("", new String(shell.getInputStream().readAllBytes()));
        assertEquals(0, shell.waitFor());
    }

    @Test
    void theyAreReadAndWritten(@TempDir Path folder) throws Exception {
        for (String locale : List.of("C", "C.UTF-8")) {
            Path inside = Files.createDirectory(folder.resolve(locale));
            prepare(inside);
            Jvm.Ended ended = Jvm.await(Jvm.of(List.of("env", "LC_ALL=" + locale), ReadsAndWrites.class, "-Dfolder=" + inside));
            assertEquals("[0.weight, 0.bias, 2.weight, 2.bias]\nScriptModule(__torch__.Net)\n[w]\nScriptModule(__torch__.Net)\ntrue", ended.output());
            assertEquals(0, ended.status());
            // The names on the disk did not change.
            Process shell = new ProcessBuilder("sh", "-c", "ls \"$1\"/$(printf 'gewichte-\\303\\274')", "sh", inside.toString()).start();
            assertEquals("model.pt\nnet.pt\ntrace.json", new String(shell.getInputStream().readAllBytes()).strip());
        }
    }

    /** The program. */
    static final class ReadsAndWrites {
        private ReadsAndWrites() {}

        /** Reads and writes the files of the only folder in the given one. */
        public static void main(String[] arguments) throws IOException {
            Path folder;
            try (Stream<Path> all = Files.list(Path.of(System.getProperty("folder")))) {
                folder = all.findFirst().orElseThrow();
            }
            Path weights = folder.resolve("model.pt");
            Path net = folder.resolve("net.pt");
            System.out.println(StateDict.load(weights).keySet());
            try (ScriptModule module = ScriptModule.load(net)) {
                System.out.println(module);
                module.save(net);
            }
            StateDict.save(Map.of("w", Torch.ones(1)), weights);
            System.out.println(StateDict.load(weights).keySet());
            try (ScriptModule module = ScriptModule.load(net)) {
                System.out.println(module);
            }
            Profiler profiler = Profiler.start(new Profiler.Options());
            Torch.ones(2).add(1);
            profiler.stop();
            profiler.exportChromeTrace(folder.resolve("trace.json"));
            System.out.println(Files.size(folder.resolve("trace.json")) > 10);
            profiler.close();
        }
    }
}
