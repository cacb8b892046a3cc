package org.rushlight.kotlin

import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.rushlight.Index
import org.rushlight.Tensor
import org.rushlight.Torch
import org.rushlight.nn.Linear

class OperatorsTest {
    private fun floats(vararg expected: Float, tensor: Tensor) = assertArrayEquals(expected, tensor.toFloatArray())

    @Test
    fun arithmeticIsThatOfTensors(): Unit = scoped {
        val a = Tensor.of(1f, 2f)
        val b = Tensor.of(4f, 8f)
        floats(5f, 10f, tensor = a + b)
        floats(3f, 4f, tensor = a + 2)
        floats(3f, 4f, tensor = 2 + a)
        floats(3f, 6f, tensor = b - a)
        floats(0f, 1f, tensor = a - 1)
        floats(9f, 8f, tensor = 10 - a)
        floats(4f, 16f, tensor = a * b)
        floats(3f, 6f, tensor = 3 * a)
        floats(3f, 6f, tensor = a * 3)
        floats(4f, 4f, tensor = b / a)
        floats(2f, 4f, tensor = b / 2)
        floats(2f, 1f, tensor = 2 / a)
        floats(-1f, -2f, tensor = -a)
        floats(1f, 2f, tensor = Tensor.of(-5f, 5f) % 3)
        floats(0f, 2f, tensor = b % Tensor.of(4f, 3f))
    }

    @Test
    fun assignmentsOfVariablesCreateTensors(): Unit = scoped {
        val first = Tensor.of(1f, 2f)
        var a = first
        a += 1
        a *= a
        a -= Tensor.of(1f, 0f)
        a /= 3
        floats(1f, 3f, tensor = a)
        floats(1f, 2f, tensor = first)
    }

    @Test
    fun comparisonsAndBits(): Unit = scoped {
        val a = Tensor.of(1L, 2L, 3L)
        val b = Tensor.of(3L, 2L, 1L)
        fun truths(tensor: Tensor) = tensor.toBooleanArray().toList()
        assertEquals(listOf(false, true, false), truths(a equalTo b))
        assertEquals(listOf(true, false, false), truths(a equalTo 1))
        assertEquals(listOf(true, false, true), truths(a notEqualTo b))
        assertEquals(listOf(true, true, false), truths(a notEqualTo 3))
        assertEquals(listOf(true, false, false), truths(a lessThan b))
        assertEquals(listOf(true, true, false), truths(a atMost b))
        assertEquals(listOf(false, false, true), truths(a greaterThan 2))
        assertEquals(listOf(false, true, true), truths(a atLeast b))
        assertEquals(listOf(false, true, false), truths((a atLeast 2) and (a atMost 2)))
        assertEquals(listOf(true, false, true), truths((a lessThan 2) or (a greaterThan b)))
        assertEquals(listOf(true, false, true), truths((a lessThan b) xor (a greaterThan b)))
        assertEquals(listOf(true, false, false), truths(!(a greaterThan 1)))
        assertArrayEquals(longArrayOf(4, 8, 12), (a shl 2).toLongArray())
        assertArrayEquals(longArrayOf(0, 1, 1), (a shr 1).toLongArray())
        assertArrayEquals(longArrayOf(-2, -3, -4), a.inv().toLongArray())
        assertTrue((a equalTo a).all().toBoolean())
        assertEquals(6L, a.sum().toLong())
        assertEquals(2.5, Tensor.of(2.5f).toDouble())
    }

    @Test
    fun productsAndModules(): Unit = scoped {
        val a = Torch.arange(0, 6).view(2, 3)
        assertArrayEquals(longArrayOf(5, 14, 14, 50), (a matrixTimes a.t()).toLongArray())
        Linear(3, 2).use { layer ->
            assertArrayEquals(longArrayOf(4, 2), layer(Torch.ones(4, 3)).shape())
        }
    }

    @Test
    fun indexing(): Unit = scoped {
        val t = Torch.arange(0, 12).view(3, 4)
        val i = 1
        assertEquals(6L, t[1, 2].toLong())
        assertEquals(6L, t[i, i + 1].toLong())
        assertEquals(11L, t[-1, -1].toLong())
        assertArrayEquals(longArrayOf(5, 6), t[i, 1..2].toLongArray())
        assertArrayEquals(longArrayOf(4, 6), t[i, 0..3 step 2].toLongArray())
        assertArrayEquals(longArrayOf(2, 3), t[0, -2..-1].toLongArray())
        assertArrayEquals(longArrayOf(0, 1), t[0, 0 until 2].toLongArray())
        assertArrayEquals(longArrayOf(0), t[0, 0L..0L].toLongArray())
        assertArrayEquals(longArrayOf(), t[0, 2..1].toLongArray())
        assertArrayEquals(longArrayOf(10, 11), t[t greaterThan 9].toLongArray())
        assertArrayEquals(longArrayOf(8, 0), t[Tensor.of(2L, 0L), 0].toLongArray())
        assertArrayEquals(longArrayOf(3, 7, 11), t[Index.ELLIPSIS, 3].toLongArray())
        assertArrayEquals(longArrayOf(1, 4), t[null, i].shape())
        assertThrows(IllegalArgumentException::class.java) { t["one"] }
        assertThrows(IllegalArgumentException::class.java) { t[3 downTo 1] }
    }

    @Test
    fun indexedAssignment(): Unit = scoped {
        val t = Torch.zeros(3, 4)
        val j = 2
        t[0, j] = 5
        t[1, 0..1] = Tensor.of(1f, 2f)
        t[2] = 3
        t[Index.ELLIPSIS, -1] = t[0, j]
        t[t equalTo 0] = -1
        assertArrayEquals(floatArrayOf(-1f, -1f, 5f, 5f, 1f, 2f, -1f, 5f, 3f, 3f, 3f, 5f), t.toFloatArray())
        t[0] += 1
        assertArrayEquals(floatArrayOf(0f, 0f, 6f, 6f), t[0].toFloatArray())
    }
}
