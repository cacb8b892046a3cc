package org.rushlight;

import org.jspecify.annotations.Nullable;

/** How elements are arranged. */
public enum Layout {
    /** Dense with strides. */
    STRIDED(0);

    private final int code;

    Layout(int code) {
        this.code = code;
    }

    /**
     * The frozen number of this layout.
     *
     * @return c10's number
     */
    public int code() {
        return code;
    }

    static int codeOf(@Nullable Layout layout) {
        return layout == null ? -1 : layout.code;
    }
}
