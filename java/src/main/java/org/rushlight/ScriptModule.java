package org.rushlight;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeScript;
import org.rushlight.internal.NativeTrace;
import org.rushlight.nn.Module;

/**
 * A model that Python saved with {@code torch.jit.save}: PyTorch's {@code torch.jit.ScriptModule}. Nothing in the file is
 * executed while it is loaded.
 *
 * <pre>{@code
 * try (Scope scope = new Scope(); ScriptModule net = ScriptModule.load(folder.resolve("net.pt"))) {
 *     System.out.println(net.schema("forward")); // forward(__torch__.Net self, Tensor x, float? shift=None) -> Tensor
 *     System.out.println(net.forward(Torch.ones(1, 3))); // tensor([[ 7., 23.]], grad_fn=<MulBackward0>)
 * }
 * }</pre>
 *
 * <p>Any number of threads may call the methods of one module at the same time. The results belong to the innermost
 * {@link Scope}. The module is freed by {@link #close}, or when the garbage collector finds it; any use of a closed module
 * throws {@link IllegalStateException}. Calls are recorded unless {@link NoGrad} or {@link InferenceMode} is in force, and
 * a module can be trained: {@link #parameters} returns its parameters themselves.
 */
public final class ScriptModule extends NativeOwner {
    /** A native call with the handle. */
    private interface Call<T> {
        T with(long handle);
    }

    ScriptModule(long handle) {
        super(handle, new Release(handle));
    }

    /** The cleaner's action. It must not refer to the module. */
    private record Release(long handle) implements Runnable {
        @Override
        public void run() {
            NativeScript.free(handle);
        }
    }

    @Override
    String label() {
        return "the module";
    }

    private <T> T call(Call<T> call) {
        acquire(this);
        try {
            return call.with(handle());
        } finally {
            release(this);
        }
    }

    // Loading.

    /**
     * Loads a model from a file.
     *
     * @param file a file that {@code torch.jit.save} wrote; it may be in a jar that is open as a {@link
     *     java.nio.file.FileSystem}
     * @return the module, on the CPU
     * @throws RushlightIOException if the file cannot be read, or is no saved model
     * @throws RushlightException if its program is not valid
     */
    public static ScriptModule load(Path file) {
        if (FileNames.reachNative(file)) {
            return load(file.toString());
        }
        try (InputStream in = Files.newInputStream(file)) {
            return load(in);
        } catch (IOException e) {
            throw StateDict.failed("cannot read " + file.toUri(), e);
        }
    }

    /**
     * Loads a model from a file.
     *
     * @param file the name of a file, as in {@link #load(Path)}
     * @return the module, on the CPU
     */
    public static ScriptModule load(String file) {
        return new ScriptModule(NativeScript.load(file));
    }

    /**
     * Loads a model from memory.
     *
     * @param file the contents of a file, which are copied
     * @return the module, on the CPU
     */
    public static ScriptModule load(byte[] file) {
        return new ScriptModule(NativeScript.loadBytes(file));
    }

    /**
     * Loads a model from memory, from the position of a buffer to its limit, which do not change.
     *
     * @param file the contents of a file, which are copied
     * @return the module, on the CPU
     */
    public static ScriptModule load(ByteBuffer file) {
        byte[] bytes = new byte[file.remaining()];
        file.duplicate().get(bytes);
        return load(bytes);
    }

    /**
     * Loads a model from a stream, for example a resource in a jar.
     *
     * @param in a file of less than 2 GiB, which is read to its end; the stream stays open
     * @return the module, on the CPU
     */
    public static ScriptModule load(InputStream in) {
        try {
            return load(in.readAllBytes());
        } catch (IOException e) {
            throw StateDict.failed("cannot read a module", e);
        }
    }

    // Tracing and saving.

    /**
     * Runs a module on an example, and records the operators that it calls. {@link Tracer} has more options.
     *
     * <pre>{@code
     * try (Scope scope = new Scope(); Linear net = new Linear(3, 2); ScriptModule traced = ScriptModule.trace(net, Torch.ones(1, 3))) {
     *     System.out.println(traced.namedParameters().keySet()); // [weight, bias]
     *     traced.save(folder.resolve("linear.pt")); // torch.jit.load reads the file
     * }
     * }</pre>
     *
     * @param module the module, whose parameters and buffers are those of the traced module
     * @param example its argument
     * @return the traced module
     * @throws RushlightException as in {@link Tracer#trace(Tensor...)}
     */
    public static ScriptModule trace(Module module, Tensor example) {
        return new Tracer(module).trace(example);
    }

    /**
     * Runs a function on an example, and records the operators that it calls.
     *
     * @param function returns a tensor, or lists, maps and tuples ({@link IValue}) of tensors
     * @param example its arguments
     * @return the traced module
     * @throws RushlightException as in {@link Tracer#trace(Tensor...)}
     */
    public static ScriptModule trace(Function<Tensor[], ?> function, Tensor... example) {
        return new Tracer(function).trace(example);
    }

    /**
     * Saves the module as a file that {@code torch.jit.load} of PyTorch reads. An existing file is replaced atomically.
     *
     * @param file the file to write
     * @throws RushlightIOException if the file cannot be written
     */
    public void save(Path file) {
        if (!FileNames.reachNative(file)) {
            FileNames.write(file, toBytes());
            return;
        }
        acquire(this);
        try {
            NativeTrace.save(handle(), file.toString());
        } finally {
            release(this);
        }
    }

    /**
     * Returns the contents of the file that {@link #save} writes.
     *
     * @return the bytes
     */
    public byte[] toBytes() {
        return call(NativeTrace::saveBytes);
    }

    /**
     * Returns an extra file that was saved with the module.
     *
     * @param name its name
     * @return its contents, or null if there is none of this name
     */
    public byte @Nullable [] extraFile(String name) {
        return call(handle -> NativeScript.extraFile(handle, name));
    }

    /**
     * Copies the module with its tensors. What is shared inside of the module is shared inside of the copy.
     *
     * @return a module of the same classes
     */
    public ScriptModule copy() {
        return make(NativeScript::copy);
    }

    /**
     * Returns a copy that is made to run fast: parameters, buffers and settings are constants, batch norms are folded into the
     * layers before them, and each method is compiled for the shapes of the arguments with which it is called. The first call
     * with new shapes makes a plan ({@link #plan}). Calls without a plan run as before, those that autograd records among them.
     *
     * <pre>{@code
     * try (Scope scope = new Scope(); Sequential layers = new Sequential(new Linear(3, 4), new ReLU());
     *      ScriptModule traced = ScriptModule.trace(layers, Torch.ones(1, 3)); NoGrad guard = new NoGrad()) {
     *     traced.train(false);
     *     ScriptModule fast = traced.compile();
     *     Tensor expected = traced.forward(Torch.ones(64, 3)).toTensor();
     *     System.out.println(Torch.allclose(fast.forward(Torch.ones(64, 3)).toTensor(), expected)); // true
     *     System.out.println(fast.plan("forward").lines().skip(1).findFirst().orElseThrow().strip()); // float32 [64, 4] new = addmm + relu(float32 [64, 3] input), weights float32
     *     fast.close();
     * }
     * }</pre>
     *
     * @param methods further methods than {@code forward} that the copy has
     * @return the copy, whose tensors are those of this module
     * @throws RushlightException if the module is in training mode, or has no such method
     */
    public ScriptModule compile(String... methods) {
        return compile(DType.FLOAT32, methods);
    }

    /**
     * Returns a copy that is made to run fast ({@link #compile(String...)}), with the weights of linear layers in less precision:
     * in {@link DType#BFLOAT16}, or in {@link DType#INT8} with a scale for each output, which is 1 / 127 of the largest magnitude
     * of its weights. Plans then take a half or a quarter of the memory for weights, and layers with few rows run faster. Inputs
     * and sums stay in float32: results are those of the module with its weights rounded to nearest, ties to even, up to the
     * rounding of sums. Convolutions and other layers keep their weights; {@link #plan} names the dtype of each.
     *
     * @param weights float32, bfloat16 or int8
     * @param methods further methods than {@code forward} that the copy has
     * @return the copy, whose tensors are those of this module
     * @throws RushlightException if the module is in training mode, has no such method, or weights are not kept in this dtype
     */
    public ScriptModule compile(DType weights, String... methods) {
        return make(handle -> NativeScript.compile(handle, methods, weights.code()));
    }

    /**
     * Returns the plans of a method of a compiled module: for each combination of shapes and dtypes with which it was called,
     * the steps with the places of their results in memory, or the reason why the interpreter runs it.
     *
     * @param method its name
     * @return the plans as text; empty if the method is not compiled, or was not called
     * @throws RushlightException if there is no such method
     */
    public String plan(String method) {
        return call(handle -> NativeScript.plan(handle, method));
    }

    private ScriptModule make(ToLongFunction<Long> handle) {
        return call(own -> new ScriptModule(handle.applyAsLong(own)));
    }

    // Methods.

    /**
     * Calls the method {@code forward}.
     *
     * @param arguments its arguments, as {@link IValue#of} takes them; missing ones take their defaults
     * @return the result
     * @throws RushlightException if the arguments do not match the parameters of the method, or it raises an exception
     */
    public IValue forward(@Nullable Object... arguments) {
        return run("forward", arguments);
    }

    /**
     * Calls a method.
     *
     * @param method its name
     * @param arguments its arguments, as {@link IValue#of} takes them; missing ones take their defaults
     * @return the result
     * @throws RushlightException if there is no such method, the arguments do not match its parameters, or it raises an
     *     exception
     */
    public IValue run(String method, @Nullable Object... arguments) {
        return run(method, arguments, Map.of());
    }

    /**
     * Calls a method with named arguments.
     *
     * <pre>{@code
     * try (ScriptModule net = ScriptModule.load(folder.resolve("net.pt")); NoGrad guard = new NoGrad()) {
     *     IValue shifted = net.run("forward", new Object[] {Torch.ones(1, 3)}, Map.of("shift", 0.5));
     *     System.out.println(shifted); // tensor([[ 7.5000, 23.5000]])
     * }
     * }</pre>
     *
     * @param method its name
     * @param arguments positional arguments
     * @param keywords further arguments by the names of their parameters
     * @return the result
     * @throws RushlightException as in {@link #run(String, Object...)}
     */
    public IValue run(String method, @Nullable Object[] arguments, Map<String, ? extends @Nullable Object> keywords) {
        checkOpen();
        @Nullable Object[] all = Arrays.copyOf(arguments, arguments.length + keywords.size(), Object[].class);
        int at = arguments.length;
        for (Object value : keywords.values()) {
            all[at++] = value;
        }
        Boxed boxed = Boxed.arguments(all);
        NativeOwner[] held = concat(boxed.held(), this);
        acquire(held);
        try {
            return value(NativeScript.run(handle(), method, boxed.numbers(), boxed.strings(), keywords.keySet().toArray(String[]::new)));
        } finally {
            release(held);
        }
    }

    /**
     * Begins a call of a method that {@link ScriptRun#step} carries out: a program that draws frames can so run a network
     * within the time that each frame leaves.
     *
     * @param method its name
     * @param arguments its arguments, as in {@link #run(String, Object...)}
     * @return the call
     * @throws RushlightException if there is no such method, or the arguments do not match its parameters
     */
    public ScriptRun begin(String method, @Nullable Object... arguments) {
        checkOpen();
        Boxed boxed = Boxed.arguments(arguments);
        NativeOwner[] held = concat(boxed.held(), this);
        acquire(held);
        try {
            return new ScriptRun(NativeScript.begin(handle(), method, boxed.numbers(), boxed.strings(), new String[0]));
        } finally {
            release(held);
        }
    }

    static IValue value(Object[] encoded) {
        return IValue.received(Boxed.values((long[]) encoded[0], (String[]) encoded[1])[0]);
    }

    /**
     * Returns the names of the methods.
     *
     * @return the names
     */
    public List<String> methods() {
        return value(call(NativeScript::methods)).toStringList();
    }

    /**
     * Returns the signature of a method.
     *
     * @param method its name
     * @return the signature in PyTorch's grammar
     * @throws RushlightException if there is no such method
     */
    public String schema(String method) {
        return call(handle -> NativeScript.schema(handle, method));
    }

    /**
     * Returns the graph of a method, as PyTorch prints it.
     *
     * @param method its name
     * @return the text of the graph
     * @throws RushlightException if there is no such method
     */
    public String graph(String method) {
        return call(handle -> NativeScript.graph(handle, method));
    }

    /**
     * Sends what the methods of this object print to a consumer, on the thread that runs the method. Without one it is
     * discarded. If the consumer throws an exception, it receives nothing more of that call, which throws the exception
     * when the method has returned.
     *
     * @param consumer receives pieces of text, or null
     */
    public void setPrint(@Nullable Consumer<String> consumer) {
        acquire(this);
        try {
            NativeScript.setPrint(handle(), consumer);
        } finally {
            release(this);
        }
    }

    // Attributes.

    /**
     * Returns an attribute.
     *
     * @param name its name, {@code scale}; of a submodule, {@code layer.scale}
     * @return its value: a copy of a list or dict, the tensor itself
     * @throws RushlightException if there is no such attribute
     */
    public IValue attribute(String name) {
        return value(call(handle -> NativeScript.attribute(handle, name)));
    }

    /**
     * Sets an attribute.
     *
     * @param name its name
     * @param value a value of its type, as {@link IValue#of} takes it
     * @throws RushlightException if there is no such attribute, or it has another type
     */
    public void setAttribute(String name, @Nullable Object value) {
        checkOpen();
        Boxed boxed = Boxed.arguments(value);
        NativeOwner[] held = concat(boxed.held(), this);
        acquire(held);
        try {
            NativeScript.setAttribute(handle(), name, boxed.numbers(), boxed.strings());
        } finally {
            release(held);
        }
    }

    /**
     * Returns the names of the attributes that are modules.
     *
     * @return the names
     */
    public List<String> childNames() {
        return value(call(NativeScript::children)).toStringList();
    }

    /**
     * Returns a submodule, which shares its tensors with this module. Close it like this one.
     *
     * @param name the name of an attribute that is a module
     * @return the submodule
     * @throws TensorIndexException if there is none of this name
     */
    public ScriptModule child(String name) {
        return make(handle -> NativeScript.child(handle, name));
    }

    /**
     * Returns the parameters of this module and of those inside of it.
     *
     * @return the tensors themselves, by their names joined by dots
     */
    public Map<String, Tensor> namedParameters() {
        return StateDict.named(call(handle -> NativeScript.tensors(handle, false)));
    }

    /**
     * Returns the parameters of this module and of those inside of it.
     *
     * @return the tensors themselves
     */
    public List<Tensor> parameters() {
        return new ArrayList<>(namedParameters().values());
    }

    /**
     * Returns the buffers of this module and of those inside of it.
     *
     * @return the tensors themselves, by their names joined by dots
     */
    public Map<String, Tensor> namedBuffers() {
        return StateDict.named(call(handle -> NativeScript.tensors(handle, true)));
    }

    /**
     * Returns the buffers of this module and of those inside of it.
     *
     * @return the tensors themselves
     */
    public List<Tensor> buffers() {
        return new ArrayList<>(namedBuffers().values());
    }

    // Modes.

    /**
     * Sets the mode of this module and those inside of it.
     *
     * @param on true for training, false for evaluation
     */
    public void train(boolean on) {
        acquire(this);
        try {
            NativeScript.train(handle(), on);
        } finally {
            release(this);
        }
    }

    /** Sets training mode. */
    public void train() {
        train(true);
    }

    /** Sets evaluation mode. */
    public void eval() {
        train(false);
    }

    /**
     * Returns whether the module is in training mode.
     *
     * @return its attribute {@code training}
     * @throws RushlightException if it has no modes: it was frozen
     */
    public boolean isTraining() {
        return attribute("training").toBool();
    }

    /**
     * Moves parameters and buffers to a device.
     *
     * @param device the device
     */
    public void to(Device device) {
        to(Device.packedOf(device), -1);
    }

    /**
     * Converts parameters and buffers with a floating-point dtype.
     *
     * @param dtype the dtype
     */
    public void to(DType dtype) {
        to(-1, DType.codeOf(dtype));
    }

    /**
     * Moves parameters and buffers to a device, and converts those with a floating-point dtype.
     *
     * @param device the device
     * @param dtype the dtype
     */
    public void to(Device device, DType dtype) {
        to(Device.packedOf(device), DType.codeOf(dtype));
    }

    private void to(int device, int dtype) {
        acquire(this);
        try {
            NativeScript.to(handle(), device, dtype);
        } finally {
            release(this);
        }
    }

    /** Frees the module, unless a call or another owner uses it. Closing twice is allowed. */
    @Override
    public void close() {
        super.close();
    }

    /** Returns the name of its class: {@code ScriptModule(__torch__.Net)}. */
    @Override
    public String toString() {
        return closed() ? "ScriptModule(closed)" : "ScriptModule(" + call(NativeScript::className) + ")";
    }
}
