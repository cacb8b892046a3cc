package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rushlight.nn.Flatten;
import org.rushlight.nn.Functional;
import org.rushlight.nn.Linear;
import org.rushlight.nn.Module;
import org.rushlight.nn.Sequential;

/** Every example in the javadoc that is written by hand is compiled and run. (OperatorExamplesTest has those of the operators.) */
public class JavadocExamplesTest {
    private static final Path SOURCES = Path.of("src", "main", "java");
    private static final Pattern EXAMPLE = Pattern.compile("<pre>\\{@code\\n(.*?)\\n\\s*\\* ?\\}</pre>", Pattern.DOTALL);

    /** What the examples take for granted. */
    public abstract static class Prelude {
        protected final Tensor a = Tensor.of(1f, 2f);
        protected final Tensor b = Tensor.of(3f, 4f);
        protected final Tensor x = Tensor.of(3f).requires_grad_(true);
        protected final Tensor images = Torch.rand(2, 1, 28, 28);
        protected final Tensor input = images;
        protected final Tensor classes = Tensor.of(1L, 0L);
        public final Sequential model = new Sequential(new Flatten(), new Linear(784, 10));
        protected Tensor loss = x;
        protected double total;
        /** A folder with two digits. */
        public Path folder = Path.of(".");

        /** Everything is made anew for each example. */
        protected Prelude() {}

        /** The example. */
        public abstract void run() throws Exception;

        /** A loss of a model. */
        protected final Tensor loss(Module of) {
            return Functional.crossEntropy(of.forward(images), classes);
        }
    }

    /** Public, because the examples extend a class of it. */
    public JavadocExamplesTest() {}

    private static Map<String, String> examples() throws IOException {
        Map<String, String> found = new LinkedHashMap<>();
        List<Path> files;
        try (Stream<Path> all = Files.walk(SOURCES)) {
            files = all.filter(file -> file.toString().endsWith(".java")).sorted().toList();
        }
        for (Path file : files) {
            if (file.endsWith("TensorMethods.java") || file.endsWith("TorchFunctions.java")) {
                continue;
            }
            Matcher match = EXAMPLE.matcher(Files.readString(file));
            while (match.find()) {
                found.put("Example" + found.size(), "// " + file + "\n" + match.group(1).replaceAll("(?m)^\\s*\\* ?", ""));
            }
        }
        return found;
    }

    @Test
    void everyExampleRuns(@TempDir Path folder) throws Exception {
        long before = Leaks.live();
        ByteBuffer digits = ByteBuffer.allocate(16 + 2 * 28 * 28).putInt(0x803).putInt(2).putInt(28).putInt(28);
        Files.write(folder.resolve("train-images-idx3-ubyte"), digits.array());
        Files.write(folder.resolve("train-labels-idx1-ubyte"), new byte[] {0, 0, 8, 1, 0, 0, 0, 2, 4, 2});
        Map<String, String> examples = examples();
        assertTrue(examples.size() >= 12, examples.size() + " examples found");
        List<String> arguments = new ArrayList<>(List.of("-proc:none", "-d", folder.toString(), "-cp",
            Path.of("target", "classes") + java.io.File.pathSeparator + Path.of("target", "test-classes")));
        for (Map.Entry<String, String> example : examples.entrySet()) {
            Path file = folder.resolve(example.getKey() + ".java");
            Files.writeString(file, "import java.util.*;\nimport org.rushlight.*;\nimport org.rushlight.data.*;\nimport org.rushlight.nn.*;\n"
                + "import org.rushlight.nn.Module;\nimport org.rushlight.optim.*;\n\npublic class " + example.getKey()
                + " extends JavadocExamplesTest.Prelude {\n@Override\npublic void run() throws Exception {\n" + example.getValue() + "\n}\n}\n");
            arguments.add(file.toString());
        }
        ToolProvider compiler = ToolProvider.findFirst("javac").orElseThrow();
        StringWriter messages = new StringWriter();
        PrintWriter out = new PrintWriter(messages, true);
        boolean compiled = compiler.run(out, out, arguments.toArray(String[]::new)) == 0;
        assertTrue(compiled, messages.toString());
        int ran = 0;
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            for (String name : examples.keySet()) {
                try (Scope scope = new Scope()) {
                    assert scope != null;
                    Prelude example = (Prelude) loader.loadClass(name).getConstructor().newInstance();
                    example.folder = folder;
                    example.run();
                    example.model.close();
                    ran++;
                }
            }
        } finally {
            Torch.setCacheLimit(1L << 30);
        }
        assertEquals(examples.size(), ran);
        // Examples leave models to the collector.
        Leaks.collect(before);
    }
}
