package org.rushlight.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * Finds and loads the native library, once per class loader.
 *
 * <p>It travels inside the jar and is extracted into a folder named after its content, so that two versions never meet and a second
 * start extracts nothing. A JVM binds a library file to the class loader that loaded it first; a second class loader in the same JVM
 * therefore loads a copy of its own, with a state of its own. {@code -Drushlight.library=/path/librushlight.so} loads that file instead,
 * and {@code -Drushlight.cache=/folder} extracts there. Nothing is ever downloaded.
 */
public final class NativeLibrary {
    private static final String CLAIMED = "rushlight.loaded.";
    private static boolean loaded;

    private NativeLibrary() {}

    /** Loads the library unless that has happened. */
    public static synchronized void load() {
        if (!loaded) {
            try {
                System.load(locate().toString());
            } catch (IOException e) {
                throw new UncheckedIOException("cannot extract the native library: " + e.getMessage(), e);
            }
            loaded = true;
        }
    }

    private static Path locate() throws IOException {
        String override = System.getProperty("rushlight.library");
        Path file = override == null ? extracted() : Path.of(override).toAbsolutePath();
        if (System.getProperties().putIfAbsent(CLAIMED + file, "true") == null) {
            return file;
        }
        // Another class loader of this JVM holds that file: load a copy, which can go as soon as it is mapped.
        Path copy = Files.createTempFile("rushlight-", ".so");
        Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
        copy.toFile().deleteOnExit();
        return copy;
    }

    private static Path extracted() throws IOException {
        String resource = "/org/rushlight/native/" + platform() + "/" + System.mapLibraryName("rushlight");
        byte[] content;
        try (InputStream stream = NativeLibrary.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new UnsatisfiedLinkError("Rushlight has no native library for " + platform() + " in this jar (looked for "
                    + resource + "); -Drushlight.library=/path/to/" + System.mapLibraryName("rushlight") + " names one");
            }
            content = stream.readAllBytes();
        }
        Path folder = cache().resolve(hash(content));
        Path file = folder.resolve(System.mapLibraryName("rushlight"));
        if (Files.isRegularFile(file) && Files.size(file) == content.length) {
            return file;
        }
        Files.createDirectories(folder);
        Path part = Files.createTempFile(folder, "part-", ".so");
        try {
            Files.write(part, content);
            // Atomic, so that another process starting now sees the whole file or none.
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(part);
        }
        return file;
    }

    /** A folder of this user alone: others must not be able to put a library there. */
    private static Path cache() throws IOException {
        String override = System.getProperty("rushlight.cache");
        if (override != null) {
            return Path.of(override).toAbsolutePath();
        }
        Path folder = Path.of(System.getProperty("java.io.tmpdir"), "rushlight-" + System.getProperty("user.name")).toAbsolutePath();
        try {
            if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } else {
                Files.createDirectory(folder);
            }
            return folder;
        } catch (FileAlreadyExistsException e) {
            boolean ours = Files.isDirectory(folder, java.nio.file.LinkOption.NOFOLLOW_LINKS)
                && Files.getOwner(folder).getName().equals(System.getProperty("user.name"));
            return ours ? folder : Files.createTempDirectory("rushlight-");
        }
    }

    private static String hash(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content), 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    private static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String system = os.startsWith("windows") ? "windows" : os.startsWith("mac") ? "macos" : "linux";
        String machine = System.getProperty("os.arch");
        return system + "-" + switch (machine) {
            case "amd64", "x86_64" -> "x86_64";
            case "arm64", "aarch64" -> "aarch64";
            default -> machine;
        };
    }
}
