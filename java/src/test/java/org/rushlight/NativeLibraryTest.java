package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Extraction of the native library from the jar, in separate JVMs. */
class NativeLibraryTest {
    private static final String HELLO = "tensor([1., 1.])";

    private static Path[] files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).toArray(Path[]::new);
        }
    }

    @Test
    void processesThatRaceUnpackOneFileIntoAFolderNamedByItsContent(@TempDir Path folder) throws Exception {
        Path cache = folder.resolve("made/when/needed");
        List<Process> racers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            racers.add(Jvm.hello("-Drushlight.cache=" + cache));
        }
        for (Process racer : racers) {
            assertEquals(new Jvm.Ended(0, HELLO), Jvm.await(racer));
        }
        Path[] unpacked = files(cache);
        assertArrayEquals(new String[] {"librushlight.so"}, Stream.of(unpacked).map(file -> file.getFileName().toString()).toArray());
        Object written = Files.getLastModifiedTime(unpacked[0]);
        // A later start finds the file and writes nothing; or loads the configured file.
        assertEquals(new Jvm.Ended(0, HELLO), Jvm.await(Jvm.hello("-Drushlight.cache=" + cache)));
        assertEquals(new Jvm.Ended(0, HELLO), Jvm.await(Jvm.hello("-Drushlight.library=" + unpacked[0], "-Drushlight.cache=/proc/none")));
        assertArrayEquals(unpacked, files(cache));
        assertEquals(written, Files.getLastModifiedTime(unpacked[0]));
    }

    /** The user name of the JVM may differ from that of the file system; the owner of a folder is compared with that of
     * a new file. */
    @Test
    void aUserOfAnotherNameUnpacksOnce(@TempDir Path folder) throws Exception {
        String[] properties = {"-Djava.io.tmpdir=" + folder, "-Duser.name=some/body"};
        assertEquals(new Jvm.Ended(0, HELLO), Jvm.await(Jvm.hello(properties)));
        Path[] unpacked = files(folder);
        assertEquals(1, unpacked.length);
        assertEquals(folder.resolve("rushlight-some_body"), unpacked[0].getParent().getParent());
        Object written = Files.getLastModifiedTime(unpacked[0]);
        assertEquals(new Jvm.Ended(0, HELLO), Jvm.await(Jvm.hello(properties)));
        assertArrayEquals(unpacked, files(folder));
        assertEquals(written, Files.getLastModifiedTime(unpacked[0]));
        // A file that was written later is rewritten, and one of another length.
        byte[] content = Files.readAllBytes(unpacked[0]);
        byte[] other = content.clone();
        other[other.length / 2] ^= 1;
        Files.write(unpacked[0], other);
        assertEquals(new Jvm.Ended(0, HELLO), Jvm.await(Jvm.hello(properties)));
        assertArrayEquals(content, Files.readAllBytes(unpacked[0]));
        Files.write(unpacked[0], new byte[] {1});
        Files.setLastModifiedTime(unpacked[0], (FileTime) written);
        assertEquals(new Jvm.Ended(0, HELLO), Jvm.await(Jvm.hello(properties)));
        assertArrayEquals(content, Files.readAllBytes(unpacked[0]));
    }

    /** A second start inflates the beginning of the library alone, and the heap stays small. */
    @Test
    void aSecondStartReadsLittle(@TempDir Path folder) throws Exception {
        String cache = "-Drushlight.cache=" + folder;
        assertEquals(new Jvm.Ended(0, HELLO), Jvm.await(Jvm.hello(cache, "-Xmx8m")));
        Path unpacked = files(folder)[0];
        // Another library of the same beginning, length and time would be loaded: this one is none.
        byte[] content = Files.readAllBytes(unpacked);
        FileTime written = Files.getLastModifiedTime(unpacked);
        Arrays.fill(content, 0, 4, (byte) 0);
        Files.write(unpacked, content);
        Files.setLastModifiedTime(unpacked, written);
        Jvm.Ended ended = Jvm.await(Jvm.hello(cache));
        assertTrue(ended.output().contains("cannot load the native library " + unpacked), ended.output());
    }

    /** Nothing is unpacked into a folder that others can write; the file loaded instead is deleted. */
    @Test
    void aFolderThatOthersCanWriteIsNotUsed(@TempDir Path folder) throws Exception {
        Path shared = Files.createDirectory(folder.resolve("rushlight-somebody"));
        Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertEquals(new Jvm.Ended(0, HELLO), Jvm.await(Jvm.hello("-Djava.io.tmpdir=" + folder, "-Duser.name=somebody")));
        try (Stream<Path> left = Files.walk(folder)) {
            assertEquals(List.of(folder, shared), left.toList());
        }
    }

    /** A folder that is not writable, or does not allow loading libraries, is an error that states the remedy. */
    @Test
    void whatCannotBeLoadedSaysWhatHelps(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("no-library.so"), "no library");
        Jvm.Ended notWritable = Jvm.await(Jvm.hello("-Drushlight.cache=" + file.resolve("below-a-file")));
        Jvm.Ended notLoadable = Jvm.await(Jvm.hello("-Drushlight.library=" + file));
        for (Jvm.Ended ended : List.of(notWritable, notLoadable)) {
            assertNotEquals(0, ended.status());
            assertTrue(ended.output().contains("java.lang.UnsatisfiedLinkError: cannot "), ended.output());
            assertTrue(ended.output().contains("-Drushlight.cache=/folder names another folder"), ended.output());
            assertTrue(ended.output().contains("-Drushlight.library=/path/librushlight.so"), ended.output());
        }
        assertTrue(notWritable.output().contains("cannot unpack the native library"), notWritable.output());
        assertTrue(notLoadable.output().contains(file + " ("), notLoadable.output());
    }

    /** The program of tests/jars, compiled as a module that requires Rushlight alone, and run on the module path. */
    @Test
    void aModuleNeedsNothingElse(@TempDir Path folder) throws Exception {
        Path sources = Path.of("..", "tests", "jars", "app");
        String rushlight = Jvm.folderOf(Tensor.class);
        PrintWriter out = new PrintWriter(System.out, true);
        int status = ToolProvider.findFirst("javac").orElseThrow().run(out, out, "-Xlint:all", "-Werror", "-p", rushlight, "-d",
            folder.toString(), sources.resolve("module-info.java").toString(), sources.resolve("app/Main.java").toString());
        assertEquals(0, status);
        String path = rushlight + System.getProperty("path.separator") + folder;
        Process process = Jvm.start("org.rushlight", List.of("-p", path, "-m", "app/app.Main"));
        assertEquals(new Jvm.Ended(0, "tensor([2., 4.])"), Jvm.await(process));
    }
}
