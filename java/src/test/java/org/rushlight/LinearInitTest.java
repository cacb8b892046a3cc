package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.rushlight.nn.Linear;

/** A new {@code Linear} has the parameters of PyTorch 2.7.1 for the same seed (tests/oracle/linear_init.py). */
class LinearInitTest {
    private static final Path RECORDED = Path.of("..", "tests", "data", "linear_init.safetensors");
    private static final Pattern CASE = Pattern.compile("linear_(\\d+)_(\\d+)_(\\d+)(_nobias)?(_f64)?\\.next");

    @Test
    void initialisationIsThatOfPyTorch() {
        Leaks.none(() -> {
            Map<String, Tensor> recorded = StateDict.load(RECORDED);
            int cases = 0;
            for (String key : recorded.keySet()) {
                Matcher match = CASE.matcher(key);
                if (!match.matches()) {
                    continue;
                }
                cases++;
                String name = key.substring(0, key.length() - ".next".length());
                boolean bias = match.group(4) == null;
                DType dtype = match.group(5) == null ? DType.FLOAT32 : DType.FLOAT64;
                Torch.manualSeed(Long.parseLong(match.group(3)));
                try (Linear linear = new Linear(
                        Long.parseLong(match.group(1)), Long.parseLong(match.group(2)), bias, TensorOptions.of(dtype))) {
                    same(recorded.get(name + ".weight"), linear.weight());
                    if (bias) {
                        same(recorded.get(name + ".bias"), linear.bias());
                    }
                    same(recorded.get(key), Torch.rand(4));
                }
            }
            assertEquals(13, cases);
        });
    }

    private static void same(Tensor expected, Tensor actual) {
        assertEquals(expected.dtype(), actual.dtype());
        assertArrayEquals(expected.shape(), actual.shape());
        assertArrayEquals(expected.to(DType.FLOAT64).toDoubleArray(), actual.to(DType.FLOAT64).toDoubleArray());
    }
}
