package org.rushlight;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts separate JVMs, for tests that can run only once per JVM, or not in the JVM of the tests. */
final class Jvm {
    private Jvm() {}

    /** Output and exit status of a process. */
    record Ended(int status, String output) {}

    /** The file from which a class was loaded. */
    static String folderOf(Class<?> type) {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath()).toString();
    }

    /** Starts {@code java} with native access enabled, so that the JVM prints no warning and the output is the
     * program's only. */
    static Process start(String module, List<String> arguments) throws IOException {
        return start(List.of(), module, arguments);
    }

    private static Process start(List<String> before, String module, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(before);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=" + module);
        }
        command.addAll(arguments);
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    static Ended await(Process process) throws IOException, InterruptedException {
        String output = new String(process.getInputStream().readAllBytes()).strip();
        return new Ended(process.waitFor(), output);
    }

    /** A process that runs {@link Hello} on the class path. */
    static Process hello(String... properties) throws IOException {
        return of(List.of(), Hello.class, properties);
    }

    /** A process that runs a class of the tests on the class path; {@code before} is the part of the command before
     * {@code java}. */
    static Process of(List<String> before, Class<?> main, String... properties) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(properties));
        arguments.addAll(List.of("-cp", folderOf(Tensor.class) + System.getProperty("path.separator") + folderOf(Jvm.class), main.getName()));
        return start(before, "ALL-UNNAMED", arguments);
    }

    /** A complete program. */
    static final class Hello {
        private Hello() {}

        /** Prints a tensor. */
        public static void main(String[] arguments) {
            try (Tensor ones = Torch.ones(2)) {
                System.out.println(ones);
            }
        }
    }
}
