package org.rushlight.nn;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.rushlight.DType;
import org.rushlight.Device;
import org.rushlight.NoGrad;
import org.rushlight.NotImplementedException;
import org.rushlight.RushlightException;
import org.rushlight.Scope;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.TensorTypeException;

/**
 * A layer or a model: parameters, buffers and other modules by name, and a {@link #forward}. To be subclassed:
 *
 * <pre>{@code
 * final class Net extends Module {
 *     private final Linear fc1 = registerModule("fc1", new Linear(64, 32));
 *     private final Linear fc2 = registerModule("fc2", new Linear(32, 10));
 *
 *     @Override
 *     public Tensor forward(Tensor input) {
 *         return fc2.forward(fc1.forward(input).relu());
 *     }
 * }
 * }</pre>
 *
 * <p>A module owns its parameters and buffers: they belong to no scope, and {@link #close} frees them.
 */
public abstract class Module implements AutoCloseable {
    private final Map<String, Tensor> parameters = new LinkedHashMap<>();
    private final Map<String, Tensor> buffers = new LinkedHashMap<>();
    private final Map<String, Module> children = new LinkedHashMap<>();
    private boolean training = true;
    private boolean closed;

    /** A module without anything registered. */
    protected Module() {}

    /**
     * What the module computes. Modules of several inputs have a {@code forward} of their own instead.
     *
     * @param input what it is given
     * @return what it makes of it
     */
    public Tensor forward(Tensor input) {
        throw new NotImplementedException(
            "Module [" + getClass().getSimpleName() + "] is missing the required \"forward\" function of one tensor");
    }

    // Registration.

    /**
     * Adds a parameter: it requires a gradient, leaves its scope, and is named in messages.
     *
     * @param name its name
     * @param parameter the tensor
     * @return the parameter
     */
    protected final Tensor registerParameter(String name, Tensor parameter) {
        checkName(name);
        parameters.put(name, parameter.unscoped().named(name).requires_grad_(true));
        return parameter;
    }

    /**
     * Adds a tensor that is saved with the module, but not trained.
     *
     * @param name its name
     * @param buffer the tensor
     * @return the buffer
     */
    protected final Tensor registerBuffer(String name, Tensor buffer) {
        checkName(name);
        buffers.put(name, buffer.unscoped().named(name));
        return buffer;
    }

    /**
     * Adds a module as part of this one.
     *
     * @param name its name
     * @param module the module
     * @param <M> its class
     * @return the module
     */
    protected final <M extends Module> M registerModule(String name, M module) {
        checkName(name);
        children.put(name, module);
        return module;
    }

    private void checkName(String name) {
        checkOpen();
        if (name.isEmpty() || name.contains(".")) {
            throw new IllegalArgumentException("a name must not be empty nor contain a dot (got '" + name + "')");
        }
        if (parameters.containsKey(name) || buffers.containsKey(name) || children.containsKey(name)) {
            throw new IllegalArgumentException("'" + name + "' is already defined");
        }
    }

    // What is registered.

    /**
     * The modules directly below this one.
     *
     * @return modules by name
     */
    public final Map<String, Module> namedChildren() {
        checkOpen();
        return new LinkedHashMap<>(children);
    }

    /**
     * This module and all below it.
     *
     * @return modules by dotted name; this one has the empty name
     */
    public final Map<String, Module> namedModules() {
        checkOpen();
        Map<String, Module> all = new LinkedHashMap<>();
        collect("", all);
        return all;
    }

    private void collect(String path, Map<String, Module> into) {
        into.put(path, this);
        children.forEach((name, child) -> child.collect(path.isEmpty() ? name : path + "." + name, into));
    }

    /**
     * This module and all below it.
     *
     * @return the modules
     */
    public final Collection<Module> modules() {
        return namedModules().values();
    }

    /**
     * The parameters of this module and all below it.
     *
     * @return parameters by dotted name
     */
    public final Map<String, Tensor> namedParameters() {
        Map<String, Tensor> all = new LinkedHashMap<>();
        namedModules().forEach((path, module) -> module.parameters.forEach((name, tensor) -> all.put(join(path, name), tensor)));
        return all;
    }

    /**
     * The parameters of this module and all below it.
     *
     * @return the parameters
     */
    public final List<Tensor> parameters() {
        return new ArrayList<>(namedParameters().values());
    }

    /**
     * The buffers of this module and all below it.
     *
     * @return buffers by dotted name
     */
    public final Map<String, Tensor> namedBuffers() {
        Map<String, Tensor> all = new LinkedHashMap<>();
        namedModules().forEach((path, module) -> module.buffers.forEach((name, tensor) -> all.put(join(path, name), tensor)));
        return all;
    }

    /**
     * The buffers of this module and all below it.
     *
     * @return the buffers
     */
    public final List<Tensor> buffers() {
        return new ArrayList<>(namedBuffers().values());
    }

    private static String join(String path, String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    // Training.

    /**
     * Is the module in training mode?
     *
     * @return true unless {@link #eval} was called
     */
    public final boolean isTraining() {
        checkOpen();
        return training;
    }

    /**
     * Sets the mode of this module and all below it.
     *
     * @param on true for training, false for evaluation
     */
    public final void train(boolean on) {
        modules().forEach(module -> module.training = on);
    }

    /** Sets training mode. */
    public final void train() {
        train(true);
    }

    /** Sets evaluation mode: dropout passes everything on. */
    public final void eval() {
        train(false);
    }

    /** Removes the gradient of each parameter. */
    public final void zeroGrad() {
        parameters().forEach(parameter -> parameter.setGrad(null));
    }

    /**
     * Sets whether the parameters collect gradients.
     *
     * @param on true to collect
     */
    public final void requiresGrad(boolean on) {
        parameters().forEach(parameter -> parameter.requires_grad_(on));
    }

    /**
     * Calls a function with this module and all below it.
     *
     * @param function what to call
     */
    public final void apply(Consumer<Module> function) {
        modules().forEach(function);
    }

    /**
     * Converts the floating-point parameters and buffers to a dtype. The tensors stay the same objects.
     *
     * @param dtype a floating-point dtype
     */
    public final void to(DType dtype) {
        if (!dtype.isFloatingPoint() && !dtype.isComplex()) {
            throw new TensorTypeException("nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=" + dtype);
        }
        convert(tensor -> tensor.dtype().isFloatingPoint() || tensor.dtype().isComplex() ? tensor.to(dtype) : tensor);
    }

    /**
     * Moves the parameters and buffers to a device. The tensors stay the same objects.
     *
     * @param device the device
     */
    public final void to(Device device) {
        convert(tensor -> tensor.to(device, tensor.dtype()));
    }

    private void convert(UnaryOperator<Tensor> conversion) {
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            for (Tensor tensor : stateDict().values()) {
                Tensor grad = tensor.grad();
                tensor.setData(conversion.apply(tensor));
                if (grad != null) {
                    tensor.setGrad(null);
                    tensor.setGrad(conversion.apply(grad));
                }
            }
        }
    }

    // Saving and loading.

    /**
     * The tensors that make up the state: parameters and buffers, the module's own ones, in the order of PyTorch.
     *
     * @return tensors by dotted name
     */
    public final Map<String, Tensor> stateDict() {
        Map<String, Tensor> state = new LinkedHashMap<>();
        namedModules().forEach((path, module) -> {
            module.parameters.forEach((name, tensor) -> state.put(join(path, name), tensor));
            module.buffers.forEach((name, tensor) -> state.put(join(path, name), tensor));
        });
        return state;
    }

    /**
     * Copies tensors into the parameters and buffers of the same names.
     *
     * @param source tensors by dotted name: exactly those of {@link #stateDict}
     * @throws RushlightException if a name is missing or unexpected, or a shape differs
     */
    public final void loadStateDict(Map<String, Tensor> source) {
        loadStateDict(source, true);
    }

    /**
     * Copies tensors into the parameters and buffers of the same names.
     *
     * @param source tensors by dotted name
     * @param strict the names must be exactly those of {@link #stateDict}; else others are left alone on both sides
     * @return what was left alone
     * @throws RushlightException if a name is missing or unexpected though it must not, or a shape differs
     */
    public final StateDict.Incompatible loadStateDict(Map<String, Tensor> source, boolean strict) {
        return StateDict.copy(source, stateDict(), getClass().getSimpleName(), strict);
    }

    /**
     * Writes the state to a file that PyTorch can load ({@code .pt}, or {@code .safetensors}).
     *
     * @param file where to
     */
    public final void save(Path file) {
        StateDict.save(stateDict(), file);
    }

    /**
     * Reads the state from a file that PyTorch or Rushlight saved.
     *
     * @param file where from
     */
    public final void load(Path file) {
        checkOpen();
        try (Scope scope = new Scope()) {
            assert scope != null;
            loadStateDict(StateDict.load(file));
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the module " + getClass().getSimpleName() + " is closed");
        }
    }

    /** Frees the parameters and buffers of this module and all below it, which are closed then. Closing it twice is allowed. */
    @Override
    public void close() {
        closed = true;
        parameters.values().forEach(Tensor::close);
        buffers.values().forEach(Tensor::close);
        children.values().forEach(Module::close);
    }

    // Text.

    /**
     * What stands in parentheses after the name of the module.
     *
     * @return its options, as PyTorch prints them
     */
    protected String extraRepr() {
        return "";
    }

    /** The module and all below it, as PyTorch prints them. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder(getClass().getSimpleName()).append("(");
        if (children.isEmpty()) {
            return out.append(extraRepr()).append(")").toString();
        }
        if (!extraRepr().isEmpty()) {
            out.append("\n  ").append(extraRepr());
        }
        List<String> names = List.copyOf(children.keySet());
        List<String> texts = children.values().stream().map(child -> child.toString().replace("\n", "\n  ")).toList();
        for (int i = 0, end; i < texts.size(); i = end) {
            // Lists print a run of equal modules once.
            end = i + 1;
            while (this instanceof ModuleList && end < texts.size() && texts.get(end).equals(texts.get(i))) {
                end++;
            }
            out.append("\n  (").append(names.get(i)).append(end == i + 1 ? "): " : "-" + (end - 1) + "): " + (end - i) + " x ").append(texts.get(i));
        }
        return out.append("\n)").toString();
    }
}
