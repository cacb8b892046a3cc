package org.rushlight.optim;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.rushlight.Checkpoint;
import org.rushlight.EnableGrad;
import org.rushlight.IValue;
import org.rushlight.NoGrad;
import org.rushlight.Scope;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.TensorTypeException;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;
import org.rushlight.internal.Identity;

/**
 * Base class of the optimizers. Its state belongs to no scope; {@link #close} frees it.
 *
 * <pre>{@code
 * try (SGD optimizer = new SGD(model.parameters(), new SGD.Options(0.1).withMomentum(0.9))) {
 *     StepLR schedule = new StepLR(optimizer, 30, 0.1);
 *     for (int epoch = 0; epoch < 90; epoch++) {
 *         optimizer.zeroGrad();
 *         loss(model).backward();
 *         optimizer.step();
 *         schedule.step();
 *     }
 * }
 * }</pre>
 *
 * <p>A custom optimizer defines its options and implements a step in {@link #update}. If it keeps tensors between steps
 * ({@link #keep}), it names them in {@link #stateKinds}; options other than the learning rate go through {@link
 * OptimizerOptions#exchange}:
 *
 * <pre>{@code
 * final class Signs extends Optimizer {
 *     static final class Options extends OptimizerOptions<Options> {
 *         Options(double lr) {
 *             super(lr);
 *         }
 *     }
 *
 *     Signs(List<Tensor> parameters, double lr) {
 *         super(new Options(lr), new ParameterGroup(parameters));
 *     }
 *
 *     protected void update(OptimizerOptions<?> options, List<Integer> which, Tensor[] values, Tensor[] grads) {
 *         for (int i = 0; i < values.length; i++) {
 *             values[i].sub_(grads[i].sign(), options.lr());
 *         }
 *     }
 * }
 * try (Signs optimizer = new Signs(model.parameters(), 0.1)) {
 *     loss(model).backward();
 *     optimizer.step();
 * }
 * }</pre>
 */
public abstract class Optimizer implements AutoCloseable {
    private final OptimizerOptions<?> defaults;
    private final List<ParameterGroup> groups = new ArrayList<>();
    /** State tensors of each parameter, by PyTorch's names, in the order of {@link #parameters}. */
    private final List<Map<String, Tensor>> state = new ArrayList<>();
    private boolean closed;

    /**
     * Creates an optimizer with parameter groups.
     *
     * @param defaults options of the groups without their own options
     * @param groups parameter groups to optimize
     */
    protected Optimizer(OptimizerOptions<?> defaults, ParameterGroup... groups) {
        defaults.check();
        this.defaults = defaults;
        if (groups.length == 0 || groups[0].parameters().isEmpty()) {
            throw new IllegalArgumentException("optimizer got an empty parameter list");
        }
        for (ParameterGroup group : groups) {
            addParameterGroup(group);
        }
    }

    /**
     * Adds a parameter group.
     *
     * @param group the group
     * @throws TensorValueException if one of them is not a leaf, belongs to another group, or is listed twice
     */
    public final void addParameterGroup(ParameterGroup group) {
        Set<Object> trained = new HashSet<>();
        parameters().forEach(parameter -> trained.add(Identity.of(parameter)));
        Set<Object> joining = new HashSet<>();
        for (int i = 0; i < group.parameters().size(); i++) {
            Tensor parameter = group.parameters().get(i);
            if (!parameter.isLeaf()) {
                throw new TensorValueException("can't optimize a non-leaf Tensor: parameter " + i + " of the group");
            }
            if (trained.contains(Identity.of(parameter))) {
                throw new TensorValueException("some parameters appear in more than one parameter group: parameter " + i + " of the new group");
            }
            if (!joining.add(Identity.of(parameter))) {
                throw new TensorValueException("parameter " + i + " of the group appears twice: a step would change it twice");
            }
        }
        group.join(defaults);
        groups.add(group);
        group.parameters().forEach(parameter -> state.add(new LinkedHashMap<>()));
    }

    /**
     * Returns the groups, whose options may be changed.
     *
     * @return the groups
     */
    public final List<ParameterGroup> parameterGroups() {
        checkOpen();
        return List.copyOf(groups);
    }

    /**
     * Returns the optimized parameters.
     *
     * @return the parameters of all groups
     */
    public final List<Tensor> parameters() {
        checkOpen();
        return groups.stream().flatMap(group -> group.parameters().stream()).toList();
    }

    /** Clears the gradients of the parameters. */
    public final void zeroGrad() {
        parameters().forEach(parameter -> parameter.setGrad(null));
    }

    /** Updates the parameters that have a gradient. */
    public void step() {
        checkOpen();
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            int first = 0;
            for (ParameterGroup group : groups) {
                try (Scope scope = new Scope()) {
                    assert scope != null;
                    step(group, first);
                }
                first += group.parameters().size();
            }
        }
    }

    private void step(ParameterGroup group, int first) {
        List<Integer> which = new ArrayList<>();
        List<Tensor> values = new ArrayList<>();
        List<Tensor> grads = new ArrayList<>();
        for (int i = 0; i < group.parameters().size(); i++) {
            Tensor parameter = group.parameters().get(i);
            Tensor grad = parameter.grad();
            if (grad != null) {
                which.add(first + i);
                values.add(parameter);
                grads.add(grad);
            }
        }
        if (!which.isEmpty()) {
            update(group.options(), which, values.toArray(Tensor[]::new), grads.toArray(Tensor[]::new));
        }
    }

    /**
     * Evaluates the closure, and then performs a step.
     *
     * @param closure clears the gradients, computes the loss, calls backward, and returns the loss
     * @return the loss
     */
    public Tensor step(Supplier<Tensor> closure) {
        checkOpen();
        Tensor loss = evaluate(closure);
        step();
        return loss;
    }

    /** Evaluates the closure with gradient recording enabled. */
    static Tensor evaluate(Supplier<Tensor> closure) {
        try (EnableGrad guard = new EnableGrad()) {
            assert guard != null;
            return closure.get();
        }
    }

    /**
     * Performs a step for one group.
     *
     * @param options the options
     * @param which indices of the parameters that have a gradient
     * @param values these parameters
     * @param grads their gradients
     */
    protected abstract void update(OptimizerOptions<?> options, List<Integer> which, Tensor[] values, Tensor[] grads);

    /**
     * Returns the state tensors of a parameter, which the subclass creates in the first step.
     *
     * @param index index of the parameter
     * @return tensors by name
     */
    protected final Map<String, Tensor> stateOf(int index) {
        return state.get(index);
    }

    /**
     * Declares the state tensors that a parameter may have: those that {@link #keep} keeps and {@link #loadStateDict}
     * accepts. By default there are none.
     *
     * @param index index of the parameter
     * @param parameter the parameter
     * @return their dtypes and shapes, by PyTorch's names
     */
    protected Map<String, StateKind> stateKinds(int index, Tensor parameter) {
        return Map.of();
    }

    private Tensor parameter(int index) {
        int left = index;
        for (ParameterGroup group : groups) {
            if (left < group.parameters().size()) {
                return group.parameters().get(left);
            }
            left -= group.parameters().size();
        }
        throw new IndexOutOfBoundsException("there is no parameter " + index);
    }

    /**
     * Keeps a state tensor, which outlives the scope of the step.
     *
     * @param index index of the parameter
     * @param name its name, one of {@link #stateKinds}
     * @param tensor the tensor; the optimizer takes ownership
     * @return the tensor
     * @throws IllegalArgumentException if there is no state with this name
     */
    protected final Tensor keep(int index, String name, Tensor tensor) {
        if (!stateKinds(index, parameter(index)).containsKey(name)) {
            throw new IllegalArgumentException(getClass().getSimpleName() + " has no state '" + name + "': stateKinds must name it");
        }
        Tensor old = state.get(index).put(name, tensor.unscoped().named(name));
        if (old != null && old != tensor) {
            old.close();
        }
        return tensor;
    }

    /**
     * Returns a state tensor, initially zeros of the parameter's shape.
     *
     * @param index index of the parameter
     * @param name its name
     * @param parameter the parameter
     * @return the tensor
     */
    protected final Tensor zeros(int index, String name, Tensor parameter) {
        Tensor known = state.get(index).get(name);
        return known != null ? known : keep(index, name, Torch.zerosLike(parameter));
    }

    /** Returns state tensors of several parameters. */
    final Tensor[] zeros(List<Integer> which, String name, Tensor[] parameters) {
        Tensor[] tensors = new Tensor[parameters.length];
        for (int i = 0; i < tensors.length; i++) {
            tensors[i] = zeros(which.get(i), name, parameters[i]);
        }
        return tensors;
    }

    /** Returns the state tensor called {@code name} of each of these parameters. */
    final Tensor[] gather(List<Integer> which, String name) {
        return which.stream().map(index -> state.get(index).get(name)).toArray(Tensor[]::new);
    }

    /** Increments the step counts and returns them. */
    final Tensor[] countSteps(List<Integer> which) {
        for (int index : which) {
            if (!state.get(index).containsKey("step")) {
                keep(index, "step", Tensor.of(new float[] {0}, new long[0]));
            }
        }
        Tensor[] steps = gather(which, "step");
        for (Tensor step : steps) {
            step.add_(1);
        }
        return steps;
    }

    /**
     * Returns the state for saving: {@code state.<index of the parameter>.<name>}, as in PyTorch, and the numeric
     * options as {@code param_groups.<index of the group>.<name>}, scalar tensors of the innermost scope.
     *
     * @return tensors by name
     */
    public final Map<String, Tensor> stateDict() {
        checkOpen();
        Map<String, Tensor> all = new LinkedHashMap<>();
        for (int i = 0; i < state.size(); i++) {
            String prefix = "state." + i + ".";
            state.get(i).forEach((name, tensor) -> all.put(prefix + name, tensor));
        }
        for (int i = 0; i < groups.size(); i++) {
            String prefix = "param_groups." + i + ".";
            groups.get(i).options().saved().forEach(
                (name, value) -> all.put(prefix + name, Tensor.of(new double[] {value}, new long[0])));
        }
        return all;
    }

    /**
     * Returns the state and the options of each group in PyTorch's form, for a {@link Checkpoint}: {@code
     * optimizer.load_state_dict} of Python reads it, except for that of {@link LBFGS}.
     *
     * @return a dict with {@code state} and {@code param_groups}
     */
    public final IValue checkpoint() {
        checkOpen();
        return NestedState.of(state, groups);
    }

    /**
     * Restores the state and the options of each group from PyTorch's form. If something does not match, nothing changes.
     *
     * @param source what {@link #checkpoint} returned, or {@code optimizer.state_dict()} of Python; the tensors are copied
     * @throws IllegalArgumentException if a name is unknown, a shape differs, or the number of groups or of their
     *     parameters differs; the message describes it
     * @throws TensorTypeException if a value has another type
     */
    public final void loadCheckpoint(IValue source) {
        checkOpen();
        try (Scope scope = new Scope()) {
            assert scope != null;
            loadStateDict(NestedState.flat(source, this));
        }
    }

    /**
     * Restores the state and the options of each group. If something does not match, nothing changes.
     *
     * @param source a state returned by {@link #stateDict}, or the tensors of a file that Python saved, which are a state
     *     without options ({@link #loadCheckpoint} restores both); the tensors are copied
     * @throws IllegalArgumentException if a name is unknown, a shape differs, or the number of groups differs; the
     *     message describes it
     */
    public final void loadStateDict(Map<String, Tensor> source) {
        checkOpen();
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            LoadedState loaded = new LoadedState(this, source);
            List<OptimizerOptions<?>> options = loaded.options();
            closeState();
            for (int i = 0; i < state.size(); i++) {
                state.get(i).putAll(loaded.state().get(i));
            }
            for (int i = 0; i < options.size(); i++) {
                groups.get(i).setOptions(options.get(i));
            }
        }
    }

    /**
     * Writes the state to a file ({@code .pt}, or {@code .safetensors}).
     *
     * @param file the file to write
     */
    public final void save(Path file) {
        try (Scope scope = new Scope()) {
            assert scope != null;
            StateDict.save(stateDict(), file);
        }
    }

    /**
     * Reads the state and the options from a file that {@link #save} wrote, or {@code
     * torch.save(optimizer.state_dict(), ...)}.
     *
     * @param file the file
     */
    public final void load(Path file) {
        checkOpen();
        try (Scope scope = new Scope()) {
            assert scope != null;
            Map<String, Tensor> flat = StateDict.load(file);
            if (flat.keySet().stream().anyMatch(name -> name.startsWith("param_groups."))) {
                loadStateDict(flat);
            } else {
                // The options of Python are no tensors.
                loadCheckpoint(Checkpoint.load(file));
            }
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the optimizer is closed");
        }
    }

    private void closeState() {
        for (Map<String, Tensor> tensors : state) {
            tensors.values().forEach(Tensor::close);
            tensors.clear();
        }
    }

    /** Frees the state. The parameters are not closed. */
    @Override
    public void close() {
        closed = true;
        closeState();
    }
}
