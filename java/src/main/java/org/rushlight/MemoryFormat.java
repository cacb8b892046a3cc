package org.rushlight;

import org.jspecify.annotations.Nullable;

/** Memory format: the order of dimensions in memory. */
public enum MemoryFormat {
    /** Contiguous: row-major. */
    CONTIGUOUS(0),
    /** The format of the input is preserved. */
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
     * Returns the frozen code of this memory format.
     *
     * @return c10's code
     */
    public int code() {
        return code;
    }

    static MemoryFormat ofCode(int code) {
        return values()[code];
    }

    static int codeOf(@Nullable MemoryFormat format) {
        return format == null ? -1 : format.code;
    }
}
