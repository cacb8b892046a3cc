package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
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

/** Every hand-written example in Javadoc is compiled and run. (OperatorExamplesTest has those of the operators.) */
public class JavadocExamplesTest {
    private static final Path SOURCES = Path.of("src", "main", "java");
    /** Parts of generated classes. */
    private static final Path PARTS = Path.of("src", "main", "parts");
    private static final Pattern PRINTS = Pattern.compile("System\\.out\\.println\\((.*)\\);\\s*// ?(.*)");
    private static final Pattern EXAMPLE = Pattern.compile("<pre>\\{@code\\n(.*?)\\n\\s*\\* ?\\}</pre>", Pattern.DOTALL);

    /** The context of the examples. */
    public abstract static class Prelude {
        protected final Tensor a = Tensor.of(1f, 2f);
        protected final Tensor b = Tensor.of(3f, 4f);
        protected final Tensor x = Tensor.of(3f).requiresGrad_(true);
        protected final Tensor images = Torch.rand(2, 1, 28, 28);
        protected final Tensor input = images;
        protected final Tensor classes = Tensor.of(1L, 0L);
        public final Sequential model = new Sequential(new Flatten(), new Linear(784, 10));
        protected Tensor loss = x;
        protected double total;
        /** A folder with two digits and a saved model. */
        public Path folder = Path.of(".");

        /** Everything is created anew for each example. */
        protected Prelude() {}

        /** The example. */
        public abstract void run() throws Exception;

        /** Printed output that differs from the comment beside it. */
        public final List<String> wrong = new ArrayList<>();
        /** Number of printed lines. */
        public int shown;

        /** The output of an example, and the comment beside it. */
        protected final void show(Object printed, String said) {
            shown++;
            if (!String.valueOf(printed).equals(said)) {
                wrong.add("says '" + said + "', but prints '" + printed + "'");
            }
        }

        /** A loss of a model. */
        protected final Tensor loss(Module of) {
            return Functional.crossEntropy(of.forward(images), classes);
        }
    }

    /** Public, because the examples extend a class of it. */
    public JavadocExamplesTest() {}

    /** {@code System.out.println(x); // text}, as a comparison of the two. */
    private static String show(MatchResult print) {
        String said = print.group(2).replace("\\", "\\\\").replace("\"", "\\\"");
        return Matcher.quoteReplacement("show(" + print.group(1) + ", \"" + said + "\");");
    }

    private static Map<String, String> examples() throws IOException {
        Map<String, String> found = new LinkedHashMap<>();
        List<Path> files = new ArrayList<>();
        for (Path sources : List.of(SOURCES, PARTS)) {
            try (Stream<Path> all = Files.walk(sources)) {
                all.filter(file -> file.toString().endsWith(".java")).sorted().forEach(files::add);
            }
        }
        for (Path file : files) {
            Matcher match = EXAMPLE.matcher(Files.readString(file));
            while (match.find()) {
                String code = match.group(1).replaceAll("(?m)^\\s*\\* ?", "");
                found.put("Example" + found.size(), "// " + file + "\n" + PRINTS.matcher(code).replaceAll(JavadocExamplesTest::show));
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
        Files.copy(Path.of("..", "tests", "data", "script", "net.pt"), folder.resolve("net.pt"));
        Map<String, String> examples = examples();
        examples.values().forEach(code -> assertFalse(code.contains("System.out.println"), "says not what it prints: " + code));
        List<String> arguments = new ArrayList<>(List.of("-proc:none", "-d", folder.toString(), "-cp",
            Path.of("target", "classes") + java.io.File.pathSeparator + Path.of("target", "test-classes")));
        for (Map.Entry<String, String> example : examples.entrySet()) {
            Path file = folder.resolve(example.getKey() + ".java");
            Files.writeString(file, "import java.util.*;\nimport org.rushlight.*;\nimport org.rushlight.data.*;\nimport org.rushlight.inference.*;\nimport org.rushlight.nn.*;\n"
                + "import org.rushlight.nn.Module;\nimport org.rushlight.optim.*;\nimport org.rushlight.training.*;\n\npublic class " + example.getKey()
                + " extends JavadocExamplesTest.Prelude {\n@Override\npublic void run() throws Exception {\n" + example.getValue() + "\n}\n}\n");
            arguments.add(file.toString());
        }
        ToolProvider compiler = ToolProvider.findFirst("javac").orElseThrow();
        StringWriter messages = new StringWriter();
        PrintWriter out = new PrintWriter(messages, true);
        boolean compiled = compiler.run(out, out, arguments.toArray(String[]::new)) == 0;
        assertTrue(compiled, messages.toString());
        int shown = 0;
        List<String> wrong = new ArrayList<>();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            for (Map.Entry<String, String> text : examples.entrySet()) {
                try (Scope scope = new Scope()) {
                    assert scope != null;
                    Prelude example = (Prelude) loader.loadClass(text.getKey()).getConstructor().newInstance();
                    example.folder = folder;
                    String file = text.getValue().substring(3, text.getValue().indexOf('\n'));
                    try {
                        example.run();
                    } catch (Exception e) {
                        wrong.add(file + " throws " + e);
                    }
                    example.model.close();
                    example.wrong.forEach(what -> wrong.add(file + " " + what));
                    shown += example.shown;
                }
            }
        } finally {
            Torch.setCacheLimit(1L << 30);
        }
        assertEquals("", String.join("\n", wrong));
        assertTrue(shown > 150, shown + " results compared");
        // Examples leave models to the garbage collector.
        Leaks.collect(before);
    }

    /** Every class that programs instantiate or call statically has an example. */
    @Test
    void everyClassThatIsMadeHasAnExample() throws Exception {
        List<String> lacking = new ArrayList<>();
        int seen = 0;
        for (Class<?> type : NamesTest.publicClasses()) {
            boolean made = type.getConstructors().length > 0 && !Modifier.isAbstract(type.getModifiers());
            if (!made || type.isMemberClass() || Throwable.class.isAssignableFrom(type)) {
                continue;
            }
            seen++;
            String text = Files.readString(SOURCES.resolve(type.getName().replace('.', '/') + ".java"));
            // The example must be in the comment of the class, not of a method.
            Matcher example = EXAMPLE.matcher(text.substring(0, text.indexOf("\npublic ")));
            if (!example.find()) {
                lacking.add(type.getName());
            }
        }
        assertEquals(List.of(), lacking);
        assertTrue(seen > 150, seen + " classes");
    }
}
