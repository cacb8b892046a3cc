package org.rushlight;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The device on which a tensor is stored.
 *
 * <pre>{@code
 * System.out.println(Torch.ones(2).to(Device.META).device()); // meta
 * System.out.println(Device.parse("cuda:1").index());         // 1
 * }</pre>
 *
 * @param type type of the device
 * @param index index of the device, or -1 for the current device of the type
 */
public record Device(Type type, int index) {
    /** Device type. The codes are those of {@code c10::DeviceType}. */
    public enum Type {
        /** The CPU. */
        CPU(0, "cpu"),
        /** An NVIDIA GPU. */
        CUDA(1, "cuda"),
        /** The meta device: shape and dtype without data. */
        META(14, "meta");

        private final int code;
        private final String text;

        Type(int code, String text) {
            this.code = code;
            this.text = text;
        }

        /**
         * Returns the frozen code of this type.
         *
         * @return c10's code
         */
        public int code() {
            return code;
        }
    }

    /** Returns type and index. */
    private static final Pattern TEXT = Pattern.compile("([a-z]+)(?::(0|[1-9]\\d?|1[01]\\d|12[0-7]))?");
    /** The CPU. */
    public static final Device CPU = new Device(Type.CPU, -1);
    /** The meta device, for tensors without data. */
    public static final Device META = new Device(Type.META, -1);

    /**
     * Returns the CUDA device with the given index.
     *
     * @param index index of the device
     * @return the device
     */
    public static Device cuda(int index) {
        return new Device(Type.CUDA, index);
    }

    /**
     * Parses a device string: {@code cpu}, {@code cuda}, {@code cuda:1}, {@code meta}.
     *
     * @param text string as {@link #toString} returns it
     * @return the device
     * @throws TensorValueException if the string names no device
     */
    public static Device parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (parts.matches()) {
            for (Type type : Type.values()) {
                if (type.text.equals(parts.group(1))) {
                    return new Device(type, parts.group(2) == null ? -1 : Integer.parseInt(parts.group(2)));
                }
            }
        }
        String known = Arrays.stream(Type.values()).map(type -> type.text).collect(Collectors.joining(", "));
        throw new TensorValueException(
            "Invalid device string: '" + text + "'; expected one of " + known + ", and perhaps a number from 0 to 127 after a colon");
    }

    /**
     * Checks the index.
     *
     * @param type cpu, cuda, ...
     * @param index index, or -1 for the current device
     */
    public Device {
        if (index < -1 || index > 127) {
            throw new IllegalArgumentException("Device index must be -1 to 127, got " + index);
        }
    }

    /** Encodes the device for the native side: type in bits 8 to 15, index + 1 below; -1 stands for "no device". */
    int packed() {
        return type.code << 8 | (index + 1);
    }

    static int packedOf(@Nullable Device device) {
        return device == null ? -1 : device.packed();
    }

    static Device ofPacked(int packed) {
        for (Type type : Type.values()) {
            if (type.code == packed >> 8) {
                return new Device(type, (packed & 0xff) - 1);
            }
        }
        throw new IllegalArgumentException("device number " + (packed >> 8) + " is not supported");
    }

    /** Returns PyTorch's string: {@code cpu}, {@code cuda:1}. */
    @Override
    public String toString() {
        return index < 0 ? type.text : type.text + ":" + index;
    }
}
