package org.rushlight;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Java virtual machines of their own, for what one can only do once, or not at all in that of the tests. */
final class Jvm {
    private Jvm() {}

    /** What a process printed, and how it ended. */
    record Ended(int status, String output) {}

    /** Where a class was loaded from. */
    static String folderOf(Class<?> type) {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath()).toString();
    }

    /** Starts {@code java}, with native access allowed where the JVM would warn of it: what is printed is the program's alone. */
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

    /** A process that runs a class of the tests on the class path; {@code before} are the words of the command before {@code java}. */
    static Process of(List<String> before, Class<?> main, String... properties) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(properties));
        arguments.addAll(List.of("-cp", folderOf(Tensor.class) + System.getProperty("path.separator") + folderOf(Jvm.class), main.getName()));
        return start(before, "ALL-UNNAMED", arguments);
    }

    /** A whole program. */
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
