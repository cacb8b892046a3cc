package org.rushlight.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Finds and loads the native library, once per class loader.
 *
 * <p>The library is in the jar and is extracted into a folder named after its build, so that versions never conflict and
 * a second start extracts nothing; a file that was written later is rewritten. The folder is used only if
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

    /** The library in this jar, or in another one that this class's loader sees, for a further platform. */
    private static URL packed() {
        String resource = "org/rushlight/native/" + platform() + "/" + FILE;
        URL own = NativeLibrary.class.getResource("/" + resource);
        URL found = own != null ? own : NativeLibrary.class.getClassLoader().getResource(resource);
        if (found == null) {
            throw new UnsatisfiedLinkError("there is no native library for " + platform() + " in the jars of Rushlight (" + resource
                + "): the jar rushlight-<version>-" + platform() + ".jar has it, or -Drushlight.library=/path/" + FILE + " names one");
        }
        return found;
    }

    /** A separate connection: the jar is closed with its stream. */
    private static URLConnection connection() throws IOException {
        URLConnection connection = packed().openConnection();
        connection.setUseCaches(false);
        return connection;
    }

    private static void unpack(Path file) throws IOException {
        // In parts: a small heap has no space for all of it.
        try (InputStream stream = connection().getInputStream()) {
            Files.copy(stream, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /**
     * What identifies a library without reading all of it: a hash of its length and of its start, which has the build id,
     * the linker's hash of the contents.
     */
    private record Build(String name, long length) {
        /** A time of modification that no file written now has: a file with it is as it was unpacked. */
        FileTime time() {
            return FileTime.from(1_000_000_000L + Long.parseLong(name.substring(0, 7), 16), TimeUnit.SECONDS);
        }

        boolean isIn(Path file) throws IOException {
            return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && Files.size(file) == length
                && Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).equals(time());
        }
    }

    private static Build build() throws IOException {
        URLConnection connection = connection();
        try (InputStream stream = connection.getInputStream()) {
            byte[] start = stream.readNBytes(1 << 16);
            long length = connection.getContentLengthLong();
            if (length < 0) {
                // A class loader that does not know it.
                length = start.length + stream.transferTo(OutputStream.nullOutputStream());
            }
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(start);
            digest.update(Long.toString(length).getBytes(StandardCharsets.UTF_8));
            return new Build(HexFormat.of().formatHex(digest.digest(), 0, 16), length);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    /** Returns the library in a folder named by its build, and writes it there unless the file is there. */
    private static Path unpacked(Path shared) throws IOException {
        Build build = build();
        Path file = shared.resolve(build.name()).resolve(FILE);
        if (build.isIn(file)) {
            return file;
        }
        Path folder = Files.createDirectories(file.getParent());
        Path part = Files.createTempFile(folder, "part-", ".so");
        try {
            unpack(part);
            Files.setLastModifiedTime(part, build.time());
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
