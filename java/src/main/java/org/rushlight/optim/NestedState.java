package org.rushlight.optim;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rushlight.IValue;
import org.rushlight.Tensor;
import org.rushlight.TensorTypeException;

/**
 * The state of an optimizer as PyTorch nests it: {@code {"state": {0: {...}}, "param_groups": [{"lr": ..., "params":
 * [0, 1]}]}}. {@link LoadedState} validates names and shapes.
 */
final class NestedState {
    /** Options of PyTorch that select an implementation; and one of a schedule, which has its own state. */
    private static final Set<String> NO_OPTIONS = Set.of("foreach", "fused", "capturable", "differentiable", "initial_lr");
    /** PyTorch's implementation of AdamW is that of Adam with this option. */
    private static final String DECOUPLED = "decoupled_weight_decay";
    private static final String SEARCH = "line_search_fn";
    private static final String STRONG_WOLFE = "strong_wolfe";
    private static final String STATE = "state";
    private static final String GROUPS = "param_groups";
    private static final String PARAMS = "params";

    private NestedState() {}

    /** The nested form of state tensors by parameter and options by group. */
    static IValue of(List<Map<String, Tensor>> state, List<ParameterGroup> groups) {
        Map<Long, Map<String, Tensor>> states = new LinkedHashMap<>();
        for (int i = 0; i < state.size(); i++) {
            if (!state.get(i).isEmpty()) {
                states.put((long) i, state.get(i));
            }
        }
        List<Map<String, @Nullable Object>> all = new ArrayList<>();
        long first = 0;
        for (ParameterGroup group : groups) {
            Map<String, @Nullable Object> options = new LinkedHashMap<>();
            Map<String, Object> typed = group.options().typed();
            typed.forEach((name, value) -> {
                switch (name) {
                    case "beta1" -> options.put("betas", new Object[] {value, typed.get("beta2")});
                    case "beta2" -> {
                        // Written with beta1.
                    }
                    case STRONG_WOLFE -> options.put(SEARCH, value.equals(true) ? STRONG_WOLFE : null);
                    default -> options.put(name, value);
                }
            });
            long[] params = new long[group.parameters().size()];
            for (int i = 0; i < params.length; i++) {
                params[i] = first++;
            }
            options.put(PARAMS, params);
            all.add(options);
        }
        Map<String, Object> whole = new LinkedHashMap<>();
        whole.put(STATE, states);
        whole.put(GROUPS, all);
        return IValue.of(whole);
    }

    /** The flat form of a nested state, as {@link Optimizer#stateDict} returns it. */
    static Map<String, Tensor> flat(IValue nested, Optimizer optimizer) {
        Map<String, Tensor> all = new LinkedHashMap<>();
        Map<String, IValue> whole = nested.toStringDict();
        if (!whole.containsKey(STATE) || !whole.containsKey(GROUPS)) {
            throw new IllegalArgumentException("the state of an optimizer has 'state' and 'param_groups', not " + whole.keySet());
        }
        whole.get(STATE).toDict().forEach((index, tensors) -> tensors.toStringDict().forEach((name, value) -> {
            if (!value.isNone()) {
                all.put(STATE + "." + index + "." + name, tensor(name, value));
            }
        }));
        List<IValue> groups = whole.get(GROUPS).toList();
        List<ParameterGroup> own = optimizer.parameterGroups();
        for (int i = 0; i < groups.size(); i++) {
            Map<String, IValue> group = groups.get(i).toStringDict();
            if (i < own.size() && group.containsKey(PARAMS) && group.get(PARAMS).toList().size() != own.get(i).parameters().size()) {
                throw new IllegalArgumentException("parameter group " + i + " has " + group.get(PARAMS).toList().size()
                    + " parameters, and that of the optimizer " + own.get(i).parameters().size());
            }
            String prefix = GROUPS + "." + i + ".";
            group.forEach((name, value) -> option(name, value, optimizer instanceof AdamW).forEach(
                (key, number) -> all.put(prefix + key, Tensor.of(new double[] {number}, new long[0]))));
        }
        return all;
    }

    /** The numbers of an option of PyTorch, by the names of {@link OptimizerOptions#saved}. */
    private static Map<String, Double> option(String name, IValue value, boolean decoupled) {
        if (name.equals(PARAMS) || NO_OPTIONS.contains(name)) {
            return Map.of();
        }
        switch (name) {
            case "betas":
                List<IValue> betas = value.toTuple();
                return Map.of("beta1", betas.get(0).toDouble(), "beta2", betas.get(1).toDouble());
            case DECOUPLED:
                if (value.toBool() != decoupled) {
                    throw new IllegalArgumentException("the state is one of " + (decoupled ? "Adam, not of AdamW" : "AdamW, not of Adam"));
                }
                return Map.of();
            case SEARCH:
                return Map.of(STRONG_WOLFE, value.isNone() ? 0.0 : 1.0);
            default:
                return Map.of(name, number(name, value));
        }
    }

    private static double number(String name, IValue value) {
        return switch (value.kind()) {
            case BOOL -> value.toBool() ? 1 : 0;
            case INT, DOUBLE -> value.toDouble();
            case TENSOR -> value.toTensor().item().doubleValue();
            default -> throw new TensorTypeException("the option '" + name + "' is " + value.kind() + ", not a number");
        };
    }

    private static Tensor tensor(String name, IValue value) {
        return switch (value.kind()) {
            case TENSOR -> value.toTensor();
            case BOOL, INT, DOUBLE -> Tensor.of(new double[] {number(name, value)}, new long[0]);
            default -> throw new TensorTypeException("the state '" + name + "' is " + value.kind() + ", not a tensor");
        };
    }
}
