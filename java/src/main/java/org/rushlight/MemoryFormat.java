package org.rushlight;

import org.jspecify.annotations.Nullable;

/** The order of dimensions in memory that a result should have. */
public enum MemoryFormat {
    /** Row-major. */
    CONTIGUOUS(0),
    /** As the input is laid out. */
    PRESERVE(1),
    /** NHWC, for 4 dimensions. */
    CHANNELS_LAST(2),
    /** NDHWC, for 5 dimensions. */
    CHANNELS_LAST_3D(3);

    private final int code;

    MemoryFormat(int code) {
        this.code = code;
    }

    /**
     * The frozen number of this memory format.
     *
     * @return c10's number
     */
    public int code() {
        return code;
    }

    static int codeOf(@Nullable MemoryFormat format) {
        return format == null ? -1 : format.code;
    }
}
