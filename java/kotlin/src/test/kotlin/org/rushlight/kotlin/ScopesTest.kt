package org.rushlight.kotlin

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executors
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.rushlight.Tensor
import org.rushlight.Torch
import org.rushlight.inference.Predictor
import org.rushlight.nn.Conv2d
import org.rushlight.nn.LSTM
import org.rushlight.nn.MaxPool2d

class ScopesTest {
    private fun live() = Torch.memoryStats().liveHandles()

    /** The last thread of a coroutine may leave its scope a little later. */
    private fun assertLiveInTheEnd(expected: Long) {
        repeat(200) { if (live() > expected) Thread.sleep(10) }
        assertTrue(live() <= expected, "${live()} handles, not $expected")
    }

    /** A scope of a thread that was left open would take this tensor. */
    private fun assertNoScopeIsOpen() = Torch.ones(1).use { it.scoped().unscoped() }

    @Test
    fun aScopeFreesItsTensors() {
        val before = live()
        lateinit var inside: Tensor
        val result = scoped {
            inside = Torch.ones(2)
            inside + 1
        }
        assertTrue(inside.isClosed)
        result.use { assertFalse(it.isClosed) }
        assertEquals(3, scoped { Torch.ones(3).numel().toInt() })
        assertThrows(IllegalStateException::class.java) { scoped { Torch.ones(2); error("no") } }
        assertEquals(before, live())
    }

    @Test
    fun gradientsAreOff(): Unit = scoped {
        val w = Torch.ones(2).requiresGrad_(true)
        assertFalse(noGrad { w * 2 }.requiresGrad())
        assertFalse(inferenceMode { w * 2 }.requiresGrad())
        assertTrue((w * 2).requiresGrad())
    }

    /** A coroutine goes on on other threads; its scope follows, and leaves the threads clean. */
    @Test
    fun aScopeFollowsACoroutine() {
        val before = live()
        val seen = ConcurrentLinkedQueue<Tensor>()
        val threads = ConcurrentLinkedQueue<String>()
        val pools = List(2) { Executors.newSingleThreadExecutor().asCoroutineDispatcher() }
        runBlocking {
            val result = withTensorScope {
                seen += Torch.ones(1)
                repeat(3) { round ->
                    withContext(pools[round % 2]) {
                        threads += Thread.currentThread().name
                        seen += Torch.ones(2)
                        delay(1)
                        seen += Torch.ones(3)
                        yield()
                    }
                    seen += Torch.ones(4)
                }
                seen.forEach { assertFalse(it.isClosed) }
                seen.reduce { a, b -> a.sum() + b.sum() }
            }
            assertEquals(1.0 + 3 * (2 + 3 + 4), result.toDouble())
            result.close()
            for (pool in pools) {
                withContext(pool) { assertNoScopeIsOpen() }
            }
        }
        pools.forEach { it.close() }
        assertEquals(2, threads.toSet().size)
        assertLiveInTheEnd(before)
        seen.forEach { assertTrue(it.isClosed) }
    }

    @Test
    fun coroutinesOfACoroutineShareItsScope() {
        val before = live()
        runBlocking(Dispatchers.Default) {
            // A coroutine has ended when its thread has not yet left the scope: several rounds meet that.
            repeat(100) { withTensorScope { (1..4).map { async { Torch.ones(1) } }.awaitAll() } }
            withTensorScope {
                val parts = (1..50).map { n ->
                    async {
                        delay(1)
                        val part = Torch.full(longArrayOf(10), n) * 2
                        yield()
                        part.sum()
                    }
                }.awaitAll()
                assertEquals(25500.0, Torch.stack(*parts.toTypedArray()).sum().toDouble())
                launch { Torch.ones(5) }
            }
        }
        assertLiveInTheEnd(before)
    }

    @Test
    fun scopesOfCoroutinesNest() {
        val before = live()
        runBlocking(Dispatchers.Default) {
            withTensorScope {
                val outer = Torch.ones(1)
                val kept = withTensorScope {
                    val inner = Torch.ones(2)
                    delay(1)
                    inner + outer
                }
                assertFalse(outer.isClosed)
                assertEquals(4.0, kept.sum().toDouble())
            }
            assertThrows(IllegalStateException::class.java) {
                runBlocking {
                    withTensorScope {
                        Torch.ones(3)
                        delay(1)
                        error("no")
                    }
                }
            }
        }
        assertLiveInTheEnd(before)
    }

    @Test
    fun aPredictorSuspends() {
        val before = live()
        Predictor.of({ it * 2 }, Predictor.Options().withMaxBatchSize(8)).use { predictor ->
            runBlocking(Dispatchers.Default) {
                withTensorScope {
                    val results = (0 until 20).map { n -> async { predictor.predictSuspending(Tensor.of(n.toFloat())) } }.awaitAll()
                    assertEquals(380.0, results.sumOf { it.toDouble() })
                }
            }
        }
        assertLiveInTheEnd(before)
    }

    /** Options and static functions of Java are visible. */
    @Test
    fun optionsAreVisible(): Unit = scoped {
        Conv2d(Conv2d.Options(3, 6, 3).withPadding(1)).use { conv ->
            assertEquals(listOf(2L, 6L, 8L, 8L), conv(Torch.ones(2, 3, 8, 8)).shape().toList())
        }
        LSTM(LSTM.Options(4, 5).withBidirectional(true)).use { lstm -> assertEquals(8, lstm.parameters().size) }
        MaxPool2d(MaxPool2d.Options(2)).use { pool -> assertEquals(4L, pool(Torch.ones(1, 1, 4, 4)).numel()) }
    }
}
