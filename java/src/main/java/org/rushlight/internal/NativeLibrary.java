package org.rushlight.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
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
 * and {@code -Drushlight.cache=/folder} extracts there. The library may lie in a jar of its own, beside one with the classes alone. Nothing is
 * ever downloaded.
 */
public final class NativeLibrary {
    private static final String CLAIMED = "rushlight.loaded.";
    private static final String FILE = System.mapLibraryName("rushlight");
    private static final String ADVICE = "; -Drushlight.cache=/folder names another folder to unpack it into, -Drushlight.library=/path/"
        + FILE + " a library that lies unpacked";

    private static boolean loaded;

    private NativeLibrary() {}

    /** Loads the library unless that has happened. */
    public static synchronized void load() {
        if (loaded) {
            return;
        }
        try {
            String override = System.getProperty("rushlight.library");
            load(override == null ? extracted() : Path.of(override).toAbsolutePath());
        } catch (IOException e) {
            throw failure("cannot unpack the native library: " + e, e);
        }
        loaded = true;
    }

    private static void load(Path file) throws IOException {
        boolean first = System.getProperties().putIfAbsent(CLAIMED + file, "true") == null;
        // Another class loader of this JVM holds that file: this one loads a copy, which can go as soon as it is mapped.
        Path own = first ? file : Files.copy(file, Files.createTempFile(cache(), "copy-", ".so"), StandardCopyOption.REPLACE_EXISTING);
        try {
            System.load(own.toString());
        } catch (UnsatisfiedLinkError e) {
            throw failure("cannot load the native library " + own + " (" + e.getMessage()
                + "); a folder from which nothing may be executed (noexec) is one reason", e);
        } finally {
            if (!first && !own.toFile().delete()) {
                own.toFile().deleteOnExit();
            }
        }
    }

    private static UnsatisfiedLinkError failure(String what, Throwable cause) {
        UnsatisfiedLinkError error = new UnsatisfiedLinkError(what + ADVICE);
        error.initCause(cause);
        return error;
    }

    /** The library in this jar, or in another that this class's loader sees: one for a further platform. */
    private static byte[] packed() throws IOException {
        String resource = "org/rushlight/native/" + platform() + "/" + FILE;
        try (InputStream stream = open(resource)) {
            if (stream == null) {
                throw new UnsatisfiedLinkError("there is no native library for " + platform() + " in the jars of Rushlight (" + resource
                    + "): the jar rushlight-<version>-" + platform() + ".jar has it, or -Drushlight.library=/path/" + FILE + " names one");
            }
            return stream.readAllBytes();
        }
    }

    private static InputStream open(String resource) {
        InputStream stream = NativeLibrary.class.getResourceAsStream("/" + resource);
        return stream != null ? stream : NativeLibrary.class.getClassLoader().getResourceAsStream(resource);
    }

    private static Path extracted() throws IOException {
        byte[] content = packed();
        Path folder = cache().resolve(hash(content));
        Path file = folder.resolve(FILE);
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
            return Files.createDirectories(Path.of(override).toAbsolutePath());
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
            boolean ours = Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
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
