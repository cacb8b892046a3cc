package org.rushlight.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Finds and loads the native library, once per class loader.
 *
 * <p>The library is in the jar and is extracted into a folder named after its content hash, so that versions never
 * conflict and a second start extracts nothing; a file with different content is rewritten. The folder is used only if
 * it belongs to this user alone; otherwise the file is deleted once it is loaded. A JVM binds a library file to the
 * class loader that loaded it first; a second class loader in the same JVM therefore loads its own copy, with its own
 * state. {@code -Drushlight.library=/path/librushlight.so} loads that file instead, and {@code
 * -Drushlight.cache=/folder} extracts there. The library may be in a separate jar, next to one with the classes alone.
 * Nothing is ever downloaded.
 */
public final class NativeLibrary {
    private static final String CLAIMED = "rushlight.loaded.";
    private static final String FILE = System.mapLibraryName("rushlight");
    private static final String ADVICE = "; -Drushlight.cache=/folder names another folder to unpack it into, -Drushlight.library=/path/"
        + FILE + " a library that lies unpacked";

    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");

    private static boolean loaded;

    private NativeLibrary() {}

    /** Loads the library unless it is loaded. */
    public static synchronized void load() {
        if (loaded) {
            return;
        }
        try {
            String override = System.getProperty("rushlight.library");
            if (override == null) {
                loadPacked();
            } else {
                load(Path.of(override).toAbsolutePath());
            }
        } catch (IOException e) {
            throw failure("cannot unpack the native library: " + e, e);
        }
        check(Native.TABLE, NativeLibrary::table);
        loaded = true;
    }

    /** The number of the library's table of operators. */
    private static native long table();

    /** The classes name operators by their place in the table, so the library must have the same one. */
    static void check(long table, LongSupplier ofLibrary) {
        boolean same;
        try {
            same = ofLibrary.getAsLong() == table;
        } catch (UnsatisfiedLinkError e) {
            // Libraries without this number are older.
            same = false;
        }
        if (!same) {
            throw new UnsatisfiedLinkError("the classes of Rushlight and its native library are of different versions: their tables of "
                + "operators differ. Take both from one release, and look at -Drushlight.library if it is set");
        }
    }

    private static void loadPacked() throws IOException {
        Path shared = cache();
        if (shared != null) {
            load(unpacked(shared));
        } else {
            loadThrowaway(NativeLibrary::unpack);
        }
    }

    private static void load(Path file) throws IOException {
        if (System.getProperties().putIfAbsent(CLAIMED + file, "true") == null) {
            systemLoad(file);
        } else {
            // Another class loader of this JVM holds that file.
            loadThrowaway(own -> Files.copy(file, own));
        }
    }

    private static void systemLoad(Path file) {
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError e) {
            throw failure("cannot load the native library " + file + " (" + e.getMessage()
                + "); a folder from which nothing may be executed (noexec) is one reason", e);
        }
    }

    private interface Writer {
        void write(Path file) throws IOException;
    }

    /** Loads a file from its own folder. Both can be deleted once it is mapped. */
    private static void loadThrowaway(Writer writer) throws IOException {
        String override = System.getProperty("rushlight.cache");
        Path folder = override == null
            ? Files.createTempDirectory("rushlight-")
            : Files.createTempDirectory(Files.createDirectories(Path.of(override).toAbsolutePath()), "copy-");
        Path file = folder.resolve(FILE);
        try {
            writer.write(file);
            systemLoad(file);
        } finally {
            if (!file.toFile().delete() | !folder.toFile().delete()) {
                // On systems where a mapped file cannot be deleted. The folder is registered first, so that it is
                // deleted last.
                folder.toFile().deleteOnExit();
                file.toFile().deleteOnExit();
            }
        }
    }

    private static UnsatisfiedLinkError failure(String what, Throwable cause) {
        UnsatisfiedLinkError error = new UnsatisfiedLinkError(what + ADVICE);
        error.initCause(cause);
        return error;
    }

    /**
     * The library in this jar, or in another one that this class's loader sees, for a further platform. It is always read
     * in parts: a small heap has no space for it.
     */
    private static InputStream packed() {
        String resource = "org/rushlight/native/" + platform() + "/" + FILE;
        InputStream own = NativeLibrary.class.getResourceAsStream("/" + resource);
        InputStream stream = own != null ? own : NativeLibrary.class.getClassLoader().getResourceAsStream(resource);
        if (stream == null) {
            throw new UnsatisfiedLinkError("there is no native library for " + platform() + " in the jars of Rushlight (" + resource
                + "): the jar rushlight-<version>-" + platform() + ".jar has it, or -Drushlight.library=/path/" + FILE + " names one");
        }
        return stream;
    }

    private static void unpack(Path file) throws IOException {
        try (InputStream stream = packed()) {
            Files.copy(stream, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Returns the library in a folder named by its hash, and writes it there unless the file has this hash. */
    private static Path unpacked(Path shared) throws IOException {
        String hash = hash(packed());
        Path file = shared.resolve(hash).resolve(FILE);
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && hash(Files.newInputStream(file)).equals(hash)) {
            return file;
        }
        Path folder = Files.createDirectories(file.getParent());
        Path part = Files.createTempFile(folder, "part-", ".so");
        try {
            unpack(part);
            // Atomic, so that another process starting now sees the whole file or none.
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(part);
        }
        return file;
    }

    /**
     * The folder for unpacked libraries, which belongs to this user alone, so that others cannot put a library there;
     * or null.
     */
    private static Path cache() throws IOException {
        String override = System.getProperty("rushlight.cache");
        if (override != null) {
            return Files.createDirectories(Path.of(override).toAbsolutePath());
        }
        Path temporary = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
        Path folder = temporary.resolve("rushlight-" + System.getProperty("user.name").replaceAll("[^\\w.-]", "_"));
        boolean posix = Files.getFileStore(temporary).supportsFileAttributeView(PosixFileAttributeView.class);
        try {
            if (posix) {
                Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(PRIVATE));
            } else {
                Files.createDirectory(folder);
            }
            return folder;
        } catch (FileAlreadyExistsException e) {
            boolean isPrivate = Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS) && isOurs(folder, temporary)
                && (!posix || Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS).equals(PRIVATE));
            return isPrivate ? folder : null;
        }
    }

    /**
     * Returns the owner of a folder. The JVM's user name may differ from the file system's, so the owner of a new file
     * is compared.
     */
    private static boolean isOurs(Path folder, Path temporary) throws IOException {
        Path fresh = Files.createTempFile(temporary, "rushlight-", ".owner");
        try {
            return Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(fresh));
        } finally {
            Files.delete(fresh);
        }
    }

    private static String hash(InputStream content) throws IOException {
        try (InputStream stream = content) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] part = new byte[1 << 16];
            for (int count = stream.read(part); count >= 0; count = stream.read(part)) {
                digest.update(part, 0, count);
            }
            return HexFormat.of().formatHex(digest.digest(), 0, 16);
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
