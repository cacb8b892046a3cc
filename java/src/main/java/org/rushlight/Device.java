package org.rushlight;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where a tensor lives.
 *
 * <pre>{@code
 * System.out.println(Torch.ones(2).to(Device.META).device()); // meta
 * System.out.println(Device.parse("cuda:1").index());         // 1
 * }</pre>
 *
 * @param type kind of device
 * @param index ordinal, or -1 for the current one of its kind
 */
public record Device(Type type, int index) {
    /** Kind of device. The codes are those of {@code c10::DeviceType}. */
    public enum Type {
        /** The host processor. */
        CPU(0, "cpu"),
        /** An NVIDIA GPU. */
        CUDA(1, "cuda"),
        /** Shape and dtype without data. */
        META(14, "meta");

        private final int code;
        private final String text;

        Type(int code, String text) {
            this.code = code;
            this.text = text;
        }

        /**
         * The frozen number of this kind.
         *
         * @return c10's number
         */
        public int code() {
            return code;
        }
    }

    /** Kind and ordinal. */
    private static final Pattern TEXT = Pattern.compile("([a-z]+)(?::(0|[1-9]\\d?|1[01]\\d|12[0-7]))?");
    /** The host. */
    public static final Device CPU = new Device(Type.CPU, -1);
    /** The device of tensors without data. */
    public static final Device META = new Device(Type.META, -1);

    /**
     * The CUDA device with an ordinal.
     *
     * @param index ordinal
     * @return the device
     */
    public static Device cuda(int index) {
        return new Device(Type.CUDA, index);
    }

    /**
     * The device that a text names: {@code cpu}, {@code cuda}, {@code cuda:1}, {@code meta}.
     *
     * @param text as {@link #toString} writes it
     * @return the device
     * @throws TensorValueException if no device is called so
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
     * Checks the ordinal.
     *
     * @param type cpu, cuda, ...
     * @param index ordinal, -1 for the current one
     */
    public Device {
        if (index < -1 || index > 127) {
            throw new IllegalArgumentException("Device index must be -1 to 127, got " + index);
        }
    }

    /** Type in bits 8 to 15, ordinal + 1 below: what crosses the border; -1 stands for "no device". */
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

    /** PyTorch's text: {@code cpu}, {@code cuda:1}. */
    @Override
    public String toString() {
        return index < 0 ? type.text : type.text + ":" + index;
    }
}
