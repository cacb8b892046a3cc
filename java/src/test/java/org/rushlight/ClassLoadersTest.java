package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

/** A JVM binds a library file to one class loader; Rushlight gives each its own copy. */
class ClassLoadersTest {
    private static URLClassLoader another() {
        URL classes = Tensor.class.getProtectionDomain().getCodeSource().getLocation();
        return new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader()) {
            /** On the module path the platform loader would return the classes of this test's own loader. */
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
            // Each class loader has separate state.
            torch1.getMethod("setNumThreads", int.class).invoke(null, 1);
            torch2.getMethod("setNumThreads", int.class).invoke(null, 2);
            assertEquals(1, torch1.getMethod("getNumThreads").invoke(null));
        }
    }

    /** An application server that unloads a program gets its memory back. */
    @Test
    void aClassLoaderThatNobodyNeedsIsFreed() throws Exception {
        WeakReference<ClassLoader> freed = used();
        for (int i = 0; i < 200 && freed.get() != null; i++) {
            System.gc();
            Thread.sleep(20);
        }
        assertNull(freed.get());
    }

    private static WeakReference<ClassLoader> used() throws Exception {
        try (URLClassLoader loader = another()) {
            assertEquals(3, sumOfOnes(loader.loadClass("org.rushlight.Torch")));
            return new WeakReference<>(loader);
        }
    }

    private static double sumOfOnes(Class<?> torch) throws ReflectiveOperationException {
        Object ones = torch.getMethod("ones", long[].class).invoke(null, (Object) new long[] {3});
        Object sum = ones.getClass().getMethod("sum").invoke(ones);
        Object item = sum.getClass().getMethod("item").invoke(sum);
        return ((Number) item).doubleValue();
    }
}
