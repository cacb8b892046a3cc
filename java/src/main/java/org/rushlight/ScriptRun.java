package org.rushlight;

import java.time.Duration;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.rushlight.internal.NativeScript;

/**
 * A call of a method of a {@link ScriptModule} that goes on step by step.
 *
 * <pre>{@code
 * try (Scope scope = new Scope(); ScriptModule net = ScriptModule.load(folder.resolve("net.pt"));
 *      ScriptRun run = net.begin("forward", Torch.ones(1, 3))) {
 *     while (!run.step(java.time.Duration.ofMillis(2))) {
 *         Thread.onSpinWait(); // the next frame
 *     }
 *     System.out.println(run.result()); // tensor([[ 7., 23.]], grad_fn=<MulBackward0>)
 * }
 * }</pre>
 *
 * <p>Threads may take turns. The call is freed by {@link #close}, done or not, or when the garbage collector finds it.
 */
public final class ScriptRun extends NativeOwner {
    ScriptRun(long handle) {
        super(handle, new Release(handle));
    }

    private record Release(long handle) implements Runnable {
        @Override
        public void run() {
            NativeScript.freeRun(handle);
        }
    }

    @Override
    String label() {
        return "the run";
    }

    /**
     * Runs operators until the call is done or the time is over. At least one operator runs, and one that has begun is not
     * interrupted. After an exception the call has ended.
     *
     * @param budget the time
     * @return whether the call is done
     * @throws IllegalArgumentException if the time is negative
     * @throws RushlightException if an operator fails
     */
    public boolean step(Duration budget) {
        acquire(this);
        try {
            if (budget.isNegative()) {
                throw new IllegalArgumentException("a budget must not be negative: " + budget);
            }
            return NativeScript.step(handle(), TimeUnit.NANOSECONDS.convert(budget));
        } finally {
            release(this);
        }
    }

    /**
     * Returns the part of the operators that have run, from 0 to 1.
     *
     * @return the part; empty if it is not known, because the method is not compiled
     */
    public OptionalDouble progress() {
        acquire(this);
        try {
            double part = NativeScript.progress(handle());
            return part < 0 ? OptionalDouble.empty() : OptionalDouble.of(part);
        } finally {
            release(this);
        }
    }

    /**
     * Returns the result.
     *
     * @return the result of the method
     * @throws RushlightException if the call is not done, or ended with an exception
     */
    public IValue result() {
        acquire(this);
        try {
            return ScriptModule.value(NativeScript.result(handle()));
        } finally {
            release(this);
        }
    }
}
