package org.rushlight;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeTrace;
import org.rushlight.nn.Module;

/**
 * Traces a module or function: runs it on examples, and records the operators that it calls as a {@link ScriptModule}, which
 * can be saved and loaded by PyTorch. {@link ScriptModule#trace} is the short form.
 *
 * <pre>{@code
 * try (Scope scope = new Scope(); Linear net = new Linear(3, 2)) {
 *     Tracer tracer = new Tracer(net, inputs -> net.forward(inputs[0].view(inputs[0].size(0), -1)));
 *     // The second example has another number of samples: the trace holds for any number.
 *     try (ScriptModule traced = tracer.names("samples").trace(new Tensor[] {Torch.ones(2, 3, 1)}, new Tensor[] {Torch.ones(4, 3, 1)})) {
 *         System.out.println(Arrays.toString(traced.forward(Torch.ones(5, 3, 1)).toTensor().shape())); // [5, 2]
 *     }
 * }
 * }</pre>
 *
 * <p>Control flow of the program is not recorded, and numbers, sizes of tensors included, are constants in the trace. With a
 * second example of other sizes, numbers that differ between the two runs become expressions of sizes.
 */
public final class Tracer {
    private final @Nullable Module module;
    private final Function<Tensor[], ?> function;
    private String className;
    private String[] names = {};
    private boolean check = true;

    /**
     * Traces a function.
     *
     * @param function returns a tensor, or lists, maps and tuples ({@link IValue}) of tensors
     */
    public Tracer(Function<Tensor[], ?> function) {
        this.module = null;
        this.function = function;
        this.className = "Function";
    }

    /**
     * Traces a module. Its parameters and buffers are those of the traced module, under the same names.
     *
     * @param module the module
     */
    public Tracer(Module module) {
        this(module, inputs -> module.forward(inputs[0]));
    }

    /**
     * Traces a function of a module, for example one of several arguments.
     *
     * @param module the module, whose parameters and buffers are those of the traced module
     * @param function calls the module
     */
    public Tracer(Module module, Function<Tensor[], ?> function) {
        this.module = module;
        this.function = function;
        this.className = module.getClass().getName();
    }

    /**
     * Sets the name of the class.
     *
     * @param name the name; by default that of the module's class
     * @return this object
     */
    public Tracer className(String name) {
        className = name;
        return this;
    }

    /**
     * Sets the names of the arguments.
     *
     * @param names the names; arguments without are {@code input}, or {@code input_0}, {@code input_1}, ...
     * @return this object
     */
    public Tracer names(String... names) {
        this.names = names.clone();
        return this;
    }

    /**
     * Sets whether the traced module is run on the examples, and its results compared with those of the function.
     *
     * @param on true by default
     * @return this object
     */
    public Tracer check(boolean on) {
        check = on;
        return this;
    }

    /**
     * Runs the function on an example.
     *
     * @param example the arguments
     * @return the traced module
     * @throws RushlightException if the thread is tracing already, the function uses a tensor that requires a gradient and is
     *     no parameter of the module, or the results of the traced module differ
     */
    public ScriptModule trace(Tensor... example) {
        long trace = run(example);
        try {
            return new ScriptModule(NativeTrace.finish(trace, 0, check));
        } finally {
            NativeTrace.free(trace);
        }
    }

    /**
     * Runs the function on two examples of different sizes.
     *
     * @param example the arguments
     * @param other the arguments of the second example
     * @return the traced module, which holds for other sizes
     * @throws RushlightException as in {@link #trace(Tensor...)}, and if a number that differs between the two follows from
     *     no size
     */
    public ScriptModule trace(Tensor[] example, Tensor[] other) {
        long trace = run(example);
        try {
            long second = run(other);
            try {
                return new ScriptModule(NativeTrace.finish(trace, second, check));
            } finally {
                NativeTrace.free(second);
            }
        } finally {
            NativeTrace.free(trace);
        }
    }

    private long run(Tensor[] example) {
        long trace = NativeTrace.begin(className, module != null && module.isTraining());
        boolean done = false;
        try {
            if (module != null) {
                declare(trace, module);
            }
            for (int i = 0; i < example.length; i++) {
                String name = i < names.length ? names[i] : example.length == 1 ? "input" : "input_" + i;
                pass(List.of(example[i]), (numbers, strings) -> NativeTrace.input(trace, name, numbers, strings));
            }
            Object result = function.apply(example);
            pass(Collections.singletonList(result), (numbers, strings) -> NativeTrace.output(trace, numbers, strings));
            done = true;
            return trace;
        } finally {
            if (!done) {
                NativeTrace.free(trace);
            }
        }
    }

    private static void declare(long trace, Module module) {
        declareChildren(trace, module, "");
        declare(trace, module.namedParameters(), false);
        declare(trace, module.namedBuffers(), true);
    }

    /** A module that has several names is declared under each of them. */
    private static void declareChildren(long trace, Module module, String prefix) {
        for (Map.Entry<String, Module> child : module.namedChildren().entrySet()) {
            Module inner = child.getValue();
            String path = prefix + child.getKey();
            NativeTrace.module(trace, path, inner.getClass().getName(), inner.isTraining());
            declareChildren(trace, inner, path + ".");
        }
    }

    private static void declare(long trace, Map<String, Tensor> tensors, boolean buffers) {
        for (Map.Entry<String, Tensor> entry : tensors.entrySet()) {
            Tensor tensor = entry.getValue();
            NativeOwner.acquire(tensor);
            try {
                NativeTrace.attribute(trace, entry.getKey(), tensor.handle(), buffers);
            } finally {
                NativeOwner.release(tensor);
            }
        }
    }

    private interface Call {
        void with(long[] numbers, String[] strings);
    }

    private static void pass(List<?> value, Call call) {
        Boxed boxed = Boxed.arguments(value.toArray());
        NativeOwner[] held = boxed.held();
        NativeOwner.acquire(held);
        try {
            call.with(boxed.numbers(), boxed.strings());
        } finally {
            NativeOwner.release(held);
        }
    }
}
