package org.rushlight.optim;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.rushlight.NoGrad;
import org.rushlight.Scope;
import org.rushlight.Tensor;

/** Changes parameters by their gradients. Its state belongs to no scope; {@link #close} frees it. */
public abstract class Optimizer implements AutoCloseable {
    /** What is trained. */
    private final List<Tensor> parameters;
    /** State tensors of each parameter, by PyTorch's names, in the order of {@link #parameters}. */
    private final List<Map<String, Tensor>> state = new ArrayList<>();

    /**
     * An optimizer of some parameters.
     *
     * @param parameters what to train
     */
    protected Optimizer(List<Tensor> parameters) {
        if (parameters.isEmpty()) {
            throw new IllegalArgumentException("optimizer got an empty parameter list");
        }
        this.parameters = List.copyOf(parameters);
        this.parameters.forEach(parameter -> state.add(new LinkedHashMap<>()));
    }

    /**
     * What is trained.
     *
     * @return the parameters
     */
    public final List<Tensor> parameters() {
        return parameters;
    }

    /** Removes the gradient of each parameter. */
    public final void zeroGrad() {
        parameters.forEach(parameter -> parameter.setGrad(null));
    }

    /** Changes the parameters that have a gradient. */
    public final void step() {
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            List<Integer> which = new ArrayList<>();
            List<Tensor> values = new ArrayList<>();
            List<Tensor> grads = new ArrayList<>();
            for (int i = 0; i < parameters.size(); i++) {
                Tensor grad = parameters.get(i).grad();
                if (grad != null) {
                    which.add(i);
                    values.add(parameters.get(i));
                    grads.add(grad);
                }
            }
            if (!which.isEmpty()) {
                update(which, values.toArray(Tensor[]::new), grads.toArray(Tensor[]::new));
            }
        }
    }

    /**
     * One step.
     *
     * @param which positions of the parameters that have a gradient
     * @param values these parameters
     * @param grads their gradients
     */
    abstract void update(List<Integer> which, Tensor[] values, Tensor[] grads);

    /** State tensors of one parameter: made by the subclass on the first step, and then kept. */
    final Map<String, Tensor> stateOf(int index) {
        return state.get(index);
    }

    /** Keeps a state tensor: it must outlive the scope of the step. */
    final Tensor keep(int index, String name, Tensor tensor) {
        Tensor old = state.get(index).put(name, tensor.unscoped().named(name));
        if (old != null) {
            old.close();
        }
        return tensor;
    }

    /** The state tensor called {@code name} of each of these parameters. */
    final Tensor[] gather(List<Integer> which, String name) {
        return which.stream().map(index -> state.get(index).get(name)).toArray(Tensor[]::new);
    }

    /**
     * The state tensors, for saving.
     *
     * @return tensors by {@code <position of the parameter>.<name>}
     */
    public final Map<String, Tensor> stateDict() {
        Map<String, Tensor> all = new LinkedHashMap<>();
        for (int i = 0; i < state.size(); i++) {
            String prefix = i + ".";
            state.get(i).forEach((name, tensor) -> all.put(prefix + name, tensor));
        }
        return all;
    }

    /**
     * Restores the state.
     *
     * @param source what {@link #stateDict} returned; the tensors are copied
     */
    public final void loadStateDict(Map<String, Tensor> source) {
        try (NoGrad guard = new NoGrad()) {
            assert guard != null;
            closeState();
            source.forEach((key, tensor) -> {
                int dot = key.indexOf('.');
                int index = dot < 0 ? -1 : Integer.parseInt(key.substring(0, dot));
                if (index < 0 || index >= state.size()) {
                    throw new IllegalArgumentException(
                        "loaded state dict has an entry '" + key + "' that doesn't match the " + state.size() + " parameters");
                }
                keep(index, key.substring(dot + 1), tensor.clone());
            });
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
        closeState();
    }
}
