package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is published beside the classes: names of parameters, poms that Maven Central accepts, GraalVM's metadata. */
class ArtifactsTest {
    private static final Path METADATA = Path.of("target", "classes", "META-INF", "native-image", "org.rushlight", "rushlight");
    private static final Path JNI = Path.of("..", "bindings", "jni", "src");

    @Test
    void parametersHaveNames() throws Exception {
        for (Method method : List.of(Tensor.class.getMethod("reshape", long[].class), StateDict.class.getMethod("load", Path.class))) {
            for (Parameter parameter : method.getParameters()) {
                assertTrue(parameter.isNamePresent(), method.toString());
            }
        }
    }

    private static String pom(String folder) throws IOException {
        return Files.readString(Path.of(folder, "pom.xml"));
    }

    /** The text of the first element with the last name inside of the first ones with the others; empty if there is none. */
    private static String text(String pom, String... path) {
        String at = pom;
        for (String name : path) {
            Matcher element = Pattern.compile("<" + name + ">(.*?)</" + name + ">", Pattern.DOTALL).matcher(at);
            at = element.find() ? element.group(1).strip() : "";
        }
        return at;
    }

    /** Maven Central requires these elements; the BOM names every artifact, and all have one version. */
    @Test
    void pomsAreComplete() throws Exception {
        String version = text(pom("."), "version");
        Set<String> artifacts = new TreeSet<>();
        for (String folder : List.of(".", "pytorch", "kotlin", "bom")) {
            // What follows describes dependencies and plugins.
            String pom = pom(folder).split("<(properties|dependencyManagement)>")[0];
            for (String name : List.of("name", "description", "url")) {
                assertTrue(!text(pom, name).isEmpty(), folder + " has no " + name);
            }
            assertEquals(version, text(pom, "version"), folder);
            assertTrue(!text(pom, "licenses", "license", "url").isEmpty(), folder + " has no license");
            assertTrue(!text(pom, "developers", "developer", "name").isEmpty(), folder + " has no developer");
            assertTrue(text(pom, "scm", "connection").startsWith("scm:git:https://"), folder + " has no scm");
            artifacts.add(text(pom, "artifactId"));
        }
        artifacts.remove("rushlight-bom");
        Set<String> named = Pattern.compile("<artifactId>(.*?)</artifactId>").matcher(pom("bom")).results().map(match -> match.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
        named.remove("rushlight-bom");
        assertEquals(artifacts, named);
    }

    /** Classes that the native library mentions, in either spelling. */
    private static Set<String> mentioned(String prefix) throws IOException {
        Path library;
        try (Stream<Path> all = Files.walk(Path.of("target", "classes", "org", "rushlight", "native"))) {
            library = all.filter(file -> file.endsWith("librushlight.so")).findFirst().orElseThrow();
        }
        String bytes = new String(Files.readAllBytes(library), StandardCharsets.ISO_8859_1);
        return Pattern.compile(prefix).matcher(bytes).results().map(match -> match.group().replace('/', '.')).collect(Collectors.toCollection(TreeSet::new));
    }

    private static String read(String file) throws IOException {
        return Files.readString(METADATA.resolve(file)).replaceAll("\\s+", "");
    }

    /** Each class with its methods as {@code name(types)}, of {@code jni-config.json}. */
    private static Map<String, Set<String>> registered() throws IOException {
        Map<String, Set<String>> found = new TreeMap<>();
        for (String entry : read("jni-config.json").split("\\{\"name\":\"(?=java|org)")) {
            Matcher name = Pattern.compile("^([\\w.]+)\"").matcher(entry);
            if (name.find()) {
                found.put(name.group(1), Pattern.compile("\"name\":\"(\\w+)\",\"parameterTypes\":\\[(.*?)\\]\\}").matcher(entry).results()
                    .map(match -> match.group(1) + "(" + match.group(2).replace("\"", "") + ")").collect(Collectors.toCollection(TreeSet::new)));
            }
        }
        return found;
    }

    @Test
    void graalVmKnowsEveryClassThatTheLibraryLooksUp() throws IOException {
        Set<String> all = new TreeSet<>(mentioned("java[./]lang[./][A-Z][A-Za-z]*"));
        all.addAll(mentioned("org/rushlight/[A-Za-z/]+"));
        assertTrue(all.contains("java.lang.ClassLoader") && all.contains("org.rushlight.internal.Upcalls"), all.toString());
        assertEquals(all, registered().keySet());
        String unified = read("reachability-metadata.json");
        all.forEach(name -> assertTrue(unified.contains("{\"type\":\"" + name + "\",\"jniAccessible\":true,"), name));
        for (String file : List.of("reachability-metadata.json", "resource-config.json")) {
            assertTrue(read(file).contains("org/rushlight/native/"), file);
        }
    }

    /** The methods are those that the sources of the library name, and those that the classes have. */
    @Test
    void graalVmKnowsEveryMethodThatTheLibraryCalls() throws Exception {
        Set<String> called = new TreeSet<>();
        try (Stream<Path> all = Files.walk(JNI)) {
            for (Path file : all.filter(each -> each.toString().endsWith(".rs")).toList()) {
                Pattern.compile("jni_str!\\(\"(\\w+)\"\\),\\s*jni_sig!\\(").matcher(Files.readString(file)).results()
                    .forEach(match -> called.add(match.group(1)));
            }
        }
        called.remove("toString"); // Of java.lang.Throwable, with all its methods.
        List<String> registered = new ArrayList<>();
        for (Map.Entry<String, Set<String>> entry : registered().entrySet()) {
            if (!entry.getKey().startsWith("org.")) {
                continue;
            }
            Set<String> declared = Arrays.stream(Class.forName(entry.getKey()).getDeclaredMethods())
                .map(method -> method.getName() + "(" + Arrays.stream(method.getParameterTypes()).map(Class::getTypeName).collect(Collectors.joining(",")) + ")")
                .collect(Collectors.toSet());
            entry.getValue().forEach(method -> assertTrue(declared.contains(method), entry.getKey() + "." + method));
            entry.getValue().forEach(method -> registered.add(method.substring(0, method.indexOf('('))));
            entry.getValue().forEach(method -> {
                String json = "{\"name\":\"" + method.substring(0, method.indexOf('(')) + "\",\"parameterTypes\":[";
                try {
                    assertTrue(read("reachability-metadata.json").contains(json), method);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
        }
        assertTrue(called.size() > 8, called.toString());
        assertEquals(called, new TreeSet<>(registered));
    }
}
