package org.rushlight.optim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;

/**
 * A state dict that was read for an optimizer and validated against it: private copies, so that the optimizer may still
 * reject it.
 */
final class LoadedState {
    private static final Pattern KEY = Pattern.compile("(state|param_groups)\\.(\\d{1,9})\\.([^.]+)");

    private final Optimizer optimizer;
    private final List<Tensor> parameters;
    private final List<Map<String, Tensor>> state = new ArrayList<>();
    private final List<Map<String, Double>> numbers = new ArrayList<>();
    private final List<OptimizerOptions<?>> options = new ArrayList<>();

    /** Reads a state dict. Gradients must be disabled. */
    LoadedState(Optimizer optimizer, Map<String, Tensor> source) {
        this.optimizer = optimizer;
        parameters = optimizer.parameters();
        parameters.forEach(parameter -> state.add(new LinkedHashMap<>()));
        try (Scope scope = new Scope()) {
            assert scope != null;
            source.forEach(this::read);
            checkGroups();
            restoreOptions();
            // Validation succeeded: the copies may outlive the scope.
            state.forEach(tensors -> tensors.forEach((name, tensor) -> tensor.unscoped().named(name)));
        }
    }

    /** State tensors of each parameter. */
    List<Map<String, Tensor>> state() {
        return state;
    }

    /** Options of each group. */
    List<OptimizerOptions<?>> options() {
        return options;
    }

    private void restoreOptions() {
        List<ParameterGroup> groups = optimizer.parameterGroups();
        for (int i = 0; i < groups.size(); i++) {
            OptimizerOptions<?> now = groups.get(i).options();
            try {
                options.add(numbers.isEmpty() ? now : now.restored(numbers.get(i)));
            } catch (TensorValueException | IllegalArgumentException e) {
                throw rejection("parameter group " + i + ": " + e.getMessage());
            }
        }
    }

    private void read(String key, @Nullable Tensor tensor) {
        Matcher match = KEY.matcher(key);
        if (!match.matches()) {
            throw rejection("'" + key + "' is neither state.NUMBER.NAME nor param_groups.NUMBER.NAME");
        }
        if (tensor == null) {
            throw rejection("'" + key + "' is null");
        }
        int place = Integer.parseInt(match.group(2));
        if (match.group(1).equals("state")) {
            readState(key, place, match.group(3), tensor);
        } else {
            readOption(key, place, match.group(3), tensor);
        }
    }

    private void readState(String key, int place, String name, Tensor tensor) {
        if (place >= parameters.size()) {
            throw rejection("'" + key + "' belongs to parameter " + place + ", but there are " + parameters.size());
        }
        Map<String, StateKind> kinds = optimizer.stateKinds(place, parameters.get(place));
        StateKind kind = kinds.get(name);
        if (kind == null) {
            throw rejection("parameter " + place + " has no state '" + name + "'" + (kinds.isEmpty() ? "" : ", but " + kinds.keySet()));
        }
        if (!kind.fits(tensor.shape())) {
            throw rejection("'" + key + "' has the shape " + Arrays.toString(tensor.shape()) + ", and must have " + Arrays.toString(kind.shape())
                + " for parameter " + place + " of shape " + Arrays.toString(parameters.get(place).shape()));
        }
        Tensor converted = tensor.to(parameters.get(place).device(), kind.dtype());
        state.get(place).put(name, converted.clone());
    }

    private void readOption(String key, int place, String name, Tensor tensor) {
        if (tensor.numel() != 1) {
            throw rejection("'" + key + "' is not a number, but a tensor of shape " + Arrays.toString(tensor.shape()));
        }
        while (numbers.size() <= place && numbers.size() <= optimizer.parameterGroups().size()) {
            numbers.add(new LinkedHashMap<>());
        }
        if (place < numbers.size()) {
            numbers.get(place).put(name, tensor.item().doubleValue());
        }
    }

    /** Python saves no options as tensors, so such a state has none; otherwise every group has some. */
    private void checkGroups() {
        int groups = optimizer.parameterGroups().size();
        boolean gap = numbers.stream().anyMatch(Map::isEmpty);
        if (!numbers.isEmpty() && (numbers.size() != groups || gap)) {
            throw rejection("it has a different number of parameter groups than the " + groups + " of the optimizer");
        }
    }

    private IllegalArgumentException rejection(String why) {
        return new IllegalArgumentException("cannot load the state of " + optimizer.getClass().getSimpleName() + ": " + why);
    }
}
