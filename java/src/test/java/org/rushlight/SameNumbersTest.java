package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.rushlight.nn.*;
import org.rushlight.nn.Module;

/**
 * The same seed gives the same parameters as in libtorch's C++ modules (tests/oracle/same_numbers.cpp). What AdaptiveLogSoftmaxWithLoss
 * draws there depends on the order in which the compiler evaluates arguments; LayersTest compares it with Python.
 */
class SameNumbersTest {
    static final Path RECORDED = Path.of("..", "tests", "data", "same_numbers.expected.txt");

    /** The contents of a line of the file: the C++ source of its module, or the name of its training. */
    static Map<String, double[]> recorded() {
        Map<String, double[]> lines = new LinkedHashMap<>();
        try {
            for (String line : Files.readAllLines(RECORDED)) {
                int end = line.lastIndexOf(':');
                double[] numbers = Arrays.stream(line.substring(end + 1).trim().split(" ")).mapToDouble(Double::parseDouble).toArray();
                lines.put(line.substring(0, end), numbers);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return lines;
    }

    private static Map<String, Supplier<Module>> modules() {
        Map<String, Supplier<Module>> all = new LinkedHashMap<>();
        all.put("Linear(3, 5)", () -> new Linear(3, 5));
        all.put("Linear(300, 200)", () -> new Linear(300, 200));
        all.put("Linear(nn::LinearOptions(30, 20).bias(false))", () -> new Linear(30, 20, false));
        all.put("Bilinear(3, 4, 5)", () -> new Bilinear(3, 4, 5));
        all.put("Bilinear(nn::BilinearOptions(30, 20, 10).bias(false))",
            () -> new Bilinear(new Bilinear.Options(30, 20, 10).withBias(false)));
        all.put("Conv1d(2, 4, 3)", () -> new Conv1d(2, 4, 3));
        all.put("Conv1d(nn::Conv1dOptions(16, 24, 5).groups(4))", () -> new Conv1d(new Conv1d.Options(16, 24, 5).withGroups(4)));
        all.put("Conv2d(3, 8, 3)", () -> new Conv2d(3, 8, 3));
        all.put("Conv2d(nn::Conv2dOptions(16, 32, {3, 5}).groups(2).bias(false))",
            () -> new Conv2d(new Conv2d.Options(16, 32, 3, 5).withGroups(2).withBias(false)));
        all.put("Conv3d(2, 3, 2)", () -> new Conv3d(2, 3, 2));
        all.put("Conv3d(nn::Conv3dOptions(4, 8, 3).groups(4))", () -> new Conv3d(new Conv3d.Options(4, 8, 3).withGroups(4)));
        all.put("ConvTranspose1d(2, 4, 3)", () -> new ConvTranspose1d(2, 4, 3));
        all.put("ConvTranspose1d(nn::ConvTranspose1dOptions(16, 24, 5).groups(4))",
            () -> new ConvTranspose1d(new ConvTranspose1d.Options(16, 24, 5).withGroups(4)));
        all.put("ConvTranspose2d(3, 8, 3)", () -> new ConvTranspose2d(3, 8, 3));
        all.put("ConvTranspose2d(nn::ConvTranspose2dOptions(16, 32, {3, 5}).groups(2).bias(false))",
            () -> new ConvTranspose2d(new ConvTranspose2d.Options(16, 32, 3, 5).withGroups(2).withBias(false)));
        all.put("ConvTranspose3d(2, 3, 2)", () -> new ConvTranspose3d(2, 3, 2));
        all.put("ConvTranspose3d(nn::ConvTranspose3dOptions(4, 8, 3).groups(4))",
            () -> new ConvTranspose3d(new ConvTranspose3d.Options(4, 8, 3).withGroups(4)));
        all.put("Embedding(3, 4)", () -> new Embedding(3, 4));
        all.put("Embedding(nn::EmbeddingOptions(50, 21).padding_idx(7))",
            () -> new Embedding(new Embedding.Options(50, 21).withPaddingIdx(7)));
        all.put("EmbeddingBag(3, 4)", () -> new EmbeddingBag(3, 4));
        all.put("EmbeddingBag(nn::EmbeddingBagOptions(50, 21).mode(torch::kSum))",
            () -> new EmbeddingBag(new EmbeddingBag.Options(50, 21).withMode(EmbeddingBag.Mode.SUM)));
        all.put("BatchNorm1d(5)", () -> new BatchNorm1d(5));
        all.put("BatchNorm2d(5)", () -> new BatchNorm2d(5));
        all.put("BatchNorm3d(5)", () -> new BatchNorm3d(5));
        all.put("InstanceNorm1d(nn::InstanceNormOptions(5).affine(true).track_running_stats(true))",
            () -> new InstanceNorm1d(new InstanceNorm1d.Options(5).withAffine(true).withTrackRunningStats(true)));
        all.put("InstanceNorm2d(nn::InstanceNormOptions(5).affine(true))",
            () -> new InstanceNorm2d(new InstanceNorm2d.Options(5).withAffine(true)));
        all.put("InstanceNorm3d(nn::InstanceNormOptions(5).affine(true))",
            () -> new InstanceNorm3d(new InstanceNorm3d.Options(5).withAffine(true)));
        all.put("LayerNorm(nn::LayerNormOptions({3, 4}))", () -> new LayerNorm(3, 4));
        all.put("GroupNorm(2, 6)", () -> new GroupNorm(2, 6));
        all.put("PReLU(nn::PReLUOptions().num_parameters(3).init(0.1))",
            () -> new PReLU(new PReLU.Options().withNumParameters(3).withInit(0.1)));
        all.put("RNN(3, 4)", () -> new RNN(3, 4));
        all.put("RNN(nn::RNNOptions(20, 30).num_layers(2).bidirectional(true).nonlinearity(torch::kReLU))",
            () -> new RNN(new RNN.Options(20, 30).withNumLayers(2).withBidirectional(true).withNonlinearity(Nonlinearity.RELU)));
        all.put("LSTM(3, 4)", () -> new LSTM(3, 4));
        all.put("LSTM(nn::LSTMOptions(20, 30).num_layers(2).bidirectional(true).proj_size(7))",
            () -> new LSTM(new LSTM.Options(20, 30).withNumLayers(2).withBidirectional(true).withProjSize(7)));
        all.put("GRU(3, 4)", () -> new GRU(3, 4));
        all.put("GRU(nn::GRUOptions(20, 30).num_layers(3).bias(false))",
            () -> new GRU(new GRU.Options(20, 30).withNumLayers(3).withBias(false)));
        all.put("RNNCell(20, 30)", () -> new RNNCell(20, 30));
        all.put("LSTMCell(20, 30)", () -> new LSTMCell(20, 30));
        all.put("GRUCell(nn::GRUCellOptions(20, 30).bias(false))", () -> new GRUCell(new GRUCell.Options(20, 30).withBias(false)));
        all.put("MultiheadAttention(16, 4)", () -> new MultiheadAttention(16, 4));
        all.put("MultiheadAttention(nn::MultiheadAttentionOptions(16, 4).kdim(5).vdim(6).add_bias_kv(true))",
            () -> new MultiheadAttention(new MultiheadAttention.Options(16, 4).withKdim(5).withVdim(6).withAddBiasKv(true)));
        all.put("TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(24))", SameNumbersTest::encoderLayer);
        all.put("TransformerDecoderLayer(nn::TransformerDecoderLayerOptions(16, 4).dim_feedforward(24))", SameNumbersTest::decoderLayer);
        all.put("TransformerEncoder(nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(24), 2))", () -> {
            try (TransformerEncoderLayer layer = encoderLayer()) {
                return new TransformerEncoder(layer, 2);
            }
        });
        all.put("TransformerDecoder(nn::TransformerDecoderOptions(nn::TransformerDecoderLayerOptions(16, 4).dim_feedforward(24), 2))", () -> {
            try (TransformerDecoderLayer layer = decoderLayer()) {
                return new TransformerDecoder(layer, 2);
            }
        });
        all.put("Transformer(nn::TransformerOptions(16, 4, 2, 2).dim_feedforward(24))", () -> new Transformer(
            new Transformer.Options(16, 4).withNumEncoderLayers(2).withNumDecoderLayers(2).withDimFeedforward(24)));
        return all;
    }

    private static TransformerEncoderLayer encoderLayer() {
        return new TransformerEncoderLayer(new TransformerEncoderLayer.Options(16, 4).withDimFeedforward(24));
    }

    private static TransformerDecoderLayer decoderLayer() {
        return new TransformerDecoderLayer(new TransformerDecoderLayer.Options(16, 4).withDimFeedforward(24));
    }

    /** Numbers that distinguish a tensor from one with other values, or with the same in another order. */
    private static void digest(List<Double> numbers, Tensor tensor) {
        Tensor flat = tensor.detach().to(DType.FLOAT64).reshape(-1);
        Tensor waves = Torch.arange(flat.numel(), TensorOptions.of(DType.FLOAT64)).mul(0.7).cos();
        for (Tensor number : new Tensor[] {
            flat.get(0), flat.get(-1), flat.abs().mean(), flat.mul(waves).abs().mean(), flat.add(1).mul(waves).mean(),
        }) {
            numbers.add(number.item().doubleValue());
        }
    }

    @Test
    void everyModuleStartsWithTheNumbersOfLibtorch() {
        List<String> wrong = new ArrayList<>();
        Map<String, double[]> recorded = recorded();
        Map<String, Supplier<Module>> modules = modules();
        Leaks.none(() -> modules.forEach((name, make) -> {
            try (Scope scope = new Scope()) {
                assert scope != null;
                Torch.manualSeed(17);
                try (Module module = make.get()) {
                    List<Double> found = new ArrayList<>();
                    module.parameters().forEach(parameter -> digest(found, parameter));
                    module.buffers().forEach(buffer -> digest(found, buffer));
                    found.add(Torch.rand(1).item().doubleValue());
                    double[] expected = recorded.get(name);
                    boolean same = expected != null && expected.length == found.size();
                    for (int i = 0; same && i < expected.length; i++) {
                        same = Math.abs(found.get(i) - expected[i]) <= 1e-6 * Math.max(0.1, Math.abs(expected[i]));
                    }
                    if (!same) {
                        wrong.add(name + ": " + found + " instead of " + Arrays.toString(expected));
                    }
                }
            }
        }));
        assertEquals(List.of(), wrong);
        assertEquals(recorded.size() - 5, modules.size(), "every module of the file is here; four lines are trainings, and one depends on gcc");
    }
}
