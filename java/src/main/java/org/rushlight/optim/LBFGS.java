package org.rushlight.optim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rushlight.DType;
import org.rushlight.NoGrad;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.TensorOptions;
import org.rushlight.TensorValueException;
import org.rushlight.Torch;

/**
 * Implements L-BFGS: quasi-Newton steps from a short history of gradients (Nocedal 1980), optionally with a line search
 * that satisfies the strong Wolfe conditions. A step needs a closure; there is one parameter group.
 *
 * <pre>{@code
 * Tensor w = Tensor.of(1f).requiresGrad_(true);
 * try (LBFGS optimizer = new LBFGS(List.of(w))) {
 *     for (int i = 0; i < 3; i++) {
 *         optimizer.step(() -> {
 *             optimizer.zeroGrad();
 *             Tensor loss = w.sub(3).square().sum();
 *             loss.backward();
 *             return loss;
 *         });
 *     }
 *     System.out.println(w.sub(3).abs().itemDouble() < 1e-3); // true
 * }
 * }</pre>
 */
public final class LBFGS extends OptionedOptimizer<LBFGS.Options> {
    /** Options of the optimizer. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends OptimizerOptions<Options> {
        long maxIter = 20;
        @Nullable Long maxEval;
        double toleranceGrad = 1e-7;
        double toleranceChange = 1e-9;
        long historySize = 100;
        boolean strongWolfe;

        /** Creates PyTorch's default options, with a learning rate of 1. */
        public Options() {
            this(1);
        }

        /**
         * Creates PyTorch's default options with the given learning rate.
         *
         * @param lr learning rate
         */
        public Options(double lr) {
            super(lr);
        }

        /**
         * Sets maxIter: maximum number of iterations per step (default 20).
         *
         * @param value maximum number of iterations per step (default 20)
         * @return the changed options
         */
        public Options withMaxIter(long value) {
            return with(options -> options.maxIter = value);
        }

        /**
         * Sets maxEval: maximum number of evaluations of the loss per step (default: 1.25 times the iterations).
         *
         * @param value maximum number of evaluations of the loss per step (default: 1.25 times the iterations)
         * @return the changed options
         */
        public Options withMaxEval(long value) {
            return with(options -> options.maxEval = value);
        }

        /**
         * Sets toleranceGrad: termination tolerance of the gradient (default 1e-7).
         *
         * @param value termination tolerance of the gradient (default 1e-7)
         * @return the changed options
         */
        public Options withToleranceGrad(double value) {
            return with(options -> options.toleranceGrad = value);
        }

        /**
         * Sets toleranceChange: termination tolerance of changes of the loss and parameters (default 1e-9).
         *
         * @param value termination tolerance of changes of the loss and parameters (default 1e-9)
         * @return the changed options
         */
        public Options withToleranceChange(double value) {
            return with(options -> options.toleranceChange = value);
        }

        /**
         * Sets historySize: size of the update history (default 100).
         *
         * @param value size of the update history (default 100)
         * @return the changed options
         */
        public Options withHistorySize(long value) {
            return with(options -> options.historySize = value);
        }

        /**
         * Sets strongWolfe: whether to use a line search with the strong Wolfe conditions (default false).
         *
         * @param value whether to use a line search with the strong Wolfe conditions (default false)
         * @return the changed options
         */
        public Options withStrongWolfe(boolean value) {
            return with(options -> options.strongWolfe = value);
        }

        long mostEvaluations() {
            return maxEval == null ? maxIter * 5 / 4 : maxEval;
        }

        @Override
        protected void exchange(Values values) {
            maxIter = values.of("max_iter", maxIter);
            maxEval = values.of("max_eval", mostEvaluations());
            toleranceGrad = values.of("tolerance_grad", toleranceGrad);
            toleranceChange = values.of("tolerance_change", toleranceChange);
            historySize = values.of("history_size", historySize);
            strongWolfe = values.of("strong_wolfe", strongWolfe);
        }
    }

    /**
     * Creates the optimizer with PyTorch's defaults.
     *
     * @param parameters parameters to optimize
     */
    public LBFGS(List<Tensor> parameters) {
        this(parameters, new Options());
    }

    /**
     * Creates the optimizer with options.
     *
     * @param parameters parameters to optimize
     * @param options the options
     */
    public LBFGS(List<Tensor> parameters, Options options) {
        super(options, new ParameterGroup(parameters));
    }

    /** Throws: L-BFGS evaluates the loss several times and needs a closure. */
    @Override
    public void step() {
        throw new IllegalStateException("LBFGS requires a closure function");
    }

    @Override
    void updateGroup(Options options, List<Integer> which, Tensor[] values, Tensor[] grads) {
        throw new IllegalStateException("LBFGS requires a closure function");
    }

    /** Runs up to the configured number of iterations; the closure recomputes the loss and its gradients each time. */
    @Override
    public Tensor step(Supplier<Tensor> closure) {
        if (parameterGroups().size() != 1) {
            throw new TensorValueException("LBFGS doesn't support per-parameter options (parameter groups)");
        }
        Tensor first = evaluate(closure);
        try (NoGrad guard = new NoGrad(); Scope scope = new Scope()) {
            assert guard != null && scope != null;
            new Step(this, options(), closure).run(first.item().doubleValue());
        }
        return first;
    }

    /** The state covers all parameters and is stored with the first. */
    @Override
    protected Map<String, StateKind> stateKinds(int index, Tensor parameter) {
        if (index > 0) {
            return Map.of();
        }
        DType dtype = parameter.dtype();
        StateKind number = new StateKind(DType.FLOAT64);
        StateKind flat = new StateKind(dtype, parameters().stream().mapToLong(Tensor::numel).sum());
        StateKind history = new StateKind(dtype, StateKind.ANY_SIZE, flat.shape()[0]);
        return Map.of("func_evals", number, "n_iter", number, "t", number, "prev_loss", number, "d", flat, "prev_flat_grad", flat,
            "H_diag", new StateKind(dtype), "old_dirs", history, "old_stps", history);
    }

    private @Nullable Tensor known(String name) {
        return stateOf(0).get(name);
    }

    private double number(String name) {
        Tensor known = known(name);
        return known == null ? 0 : known.item().doubleValue();
    }

    private void remember(String name, double number) {
        keep(0, name, Tensor.of(new double[] {number}, new long[0]));
    }

    /** One iteration: temporaries belong to its scope, state is kept at the end. */
    private static final class Step {
        private final LBFGS owner;
        private final Options options;
        private final Supplier<Tensor> closure;
        private final List<Tensor> params;
        private final Deque<Tensor> dirs = new ArrayDeque<>();
        private final Deque<Tensor> steps = new ArrayDeque<>();
        private double loss;
        private Tensor gradient;

        Step(LBFGS owner, Options options, Supplier<Tensor> closure) {
            this.owner = owner;
            this.options = options;
            this.closure = closure;
            params = owner.parameters();
            gradient = flatGradient();
        }

        void run(double firstLoss) {
            loss = firstLoss;
            long evaluations = 1;
            double calls = owner.number("func_evals") + 1;
            double iterations = owner.number("n_iter");
            if (most(gradient) <= options.toleranceGrad) {
                owner.remember("func_evals", calls);
                return;
            }
            Tensor d = owner.known("d");
            Tensor before = owner.known("prev_flat_grad");
            Tensor diagonal = owner.known("H_diag");
            double t = owner.number("t");
            double lossBefore = owner.number("prev_loss");
            unpack("old_dirs", dirs);
            unpack("old_stps", steps);
            if (dirs.size() != steps.size()) {
                throw new IllegalStateException(
                    "the state of LBFGS was loaded with " + dirs.size() + " old_dirs and " + steps.size() + " old_stps: they belong together");
            }
            for (long iteration = 1; iteration <= options.maxIter; iteration++) {
                iterations++;
                if (d == null || before == null || diagonal == null) {
                    d = gradient.neg();
                    diagonal = Torch.ones(new long[0], TensorOptions.of(gradient.dtype()));
                } else {
                    Tensor y = gradient.sub(before);
                    Tensor s = d.mul(t);
                    Tensor ys = y.dot(s);
                    if (ys.item().doubleValue() > 1e-10) {
                        if (dirs.size() == options.historySize) {
                            dirs.removeFirst();
                            steps.removeFirst();
                        }
                        dirs.addLast(y);
                        steps.addLast(s);
                        diagonal = ys.div(y.dot(y));
                    }
                    d = direction(diagonal);
                }
                before = gradient.clone();
                lossBefore = loss;
                t = iterations == 1 ? Math.min(1, 1 / gradient.abs().sum().item().doubleValue()) * options.lr : options.lr;
                double slope = gradient.dot(d).item().doubleValue();
                if (slope > -options.toleranceChange) {
                    break;
                }
                long searched = 0;
                boolean optimal = false;
                if (options.strongWolfe) {
                    LineSearch search = new LineSearch(this, d);
                    LineSearch.Point found = search.run(new LineSearch.Point(0, loss, gradient, slope), t);
                    t = found.t();
                    loss = found.loss();
                    gradient = found.gradient();
                    searched = search.evaluations();
                    move(t, d);
                    optimal = most(gradient) <= options.toleranceGrad;
                } else {
                    move(t, d);
                    // The loss after the last iteration is not needed.
                    if (iteration != options.maxIter) {
                        loss = evaluate(closure).item().doubleValue();
                        gradient = flatGradient();
                        optimal = most(gradient) <= options.toleranceGrad;
                        searched = 1;
                    }
                }
                evaluations += searched;
                calls += searched;
                if (evaluations >= options.mostEvaluations() || optimal || most(d.mul(t)) <= options.toleranceChange
                        || Math.abs(loss - lossBefore) < options.toleranceChange) {
                    break;
                }
            }
            owner.remember("func_evals", calls);
            owner.remember("n_iter", iterations);
            owner.remember("t", t);
            owner.remember("prev_loss", lossBefore);
            owner.keep(0, "d", java.util.Objects.requireNonNull(d));
            owner.keep(0, "prev_flat_grad", java.util.Objects.requireNonNull(before));
            owner.keep(0, "H_diag", java.util.Objects.requireNonNull(diagonal));
            pack("old_dirs", dirs);
            pack("old_stps", steps);
        }

        private void unpack(String name, Deque<Tensor> into) {
            Tensor rows = owner.known(name);
            for (long i = 0; rows != null && i < rows.size(0); i++) {
                into.addLast(rows.select(0, i));
            }
        }

        private void pack(String name, Deque<Tensor> from) {
            if (!from.isEmpty()) {
                owner.keep(0, name, Torch.stack(from.toArray(Tensor[]::new)));
            }
        }

        static double most(Tensor tensor) {
            return tensor.abs().max().item().doubleValue();
        }

        private Tensor flatGradient() {
            Tensor[] parts = params.stream().map(param -> {
                Tensor grad = param.grad();
                return (grad == null ? Torch.zerosLike(param) : grad).reshape(-1);
            }).toArray(Tensor[]::new);
            return Torch.cat(parts);
        }

        /** Adds {@code t} times a direction to the parameters. */
        void move(double t, Tensor d) {
            long offset = 0;
            for (Tensor param : params) {
                long count = param.numel();
                param.add_(d.narrow(0, offset, count).viewAs(param), t);
                offset += count;
            }
        }

        /** Computes the approximate inverse Hessian times the negative gradient from the history (two-loop recursion). */
        private Tensor direction(Tensor diagonal) {
            Tensor[] y = dirs.toArray(Tensor[]::new);
            Tensor[] s = steps.toArray(Tensor[]::new);
            Tensor[] ro = new Tensor[y.length];
            Tensor[] al = new Tensor[y.length];
            Tensor q = gradient.neg();
            for (int i = y.length - 1; i >= 0; i--) {
                ro[i] = y[i].dot(s[i]).reciprocal();
                al[i] = s[i].dot(q).mul(ro[i]);
                q.add_(y[i], -al[i].item().doubleValue());
            }
            Tensor r = q.mul(diagonal);
            for (int i = 0; i < y.length; i++) {
                r.add_(s[i], al[i].sub(y[i].dot(r).mul(ro[i])).item().doubleValue());
            }
            return r;
        }

        /** Evaluates the loss and its derivatives at {@code t} along {@code d}; the parameters are unchanged afterwards. */
        LineSearch.Point look(List<Tensor> start, double t, Tensor d) {
            move(t, d);
            double there = evaluate(closure).item().doubleValue();
            Tensor slope = flatGradient();
            for (int i = 0; i < params.size(); i++) {
                params.get(i).copy_(start.get(i));
            }
            return new LineSearch.Point(t, there, slope, slope.dot(d).item().doubleValue());
        }

        List<Tensor> copies() {
            return params.stream().map(Tensor::clone).toList();
        }
    }

    /**
     * Brackets a step that satisfies the strong Wolfe conditions, then narrows the bracket (Nocedal and Wright, 3.5 and
     * 3.6).
     */
    private static final class LineSearch {
        private static final double C1 = 1e-4;
        private static final double C2 = 0.9;
        private static final double TOLERANCE_CHANGE = 1e-9;
        private static final int MOST_LOOKS = 25;

        private final Step step;
        private final Tensor d;
        private final List<Tensor> from;
        private long evaluations;

        /** A point along a direction: step length, and loss, gradient and slope there. */
        record Point(double t, double loss, Tensor gradient, double slope) {}

        LineSearch(Step step, Tensor d) {
            this.step = step;
            this.d = d;
            from = step.copies();
        }

        long evaluations() {
            return evaluations;
        }

        private Point look(double t) {
            evaluations++;
            return step.look(from, t, d);
        }

        private static boolean isTooHigh(Point point, Point start) {
            return point.loss() > start.loss() + C1 * point.t() * start.slope();
        }

        private static boolean isFlatEnough(Point point, Point start) {
            return Math.abs(point.slope()) <= -C2 * start.slope();
        }

        Point run(Point start, double t) {
            Point before = start;
            Point now = look(t);
            Point low = start;
            Point high = now;
            int looks = 0;
            for (; looks < MOST_LOOKS; looks++) {
                low = before;
                high = now;
                if (isTooHigh(now, start) || looks > 1 && now.loss() >= before.loss()) {
                    break;
                }
                if (isFlatEnough(now, start)) {
                    return now;
                }
                if (now.slope() >= 0) {
                    break;
                }
                double next = cubicMinimum(before, now, now.t() + 0.01 * (now.t() - before.t()), now.t() * 10);
                before = now;
                now = look(next);
            }
            if (looks == MOST_LOOKS) {
                low = start;
                high = now;
            }
            return narrow(start, low, high, looks);
        }

        private Point narrow(Point start, Point first, Point second, int lookedAlready) {
            double size = Step.most(d);
            // The bracket in the order in which it was found; `low` is the better end.
            Point[] bracket = {first, second};
            int low = first.loss() <= second.loss() ? 0 : 1;
            boolean stuck = false;
            for (int looks = lookedAlready; looks < MOST_LOOKS; looks++) {
                double a = Math.min(bracket[0].t(), bracket[1].t());
                double b = Math.max(bracket[0].t(), bracket[1].t());
                if ((b - a) * size < TOLERANCE_CHANGE) {
                    break;
                }
                double next = cubicMinimum(bracket[0], bracket[1], a, b);
                // Close to an end twice, or at it: a tenth of the bracket away from it.
                double margin = 0.1 * (b - a);
                if (Math.min(b - next, next - a) < margin) {
                    if (stuck || next >= b || next <= a) {
                        next = Math.abs(next - b) < Math.abs(next - a) ? b - margin : a + margin;
                        stuck = false;
                    } else {
                        stuck = true;
                    }
                } else {
                    stuck = false;
                }
                Point now = look(next);
                int high = 1 - low;
                if (isTooHigh(now, start) || now.loss() >= bracket[low].loss()) {
                    bracket[high] = now;
                    low = bracket[0].loss() <= bracket[1].loss() ? 0 : 1;
                } else {
                    if (isFlatEnough(now, start)) {
                        return now;
                    }
                    if (now.slope() * (bracket[high].t() - bracket[low].t()) >= 0) {
                        bracket[high] = bracket[low];
                    }
                    bracket[low] = now;
                }
            }
            return bracket[low];
        }

        /** The minimum of the cubic through two points with derivatives, within bounds. */
        private static double cubicMinimum(Point p, Point q, double least, double most) {
            double d1 = p.slope() + q.slope() - 3 * (p.loss() - q.loss()) / (p.t() - q.t());
            double square = d1 * d1 - p.slope() * q.slope();
            if (!(square >= 0)) {
                return (least + most) / 2;
            }
            double d2 = Math.sqrt(square);
            double place = p.t() <= q.t()
                ? q.t() - (q.t() - p.t()) * ((q.slope() + d2 - d1) / (q.slope() - p.slope() + 2 * d2))
                : p.t() - (p.t() - q.t()) * ((p.slope() + d2 - d1) / (p.slope() - q.slope() + 2 * d2));
            return Math.min(Math.max(place, least), most);
        }
    }
}
