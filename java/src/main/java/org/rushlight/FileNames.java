package org.rushlight;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;

/** Names of files for the native side, which takes them in UTF-8. */
final class FileNames {
    /** Whether names of files are UTF-8 for Java, too. With {@code LC_ALL=C} they are ASCII, whatever their bytes are. */
    private static final boolean UTF8 = StandardCharsets.UTF_8.name().equalsIgnoreCase(System.getProperty("sun.jnu.encoding", ""));

    private FileNames() {}

    /**
     * Returns whether the native side opens the same file by the string of a path. It does not if the path is in another
     * file system, such as a jar, or if its name has other bytes than its string in UTF-8: then only Java can open it.
     */
    static boolean reachNative(Path file) {
        return file.getFileSystem() == FileSystems.getDefault() && (UTF8 || file.toString().chars().allMatch(c -> c < 0x80));
    }

    /** Replaces a file that the native side cannot open; by Java, since it knows the name. */
    static void write(Path file, byte[] bytes) {
        try {
            Files.write(file, bytes);
        } catch (IOException e) {
            throw StateDict.failed("cannot write " + file.toUri(), e);
        }
    }
}
