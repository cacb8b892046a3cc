package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Conventions of the public API, class by class. */
class NamesTest {
    private static final Path CLASSES = Path.of("target", "classes");
    /** Kotlin keywords, which programs would have to put into backquotes. */
    private static final Set<String> KOTLIN = Set.of("as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in",
        "interface", "is", "null", "object", "package", "return", "super", "this", "throw", "true", "try", "typealias", "typeof", "val",
        "var", "when", "while");
    /** PyTorch's name of an operator; {@link Tensor#variance} is the same for Kotlin. */
    private static final String EXEMPT = "var";

    static List<Class<?>> publicClasses() throws IOException, ClassNotFoundException {
        List<Class<?>> found = new ArrayList<>();
        List<Path> files;
        try (Stream<Path> all = Files.walk(CLASSES)) {
            files = all.filter(file -> file.toString().endsWith(".class")).toList();
        }
        for (Path file : files) {
            String name = CLASSES.relativize(file).toString().replace('/', '.').replace(".class", "");
            if (name.contains(".internal.") || name.endsWith("-info")) {
                continue;
            }
            Class<?> type = Class.forName(name);
            if (Modifier.isPublic(type.getModifiers())) {
                found.add(type);
            }
        }
        assertTrue(found.size() > 200, found.size() + " classes");
        return found;
    }

    @Test
    void noNameIsAWordOfKotlin() throws Exception {
        List<String> wrong = new ArrayList<>();
        for (Class<?> type : publicClasses()) {
            Stream.concat(Arrays.stream(type.getMethods()), Arrays.stream(type.getFields())).map(Member::getName)
                .filter(name -> KOTLIN.contains(name) && !name.equals(EXEMPT)).forEach(name -> wrong.add(type.getName() + "." + name));
        }
        assertEquals(List.of(), wrong);
    }

    /** Handles are numbers for internal use: no public method with that name takes or returns one. */
    @Test
    void noHandleIsPublic() throws Exception {
        List<String> wrong = new ArrayList<>();
        for (Class<?> type : publicClasses()) {
            for (Method method : type.getMethods()) {
                if (method.getName().toLowerCase(java.util.Locale.ROOT).contains("handle") && method.getReturnType() == long.class
                        && !method.getName().equals("liveHandles")) {
                    wrong.add(method.toString());
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    /** Every exported package declares nullability. */
    @Test
    void everyPackageIsNullMarked() {
        for (String exported : List.of("", ".data", ".inference", ".nn", ".optim", ".training")) {
            Path info = Path.of("src", "main", "java", "org", "rushlight", exported.replace(".", ""), "package-info.java");
            try {
                assertTrue(Files.readString(info).contains("@NullMarked\npackage org.rushlight" + exported + ";"), info.toString());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Options are immutable: no public field, and {@code with} methods return options. */
    @Test
    void optionsAreImmutable() throws Exception {
        int seen = 0;
        for (Class<?> type : publicClasses()) {
            if (!type.getSimpleName().endsWith("Options")) {
                continue;
            }
            seen++;
            assertTrue(Arrays.stream(type.getFields()).allMatch(field -> Modifier.isStatic(field.getModifiers())), type.getName());
            for (Method method : type.getMethods()) {
                if (Modifier.isStatic(method.getModifiers())) {
                    continue;
                }
                // Common options are declared in a superclass, which is their return type for reflection.
                boolean changes = method.getName().startsWith("with") && method.getReturnType().isAssignableFrom(type);
                boolean inherited = method.getDeclaringClass() == Object.class || method.getName().equals("lr");
                assertTrue(changes || inherited, method.toString());
            }
        }
        assertTrue(seen > 60, seen + " options");
    }

    /** Scala sees no static method that a class inherits, Kotlin no nested class. */
    @Test
    void nothingStaticIsInherited() throws Exception {
        List<String> wrong = new ArrayList<>();
        for (Class<?> type : publicClasses()) {
            for (Class<?> base = type.getSuperclass(); base != null && base.getName().startsWith("org.rushlight"); base = base.getSuperclass()) {
                for (Method method : base.getDeclaredMethods()) {
                    if (Modifier.isPublic(method.getModifiers()) && Modifier.isStatic(method.getModifiers())) {
                        wrong.add(type.getName() + ": " + method);
                    }
                }
                for (Class<?> nested : base.getDeclaredClasses()) {
                    if (Modifier.isPublic(nested.getModifiers())) {
                        wrong.add(type.getName() + ": " + nested);
                    }
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    /** Names are in camel case; underscores at an end mark internal operators and writes in place. No name has a second spelling. */
    @Test
    void everyNameIsInCamelCase() throws Exception {
        List<String> wrong = new ArrayList<>();
        for (Class<?> type : publicClasses()) {
            Set<String> names = new TreeSet<>();
            for (Method method : type.getMethods()) {
                names.add(method.getName());
            }
            Set<String> spellings = new TreeSet<>();
            for (String name : names) {
                boolean special = name.matches("__\\w+__");
                if (!special && name.replaceAll("^_+|_+$", "").contains("_")) {
                    wrong.add(type.getName() + "." + name);
                }
                if (!spellings.add(name.toLowerCase(Locale.ROOT))) {
                    wrong.add(type.getName() + "." + name + " has two spellings");
                }
            }
        }
        assertEquals(List.of(), wrong);
    }
}
