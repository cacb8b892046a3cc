package org.rushlight;

import org.jspecify.annotations.Nullable;

/** Memory layout of a tensor. */
public enum Layout {
    /** Dense with strides. */
    STRIDED(0),
    /** Sparse in coordinate format (COO). */
    SPARSE(1),
    /** Sparse with compressed rows. */
    SPARSE_CSR(2),
    /** Sparse with compressed columns. */
    SPARSE_CSC(4);

    private final int code;

    Layout(int code) {
        this.code = code;
    }

    /**
     * Returns the frozen code of this layout.
     *
     * @return c10's code
     */
    public int code() {
        return code;
    }

    static Layout of(int code) {
        for (Layout layout : values()) {
            if (layout.code == code) {
                return layout;
            }
        }
        throw new IllegalArgumentException("unknown layout number " + code);
    }

    static int codeOf(@Nullable Layout layout) {
        return layout == null ? -1 : layout.code;
    }
}
