package org.rushlight.optim;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.rushlight.EnableGrad;
import org.rushlight.NoGrad;
import org.rushlight.Scope;
import org.rushlight.StateDict;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;
import org.rushlight.internal.Identity;

/**
 * Changes parameters by their gradients. Its state belongs to no scope; {@link #close} frees it.
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
 * <p>An optimizer of one's own has options of its own, and says in {@link #update} what a step does. If it keeps tensors from step to step
 * ({@link #keep}), it names them in {@link #stateKinds}; options beside the learning rate go through {@link OptimizerOptions#exchange}:
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
     * An optimizer of some groups.
     *
     * @param defaults what a step does with groups that have no options of their own
     * @param groups what to train
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
     * Trains further parameters.
     *
     * @param group the parameters
     * @throws TensorValueException if one of them is no leaf, or is trained already, or is there twice
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
                throw new TensorValueException("parameter " + i + " of the group is there twice: a step would change it twice");
            }
        }
        group.join(defaults);
        groups.add(group);
        group.parameters().forEach(parameter -> state.add(new LinkedHashMap<>()));
    }

    /**
     * The groups, whose options may be changed.
     *
     * @return the groups
     */
    public final List<ParameterGroup> parameterGroups() {
        checkOpen();
        return List.copyOf(groups);
    }

    /**
     * What is trained.
     *
     * @return the parameters of all groups
     */
    public final List<Tensor> parameters() {
        checkOpen();
        return groups.stream().flatMap(group -> group.parameters().stream()).toList();
    }

    /** Removes the gradient of each parameter. */
    public final void zeroGrad() {
        parameters().forEach(parameter -> parameter.setGrad(null));
    }

    /** Changes the parameters that have a gradient. */
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
     * Computes the loss anew, and then steps.
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

    /** The loss of a closure, with gradients recorded. */
    static Tensor evaluate(Supplier<Tensor> closure) {
        try (EnableGrad guard = new EnableGrad()) {
            assert guard != null;
            return closure.get();
        }
    }

    /**
     * One step of a group.
     *
     * @param options what it does
     * @param which positions of the parameters that have a gradient
     * @param values these parameters
     * @param grads their gradients
     */
    protected abstract void update(OptimizerOptions<?> options, List<Integer> which, Tensor[] values, Tensor[] grads);

    /**
     * State tensors of one parameter: made by the subclass on the first step, and then kept.
     *
     * @param index position of the parameter
     * @return tensors by name
     */
    protected final Map<String, Tensor> stateOf(int index) {
        return state.get(index);
    }

    /**
     * The state tensors that there may be of a parameter: what {@link #keep} keeps and {@link #loadStateDict} takes. There are none unless
     * a subclass says so.
     *
     * @param index position of the parameter
     * @param parameter the parameter
     * @return what they look like, by PyTorch's names
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
     * Keeps a state tensor: it must outlive the scope of the step.
     *
     * @param index position of the parameter
     * @param name its name, one of {@link #stateKinds}
     * @param tensor the tensor, which becomes the optimizer's
     * @return the tensor
     * @throws IllegalArgumentException if there is no state of this name
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
     * A state tensor, which starts as zeros like the parameter.
     *
     * @param index position of the parameter
     * @param name its name
     * @param parameter the parameter
     * @return the tensor
     */
    protected final Tensor zeros(int index, String name, Tensor parameter) {
        Tensor known = state.get(index).get(name);
        return known != null ? known : keep(index, name, Torch.zeros_like(parameter));
    }

    /** The same for several parameters. */
    final Tensor[] zeros(List<Integer> which, String name, Tensor[] parameters) {
        Tensor[] tensors = new Tensor[parameters.length];
        for (int i = 0; i < tensors.length; i++) {
            tensors[i] = zeros(which.get(i), name, parameters[i]);
        }
        return tensors;
    }

    /** The state tensor called {@code name} of each of these parameters. */
    final Tensor[] gather(List<Integer> which, String name) {
        return which.stream().map(index -> state.get(index).get(name)).toArray(Tensor[]::new);
    }

    /** The numbers of steps, one more than before. */
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
     * The state, for saving: {@code state.<position of the parameter>.<name>}, as in PyTorch, and the numbers of the options as
     * {@code param_groups.<position of the group>.<name>}, scalars of the innermost scope.
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
     * Restores the state and the options of each group. Nothing changes if something does not fit.
     *
     * @param source what {@link #stateDict} returned, or the state of a file that Python saved, which has no options; the tensors are copied
     * @throws IllegalArgumentException if a name is unknown, a shape differs, or there are more or fewer groups; the text says which
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
     * @param file where to
     */
    public final void save(Path file) {
        try (Scope scope = new Scope()) {
            assert scope != null;
            StateDict.save(stateDict(), file);
        }
    }

    /**
     * Reads the state from a file that {@link #save} wrote, or {@code torch.save(optimizer.state_dict(), ...)}.
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
            throw new IllegalStateException("the optimizer is closed");
        }
    }

    private void closeState() {
        for (Map<String, Tensor> tensors : state) {
            tensors.values().forEach(Tensor::close);
            tensors.clear();
        }
    }

    /** Frees the state. The parameters stay. */
    @Override
    public void close() {
        closed = true;
        closeState();
    }
}
