package org.rushlight.training;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rushlight.CancelScope;
import org.rushlight.CancelledException;
import org.rushlight.CopiedOptions;
import org.rushlight.NoGrad;
import org.rushlight.Scope;
import org.rushlight.Tensor;
import org.rushlight.data.Example;
import org.rushlight.nn.Module;
import org.rushlight.nn.Utils;
import org.rushlight.optim.LRScheduler;
import org.rushlight.optim.Optimizer;

/**
 * Trains a module: for each batch the loss of its predictions, a backward pass and a step of the optimizer, with
 * listeners and metrics. Temporaries are freed after each batch. Model, optimizer and loader stay the caller's.
 *
 * <pre>{@code
 * Torch.manualSeed(0);
 * try (TensorDataset points = new TensorDataset(Tensor.of(new float[][] {{0}, {1}, {2}, {3}}), Tensor.of(0L, 0L, 1L, 1L));
 *         DataLoader<Example, Example> loader = DataLoader.of(points, new DataLoader.Options(2).withShuffle(true));
 *         Linear layer = new Linear(1, 2); Adam optimizer = new Adam(layer.parameters(), new Adam.Options(0.1))) {
 *     Training training = new Training(layer, Functional::crossEntropy, optimizer, new Training.Options().withMetrics(new Accuracy()));
 *     training.fit(loader, 50);
 *     System.out.println(training.evaluate(loader).metrics()); // {accuracy=1.0}
 * }
 * }</pre>
 *
 * <p>A thread that is interrupted ends {@link #fit} and {@link #evaluate}, and the operators that are running in them: they
 * hold a {@link CancelScope#onInterrupt}, for which a virtual thread needs {@link org.rushlight.Torch#pinned}.
 */
public final class Training {
    private final Module model;
    private final BinaryOperator<Tensor> loss;
    private final Optimizer optimizer;
    private final Options options;
    private volatile boolean stopped;

    /** Options of {@link Training}. Immutable: each {@code with} method returns a changed copy. */
    public static final class Options extends CopiedOptions<Options> {
        private List<Metric> metrics = List.of();
        private List<TrainingListener> listeners = List.of();
        private @Nullable LRScheduler scheduler;
        private double maxGradNorm = Double.POSITIVE_INFINITY;

        /** Creates options without metrics, listeners and a schedule. */
        public Options() {}

        /**
         * Sets the metrics.
         *
         * @param value metrics with different names
         * @return the changed options
         * @throws IllegalArgumentException if two have the same name
         */
        public Options withMetrics(Metric... value) {
            List<Metric> all = List.of(value);
            if (all.stream().map(Metric::name).distinct().count() < all.size()) {
                throw new IllegalArgumentException("two metrics have the same name: " + all.stream().map(Metric::name).toList());
            }
            return with(options -> options.metrics = all);
        }

        /**
         * Sets the listeners.
         *
         * @param value listeners, called in this order
         * @return the changed options
         */
        public Options withListeners(TrainingListener... value) {
            List<TrainingListener> all = List.of(value);
            return with(options -> options.listeners = all);
        }

        /**
         * Sets the schedule of learning rates, which makes a step after each epoch.
         *
         * @param value the schedule
         * @return the changed options
         */
        public Options withScheduler(LRScheduler value) {
            return with(options -> options.scheduler = value);
        }

        /**
         * Sets the maximum 2-norm of all gradients together: larger ones are scaled down before each step.
         *
         * @param value the norm (default: unlimited)
         * @return the changed options
         * @throws IllegalArgumentException if it is not positive
         */
        public Options withMaxGradNorm(double value) {
            if (!(value > 0)) {
                throw new IllegalArgumentException("a maximum norm is positive, not " + value);
            }
            return with(options -> options.maxGradNorm = value);
        }
    }

    /**
     * Creates a training with default options.
     *
     * @param model the module
     * @param loss computes a scalar tensor, the mean loss of a batch, from predictions and targets
     * @param optimizer the optimizer of the parameters
     */
    public Training(Module model, BinaryOperator<Tensor> loss, Optimizer optimizer) {
        this(model, loss, optimizer, new Options());
    }

    /**
     * Creates a training with options.
     *
     * @param model the module
     * @param loss computes a scalar tensor, the mean loss of a batch, from predictions and targets
     * @param optimizer the optimizer of the parameters
     * @param options the options
     */
    public Training(Module model, BinaryOperator<Tensor> loss, Optimizer optimizer, Options options) {
        this.model = model;
        this.loss = loss;
        this.optimizer = optimizer;
        this.options = options;
    }

    /** Sums over a pass. */
    private final class Pass {
        private final long start = System.nanoTime();
        private double total;
        private long batches;
        private long examples;

        Pass() {
            options.metrics.forEach(Metric::reset);
        }

        double add(Tensor predictions, Tensor computed, Example batch) {
            try (NoGrad off = new NoGrad()) {
                assert off != null;
                Tensor detached = predictions.detach();
                options.metrics.forEach(metric -> metric.update(detached, batch.target()));
            }
            double number = computed.item().doubleValue();
            long size = batch.data().dim() == 0 ? 1 : batch.data().size(0);
            total += number * size;
            examples += size;
            batches++;
            return number;
        }

        Evaluation result() {
            Map<String, Double> values = new LinkedHashMap<>();
            options.metrics.forEach(metric -> values.put(metric.name(), metric.compute()));
            return new Evaluation(total / examples, Collections.unmodifiableMap(values), batches, examples, Duration.ofNanos(System.nanoTime() - start));
        }
    }

    /**
     * Trains without validation.
     *
     * @param batches the batches of an epoch, such as a {@link org.rushlight.data.DataLoader}
     * @param epochs number of epochs
     * @return loss and metrics of each epoch, while the parameters change
     * @throws CancellationException if the thread is interrupted
     */
    public List<Evaluation> fit(Iterable<Example> batches, int epochs) {
        return fit(batches, null, epochs);
    }

    /**
     * Trains with a validation after each epoch. The module is in training mode afterwards.
     *
     * @param batches the batches of an epoch, such as a {@link org.rushlight.data.DataLoader}
     * @param validation batches to evaluate after each epoch, or null
     * @param epochs number of epochs
     * @return loss and metrics of each epoch: of the validation, or without one of the training; fewer after {@link #stop}
     * @throws CancellationException if the thread is interrupted
     */
    public List<Evaluation> fit(Iterable<Example> batches, @Nullable Iterable<Example> validation, int epochs) {
        return interruptibly(() -> epochs(batches, validation, epochs));
    }

    private List<Evaluation> epochs(Iterable<Example> batches, @Nullable Iterable<Example> validation, int epochs) {
        stopped = false;
        List<Evaluation> results = new ArrayList<>();
        for (int epoch = 1; epoch <= epochs && !stopped; epoch++) {
            int number = epoch;
            options.listeners.forEach(listener -> listener.onEpochBegin(this, number, epochs));
            model.train();
            Evaluation trained = train(batches);
            if (options.scheduler != null) {
                options.scheduler.step();
            }
            Evaluation validated = validation == null ? null : evaluate(validation);
            results.add(validated == null ? trained : validated);
            options.listeners.forEach(listener -> listener.onEpochEnd(this, number, trained, validated));
        }
        return results;
    }

    private Evaluation train(Iterable<Example> batches) {
        Pass pass = new Pass();
        for (Example batch : batches) {
            checkInterrupt();
            double number;
            try (Scope scope = new Scope()) {
                assert scope != null;
                optimizer.zeroGrad();
                Tensor predictions = model.forward(batch.data());
                Tensor computed = loss.apply(predictions, batch.target());
                computed.backward();
                if (options.maxGradNorm < Double.POSITIVE_INFINITY) {
                    Utils.clipGradNorm(model.parameters(), options.maxGradNorm);
                }
                optimizer.step();
                number = pass.add(predictions, computed, batch);
            }
            if (!options.listeners.isEmpty()) {
                Evaluation soFar = pass.result();
                options.listeners.forEach(listener -> listener.onBatchEnd(this, soFar.batches(), number, soFar));
            }
            if (stopped) {
                break;
            }
        }
        return pass.result();
    }

    /**
     * Computes loss and metrics in evaluation mode, without recording gradients. The module's mode is restored.
     *
     * @param batches the batches
     * @return loss and metrics
     * @throws CancellationException if the thread is interrupted
     */
    public Evaluation evaluate(Iterable<Example> batches) {
        return interruptibly(() -> evaluation(batches));
    }

    private Evaluation evaluation(Iterable<Example> batches) {
        boolean training = model.isTraining();
        model.eval();
        try (NoGrad off = new NoGrad()) {
            assert off != null;
            Pass pass = new Pass();
            for (Example batch : batches) {
                checkInterrupt();
                try (Scope scope = new Scope()) {
                    assert scope != null;
                    Tensor predictions = model.forward(batch.data());
                    pass.add(predictions, loss.apply(predictions, batch.target()), batch);
                }
            }
            return pass.result();
        } finally {
            model.train(training);
        }
    }

    /** Ends {@link #fit} after the current batch; any thread may call it. The epoch ends as usual. */
    public void stop() {
        stopped = true;
    }

    /** Runs a loop over batches whose operators end when the thread is interrupted. */
    private static <R> R interruptibly(Supplier<R> loop) {
        try (CancelScope scope = CancelScope.onInterrupt()) {
            assert scope != null;
            return loop.get();
        } catch (CancelledException e) {
            checkInterrupt();
            throw e;
        }
    }

    private static void checkInterrupt() {
        if (Thread.currentThread().isInterrupted()) {
            throw new CancellationException("interrupted while training");
        }
    }
}
