package org.rushlight.training;

/** Base class of metrics that divide a sum by a count. */
abstract class Ratio implements Metric {
    private final String name;
    private double sum;
    private double count;

    Ratio(String name) {
        this.name = name;
    }

    @Override
    public final String name() {
        return name;
    }

    final void add(double value, double weight) {
        sum += value;
        count += weight;
    }

    @Override
    public final double compute() {
        return sum / count;
    }

    @Override
    public final void reset() {
        sum = 0;
        count = 0;
    }
}
