package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM binds a library file to one class loader; Rushlight gives each its own copy. */
class ClassLoadersTest {
    private static URLClassLoader another() {
        URL classes = Tensor.class.getProtectionDomain().getCodeSource().getLocation();
        return new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader()) {
            /** On the module path the platform loader would hand out the classes of this test's own loader. */
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.startsWith("org.rushlight.")) {
                    return super.loadClass(name, resolve);
                }
                synchronized (getClassLoadingLock(name)) {
                    Class<?> loaded = findLoadedClass(name);
                    return loaded == null ? findClass(name) : loaded;
                }
            }
        };
    }

    @Test
    void twoClassLoadersComputeSideBySide() throws Exception {
        assertEquals(3, sumOfOnes(Torch.class));
        try (URLClassLoader first = another(); URLClassLoader second = another()) {
            Class<?> torch1 = first.loadClass("org.rushlight.Torch");
            Class<?> torch2 = second.loadClass("org.rushlight.Torch");
            assertNotSame(torch1, torch2);
            assertEquals(3, sumOfOnes(torch1));
            assertEquals(3, sumOfOnes(torch2));
            // Each has a state of its own.
            torch1.getMethod("setNumThreads", int.class).invoke(null, 1);
            torch2.getMethod("setNumThreads", int.class).invoke(null, 2);
            assertEquals(1, torch1.getMethod("getNumThreads").invoke(null));
        }
    }

    private static double sumOfOnes(Class<?> torch) throws ReflectiveOperationException {
        Object ones = torch.getMethod("ones", long[].class).invoke(null, (Object) new long[] {3});
        Object sum = ones.getClass().getMethod("sum").invoke(ones);
        Object item = sum.getClass().getMethod("item").invoke(sum);
        return ((Number) item).doubleValue();
    }

    /** Starts a JVM of its own, so that the property is read. */
    @Test
    void theLibraryIsExtractedOnceIntoAFolderNamedByItsContent(@TempDir Path cache) throws IOException, InterruptedException {
        for (int start = 0; start < 2; start++) {
            String classes = Path.of(Tensor.class.getProtectionDomain().getCodeSource().getLocation().getPath()).toString();
            String tests = Path.of(ClassLoadersTest.class.getProtectionDomain().getCodeSource().getLocation().getPath()).toString();
            Process process = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Drushlight.cache=" + cache, "-cp", classes + System.getProperty("path.separator") + tests,
                "org.rushlight.ClassLoadersTest$Hello").redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes());
            assertEquals(0, process.waitFor(), output);
            assertEquals("tensor([1., 1.])", output.strip());
        }
        try (Stream<Path> files = Files.walk(cache)) {
            String[] names = files.filter(Files::isRegularFile).map(file -> file.getFileName().toString()).toArray(String[]::new);
            assertArrayEquals(new String[] {"librushlight.so"}, names);
        }
    }

    /** A whole program. */
    static final class Hello {
        private Hello() {}

        /**
         * Prints a tensor.
         *
         * @param arguments none
         */
        public static void main(String[] arguments) {
            try (Tensor ones = Torch.ones(2)) {
                System.out.println(ones);
            }
        }
    }
}
