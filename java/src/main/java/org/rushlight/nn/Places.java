package org.rushlight.nn;

import java.util.List;

/** Indices into containers, counted as in Python. */
final class Places {
    private Places() {}

    /** Returns an element by index; negative counts from the end. */
    static <E> E get(List<E> list, int index, String container) {
        int place = index < 0 ? index + list.size() : index;
        if (place < 0 || place >= list.size()) {
            throw new IndexOutOfBoundsException("index " + index + " is out of range for the " + container + " of size " + list.size());
        }
        return list.get(place);
    }
}
