"""Every layer and loss of PyTorch's nn in the Java binding: its printed form, its parameters after a seed, and one forward pass.
Writes tests/data/java_layers.safetensors; java/src/test/java/org/rushlight/LayersTest.java makes the same layers in Java.

A case is an expression, its key. The seed is 5 for the layer, 6 for the inputs and 7 for the forward pass. Tensors are
`KEY|state|NAME` (parameters and buffers before the call), `KEY|input|N`, `KEY|output|N`, `KEY|after|NAME` (buffers that the call changed),
and `KEY|repr`, the bytes of a text.
"""

import pathlib

import numpy as np
import torch
from torch import nn
from torch import rand, randint, randn, tensor

import safetensors_lite

PATH = pathlib.Path(__file__).resolve().parents[1] / "data" / "java_layers.safetensors"


def call(module, inputs):
    return module(*inputs)


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, nn.utils.rnn.PackedSequence):
        return [value.data, value.batch_sizes]
    if isinstance(value, (tuple, list)):
        return [tensor for item in value if item is not None for tensor in flat(item)]
    return []


def images(*shape):
    return lambda: [randn(*shape)]


def classes(n, c):
    return lambda: [randn(n, c), randint(0, c, (n,))]


def pairs(*shape):
    return lambda: [randn(*shape), randn(*shape)]


def signs(*shape):
    return lambda: [randn(*shape), randint(0, 2, shape) * 2.0 - 1]


def three(*shape):
    return lambda: [randn(*shape), randn(*shape), randn(*shape)]


def alike(n, c):
    return lambda: [randn(n, c), randn(n, c), randint(0, 2, (n,)) * 2.0 - 1]


def ctc():
    return [randn(7, 2, 5).log_softmax(-1), randint(1, 5, (2, 3)), tensor([7, 6]), tensor([3, 2])]


def unpooled(dims, *more):
    def make():
        x = randn(2, 2, *[6] * dims)
        pool = [nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d][dims - 1](2, return_indices=True)
        return [*pool(x), *more]

    return make


def packed(module, inputs):
    sequence = nn.utils.rnn.pack_padded_sequence(inputs[0], inputs[1], enforce_sorted=False)
    output, hidden = module(sequence)
    padded, lengths = nn.utils.rnn.pad_packed_sequence(output)
    return output, padded, lengths, hidden


def masked(module, inputs):
    return module(inputs[0], inputs[0], inputs[0], attn_mask=nn.Transformer.generate_square_subsequent_mask(inputs[0].size(0)))


def padded_keys(module, inputs):
    query, key, value = inputs
    padding = tensor([[False, False, True, True], [False, False, False, True]])
    return module(query, key, value, key_padding_mask=padding, average_attn_weights=False)


def translate(module, inputs):
    mask = nn.Transformer.generate_square_subsequent_mask(inputs[1].size(0))
    return module(*inputs, tgt_mask=mask)


def evaluated(module, inputs):
    module(*inputs)
    return module.eval()(*inputs)


def with_gradient(module, inputs):
    x = inputs[0].requires_grad_()
    y = module(x)
    (y * y).sum().backward()
    return y, x.grad


def log_prob(module, inputs):
    return module(*inputs), module.log_prob(inputs[0]), module.predict(inputs[0])


LIST = "nn.ModuleList([nn.Linear(2, 3), nn.Linear(2, 3), nn.ReLU()])"
CASES = []


def case(text, inputs, how=call):
    CASES.append((text, inputs, how))


X = images(2, 3)
for text in (
    "ELU()", "ELU(alpha=0.5, inplace=True)", "SELU()", "CELU(alpha=2.0)", "ReLU()", "ReLU(inplace=True)", "ReLU6()", "LeakyReLU(0.2)", "Hardtanh(-0.3, 0.4)",
    "RReLU(0.1, 0.4)", "Softplus(2.0, 5.0)", "GELU()", "GELU(approximate='tanh')", "Threshold(0.1, 20.0)", "Hardshrink(0.3)", "Softshrink(0.3)", "Softmax(dim=1)",
    "Softmin(dim=0)", "LogSoftmax(dim=1)", "LogSigmoid()", "SiLU()", "Mish()", "Sigmoid()", "Softsign()", "Tanh()", "Tanhshrink()", "Hardsigmoid()", "Hardswish()",
    "Identity()", "PReLU()", "PReLU(3, 0.1)", "Dropout(0.4)", "AlphaDropout(0.4)", "FeatureAlphaDropout(0.4)",
):
    case(f"nn.{text}", X)
case("nn.GLU()", images(2, 4))
case("nn.Softmax2d()", images(2, 3, 2, 2))
case("nn.Dropout2d(0.4)", images(2, 3, 2, 2))
case("nn.Dropout3d(0.4)", images(2, 3, 2, 2, 2))
case("nn.Flatten()", images(2, 3, 4))
case("nn.Unflatten(1, (2, 3))", images(2, 6))
case("nn.PixelShuffle(2)", images(1, 4, 2, 3))
case("nn.PixelUnshuffle(2)", images(1, 1, 4, 6))
case("nn.Fold((4, 5), (2, 2))", images(1, 8, 12))
case("nn.Unfold((2, 3), padding=1, stride=2)", images(1, 2, 4, 5))
case("nn.CosineSimilarity()", pairs(3, 4))
case("nn.PairwiseDistance(p=1.0)", pairs(3, 4))
case("nn.Linear(3, 4)", X)
case("nn.Linear(3, 4, bias=False)", X)
case("nn.Bilinear(3, 4, 5)", lambda: [randn(2, 3), randn(2, 4)])
case("nn.Conv1d(2, 4, 3)", images(2, 2, 7))
case("nn.Conv1d(2, 4, 3, padding='same', dilation=2)", images(2, 2, 7))
case("nn.Conv2d(4, 6, (3, 2), stride=2, padding=1, groups=2)", images(2, 4, 5, 6))
case("nn.Conv2d(2, 3, 3, padding=1, padding_mode='reflect', bias=False)", images(1, 2, 5, 5))
case("nn.Conv2d(2, 3, 3, padding='same', padding_mode='circular')", images(1, 2, 5, 5))
case("nn.Conv3d(2, 3, 2)", images(1, 2, 3, 4, 3))
case("nn.ConvTranspose1d(2, 3, 3, stride=2, output_padding=1)", images(1, 2, 4))
case("nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, groups=2)", images(1, 4, 3, 3))
case("nn.ConvTranspose3d(2, 3, 2)", images(1, 2, 2, 3, 2))
for d in (1, 2, 3):
    x = images(2, 2, *[6, 7, 6][:d])
    case(f"nn.MaxPool{d}d(2)", x)
    case(f"nn.MaxPool{d}d(3, stride=2, padding=1, dilation=1, ceil_mode=True, return_indices=True)", x)
    case(f"nn.AvgPool{d}d(2)", x)
    case(f"nn.AvgPool{d}d(3, stride=2, padding=1, count_include_pad=False)", x)
    case(f"nn.LPPool{d}d(2.0, 2)", x)
    case(f"nn.AdaptiveAvgPool{d}d(3)", x)
    case(f"nn.AdaptiveMaxPool{d}d(4)", x)
    case(f"nn.MaxUnpool{d}d(2)", unpooled(d))
    case(f"nn.ReflectionPad{d}d(2)", x)
    case(f"nn.ReplicationPad{d}d(2)", x)
    case(f"nn.CircularPad{d}d(2)", x)
    case(f"nn.ZeroPad{d}d(1)", x)
    case(f"nn.ConstantPad{d}d(1, 3.5)", x)
    case(f"nn.BatchNorm{d}d(2)", x)
    case(f"nn.BatchNorm{d}d(2, momentum=None)", x, evaluated)
    case(f"nn.InstanceNorm{d}d(2)", x)
    case(f"nn.InstanceNorm{d}d(2, affine=True, track_running_stats=True)", x)
case("nn.AdaptiveAvgPool2d((None, 3))", images(2, 2, 6, 7))
case("nn.FractionalMaxPool2d(2, output_size=(3, 4))", images(1, 2, 7, 8))
case("nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.5))", images(1, 2, 7, 8))
case("nn.FractionalMaxPool3d(2, output_size=3)", images(1, 2, 6, 7, 6))
case("nn.LayerNorm((3, 4))", images(2, 3, 4))
case("nn.LayerNorm(4, elementwise_affine=False)", images(2, 4))
case("nn.GroupNorm(2, 4)", images(2, 4, 3))
case("nn.LocalResponseNorm(3)", images(2, 5, 3, 3))
case("nn.CrossMapLRN2d(3, alpha=0.01, k=1.0)", images(2, 5, 3, 3), with_gradient)
case("nn.Embedding(7, 3)", lambda: [randint(0, 7, (2, 4))])
case("nn.Embedding(7, 3, padding_idx=-2, max_norm=1.5)", lambda: [randint(0, 7, (2, 4))])
case("nn.EmbeddingBag(7, 3)", lambda: [randint(0, 7, (2, 4))])
case("nn.EmbeddingBag(7, 3, mode='sum', padding_idx=2)", lambda: [randint(0, 7, (6,)), tensor([0, 2, 5])])
case("nn.EmbeddingBag(7, 3, mode='max')", lambda: [randint(0, 7, (6,)), tensor([0, 2, 5])])
for text in ("RNN(3, 4)", "RNN(3, 4, num_layers=2, nonlinearity='relu', bias=False)", "GRU(3, 4, batch_first=True)", "LSTM(3, 4)", "LSTM(3, 4, num_layers=2, bidirectional=True, proj_size=2)",
             "LSTM(3, 4, num_layers=2, dropout=0.5)"):
    case(f"nn.{text}", images(5, 2, 3))
case("nn.GRU(3, 4, bidirectional=True)", lambda: [randn(5, 3, 3), tensor([2, 5, 3])], packed)
case("nn.LSTM(3, 4, num_layers=3)", lambda: [randn(5, 3, 3), tensor([2, 5, 3])], packed)
case("nn.RNNCell(3, 4)", X)
case("nn.RNNCell(3, 4, bias=False, nonlinearity='relu')", images(3))
case("nn.LSTMCell(3, 4)", X)
case("nn.GRUCell(3, 4)", X)
case("nn.MultiheadAttention(8, 2)", lambda: [randn(4, 2, 8)], masked)
case("nn.MultiheadAttention(8, 2, kdim=5, vdim=6, bias=False)", lambda: [randn(3, 2, 8), randn(4, 2, 5), randn(4, 2, 6)], padded_keys)
case("nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True, batch_first=True)", lambda: [randn(2, 3, 8), randn(2, 4, 8), randn(2, 4, 8)], padded_keys)
case("nn.TransformerEncoderLayer(8, 2, dim_feedforward=12, dropout=0.0)", images(4, 2, 8))
case("nn.TransformerDecoderLayer(8, 2, dim_feedforward=12, dropout=0.0, activation='gelu')", lambda: [randn(4, 2, 8), randn(5, 2, 8)])
case("nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, dim_feedforward=12, dropout=0.0), 2)", images(4, 2, 8))
case("nn.Transformer(8, 2, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=12, dropout=0.0)", lambda: [randn(4, 2, 8), randn(5, 2, 8)], translate)
case("nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0)", lambda: [randn(4, 8), tensor([1, 9, 4, 0])], log_prob)
for text in ("scale_factor=2.0", "scale_factor=(2.0, 1.5), mode='bilinear'", "size=(3, 7), mode='bilinear', align_corners=True", "size=5, mode='bicubic'", "size=(4, 3), mode='nearest-exact'", "size=(2, 2), mode='area'"):
    case(f"nn.Upsample({text})", images(1, 2, 4, 4))
case("nn.Upsample(scale_factor=1.5, mode='linear')", images(1, 2, 4))
case("nn.Upsample(size=3, mode='trilinear')", images(1, 2, 4, 4, 4))
for text in ("L1Loss()", "MSELoss(reduction='sum')", "SmoothL1Loss(beta=0.5)", "HuberLoss(reduction='none')"):
    case(f"nn.{text}", pairs(3, 4))
case("nn.KLDivLoss(reduction='batchmean')", lambda: [randn(3, 4).log_softmax(1), rand(3, 4)])
case("nn.BCELoss()", lambda: [rand(3, 4), rand(3, 4)])
case("nn.BCEWithLogitsLoss(pos_weight=tensor([1.0, 2.0, 0.5, 3.0]))", lambda: [randn(3, 4), rand(3, 4)])
case("nn.HingeEmbeddingLoss(margin=0.5)", signs(3, 4))
case("nn.SoftMarginLoss()", signs(3, 4))
case("nn.MultiMarginLoss(p=2, margin=0.7)", classes(3, 4))
case("nn.MultiLabelMarginLoss()", lambda: [randn(2, 4), tensor([[3, 0, -1, 1], [1, -1, 0, 2]])])
case("nn.MultiLabelSoftMarginLoss(weight=tensor([1.0, 2.0, 0.5, 3.0]))", lambda: [randn(3, 4), randint(0, 2, (3, 4)).float()])
case("nn.PoissonNLLLoss(full=True)", lambda: [randn(3, 4), randint(0, 5, (3, 4)).float()])
case("nn.NLLLoss(ignore_index=1)", classes(5, 4))
case("nn.CrossEntropyLoss(weight=tensor([1.0, 2.0, 0.5, 3.0]), label_smoothing=0.1)", classes(5, 4))
case("nn.CosineEmbeddingLoss(margin=0.1)", alike(3, 4))
case("nn.MarginRankingLoss(margin=0.1)", lambda: [randn(3), randn(3), randint(0, 2, (3,)) * 2.0 - 1])
case("nn.TripletMarginLoss(swap=True)", three(3, 4))
case("nn.TripletMarginWithDistanceLoss(distance_function=nn.functional.pairwise_distance, margin=0.5)", three(3, 4))
case("nn.CTCLoss()", ctc)
case("nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Dropout(0.0), nn.Linear(4, 2)))", X)
case(LIST, lambda: [], lambda module, inputs: [])
case("nn.ModuleDict({'one': nn.Linear(2, 3), 'two': nn.Tanh()})", lambda: [], lambda module, inputs: [])
case("nn.Sequential()", X)

INITS = {
    "uniform": lambda t: nn.init.uniform_(t, -1, 2),
    "normal": lambda t: nn.init.normal_(t, 1, 2),
    "truncNormal": lambda t: nn.init.trunc_normal_(t, 0.5, 1, -1, 1),
    "constant": lambda t: nn.init.constant_(t, 3),
    "ones": nn.init.ones_,
    "zeros": nn.init.zeros_,
    "dirac": lambda t: nn.init.dirac_(t, 2),
    "kaimingUniform": lambda t: nn.init.kaiming_uniform_(t, 0.2),
    "kaimingUniform of outputs": lambda t: nn.init.kaiming_uniform_(t, 0, "fan_out", "relu"),
    "kaimingNormal": lambda t: nn.init.kaiming_normal_(t, 0, "fan_in", "tanh"),
    "xavierUniform": lambda t: nn.init.xavier_uniform_(t, 1.5),
    "xavierNormal": lambda t: nn.init.xavier_normal_(t, nn.init.calculate_gain("sigmoid")),
    "eye": lambda t: nn.init.eye_(t[:, :, 0]),
    "sparse": lambda t: nn.init.sparse_(t[:, :, 0], 0.4, 0.1),
}

F = nn.functional
FUNCTIONS = {
    "gumbelSoftmax": (lambda x: F.gumbel_softmax(x, 0.5, False, dim=1), lambda: [randn(3, 4)]),
    "gumbelSoftmax, hard": (lambda x: F.gumbel_softmax(x, 0.5, True, dim=-1), lambda: [randn(3, 4)]),
    "normalize": (lambda x: F.normalize(x, 3.0, 1), lambda: [randn(3, 4)]),
    "oneHot": (lambda x: F.one_hot(x, 6), lambda: [randint(0, 5, (2, 3))]),
    "pdist": (lambda x: F.pdist(x, 1.5), lambda: [randn(4, 3)]),
    "affineGrid and gridSample": (
        lambda x, theta: F.grid_sample(x, F.affine_grid(theta, (2, 3, 4, 5), True), "bicubic", "reflection", True),
        lambda: [randn(2, 3, 6, 6), randn(2, 2, 3)],
    ),
    "gridSample, nearest": (lambda x, grid: F.grid_sample(x, grid, "nearest", "border", False), lambda: [randn(1, 2, 4, 4), rand(1, 3, 3, 2) * 2.4 - 1.2]),
    "scaledDotProductAttention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3), three(2, 4, 3)),
    "embeddingBag": (
        lambda i, w, f: F.embedding_bag(i, w, tensor([0, 2, 4, 6]), mode="sum", per_sample_weights=f, include_last_offset=True),
        lambda: [randint(0, 5, (6,)), randn(5, 3), rand(6)],
    ),
    "interpolate, antialias": (lambda x: F.interpolate(x, size=(3, 4), mode="bicubic", antialias=True), lambda: [randn(1, 2, 7, 9)]),
    "convTranspose2d of a size": (lambda x, w: nn_transposed(x, w), lambda: [randn(1, 2, 3, 3), randn(2, 1, 3, 3)]),
    "maxUnpool2d of a size": (lambda x, i: F.max_unpool2d(x, i, 2, 2, output_size=(7, 7)), lambda: list(F.max_pool2d(randn(1, 1, 7, 7), 2, return_indices=True))),
    "rrelu": (lambda x: F.rrelu(x, 0.1, 0.3, True), lambda: [randn(3, 4)]),
    "softmin in double": (lambda x: F.softmin(x, 1, dtype=torch.float64), lambda: [randn(3, 4)]),
    "binaryCrossEntropy": (lambda x, y, w: F.binary_cross_entropy(x, y, w, reduction="sum"), lambda: [rand(2, 3), rand(2, 3), rand(3)]),
    "padSequence": (lambda a, b: nn.utils.rnn.pad_sequence([a, b], True, 7.0), lambda: [randn(2, 3), randn(4, 3)]),
}


def nn_transposed(x, weight):
    layer = nn.ConvTranspose2d(2, 1, 3, stride=2, bias=False)
    layer.weight.data = weight
    return layer(x, output_size=(8, 7))


def main():
    tensors = {}
    for name, (function, inputs) in FUNCTIONS.items():
        torch.manual_seed(6)
        given = inputs()
        for index, value in enumerate(given):
            tensors[f"function|{name}|{index}"] = value.numpy()
        torch.manual_seed(7)
        tensors[f"function|{name}|result"] = function(*given).detach().numpy()
    for name, fill in INITS.items():
        torch.manual_seed(5)
        tensors[f"init|{name}"] = fill(torch.zeros(6, 4, 3)).numpy()
    for text, inputs, how in CASES:
        torch.manual_seed(5)
        module = eval(text)
        state = {name: value.clone() for name, value in module.state_dict().items()}
        torch.manual_seed(6)
        given = inputs()
        kept = [value.clone() for value in given]
        torch.manual_seed(7)
        outputs = flat(how(module, given))
        for name, value in state.items():
            tensors[f"{text}|state|{name}"] = value.numpy()
            after = module.state_dict()[name]
            if not torch.equal(after, value):
                tensors[f"{text}|after|{name}"] = after.numpy()
        for kind, values in (("input", kept), ("output", outputs)):
            for index, value in enumerate(values):
                tensors[f"{text}|{kind}|{index}"] = value.detach().numpy()
        module.train()
        words = repr(module).replace("NonDynamicallyQuantizableLinear", "Linear")
        tensors[f"{text}|repr"] = np.frombuffer(words.encode(), dtype=np.uint8)
    ordered = dict(sorted(tensors.items(), key=lambda item: -item[1].itemsize))
    safetensors_lite.save(PATH, ordered, {"torch": torch.__version__.split("+")[0]})


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
