package org.pytorch;

/** The order of the elements of a {@link Tensor} in memory. */
public enum MemoryFormat {
    /** Row-major order of the dimensions. */
    CONTIGUOUS(1, org.rushlight.MemoryFormat.CONTIGUOUS),
    /** NHWC: the channels of a pixel are neighbours; for tensors of shape (N, C, H, W). */
    CHANNELS_LAST(2, org.rushlight.MemoryFormat.CHANNELS_LAST),
    /** NDHWC: the channels of a voxel are neighbours; for tensors of shape (N, C, D, H, W). */
    CHANNELS_LAST_3D(3, org.rushlight.MemoryFormat.CHANNELS_LAST_3D);

    /** The number of this format in PyTorch's Java API. */
    public final int jniCode;

    /** The same format of the binding. */
    final org.rushlight.MemoryFormat format;

    MemoryFormat(int jniCode, org.rushlight.MemoryFormat format) {
        this.jniCode = jniCode;
        this.format = format;
    }

    static MemoryFormat of(org.rushlight.MemoryFormat format) {
        for (MemoryFormat candidate : values()) {
            if (candidate.format == format) {
                return candidate;
            }
        }
        throw new IllegalArgumentException("the memory format " + format + " has no form in org.pytorch");
    }

    /** For each dimension in the order of memory, its number. */
    long[] order(int dimensions) {
        return switch (this) {
            case CONTIGUOUS -> {
                long[] order = new long[dimensions];
                java.util.Arrays.setAll(order, index -> index);
                yield order;
            }
            case CHANNELS_LAST -> new long[] {0, 2, 3, 1};
            case CHANNELS_LAST_3D -> new long[] {0, 2, 3, 4, 1};
        };
    }
}
