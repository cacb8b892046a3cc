package org.rushlight.kotlin

import org.rushlight.Index
import org.rushlight.Tensor

/**
 * A part of a tensor: `t[1, 0..2]`, `t[mask]`, `t[Index.ELLIPSIS, 0]`.
 *
 * An entry is an integer (negative counts from the end), a range of positions without or with a positive step, a tensor
 * of integers or booleans, a boolean, `null` for a new dimension, or an [Index]. The result is a view; with a tensor or a
 * boolean among the entries it is a copy.
 *
 * @throws IllegalArgumentException if an entry is something else
 */
public operator fun Tensor.get(vararg entries: Any?): Tensor = get(*indices(entries))

/**
 * Writes into a part of a tensor: `t[1, 0..2] = value`. Entries are those of [get]; the value is broadcast.
 *
 * @throws IllegalArgumentException if an entry is none of these
 */
public operator fun Tensor.set(vararg entries: Any?, value: Tensor) {
    set(value, *indices(entries))
}

/**
 * Writes a number into a part of a tensor: `t[mask] = 0`. Entries are those of [get].
 *
 * @throws IllegalArgumentException if an entry is none of these
 */
public operator fun Tensor.set(vararg entries: Any?, value: Number) {
    set(value, *indices(entries))
}

private fun indices(entries: Array<out Any?>): Array<Index> = Array(entries.size) { index(entries[it]) }

private fun index(entry: Any?): Index = when (entry) {
    null -> Index.NONE
    is Index -> entry
    is Int -> Index.at(entry.toLong())
    is Long -> Index.at(entry)
    is Boolean -> Index.at(entry)
    is Tensor -> Index.at(entry)
    is IntProgression -> slice(entry.first.toLong(), entry.last.toLong(), entry.step.toLong(), entry.isEmpty())
    is LongProgression -> slice(entry.first, entry.last, entry.step, entry.isEmpty())
    else -> throw IllegalArgumentException("an index is an integer, a range, a tensor, a boolean, null or an Index, not a ${entry::class.simpleName}")
}

private fun slice(first: Long, last: Long, step: Long, empty: Boolean): Index {
    require(step > 0) { "a range of an index has a positive step, not $step" }
    // The position after -1 is the end, not 0.
    return if (empty) Index.slice(0, 0) else Index.slice(first, if (last == -1L) null else last + 1, step)
}
