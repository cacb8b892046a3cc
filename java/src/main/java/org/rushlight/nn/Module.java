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
        checkOpen();
        throw new NotImplementedException(
            "Module [" + getClass().getSimpleName() + "] is missing the required \"forward\" function of one tensor");
    }

    // Registration.

    /**
     * Adds a parameter that is trained: it requires a gradient, leaves its scope, and is named in messages.
     *
     * @param name its name
     * @param parameter the tensor
     * @return the parameter
     */
    protected final Tensor registerParameter(String name, Tensor parameter) {
        return registerParameter(name, parameter, true);
    }

    /**
     * Adds a parameter: it leaves its scope, and is named in messages.
     *
     * @param name its name
     * @param parameter the tensor
     * @param requiresGrad is it trained, or frozen for now?
     * @return the parameter
     */
    protected final Tensor registerParameter(String name, Tensor parameter, boolean requiresGrad) {
        checkName(name);
        checkGiven("parameter", name, parameter);
        parameters.put(name, parameter.requires_grad_(requiresGrad).unscoped().named(name));
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
        checkGiven("buffer", name, buffer);
        buffers.put(name, buffer.unscoped().named(name));
        return buffer;
    }

    /**
     * Adds a module as part of this one. It may be part of several, or of this one under several names: then they share its parameters,
     * which {@link #parameters} lists once and {@link #stateDict} under each name, and whoever is closed first closes it.
     *
     * @param name its name
     * @param module the module
     * @param <M> its class
     * @return the module
     * @throws IllegalArgumentException if the name is taken, empty or has a dot, or if the module is or contains this one
     */
    protected final <M extends Module> M registerModule(String name, M module) {
        checkName(name);
        checkChild(name, module);
        children.put(name, module);
        return module;
    }

    /**
     * Puts another module into the place of one.
     *
     * @param name name of a module directly below this one; the former module stays open and is the caller's
     * @param module the new module
     * @param <M> its class
     * @return the new module
     * @throws IllegalArgumentException if there is no module of this name, or if the new one is or contains this one
     */
    protected final <M extends Module> M replaceModule(String name, M module) {
        checkRegistered("module", name, children);
        checkChild(name, module);
        children.put(name, module);
        return module;
    }

    /**
     * Takes a module out.
     *
     * @param name name of a module directly below this one
     * @return the module, which stays open and is the caller's
     * @throws IllegalArgumentException if there is no module of this name
     */
    protected final Module unregisterModule(String name) {
        checkRegistered("module", name, children);
        return Objects.requireNonNull(children.remove(name));
    }

    /** Takes a parameter out: it is the caller's then. */
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

    /** A module within itself would be without end. */
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
     * @return modules by dotted name, each once: of several names the first; this one has the empty name
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

    /** Calls a function with this module and all below it, those of several names once for each. */
    private void walk(String path, BiConsumer<String, Module> function) {
        checkOpen();
        function.accept(path, this);
        children.forEach((name, child) -> child.walk(join(path, name), function));
    }

    /**
     * This module and all below it.
     *
     * @return the modules, each once
     */
    public final Collection<Module> modules() {
        return namedModules().values();
    }

    /**
     * The parameters of this module and all below it.
     *
     * @return parameters by dotted name, each once: of several names the first
     */
    public final Map<String, Tensor> namedParameters() {
        return namedParameters(true);
    }

    /**
     * The parameters of this module.
     *
     * @param recurse and of all below it?
     * @return parameters by dotted name, each once: of several names the first
     */
    public final Map<String, Tensor> namedParameters(boolean recurse) {
        return named(recurse, module -> module.parameters);
    }

    /**
     * The parameters of this module and all below it.
     *
     * @return the parameters, each once
     */
    public final List<Tensor> parameters() {
        return parameters(true);
    }

    /**
     * The parameters of this module.
     *
     * @param recurse and of all below it?
     * @return the parameters, each once
     */
    public final List<Tensor> parameters(boolean recurse) {
        return new ArrayList<>(namedParameters(recurse).values());
    }

    /**
     * The buffers of this module and all below it.
     *
     * @return buffers by dotted name, each once: of several names the first
     */
    public final Map<String, Tensor> namedBuffers() {
        return namedBuffers(true);
    }

    /**
     * The buffers of this module.
     *
     * @param recurse and of all below it?
     * @return buffers by dotted name, each once: of several names the first
     */
    public final Map<String, Tensor> namedBuffers(boolean recurse) {
        return named(recurse, module -> module.buffers);
    }

    /**
     * The buffers of this module and all below it.
     *
     * @return the buffers, each once
     */
    public final List<Tensor> buffers() {
        return buffers(true);
    }

    /**
     * The buffers of this module.
     *
     * @param recurse and of all below it?
     * @return the buffers, each once
     */
    public final List<Tensor> buffers(boolean recurse) {
        return new ArrayList<>(namedBuffers(recurse).values());
    }

    /** The parameters of this module alone, under each of their names. */
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

    /**
     * Makes another module of the same structure a copy of this one: its parameters and buffers get copies of the values, with their
     * dtypes and devices, and it trains and evaluates as this one does. What PyTorch's {@code clone} does, but that a class of Java itself
     * says how it is made:
     *
     * <pre>{@code
     * try (Sequential twin = model.copyTo(new Sequential(new Flatten(), new Linear(784, 10)))) {
     *     System.out.println(twin.forward(images).sub(model.forward(images)).abs().max().item()); // 0.0
     * }
     * }</pre>
     *
     * @param other a module with the same names of parts, parameters and buffers, of the same shapes
     * @param <M> its class
     * @return the other module
     * @throws IllegalArgumentException if it has other names or shapes; then it stays as it is
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
                copy.requires_grad_(tensor.requiresGrad());
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
     * The tensors that make up the state: parameters and buffers, the module's own ones, in the order of PyTorch.
     *
     * @return tensors by dotted name; one of several names is there under each
     */
    public final Map<String, Tensor> stateDict() {
        Map<String, Tensor> state = new LinkedHashMap<>();
        walk("", (path, module) -> {
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

    /**
     * Refuses to work after {@link #close}: what the layers of this package call first, and what a module without parameters may call.
     *
     * @throws IllegalStateException if the module is closed
     */
    protected final void checkOpen() {
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
