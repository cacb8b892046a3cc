package org.rushlight.optim;

import java.util.ArrayList;
import java.util.List;
import org.rushlight.Tensor;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/** Stochastic gradient descent, with momentum. */
public final class SGD extends Optimizer {
    private static final String BUFFER = "momentum_buffer";

    private Options options;

    /**
     * What a step does. Immutable; each method returns a changed copy.
     *
     * @param lr learning rate
     * @param momentum share of the last step that is repeated
     * @param dampening share of the gradient that momentum leaves out
     * @param weightDecay share of the parameter that is added to its gradient
     * @param nesterov look ahead along the momentum
     * @param maximize climb instead of descending
     */
    public record Options(
            double lr, double momentum, double dampening, double weightDecay, boolean nesterov, boolean maximize) {
        /** Checks the ranges. */
        public Options {
            check(lr >= 0, "Invalid learning rate: " + lr);
            check(momentum >= 0, "Invalid momentum value: " + momentum);
            check(weightDecay >= 0, "Invalid weight_decay value: " + weightDecay);
            check(!nesterov || momentum > 0 && dampening == 0, "Nesterov momentum requires a momentum and zero dampening");
        }

        /**
         * Plain descent.
         *
         * @param lr learning rate
         */
        public Options(double lr) {
            this(lr, 0, 0, 0, false, false);
        }

        private static void check(boolean fine, String message) {
            if (!fine) {
                throw new TensorValueException(message);
            }
        }

        /**
         * Sets the learning rate.
         *
         * @param value learning rate
         * @return the changed options
         */
        public Options withLr(double value) {
            return new Options(value, momentum, dampening, weightDecay, nesterov, maximize);
        }

        /**
         * Sets the momentum.
         *
         * @param value share of the last step that is repeated
         * @return the changed options
         */
        public Options withMomentum(double value) {
            return new Options(lr, value, dampening, weightDecay, nesterov, maximize);
        }

        /**
         * Sets the weight decay.
         *
         * @param value share of the parameter that is added to its gradient
         * @return the changed options
         */
        public Options withWeightDecay(double value) {
            return new Options(lr, momentum, dampening, value, nesterov, maximize);
        }

        /**
         * Sets Nesterov's variant.
         *
         * @param value look ahead along the momentum
         * @return the changed options
         */
        public Options withNesterov(boolean value) {
            return new Options(lr, momentum, dampening, weightDecay, value, maximize);
        }
    }

    /**
     * Plain descent.
     *
     * @param parameters what to train
     * @param lr learning rate
     */
    public SGD(List<Tensor> parameters, double lr) {
        this(parameters, new Options(lr));
    }

    /**
     * Descent with options.
     *
     * @param parameters what to train
     * @param options what a step does
     */
    public SGD(List<Tensor> parameters, Options options) {
        super(parameters);
        this.options = options;
    }

    /**
     * What a step does.
     *
     * @return the options
     */
    public Options options() {
        return options;
    }

    /**
     * Changes what a step does, as a schedule does with the learning rate.
     *
     * @param options the new options
     */
    public void setOptions(Options options) {
        this.options = options;
    }

    @Override
    void update(List<Integer> which, Tensor[] values, Tensor[] grads) {
        if (options.momentum() == 0) {
            fused(values, grads, new Tensor[0], false);
            return;
        }
        // A parameter that gets its first gradient now has no buffer yet: the operator fills those of a first step.
        List<Integer> fresh = new ArrayList<>();
        List<Integer> known = new ArrayList<>();
        for (int i = 0; i < which.size(); i++) {
            boolean first = !stateOf(which.get(i)).containsKey(BUFFER);
            (first ? fresh : known).add(i);
            if (first) {
                keep(which.get(i), BUFFER, Torch.empty_like(values[i]));
            }
        }
        part(which, fresh, values, grads, true);
        part(which, known, values, grads, false);
    }

    private void part(List<Integer> which, List<Integer> chosen, Tensor[] values, Tensor[] grads, boolean first) {
        if (chosen.isEmpty()) {
            return;
        }
        Tensor[] buffers = gather(chosen.stream().map(which::get).toList(), BUFFER);
        fused(pick(values, chosen), pick(grads, chosen), buffers, first);
    }

    private static Tensor[] pick(Tensor[] from, List<Integer> chosen) {
        return chosen.stream().map(i -> from[i]).toArray(Tensor[]::new);
    }

    private void fused(Tensor[] values, Tensor[] grads, Tensor[] buffers, boolean first) {
        Torch._fused_sgd_(values, grads, buffers, options.weightDecay(), options.momentum(), options.lr(), options.dampening(),
            options.nesterov(), options.maximize(), first);
    }
}
