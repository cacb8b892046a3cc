package org.rushlight;

import org.jspecify.annotations.Nullable;

/**
 * Where a tensor lives.
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
