package org.rushlight.kotlin

import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.ThreadContextElement
import kotlinx.coroutines.future.await
import kotlinx.coroutines.withContext
import org.rushlight.InferenceMode
import org.rushlight.NoGrad
import org.rushlight.Scope
import org.rushlight.Tensor
import org.rushlight.inference.Predictor

/**
 * Runs [block] in a scope, which frees the tensors that are created in it. A tensor that the block returns moves to the
 * enclosing scope; [Scope.keep] does so for others.
 */
public inline fun <R> scoped(block: Scope.() -> R): R = Scope().use { scope ->
    scope.block().also { if (it is Tensor) scope.keep(it) }
}

/** Runs [block] without recording gradients. It must not suspend: the setting belongs to the thread. */
public inline fun <R> noGrad(crossinline block: () -> R): R = NoGrad().use { block() }

/** Runs [block] in inference mode. It must not suspend: the setting belongs to the thread. */
public inline fun <R> inferenceMode(crossinline block: () -> R): R = InferenceMode().use { block() }

/**
 * Runs a coroutine in a scope that follows it from thread to thread, and into the coroutines that it starts; the scope
 * frees their tensors when all have ended. A tensor that the block returns moves to the enclosing scope.
 *
 * Inside, an ordinary [scoped] block must not suspend: its scope belongs to one thread.
 */
public suspend fun <R> withTensorScope(block: suspend CoroutineScope.() -> R): R {
    val scope = Scope.detached()
    val result = try {
        withContext(TensorScope(scope), block).also { if (it is Tensor) scope.keep(it) }
    } finally {
        scope.close()
    }
    if (result is Tensor) {
        result.scoped()
    }
    return result
}

/** Enters a detached scope on each thread on which a coroutine runs. */
private class TensorScope(private val scope: Scope) : AbstractCoroutineContextElement(Key), ThreadContextElement<Scope.Entered> {
    companion object Key : CoroutineContext.Key<TensorScope>

    override fun updateThreadContext(context: CoroutineContext): Scope.Entered = scope.enter()

    override fun restoreThreadContext(context: CoroutineContext, oldState: Scope.Entered) = oldState.close()
}

/**
 * Runs a request without blocking the thread. Cancelling the coroutine cancels the request.
 *
 * @return the result, in the innermost scope
 */
public suspend fun Predictor.predictSuspending(input: Tensor): Tensor = submit(input).await().scoped()
