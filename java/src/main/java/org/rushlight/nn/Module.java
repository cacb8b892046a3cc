package org.rushlight.nn;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rushlight.DType;
import org.rushlight.Device;
import org.rushlight.NoGrad;
import org.rushlight.NotImplementedException;
import org.rushlight.RushlightException;
import org.rushlight.Scope;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.TensorTypeException;
import org.rushlight.internal.Identity;

/**
 * Base class of layers and models: parameters, buffers and submodules by name, and a {@link #forward}. Subclass it:
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

    /** Creates a module without parameters. */
    protected Module() {}

    /**
     * Computes the output. Modules with several inputs have their own {@code forward} methods instead.
     *
     * @param input the input
     * @return the output
     */
    public Tensor forward(Tensor input) {
        checkOpen();
        throw new NotImplementedException(
            "Module [" + getClass().getSimpleName() + "] is missing the required \"forward\" function of one tensor");
    }

    // Registration.

    /**
     * Registers a trainable parameter: it requires a gradient, leaves its scope, and is named in messages.
     *
     * @param name its name
     * @param parameter the tensor
     * @return the parameter
     */
    protected final Tensor registerParameter(String name, Tensor parameter) {
        return registerParameter(name, parameter, true);
    }

    /**
     * Registers a parameter: it leaves its scope, and is named in messages.
     *
     * @param name its name
     * @param parameter the tensor
     * @param requiresGrad whether it is trained
     * @return the parameter
     */
    protected final Tensor registerParameter(String name, Tensor parameter, boolean requiresGrad) {
        checkName(name);
        checkGiven("parameter", name, parameter);
        parameters.put(name, parameter.requiresGrad_(requiresGrad).unscoped().named(name));
        return parameter;
    }

    /**
     * Registers a buffer: a tensor that is saved with the module, but not trained.
     *
     * @param name its name
     * @param buffer the tensor
     * @return the buffer
     */
    protected final Tensor registerBuffer(String name, Tensor buffer) {
        checkName(name);
        checkGiven("buffer", name, buffer);
        buffers.put(name, buffer.unscoped().named(name));
        return buffer;
    }

    /**
     * Registers a submodule. A module may have several parents, or several names in one parent: its parameters are then
     * shared, listed once by {@link #parameters} and under each name by {@link #stateDict}, and closed with the first
     * parent that is closed.
     *
     * @param name its name
     * @param module the module
     * @param <M> its class
     * @return the module
     * @throws IllegalArgumentException if the name is taken, empty or has a dot, or if the module is or contains this
     *     one
     */
    protected final <M extends Module> M registerModule(String name, M module) {
        checkName(name);
        checkChild(name, module);
        children.put(name, module);
        return module;
    }

    /**
     * Replaces a submodule.
     *
     * @param name name of a direct submodule; the previous module stays open and belongs to the caller
     * @param module the new module
     * @param <M> its class
     * @return the new module
     * @throws IllegalArgumentException if there is no submodule with this name, or if the new one is or contains this one
     */
    protected final <M extends Module> M replaceModule(String name, M module) {
        checkRegistered("module", name, children);
        checkChild(name, module);
        children.put(name, module);
        return module;
    }

    /**
     * Removes a submodule.
     *
     * @param name name of a direct submodule
     * @return the submodule, which stays open and belongs to the caller
     * @throws IllegalArgumentException if there is no module with this name
     */
    protected final Module unregisterModule(String name) {
        checkRegistered("module", name, children);
        return Objects.requireNonNull(children.remove(name));
    }

    /** Removes a parameter, which then belongs to the caller. */
    final Tensor unregisterParameter(String name) {
        checkRegistered("parameter", name, parameters);
        return Objects.requireNonNull(parameters.remove(name));
    }

    private void checkRegistered(String what, String name, Map<String, ?> among) {
        checkOpen();
        if (!among.containsKey(name)) {
            throw new IllegalArgumentException("no " + what + " with the name '" + name + "' is registered in " + getClass().getSimpleName());
        }
    }

    /** Rejects a module that contains itself. */
    private void checkChild(String name, Module module) {
        checkGiven("module", name, module);
        module.walk("", (path, below) -> {
            if (below == this) {
                throw new IllegalArgumentException("the module '" + name + "' " + (path.isEmpty() ? "is" : "contains") + " the "
                    + getClass().getSimpleName() + " that it shall be part of");
            }
        });
    }

    private static void checkGiven(String what, String name, @Nullable Object given) {
        if (given == null) {
            throw new NullPointerException("the " + what + " '" + name + "' is null");
        }
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

    // Access to registered objects.

    /**
     * Returns the direct submodules.
     *
     * @return modules by name
     */
    public final Map<String, Module> namedChildren() {
        checkOpen();
        return new LinkedHashMap<>(children);
    }

    /**
     * Returns this module and all its descendants.
     *
     * @return modules by dotted name, each once, under its first name; this one has the empty name
     */
    public final Map<String, Module> namedModules() {
        Set<Module> known = Collections.newSetFromMap(new IdentityHashMap<>());
        Map<String, Module> all = new LinkedHashMap<>();
        walk("", (path, module) -> {
            if (known.add(module)) {
                all.put(path, module);
            }
        });
        return all;
    }

    /** Calls a function with this module and all its descendants, once for each of their names. */
    private void walk(String path, BiConsumer<String, Module> function) {
        checkOpen();
        function.accept(path, this);
        children.forEach((name, child) -> child.walk(join(path, name), function));
    }

    /**
     * Returns this module and all its descendants.
     *
     * @return the modules, each once
     */
    public final Collection<Module> modules() {
        return namedModules().values();
    }

    /**
     * Returns the parameters of this module and its descendants.
     *
     * @return parameters by dotted name, each once, under its first name
     */
    public final Map<String, Tensor> namedParameters() {
        return namedParameters(true);
    }

    /**
     * Returns the parameters of this module.
     *
     * @param recurse whether to include those of its descendants
     * @return parameters by dotted name, each once, under its first name
     */
    public final Map<String, Tensor> namedParameters(boolean recurse) {
        return named(recurse, module -> module.parameters);
    }

    /**
     * Returns the parameters of this module and its descendants.
     *
     * @return the parameters, each once
     */
    public final List<Tensor> parameters() {
        return parameters(true);
    }

    /**
     * Returns the parameters of this module.
     *
     * @param recurse whether to include those of its descendants
     * @return the parameters, each once
     */
    public final List<Tensor> parameters(boolean recurse) {
        return new ArrayList<>(namedParameters(recurse).values());
    }

    /**
     * Returns the buffers of this module and its descendants.
     *
     * @return buffers by dotted name, each once, under its first name
     */
    public final Map<String, Tensor> namedBuffers() {
        return namedBuffers(true);
    }

    /**
     * Returns the buffers of this module.
     *
     * @param recurse whether to include those of its descendants
     * @return buffers by dotted name, each once, under its first name
     */
    public final Map<String, Tensor> namedBuffers(boolean recurse) {
        return named(recurse, module -> module.buffers);
    }

    /**
     * Returns the buffers of this module and its descendants.
     *
     * @return the buffers, each once
     */
    public final List<Tensor> buffers() {
        return buffers(true);
    }

    /**
     * Returns the buffers of this module.
     *
     * @param recurse whether to include those of its descendants
     * @return the buffers, each once
     */
    public final List<Tensor> buffers(boolean recurse) {
        return new ArrayList<>(namedBuffers(recurse).values());
    }

    /** Returns the parameters of this module alone, under each of their names. */
    final Map<String, Tensor> ownParameters() {
        checkOpen();
        return new LinkedHashMap<>(parameters);
    }

    private Map<String, Tensor> named(boolean recurse, Function<Module, Map<String, Tensor>> of) {
        Map<String, Module> modules = recurse ? namedModules() : Map.of("", this);
        Set<Object> known = new HashSet<>();
        Map<String, Tensor> all = new LinkedHashMap<>();
        modules.forEach((path, module) -> of.apply(module).forEach((name, tensor) -> {
            if (known.add(Identity.of(tensor))) {
                all.put(join(path, name), tensor);
            }
        }));
        return all;
    }

    private static String join(String path, String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    // Training.

    /**
     * Returns whether the module is in training mode.
     *
     * @return true unless {@link #eval} was called
     */
    public final boolean isTraining() {
        checkOpen();
        return training;
    }

    /**
     * Sets the mode of this module and its descendants.
     *
     * @param on true for training, false for evaluation
     * @return this module
     */
    public final Module train(boolean on) {
        modules().forEach(module -> module.training = on);
        return this;
    }

    /**
     * Sets training mode.
     *
     * @return this module
     */
    public final Module train() {
        return train(true);
    }

    /**
     * Sets evaluation mode, in which for example dropout is disabled.
     *
     * @return this module
     */
    public final Module eval() {
        return train(false);
    }

    /**
     * Clears the gradients of the parameters.
     *
     * @return this module
     */
    public final Module zeroGrad() {
        parameters().forEach(parameter -> parameter.setGrad(null));
        return this;
    }

    /**
     * Sets whether the parameters require gradients.
     *
     * @param on whether gradients are accumulated for it
     * @return this module
     */
    public final Module requiresGrad(boolean on) {
        parameters().forEach(parameter -> parameter.requiresGrad_(on));
        return this;
    }

    /**
     * Calls a function with this module and its descendants.
     *
     * @param function the function
     * @return this module
     */
    public final Module apply(Consumer<Module> function) {
        modules().forEach(function);
        return this;
    }

    /**
     * Converts the floating-point parameters and buffers to a dtype. The tensor objects stay the same.
     *
     * @param dtype a floating-point dtype
     * @return this module
     */
    public final Module to(DType dtype) {
        if (!dtype.isFloatingPoint() && !dtype.isComplex()) {
            throw new TensorTypeException("nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=" + dtype);
        }
        convert(tensor -> tensor.dtype().isFloatingPoint() || tensor.dtype().isComplex() ? tensor.to(dtype) : tensor);
        return this;
    }

    /**
     * Moves the parameters and buffers to a device. The tensor objects stay the same.
     *
     * @param device the device
     * @return this module
     */
    public final Module to(Device device) {
        convert(tensor -> tensor.to(device, tensor.dtype()));
        return this;
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

    /**
     * Copies this module into another of the same structure: its parameters and buffers receive copies of the values,
     * with their dtypes and devices, and its training mode. This corresponds to PyTorch's {@code clone}, except that
     * the Java class creates the new module:
     *
     * <pre>{@code
     * try (Sequential twin = model.copyTo(new Sequential(new Flatten(), new Linear(784, 10)))) {
     *     System.out.println(twin.forward(images).sub(model.forward(images)).abs().max().item()); // 0.0
     * }
     * }</pre>
     *
     * @param other a module whose submodules, parameters and buffers have the same names and shapes
     * @param <M> its class
     * @return the other module
     * @throws IllegalArgumentException if names or shapes differ; the other module is then unchanged
     */
    public final <M extends Module> M copyTo(M other) {
        Map<String, Tensor> from = stateDict();
        Map<String, Tensor> to = other.stateDict();
        Map<String, Module> parts = namedModules();
        Map<String, Module> others = other.namedModules();
        checkSame("parts", parts.keySet(), others.keySet());
        checkSame("parameters and buffers", from.keySet(), to.keySet());
        from.forEach((name, tensor) -> checkSame("a shape of '" + name + "'", sizes(tensor), sizes(to.get(name))));
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            from.forEach((name, tensor) -> {
                Tensor copy = to.get(name);
                copy.setData(tensor.clone());
                copy.requiresGrad_(tensor.requiresGrad());
            });
        }
        parts.forEach((name, part) -> others.get(name).training = part.training);
        return other;
    }

    private static List<Long> sizes(Tensor tensor) {
        return Arrays.stream(tensor.shape()).boxed().toList();
    }

    private void checkSame(String what, Collection<?> mine, Collection<?> others) {
        if (!mine.equals(others)) {
            throw new IllegalArgumentException(
                "cannot copy a " + getClass().getSimpleName() + " to a module that differs: it has " + what + " " + mine + ", the other " + others);
        }
    }

    // Saving and loading.

    /**
     * Returns the state: parameters and buffers, in PyTorch's order. The tensors are shared with the module.
     *
     * @return an unmodifiable map: tensors by dotted name; shared ones are listed under each name
     */
    public final Map<String, Tensor> stateDict() {
        Map<String, Tensor> state = new LinkedHashMap<>();
        walk("", (path, module) -> {
            module.parameters.forEach((name, tensor) -> state.put(join(path, name), tensor));
            module.buffers.forEach((name, tensor) -> state.put(join(path, name), tensor));
        });
        return Collections.unmodifiableMap(state);
    }

    /**
     * Copies tensors into the parameters and buffers of the same names.
     *
     * @param source tensors by dotted name, with exactly the names of {@link #stateDict}
     * @throws RushlightException if a name is missing or unexpected, or shapes differ
     */
    public final void loadStateDict(Map<String, Tensor> source) {
        loadStateDict(source, true);
    }

    /**
     * Copies tensors into the parameters and buffers of the same names.
     *
     * @param source tensors by dotted name
     * @param strict whether the names must be exactly those of {@link #stateDict}; otherwise names without a
     *     counterpart are ignored
     * @return the ignored names
     * @throws RushlightException if a name is missing or unexpected with {@code strict}, or shapes differ
     */
    public final StateDict.Incompatible loadStateDict(Map<String, Tensor> source, boolean strict) {
        return StateDict.copy(source, stateDict(), getClass().getSimpleName(), strict);
    }

    /**
     * Writes the state to a file that PyTorch can load ({@code .pt}, or {@code .safetensors}).
     *
     * @param file the file to write
     */
    public final void save(Path file) {
        StateDict.save(stateDict(), file);
    }

    /**
     * Reads the state from a file that PyTorch or Rushlight saved.
     *
     * @param file the file
     */
    public final void load(Path file) {
        checkOpen();
        try (Scope scope = new Scope()) {
            assert scope != null;
            loadStateDict(StateDict.load(file));
        }
    }

    /**
     * Throws if the module is closed. The layers of this package call it first; a module without parameters may also
     * call it.
     *
     * @throws IllegalStateException if the module is closed
     */
    protected final void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the module " + getClass().getSimpleName() + " is closed");
        }
    }

    /**
     * Frees the parameters and buffers of this module and its descendants, which are closed as well. Closing twice is
     * allowed.
     */
    @Override
    public void close() {
        closed = true;
        parameters.values().forEach(Tensor::close);
        buffers.values().forEach(Tensor::close);
        children.values().forEach(Module::close);
    }

    // Printing.

    /**
     * Returns the string in parentheses after the name of the module.
     *
     * @return the options, printed as in PyTorch
     */
    protected String extraRepr() {
        return "";
    }

    /** Returns the module and its descendants, printed as in PyTorch. */
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
        List<String> strings = children.values().stream().map(child -> child.toString().replace("\n", "\n  ")).toList();
        for (int i = 0, end; i < strings.size(); i = end) {
            // Lists print a run of equal modules once.
            end = i + 1;
            while (this instanceof ModuleList && end < strings.size() && strings.get(end).equals(strings.get(i))) {
                end++;
            }
            out.append("\n  (").append(names.get(i)).append(end == i + 1 ? "): " : "-" + (end - 1) + "): " + (end - i) + " x ").append(strings.get(i));
        }
        return out.append("\n)").toString();
    }
}
