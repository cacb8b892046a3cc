package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A Java stack overflow is an error that programs can catch, whatever operator is called when the stack ends. */
class StackOverflowTest {
    /** Calls operators until the Java stack ends, one operator after the other. */
    static final class Deep {
        private Deep() {}

        private static void deeper(Consumer<Tensor> operator, Tensor x) {
            operator.accept(x);
            deeper(operator, x);
        }

        private static Map<String, Consumer<Tensor>> operators() {
            Map<String, Consumer<Tensor>> operators = new LinkedHashMap<>();
            operators.put("add", x -> x.add(1).close());
            operators.put("mul_", x -> x.mul_(1));
            operators.put("broadcast", x -> {
                try (Tensor row = x.narrow(0, 0, 1)) {
                    x.mul(row).close();
                }
            });
            operators.put("promotion", x -> {
                try (Tensor whole = x.to(DType.INT64)) {
                    x.add(whole).close();
                }
            });
            operators.put("transposed", x -> {
                try (Tensor columns = x.t()) {
                    x.add(columns).close();
                    columns.sum(0).close();
                }
            });
            operators.put("exp", x -> x.exp().close());
            operators.put("sum", x -> x.sum().close());
            operators.put("sum of rows", x -> x.sum(0).close());
            operators.put("mean", x -> x.mean(1).close());
            operators.put("softmax", x -> x.softmax(1).close());
            operators.put("mm", x -> x.mm(x).close());
            operators.put("cumsum", x -> x.cumsum(0).close());
            operators.put("argmax", x -> x.argmax(0).close());
            operators.put("cat", x -> Torch.cat(x, x).close());
            operators.put("backward", x -> {
                try (Tensor leaf = x.detach().requiresGrad_(true);
                        Tensor square = leaf.mul(leaf);
                        Tensor sum = square.sum()) {
                    sum.backward();
                }
            });
            return operators;
        }

        /** Prints the number of operators that ended in a caught error. */
        public static void main(String[] arguments) throws InterruptedException {
            int[] caught = {0};
            Map<String, Consumer<Tensor>> operators = operators();
            // More than a block of the kernels, and more than the rows of a leaf in a reduction.
            try (Tensor x = Torch.ones(100, 100)) {
                // Initialization at the first call happens before the stack ends.
                operators.values().forEach(operator -> operator.accept(x));
                operators.forEach((name, operator) -> {
                    try {
                        deeper(operator, x);
                    } catch (StackOverflowError expected) {
                        caught[0]++;
                    }
                    operator.accept(x);
                });
            }
            System.out.println("caught " + caught[0]);
        }
    }

    @Test
    void aStackOverflowIsCaughtWhateverOperatorRuns() throws Exception {
        for (String compiler : List.of("-Xint", "-Xmixed")) {
            assertEquals(new Jvm.Ended(0, "caught 15"), Jvm.await(Jvm.of(List.of(), Deep.class, "-Xss512k", compiler)));
        }
    }
}
