package org.rushlight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.rushlight.nn.*;
import org.rushlight.nn.GELUApproximation;
import org.rushlight.nn.GridSampleMode;
import org.rushlight.nn.GridSamplePadding;
import org.rushlight.nn.Init;
import org.rushlight.nn.InterpolationMode;
import org.rushlight.nn.Module;
import org.rushlight.nn.Padding;
import org.rushlight.nn.PaddingMode;

/**
 * Every layer and loss prints itself, starts with the parameters and computes what PyTorch 2.7.1 does (tests/oracle/java_layers.py). The
 * name of a case is the Python expression of the layer.
 */
class LayersTest {
    private static final Path RECORDED = Path.of("..", "tests", "data", "java_layers.safetensors");

    private record Case<M extends Module>(Supplier<M> make, BiFunction<M, Tensor[], Object> call) {
        List<Tensor> run(M module, Tensor[] inputs) {
            List<Tensor> results = new ArrayList<>();
            collect(call.apply(module, inputs), results);
            return results;
        }
    }

    private final Map<String, Case<?>> cases = new LinkedHashMap<>();

    private void add(String name, Supplier<Module> make) {
        cases.put(name, new Case<>(make, (module, in) -> module.forward(in[0])));
    }

    private void loss(String name, Supplier<Loss> make) {
        cases.put(name, new Case<>(make, (module, in) -> module.forward(in[0], in[1])));
    }

    private <M extends Module> void add(String name, Supplier<M> make, BiFunction<M, Tensor[], Object> call) {
        cases.put(name, new Case<>(make, call));
    }

    LayersTest() {
        simple();
        windowed();
        pooled();
        recurrentAndLosses();
    }

    private void simple() {
        add("nn.ELU()", () -> new ELU());
        add("nn.ELU(alpha=0.5, inplace=True)", () -> new ELU(new ELU.Options().withAlpha(0.5).withInplace(true)));
        add("nn.SELU()", () -> new SELU());
        add("nn.CELU(alpha=2.0)", () -> new CELU(2));
        add("nn.ReLU()", () -> new ReLU());
        add("nn.ReLU(inplace=True)", () -> new ReLU(new ReLU.Options().withInplace(true)));
        add("nn.ReLU6()", () -> new ReLU6());
        add("nn.LeakyReLU(0.2)", () -> new LeakyReLU(0.2));
        add("nn.Hardtanh(-0.3, 0.4)", () -> new Hardtanh(-0.3, 0.4));
        add("nn.RReLU(0.1, 0.4)", () -> new RReLU(0.1, 0.4));
        add("nn.Softplus(2.0, 5.0)", () -> new Softplus(2, 5));
        add("nn.GELU()", () -> new GELU());
        add("nn.GELU(approximate='tanh')", () -> new GELU(new GELU.Options().withApproximate(GELUApproximation.TANH)));
        add("nn.Threshold(0.1, 20.0)", () -> new Threshold(0.1, 20));
        add("nn.Hardshrink(0.3)", () -> new Hardshrink(0.3));
        add("nn.Softshrink(0.3)", () -> new Softshrink(0.3));
        add("nn.Softmax(dim=1)", () -> new Softmax(1));
        add("nn.Softmin(dim=0)", () -> new Softmin(0));
        add("nn.LogSoftmax(dim=1)", () -> new LogSoftmax(1));
        add("nn.LogSigmoid()", () -> new LogSigmoid());
        add("nn.SiLU()", () -> new SiLU());
        add("nn.Mish()", () -> new Mish());
        add("nn.Sigmoid()", () -> new Sigmoid());
        add("nn.Softsign()", () -> new Softsign());
        add("nn.Tanh()", () -> new Tanh());
        add("nn.Tanhshrink()", () -> new Tanhshrink());
        add("nn.Hardsigmoid()", () -> new Hardsigmoid());
        add("nn.Hardswish()", () -> new Hardswish());
        add("nn.Identity()", () -> new Identity());
        add("nn.PReLU()", () -> new PReLU());
        add("nn.GLU()", () -> new GLU());
        add("nn.Softmax2d()", () -> new Softmax2d());
        add("nn.Flatten()", () -> new Flatten());
        add("nn.PReLU(3, 0.1)", () -> new PReLU(new PReLU.Options().withNumParameters(3).withInit(0.1)));
        add("nn.Dropout(0.4)", () -> new Dropout(0.4));
        add("nn.AlphaDropout(0.4)", () -> new AlphaDropout(0.4));
        add("nn.FeatureAlphaDropout(0.4)", () -> new FeatureAlphaDropout(0.4));
        add("nn.Dropout2d(0.4)", () -> new Dropout2d(0.4));
        add("nn.Dropout3d(0.4)", () -> new Dropout3d(0.4));
        add("nn.Unflatten(1, (2, 3))", () -> new Unflatten(1, 2, 3));
        add("nn.PixelShuffle(2)", () -> new PixelShuffle(2));
        add("nn.PixelUnshuffle(2)", () -> new PixelUnshuffle(2));
        add("nn.Fold((4, 5), (2, 2))", () -> new Fold(new long[] {4, 5}, 2, 2));
        add("nn.Unfold((2, 3), padding=1, stride=2)", () -> new Unfold(new Unfold.Options(2, 3).withPadding(1).withStride(2)));
        add("nn.Linear(3, 4)", () -> new Linear(3, 4));
    }

    private void windowed() {
        add("nn.Linear(3, 4, bias=False)", () -> new Linear(3, 4, false));
        add("nn.Conv1d(2, 4, 3)", () -> new Conv1d(2, 4, 3));
        add("nn.Conv1d(2, 4, 3, padding='same', dilation=2)",
            () -> new Conv1d(new Conv1d.Options(2, 4, 3).withPadding(Padding.SAME).withDilation(2)));
        add("nn.Conv2d(4, 6, (3, 2), stride=2, padding=1, groups=2)",
            () -> new Conv2d(new Conv2d.Options(4, 6, 3, 2).withStride(2).withPadding(1).withGroups(2)));
        add("nn.Conv2d(2, 3, 3, padding=1, padding_mode='reflect', bias=False)",
            () -> new Conv2d(new Conv2d.Options(2, 3, 3).withPadding(1).withPaddingMode(PaddingMode.REFLECT).withBias(false)));
        add("nn.Conv2d(2, 3, 3, padding='same', padding_mode='circular')",
            () -> new Conv2d(new Conv2d.Options(2, 3, 3).withPadding(Padding.SAME).withPaddingMode(PaddingMode.CIRCULAR)));
        add("nn.Conv3d(2, 3, 2)", () -> new Conv3d(2, 3, 2));
        add("nn.ConvTranspose1d(2, 3, 3, stride=2, output_padding=1)",
            () -> new ConvTranspose1d(new ConvTranspose1d.Options(2, 3, 3).withStride(2).withOutputPadding(1)));
        add("nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, groups=2)",
            () -> new ConvTranspose2d(new ConvTranspose2d.Options(4, 2, 3).withStride(2).withPadding(1).withGroups(2)));
        add("nn.ConvTranspose3d(2, 3, 2)", () -> new ConvTranspose3d(2, 3, 2));
        add("nn.AdaptiveAvgPool2d((None, 3))", () -> new AdaptiveAvgPool2d(-1, 3));
        add("nn.FractionalMaxPool2d(2, output_size=(3, 4))",
            () -> new FractionalMaxPool2d(new FractionalMaxPool2d.Options(2).withOutputSize(3, 4)));
        add("nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.5))",
            () -> new FractionalMaxPool2d(new FractionalMaxPool2d.Options(2).withOutputRatio(0.5)));
        add("nn.FractionalMaxPool3d(2, output_size=3)",
            () -> new FractionalMaxPool3d(new FractionalMaxPool3d.Options(2).withOutputSize(3)));
        add("nn.LayerNorm((3, 4))", () -> new LayerNorm(3, 4));
        add("nn.LayerNorm(4, elementwise_affine=False)", () -> new LayerNorm(new LayerNorm.Options(4).withElementwiseAffine(false)));
        add("nn.GroupNorm(2, 4)", () -> new GroupNorm(2, 4));
        add("nn.LocalResponseNorm(3)", () -> new LocalResponseNorm(3));
        add("nn.Embedding(7, 3)", () -> new Embedding(7, 3));
        add("nn.Embedding(7, 3, padding_idx=-2, max_norm=1.5)",
            () -> new Embedding(new Embedding.Options(7, 3).withPaddingIdx(-2).withMaxNorm(1.5)));
        add("nn.EmbeddingBag(7, 3)", () -> new EmbeddingBag(7, 3));
        add("nn.TransformerEncoderLayer(8, 2, dim_feedforward=12, dropout=0.0)", () -> encoderLayer());
        add("nn.RNNCell(3, 4)", () -> new RNNCell(3, 4));
        add("nn.RNNCell(3, 4, bias=False, nonlinearity='relu')",
            () -> new RNNCell(new RNNCell.Options(3, 4).withBias(false).withNonlinearity(Nonlinearity.RELU)));
        add("nn.GRUCell(3, 4)", () -> new GRUCell(3, 4));
        add("nn.Upsample(scale_factor=2.0)", () -> new Upsample(new Upsample.Options().withScaleFactor(2)));
        add("nn.Upsample(scale_factor=(2.0, 1.5), mode='bilinear')",
            () -> new Upsample(new Upsample.Options().withScaleFactor(2, 1.5).withMode(InterpolationMode.BILINEAR)));
        add("nn.Upsample(size=(3, 7), mode='bilinear', align_corners=True)",
            () -> new Upsample(new Upsample.Options().withSize(3, 7).withMode(InterpolationMode.BILINEAR).withAlignCorners(true)));
        add("nn.Upsample(size=5, mode='bicubic')", () -> new Upsample(new Upsample.Options().withSize(5).withMode(InterpolationMode.BICUBIC)));
        add("nn.Upsample(size=(4, 3), mode='nearest-exact')",
            () -> new Upsample(new Upsample.Options().withSize(4, 3).withMode(InterpolationMode.NEAREST_EXACT)));
        add("nn.Upsample(size=(2, 2), mode='area')", () -> new Upsample(new Upsample.Options().withSize(2, 2).withMode(InterpolationMode.AREA)));
        add("nn.Upsample(scale_factor=1.5, mode='linear')",
            () -> new Upsample(new Upsample.Options().withScaleFactor(1.5).withMode(InterpolationMode.LINEAR)));
        add("nn.Upsample(size=3, mode='trilinear')", () -> new Upsample(new Upsample.Options().withSize(3).withMode(InterpolationMode.TRILINEAR)));
        add("nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Dropout(0.0), nn.Linear(4, 2)))",
            () -> new Sequential(new Linear(3, 4), new ReLU(), new Sequential(new Dropout(0), new Linear(4, 2))));
        add("nn.Sequential()", () -> new Sequential());
        add("nn.CosineSimilarity()", () -> new CosineSimilarity(),
            (layer, in) -> layer.forward(in[0], in[1]));
        add("nn.PairwiseDistance(p=1.0)", () -> new PairwiseDistance(new PairwiseDistance.Options().withP(1)),
            (layer, in) -> layer.forward(in[0], in[1]));
        add("nn.Bilinear(3, 4, 5)", () -> new Bilinear(3, 4, 5),
            (layer, in) -> layer.forward(in[0], in[1]));
        add("nn.MaxPool1d(2)", () -> new MaxPool1d(2));
        add("nn.MaxPool1d(3, stride=2, padding=1, dilation=1, ceil_mode=True, return_indices=True)",
            () -> new MaxPool1d(new MaxPool1d.Options(3).withStride(2).withPadding(1).withDilation(1).withCeilMode(true)),
            (layer, in) -> layer.forwardWithIndices(in[0]));
        add("nn.AvgPool1d(2)", () -> new AvgPool1d(2));
        add("nn.AvgPool1d(3, stride=2, padding=1, count_include_pad=False)",
            () -> new AvgPool1d(new AvgPool1d.Options(3).withStride(2).withPadding(1).withCountIncludePad(false)));
        add("nn.LPPool1d(2.0, 2)", () -> new LPPool1d(2, 2));
        add("nn.AdaptiveAvgPool1d(3)", () -> new AdaptiveAvgPool1d(3));
        add("nn.AdaptiveMaxPool1d(4)", () -> new AdaptiveMaxPool1d(4));
    }

    private void pooled() {
        add("nn.MaxUnpool1d(2)", () -> new MaxUnpool1d(2),
            (layer, in) -> layer.forward(in[0], in[1]));
        add("nn.ReflectionPad1d(2)", () -> new ReflectionPad1d(2));
        add("nn.ReplicationPad1d(2)", () -> new ReplicationPad1d(2));
        add("nn.CircularPad1d(2)", () -> new CircularPad1d(2));
        add("nn.ZeroPad1d(1)", () -> new ZeroPad1d(1));
        add("nn.ConstantPad1d(1, 3.5)", () -> new ConstantPad1d(3.5, 1));
        add("nn.BatchNorm1d(2)", () -> new BatchNorm1d(2));
        add("nn.BatchNorm1d(2, momentum=None)", () -> new BatchNorm1d(new BatchNorm1d.Options(2).withMomentum(Double.NaN)),
            (layer, in) -> evaluated(layer, in[0]));
        add("nn.InstanceNorm1d(2)", () -> new InstanceNorm1d(2));
        add("nn.InstanceNorm1d(2, affine=True, track_running_stats=True)",
            () -> new InstanceNorm1d(new InstanceNorm1d.Options(2).withAffine(true).withTrackRunningStats(true)));
        add("nn.MaxPool2d(2)", () -> new MaxPool2d(2));
        add("nn.MaxPool2d(3, stride=2, padding=1, dilation=1, ceil_mode=True, return_indices=True)",
            () -> new MaxPool2d(new MaxPool2d.Options(3).withStride(2).withPadding(1).withDilation(1).withCeilMode(true)),
            (layer, in) -> layer.forwardWithIndices(in[0]));
        add("nn.AvgPool2d(2)", () -> new AvgPool2d(2));
        add("nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False)",
            () -> new AvgPool2d(new AvgPool2d.Options(3).withStride(2).withPadding(1).withCountIncludePad(false)));
        add("nn.LPPool2d(2.0, 2)", () -> new LPPool2d(2, 2));
        add("nn.AdaptiveAvgPool2d(3)", () -> new AdaptiveAvgPool2d(3));
        add("nn.AdaptiveMaxPool2d(4)", () -> new AdaptiveMaxPool2d(4));
        add("nn.MaxUnpool2d(2)", () -> new MaxUnpool2d(2),
            (layer, in) -> layer.forward(in[0], in[1]));
        add("nn.ReflectionPad2d(2)", () -> new ReflectionPad2d(2));
        add("nn.ReplicationPad2d(2)", () -> new ReplicationPad2d(2));
        add("nn.CircularPad2d(2)", () -> new CircularPad2d(2));
        add("nn.ZeroPad2d(1)", () -> new ZeroPad2d(1));
        add("nn.ConstantPad2d(1, 3.5)", () -> new ConstantPad2d(3.5, 1));
        add("nn.BatchNorm2d(2)", () -> new BatchNorm2d(2));
        add("nn.BatchNorm2d(2, momentum=None)", () -> new BatchNorm2d(new BatchNorm2d.Options(2).withMomentum(Double.NaN)),
            (layer, in) -> evaluated(layer, in[0]));
        add("nn.InstanceNorm2d(2)", () -> new InstanceNorm2d(2));
        add("nn.InstanceNorm2d(2, affine=True, track_running_stats=True)",
            () -> new InstanceNorm2d(new InstanceNorm2d.Options(2).withAffine(true).withTrackRunningStats(true)));
        add("nn.MaxPool3d(2)", () -> new MaxPool3d(2));
        add("nn.MaxPool3d(3, stride=2, padding=1, dilation=1, ceil_mode=True, return_indices=True)",
            () -> new MaxPool3d(new MaxPool3d.Options(3).withStride(2).withPadding(1).withDilation(1).withCeilMode(true)),
            (layer, in) -> layer.forwardWithIndices(in[0]));
        add("nn.AvgPool3d(2)", () -> new AvgPool3d(2));
        add("nn.AvgPool3d(3, stride=2, padding=1, count_include_pad=False)",
            () -> new AvgPool3d(new AvgPool3d.Options(3).withStride(2).withPadding(1).withCountIncludePad(false)));
        add("nn.LPPool3d(2.0, 2)", () -> new LPPool3d(2, 2));
        add("nn.AdaptiveAvgPool3d(3)", () -> new AdaptiveAvgPool3d(3));
        add("nn.AdaptiveMaxPool3d(4)", () -> new AdaptiveMaxPool3d(4));
        add("nn.MaxUnpool3d(2)", () -> new MaxUnpool3d(2),
            (layer, in) -> layer.forward(in[0], in[1]));
        add("nn.ReflectionPad3d(2)", () -> new ReflectionPad3d(2));
        add("nn.ReplicationPad3d(2)", () -> new ReplicationPad3d(2));
        add("nn.CircularPad3d(2)", () -> new CircularPad3d(2));
        add("nn.ZeroPad3d(1)", () -> new ZeroPad3d(1));
        add("nn.ConstantPad3d(1, 3.5)", () -> new ConstantPad3d(3.5, 1));
        add("nn.BatchNorm3d(2)", () -> new BatchNorm3d(2));
        add("nn.BatchNorm3d(2, momentum=None)", () -> new BatchNorm3d(new BatchNorm3d.Options(2).withMomentum(Double.NaN)),
            (layer, in) -> evaluated(layer, in[0]));
        add("nn.InstanceNorm3d(2)", () -> new InstanceNorm3d(2));
        add("nn.InstanceNorm3d(2, affine=True, track_running_stats=True)",
            () -> new InstanceNorm3d(new InstanceNorm3d.Options(2).withAffine(true).withTrackRunningStats(true)));
        add("nn.EmbeddingBag(7, 3, mode='sum', padding_idx=2)",
            () -> new EmbeddingBag(new EmbeddingBag.Options(7, 3).withMode(EmbeddingBag.Mode.SUM).withPaddingIdx(2)),
            (layer, in) -> layer.forward(in[0], in[1], null));
    }

    private void recurrentAndLosses() {
        add("nn.EmbeddingBag(7, 3, mode='max')", () -> new EmbeddingBag(new EmbeddingBag.Options(7, 3).withMode(EmbeddingBag.Mode.MAX)),
            (layer, in) -> layer.forward(in[0], in[1], null));
        add("nn.RNN(3, 4)", () -> new RNN(3, 4),
            (layer, in) -> layer.forwardWithState(in[0], null));
        add("nn.RNN(3, 4, num_layers=2, nonlinearity='relu', bias=False)",
            () -> new RNN(new RNN.Options(3, 4).withNumLayers(2).withNonlinearity(Nonlinearity.RELU).withBias(false)),
            (layer, in) -> layer.forwardWithState(in[0], null));
        add("nn.GRU(3, 4, batch_first=True)", () -> new GRU(new GRU.Options(3, 4).withBatchFirst(true)),
            (layer, in) -> layer.forwardWithState(in[0], null));
        add("nn.LSTM(3, 4)", () -> new LSTM(3, 4),
            (layer, in) -> layer.forwardWithState(in[0], null));
        add("nn.LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2)",
            () -> new LSTM(new LSTM.Options(3, 4).withNumLayers(2).withBidirectional(true).withProjSize(2)),
            (layer, in) -> layer.forwardWithState(in[0], null));
        add("nn.LSTM(3, 4, num_layers=2, dropout=0.5)", () -> new LSTM(new LSTM.Options(3, 4).withNumLayers(2).withDropout(0.5)),
            (layer, in) -> layer.forwardWithState(in[0], null));
        add("nn.GRU(3, 4, bidirectional=True)", () -> new GRU(new GRU.Options(3, 4).withBidirectional(true)),
            (layer, in) -> {
                GRU.PackedOutput result = layer.forwardPacked(Utils.packPaddedSequence(in[0], in[1], false, false), null);
                return packed(result.output(), result.hidden());
            });
        add("nn.LSTM(3, 4, num_layers=3)", () -> new LSTM(new LSTM.Options(3, 4).withNumLayers(3)),
            (layer, in) -> {
                LSTM.PackedOutput result = layer.forwardPacked(Utils.packPaddedSequence(in[0], in[1], false, false), null);
                return packed(result.output(), result.state());
            });
        add("nn.LSTMCell(3, 4)", () -> new LSTMCell(3, 4),
            (layer, in) -> layer.forward(in[0], null));
        add("nn.MultiheadAttention(8, 2)", () -> new MultiheadAttention(8, 2),
            (layer, in) -> layer.forward(in[0], in[0], in[0],
                new MultiheadAttention.Masks().withAttention(Transformer.generateSquareSubsequentMask(4))));
        add("nn.MultiheadAttention(8, 2, kdim=5, vdim=6, bias=False)",
            () -> new MultiheadAttention(new MultiheadAttention.Options(8, 2).withKdim(5).withVdim(6).withBias(false)),
            (layer, in) -> layer.forward(in[0], in[1], in[2], paddedKeys()));
        add("nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True, batch_first=True)",
            () -> new MultiheadAttention(new MultiheadAttention.Options(8, 2).withAddBiasKv(true).withAddZeroAttn(true).withBatchFirst(true)),
            (layer, in) -> layer.forward(in[0], in[1], in[2], paddedKeys()));
        add("nn.TransformerDecoderLayer(8, 2, dim_feedforward=12, dropout=0.0, activation='gelu')",
            () -> new TransformerDecoderLayer(new TransformerDecoderLayer.Options(8, 2).withDimFeedforward(12).withDropout(0).withActivation(Functional::gelu)),
            (layer, in) -> layer.forward(in[0], in[1], new Transformer.Masks()));
        add("nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, dim_feedforward=12, dropout=0.0), 2)", () -> encoder());
        add("nn.Transformer(8, 2, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=12, dropout=0.0)",
            () -> new Transformer(new Transformer.Options(8, 2).withNumEncoderLayers(2).withNumDecoderLayers(2).withDimFeedforward(12).withDropout(0)),
            (layer, in) -> layer.forward(in[0], in[1],
                new Transformer.Masks().withTarget(Transformer.generateSquareSubsequentMask(5))));
        add("nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0)",
            () -> new AdaptiveLogSoftmaxWithLoss(new AdaptiveLogSoftmaxWithLoss.Options(8, 10, 3, 6).withDivValue(2)),
            (layer, in) -> {
                AdaptiveLogSoftmaxWithLoss.Output result = layer.forward(in[0], in[1]);
                return List.of(result.output(), result.loss(), layer.logProb(in[0]), layer.predict(in[0]));
            });
        loss("nn.L1Loss()", () -> new L1Loss());
        loss("nn.MSELoss(reduction='sum')", () -> new MSELoss(new MSELoss.Options().withReduction(Reduction.SUM)));
        loss("nn.SmoothL1Loss(beta=0.5)", () -> new SmoothL1Loss(new SmoothL1Loss.Options().withBeta(0.5)));
        loss("nn.HuberLoss(reduction='none')", () -> new HuberLoss(new HuberLoss.Options().withReduction(Reduction.NONE)));
        loss("nn.KLDivLoss(reduction='batchmean')", () -> new KLDivLoss(new KLDivLoss.Options().withReduction(Reduction.BATCH_MEAN)));
        loss("nn.BCELoss()", () -> new BCELoss());
        loss("nn.BCEWithLogitsLoss(pos_weight=tensor([1.0, 2.0, 0.5, 3.0]))",
            () -> new BCEWithLogitsLoss(new BCEWithLogitsLoss.Options().withPosWeight(Tensor.of(1f, 2f, 0.5f, 3f))));
        loss("nn.HingeEmbeddingLoss(margin=0.5)", () -> new HingeEmbeddingLoss(new HingeEmbeddingLoss.Options().withMargin(0.5)));
        loss("nn.SoftMarginLoss()", () -> new SoftMarginLoss());
        loss("nn.MultiMarginLoss(p=2, margin=0.7)", () -> new MultiMarginLoss(new MultiMarginLoss.Options().withP(2).withMargin(0.7)));
        loss("nn.MultiLabelMarginLoss()", () -> new MultiLabelMarginLoss());
        loss("nn.MultiLabelSoftMarginLoss(weight=tensor([1.0, 2.0, 0.5, 3.0]))",
            () -> new MultiLabelSoftMarginLoss(new MultiLabelSoftMarginLoss.Options().withWeight(Tensor.of(1f, 2f, 0.5f, 3f))));
        loss("nn.PoissonNLLLoss(full=True)", () -> new PoissonNLLLoss(new PoissonNLLLoss.Options().withFull(true)));
        loss("nn.NLLLoss(ignore_index=1)", () -> new NLLLoss(new NLLLoss.Options().withIgnoreIndex(1)));
        loss("nn.CrossEntropyLoss(weight=tensor([1.0, 2.0, 0.5, 3.0]), label_smoothing=0.1)",
            () -> new CrossEntropyLoss(new CrossEntropyLoss.Options().withWeight(Tensor.of(1f, 2f, 0.5f, 3f)).withLabelSmoothing(0.1)));
        add("nn.CosineEmbeddingLoss(margin=0.1)", () -> new CosineEmbeddingLoss(new CosineEmbeddingLoss.Options().withMargin(0.1)),
            (layer, in) -> layer.forward(in[0], in[1], in[2]));
        add("nn.MarginRankingLoss(margin=0.1)", () -> new MarginRankingLoss(new MarginRankingLoss.Options().withMargin(0.1)),
            (layer, in) -> layer.forward(in[0], in[1], in[2]));
        add("nn.TripletMarginLoss(swap=True)", () -> new TripletMarginLoss(new TripletMarginLoss.Options().withSwap(true)),
            (layer, in) -> layer.forward(in[0], in[1], in[2]));
        add("nn.TripletMarginWithDistanceLoss(distance_function=nn.functional.pairwise_distance, margin=0.5)",
            () -> new TripletMarginWithDistanceLoss(new TripletMarginWithDistanceLoss.Options().withMargin(0.5)),
            (layer, in) -> layer.forward(in[0], in[1], in[2]));
        add("nn.CTCLoss()", () -> new CTCLoss(),
            (layer, in) -> layer.forward(in[0], in[1], in[2], in[3]));
        add("nn.ModuleList([nn.Linear(2, 3), nn.Linear(2, 3), nn.ReLU()])",
            () -> new ModuleList(new Linear(2, 3), new Linear(2, 3), new ReLU()),
            (layer, in) -> List.of());
        add("nn.ModuleDict({'one': nn.Linear(2, 3), 'two': nn.Tanh()})",
            () -> new ModuleDict().put("one", new Linear(2, 3)).put("two", new Tanh()),
            (layer, in) -> List.of());
        add("nn.CrossMapLRN2d(3, alpha=0.01, k=1.0)", () -> new CrossMapLRN2d(new CrossMapLRN2d.Options(3).withAlpha(0.01)),
            (layer, in) -> {
                Tensor x = in[0].requiresGrad_(true);
                Tensor y = layer.forward(x);
                y.mul(y).sum().backward();
                return List.of(y, x.grad());
            });
    }

    /** Constructor of each layer, by the name of its case. */
    static Map<String, Supplier<? extends Module>> layers() {
        Map<String, Supplier<? extends Module>> all = new LinkedHashMap<>();
        new LayersTest().cases.forEach((name, each) -> all.put(name, each.make()));
        return all;
    }

    private static TransformerEncoderLayer encoderLayer() {
        return new TransformerEncoderLayer(new TransformerEncoderLayer.Options(8, 2).withDimFeedforward(12).withDropout(0));
    }

    private static TransformerEncoder encoder() {
        try (TransformerEncoderLayer layer = encoderLayer()) {
            return new TransformerEncoder(layer, 2);
        }
    }

    private static MultiheadAttention.Masks paddedKeys() {
        Tensor padding = Tensor.of(new boolean[] {false, false, true, true, false, false, false, true}, 2, 4);
        return new MultiheadAttention.Masks().withKeyPadding(padding).withAverageWeights(false);
    }

    private static Tensor evaluated(Module module, Tensor input) {
        module.forward(input);
        module.eval();
        Tensor result = module.forward(input);
        module.train();
        return result;
    }

    private static List<Object> packed(PackedSequence output, Object state) {
        Utils.Padded padded = Utils.padPackedSequence(output);
        return List.of(output.data(), output.batchSizes(), padded, state);
    }

    /** The tensors of a result: of records their components, of lists their elements. */
    private static void collect(Object value, List<Tensor> into) {
        if (value instanceof Tensor tensor) {
            into.add(tensor);
        } else if (value instanceof List<?> list) {
            list.forEach(item -> collect(item, into));
        } else if (value instanceof Record record) {
            for (RecordComponent component : record.getClass().getRecordComponents()) {
                try {
                    collect(component.getAccessor().invoke(record), into);
                } catch (ReflectiveOperationException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    /** The recorded data of a case: names after the first bar, in order. */
    private static Map<String, Tensor> of(String name, String kind, Map<String, Tensor> recorded) {
        Map<String, Tensor> found = new java.util.TreeMap<>();
        String prefix = name + "|" + kind + "|";
        recorded.forEach((key, tensor) -> {
            if (key.startsWith(prefix)) {
                found.put(key.substring(prefix.length()), tensor);
            }
        });
        return found;
    }

    @Test
    void everyLayerIsThatOfPyTorch() {
        List<String> wrong = new ArrayList<>();
        Leaks.none(() -> {
            Map<String, Tensor> recorded = StateDict.load(RECORDED);
            Set<String> names = new LinkedHashSet<>();
            recorded.keySet().forEach(key -> names.add(key.substring(0, key.indexOf('|'))));
            names.removeAll(List.of("init", "function"));
            assertEquals(names, cases.keySet().stream().filter(names::contains).collect(java.util.stream.Collectors.toSet()));
            cases.forEach((name, each) -> {
                try (Scope scope = new Scope()) {
                    assert scope != null;
                    check(name, each, recorded, wrong);
                } catch (RuntimeException e) {
                    wrong.add(name + ": " + e);
                }
            });
        });
        assertEquals("", String.join("\n", wrong));
    }

    private static <M extends Module> void check(String name, Case<M> each, Map<String, Tensor> recorded, List<String> wrong) {
        Torch.manualSeed(5);
        try (M module = each.make().get()) {
            Map<String, Tensor> state = of(name, "state", recorded);
            assertEquals(state.keySet(), new java.util.TreeSet<>(module.stateDict().keySet()), name);
            if (name.contains("Transformer(") || name.contains("TransformerEncoder(")) {
                // Python copies its layers without consuming random numbers; C++ and Java sample again (SameNumbersTest).
                module.loadStateDict(state);
            }
            module.stateDict().forEach((key, tensor) -> same(name + " " + key, state.get(key), tensor, 0, wrong));
            byte[] words = recorded.get(name + "|repr").toByteArray();
            String text = new String(words, StandardCharsets.UTF_8);
            if (!text.equals(module.toString())) {
                wrong.add(name + " prints\n" + module + "\ninstead of\n" + text);
            }
            Tensor[] inputs = of(name, "input", recorded).values().toArray(Tensor[]::new);
            Torch.manualSeed(7);
            List<Tensor> results = each.run(module, inputs);
            Map<String, Tensor> outputs = of(name, "output", recorded);
            assertEquals(outputs.size(), results.size(), name);
            outputs.forEach((index, output) -> same(name + " output " + index, output, results.get(Integer.parseInt(index)), 2e-6, wrong));
            Map<String, Tensor> after = of(name, "after", recorded);
            module.namedBuffers().forEach(
                (key, tensor) -> same(name + " after " + key, after.getOrDefault(key, state.get(key)), tensor, 1e-6, wrong));
        }
    }

    @Test
    void functionsThatNoLayerCallsAreThoseOfPyTorch() {
        Map<String, java.util.function.Function<Tensor[], Tensor>> functions = new LinkedHashMap<>();
        functions.put("gumbelSoftmax", in -> Functional.gumbelSoftmax(in[0], 0.5, false, 1));
        functions.put("gumbelSoftmax, hard", in -> Functional.gumbelSoftmax(in[0], 0.5, true, -1));
        functions.put("normalize", in -> Functional.normalize(in[0], 3, 1, 1e-12));
        functions.put("oneHot", in -> Functional.oneHot(in[0], 6));
        functions.put("pdist", in -> Functional.pdist(in[0], 1.5));
        functions.put("affineGrid and gridSample", in -> Functional.gridSample(
            in[0], Functional.affineGrid(in[1], new long[] {2, 3, 4, 5}, true), GridSampleMode.BICUBIC, GridSamplePadding.REFLECTION, true));
        functions.put("gridSample, nearest", in -> Functional.gridSample(in[0], in[1], GridSampleMode.NEAREST, GridSamplePadding.BORDER, false));
        functions.put("scaledDotProductAttention",
            in -> Functional.scaledDotProductAttention(in[0], in[1], in[2], null, 0, true, 0.3));
        functions.put("embeddingBag", in -> Functional.embeddingBag(in[0], in[1], Tensor.of(0L, 2L, 4L, 6L),
            new EmbeddingBag.Options(5, 3).withMode(EmbeddingBag.Mode.SUM).withIncludeLastOffset(true), in[2]));
        functions.put("interpolate, antialias",
            in -> Functional.interpolate(in[0], new Upsample.Options().withSize(3, 4).withMode(InterpolationMode.BICUBIC).withAntialias(true)));
        functions.put("convTranspose2d of a size", in -> {
            try (ConvTranspose2d layer = new ConvTranspose2d(new ConvTranspose2d.Options(2, 1, 3).withStride(2).withBias(false))) {
                layer.weight().setData(in[1]);
                return layer.forward(in[0], 8, 7);
            }
        });
        functions.put("maxUnpool2d of a size", in -> Functional.maxUnpool2d(
            in[0], in[1], new long[] {2, 2}, new long[] {2, 2}, new long[] {0, 0}, new long[] {7, 7}));
        functions.put("rrelu", in -> Functional.rrelu(in[0], 0.1, 0.3, true, false));
        functions.put("softmin in double", in -> Functional.softmin(in[0], 1, DType.FLOAT64));
        functions.put("binaryCrossEntropy", in -> Functional.binaryCrossEntropy(in[0], in[1], in[2], Reduction.SUM));
        functions.put("padSequence", in -> Utils.padSequence(List.of(in), true, 7));
        List<String> wrong = new ArrayList<>();
        Leaks.none(() -> {
            Map<String, Tensor> recorded = StateDict.load(RECORDED);
            assertEquals(functions.size(), recorded.keySet().stream().filter(key -> key.startsWith("function|") && key.endsWith("|result")).count());
            functions.forEach((name, function) -> {
                Map<String, Tensor> all = of("function", name, recorded);
                Tensor expected = all.remove("result");
                Torch.manualSeed(7);
                try {
                    same(name, expected, function.apply(all.values().toArray(Tensor[]::new)), 2e-6, wrong);
                } catch (RuntimeException e) {
                    wrong.add(name + ": " + e);
                }
            });
        });
        assertEquals("", String.join("\n", wrong));
    }

    @Test
    void everyInitialisationIsThatOfPyTorch() {
        Map<String, UnaryOperator<Tensor>> inits = new LinkedHashMap<>();
        inits.put("uniform", t -> Init.uniform(t, -1, 2));
        inits.put("normal", t -> Init.normal(t, 1, 2));
        inits.put("truncNormal", t -> Init.truncNormal(t, 0.5, 1, -1, 1));
        inits.put("constant", t -> Init.constant(t, 3));
        inits.put("ones", Init::ones);
        inits.put("zeros", Init::zeros);
        inits.put("dirac", t -> Init.dirac(t, 2));
        inits.put("kaimingUniform", t -> Init.kaimingUniform(t, 0.2));
        inits.put("kaimingUniform of outputs", t -> Init.kaimingUniform(t, 0, Init.FanMode.FAN_OUT, Init.Gain.RELU));
        inits.put("kaimingNormal", t -> Init.kaimingNormal(t, 0, Init.FanMode.FAN_IN, Init.Gain.TANH));
        inits.put("xavierUniform", t -> Init.xavierUniform(t, 1.5));
        inits.put("xavierNormal", t -> Init.xavierNormal(t, Init.calculateGain(Init.Gain.SIGMOID, 0)));
        inits.put("eye", t -> Init.eye(t.select(2, 0)));
        inits.put("sparse", t -> Init.sparse(t.select(2, 0), 0.4, 0.1));
        List<String> wrong = new ArrayList<>();
        Leaks.none(() -> {
            Map<String, Tensor> recorded = StateDict.load(RECORDED);
            assertEquals(inits.size(), recorded.keySet().stream().filter(key -> key.startsWith("init|")).count());
            inits.forEach((name, init) -> {
                Torch.manualSeed(5);
                same(name, recorded.get("init|" + name), init.apply(Torch.zeros(6, 4, 3)), 1e-6, wrong);
            });
        });
        assertEquals("", String.join("\n", wrong));
    }

    @Test
    void gradientsAreClipped() {
        Leaks.none(() -> {
            Tensor a = Tensor.of(1f, 2f).requiresGrad_(true);
            Tensor b = Tensor.of(3f).requiresGrad_(true);
            List<Tensor> both = List.of(a, b);
            a.setGrad(Tensor.of(3f, 0f));
            b.setGrad(Tensor.of(4f));
            assertEquals(5, Utils.clipGradNorm(both, 10));
            assertEquals(4, b.grad().item().doubleValue(), "a norm below the limit leaves gradients as they are");
            assertEquals(5, Utils.clipGradNorm(both, 1));
            assertEquals(0.8, b.grad().item().doubleValue(), 1e-6);
            assertEquals(0.8, Utils.clipGradNorm(both, 1, Double.POSITIVE_INFINITY, true), 1e-6);
            Utils.clipGradValue(both, 0.7);
            assertEquals(0.6f, a.grad().toFloatArray()[0], 1e-6);
            assertEquals(0.7f, b.grad().item().doubleValue(), 1e-6);
            b.setGrad(Tensor.of(Float.NaN));
            assertThrows(RushlightException.class, () -> Utils.clipGradNorm(both, 1, 2, true));
            Utils.vectorToParameters(Utils.parametersToVector(both).mul(10), both);
            assertEquals(30, b.item().doubleValue());
            assertTrue(b.isLeaf());
        });
    }

    @Test
    void wrongCallsSaySo() {
        Leaks.none(() -> {
            assertThrows(TensorValueException.class, () -> new Conv2d(3, 4, 1, 2, 3));
            assertThrows(TensorValueException.class, () -> new Conv2d(new Conv2d.Options(3, 4, 3).withGroups(2)));
            assertEquals("kernel_size must be positive, but got [0, 0]",
                assertThrows(TensorValueException.class, () -> new Conv2d(3, 8, 0)).getMessage());
            assertThrows(TensorValueException.class, () -> new ConvTranspose1d(3, 8, -1));
            try (Linear none = new Linear(0, 2)) {
                // As in Python: zeros, without consuming random numbers.
                assertEquals(0, none.bias().abs().sum().item().doubleValue());
            }
            assertEquals("batchmean is not a valid value for reduction", assertThrows(TensorValueException.class,
                () -> Functional.l1Loss(Torch.ones(2), Torch.ones(2), Reduction.BATCH_MEAN)).getMessage());
            assertThrows(TensorValueException.class, () -> new Embedding(new Embedding.Options(3, 4).withPaddingIdx(3)));
            assertThrows(TensorValueException.class, () -> new MultiheadAttention(5, 2));
            assertThrows(TensorValueException.class, () -> new GRU(new GRU.Options(2, 4).withProjSize(2)));
            assertThrows(TensorValueException.class, () -> new Hardtanh(1, 1));
            try (BatchNorm2d norm = new BatchNorm2d(2); L1Loss loss = new L1Loss()) {
                assertThrows(TensorValueException.class, () -> norm.forward(Torch.ones(2, 2)));
                assertThrows(NotImplementedException.class, () -> loss.forward(Torch.ones(2)));
            }
        });
    }

    /** Short arrays and no groups are errors that name the argument. */
    @Test
    void arraysOfTheWrongLengthAreRejected() {
        Leaks.none(() -> {
            Tensor image = Torch.ones(1, 1, 4, 4);
            Tensor indices = Torch.zeros(new long[] {1, 1, 4, 4}, TensorOptions.of(DType.INT64));
            long[] two = {2, 2};
            Map<String, org.junit.jupiter.api.function.Executable> calls = new LinkedHashMap<>();
            calls.put("Expected 1 or 2 values for stride, but instead got 0",
                () -> Functional.maxUnpool2d(image, indices, two, new long[0], new long[] {0, 0}, null));
            calls.put("Expected 1 or 2 values for padding, but instead got 3",
                () -> Functional.maxUnpool2d(image, indices, two, two, new long[3], null));
            calls.put("Expected 1 or 2 values for kernel_size, but instead got 0", () -> Functional.lpPool2d(image, 2, new long[0], two, false));
            calls.put("expected 2D or 3D input (got 1D input)",
                () -> Functional.maxUnpool1d(Torch.ones(3), indices, new long[] {2}, new long[] {2}, new long[] {0}, null));
            calls.put("Expected 2 values for output_ratio, but instead got 1",
                () -> Functional.fractionalMaxPool2d(image, two, null, new double[] {0.5}, null));
            calls.put("dim 0 must be divisible by groups", () -> Init.dirac(Torch.ones(2, 2, 3), 0));
            calls.forEach((message, call) -> assertEquals(message, assertThrows(TensorValueException.class, call).getMessage()));
            // One number stands for all dimensions.
            assertEquals(List.of(2L, 2L), Arrays.stream(Functional.lpPool2d(image, 1, new long[] {2}, two, false).shape()).skip(2).boxed().toList());
        });
    }

    private static void same(String what, Tensor expected, Tensor actual, double tolerance, List<String> wrong) {
        if (expected.dtype() != actual.dtype() || !java.util.Arrays.equals(expected.shape(), actual.shape())) {
            wrong.add(what + ": " + actual.dtype() + java.util.Arrays.toString(actual.shape()));
            return;
        }
        Tensor close = Torch.isclose(expected.to(DType.FLOAT64), actual.detach().to(DType.FLOAT64), tolerance, tolerance, true);
        if (!close.all().item().booleanValue()) {
            wrong.add(what + ":\n" + actual.detach() + "\ninstead of\n" + expected);
        }
    }
}
