"""The calls that golden_dispatch.py records beside those that it observes and derives: overloads that only Python's layers call,
recurrent operators, seeded random numbers, metadata; and matrices that are singular, not finite or not definite, with PyTorch's
error where `check_errors` raises one.

A group is a generator of (overload, arguments, keywords), and of (overload, arguments, keywords, "error") for calls that PyTorch
rejects, or "values" for those whose gradients are not recorded.
"""

import collections

import torch
import torchvision  # noqa: F401: its operators

from golden_overloads import sampled

FLOATS = [torch.float32, torch.float64]
INEXACT = [*FLOATS, torch.complex64, torch.complex128]
NAN, INFINITY = float("nan"), float("inf")


def strided(tensor):
    return tensor.transpose(0, -1).contiguous().transpose(0, -1)


def windows():
    for window in ["bartlett_window", "blackman_window", "hann_window", "hamming_window", "kaiser_window"]:
        for length, dtype in [(9, None), (8, torch.float64), (5, torch.bfloat16), (6, torch.float16), (1, torch.float32), (0, torch.float32)]:
            options = {} if dtype is None else {"dtype": dtype}
            yield window, (length,), options
            for periodic in [True, False]:
                yield f"{window}.periodic", (length, periodic), options
                if window == "hamming_window":
                    yield "hamming_window.periodic_alpha", (length, periodic, 0.61), options
                    yield "hamming_window.periodic_alpha_beta", (length, periodic, 0.61, 0.35), options
                if window == "kaiser_window":
                    yield "kaiser_window.beta", (length, periodic, 7.5), options
    for name in ["fft_fftfreq", "fft_rfftfreq"]:
        for length, step, dtype in [(9, 1.0, None), (8, 0.25, torch.float64), (5, -2.0, torch.float32), (1, 0.5, torch.float32)]:
            yield name, (length, step), {} if dtype is None else {"dtype": dtype}


def indices():
    for dtype in [torch.float32, torch.float64, torch.complex128, torch.int16]:
        x = sampled(dtype, 3, 4)
        yield "index_select_backward", (sampled(dtype, 3, 2), [3, 4], 1, torch.tensor([3, 0])), {}
        yield "index_select_backward", (strided(sampled(dtype, 4, 5)), [4, 2], -1, torch.tensor([1, 1, 0, 1, 0])), {}
        yield "index_select_backward", (sampled(dtype, 0, 4), [3, 4], 0, torch.tensor([], dtype=torch.int64)), {}
        rows, columns = torch.tensor([0, 2, 0]), torch.tensor([1, 3, 2])
        for given in [[rows], [None, columns], [rows, columns], [rows[:0]]]:
            yield "_unsafe_index.Tensor", (x, given), {}
            shape = x[tuple(slice(None) if item is None else item for item in given)].shape
            yield "_unsafe_index_put", (strided(x), given, sampled(dtype, *shape)), {}
        yield "_unsafe_index_put", (x, [rows, columns[:1]], sampled(dtype, 3), True), {}
        grad, index = sampled(dtype, 3), torch.tensor([2, 0, 3])
        yield "value_selecting_reduction_backward", (grad, 1, index, [3, 4], False), {}
        yield "value_selecting_reduction_backward", (sampled(dtype, 1, 4), 0, torch.tensor([[0, 2, 2, 1]]), [3, 4], True), {}
        yield "value_selecting_reduction_backward", (sampled(dtype, 0), -1, torch.tensor([], dtype=torch.int64), [0, 4], False), {}
        yield "value_selecting_reduction_backward", (sampled(dtype), 0, torch.tensor(2), [5], False), {}
        for dim, sizes in [(0, (4, 2)), (1, (2, 5)), (-1, (0, 3))]:
            parts = sampled(dtype, *sizes)
            if parts.numel():
                parts.select(dim, 1).copy_(parts.select(dim, 0))
            for options in [(False, False), (True, False), (True, True)]:
                yield "unique_dim_consecutive", (parts, dim, *options), {}


def shapes():
    for dtype in [torch.float32, torch.complex128, torch.int16]:
        x = sampled(dtype, 2, 3, 4)
        yield "to.other", (x, sampled(torch.float64, 2)), {}
        yield "to.other", (strided(x), sampled(dtype, 1), False, True), {}
        yield "to.other", (x[:0], sampled(torch.complex64, 0)), {"memory_format": torch.contiguous_format}
        yield "conj", (x,), {}
        yield "conj", (strided(x),), {}
        yield "conj", (x[:, :0],), {}
        for sizes, dim in [([1, 0, 2], 1), ([2, 2], -1), ([2], 0)]:
            yield "split.sizes", (x, sizes, dim), {}
            yield "split.sizes", (strided(x), sizes, dim), {}
        for name in ["movedim.int", "moveaxis.int"]:
            for source, destination in [(0, 2), (-1, 0), (1, 1)]:
                yield name, (x, source, destination), {}
        yield "adjoint", (x,), {}
        yield "adjoint", (sampled(dtype, 3, 2),), {}
        yield "adjoint", (strided(sampled(dtype, 0, 2, 3)),), {}
        for groups, sizes in [(2, (2, 4, 3)), (3, (1, 6, 2, 2)), (1, (2, 3, 2)), (2, (0, 4, 2))]:
            yield "native_channel_shuffle", (sampled(dtype, *sizes), groups), {}
            yield "native_channel_shuffle", (strided(sampled(dtype, *sizes)), groups), {}
        for sizes, pads in [((2, 3, 4), [1, 2]), ((1, 2, 3, 4), [1, 1, 2, 0]), ((1, 2, 3, 2, 3), [1, 0, 1, 1, 0, 2]), ((2, 3, 4), [-1, 2])]:
            yield "_pad_circular", (sampled(dtype, *sizes), pads), {}
        for tensor in [x, strided(x), x[:0], sampled(dtype)]:
            for name in ["dim", "numel", "is_floating_point", "size", "stride"]:
                yield name, (tensor,), {}
        for name in ["size.int", "stride.int"]:
            for dim in [0, -1]:
                yield name, (strided(x), dim), {}
        for tensor in [x[0, 0, 0], sampled(dtype, 1), strided(x)[:1, 1:2, 2:3]]:
            yield "item", (tensor,), {}
        yield "FloatImplicit", (sampled(dtype),), {}
    for pair in [(7, 2), (-7, 2), (7, -3), (0, 5)]:
        yield "divmod.int", pair, {}
    for numbers in [[1, 2, 3], [], [-4]]:
        yield "list", (numbers,), {}
    for dtype in FLOATS:
        for sizes, align in [([2, 1, 3, 4], False), ([1, 2, 2, 3], True), ([2, 1, 2, 3, 2], False), ([1, 1, 2, 2, 3], True), ([0, 1, 2, 2], False)]:
            dims = len(sizes) - 2
            yield "affine_grid_generator", (sampled(dtype, sizes[0], dims, dims + 1), sizes, align), {}
            yield "affine_grid_generator_backward", (sampled(dtype, sizes[0], *sizes[2:], dims), sizes, align), {}
        yield "affine_grid_generator", (strided(sampled(dtype, 2, 2, 3)), [2, 1, 3, 2], False), {}
        yield "affine_grid_generator_backward", (strided(sampled(dtype, 2, 3, 2, 2)), [2, 1, 3, 2], False), {}


def searches():
    for dtype in [*FLOATS, torch.int16, torch.int64]:
        edges = sampled(dtype, 7).sort().values
        for number in [edges[3].item(), -1, 1.5, 100]:
            for options in [{}, {"right": True, "out_int32": True}]:
                yield "searchsorted.Scalar", (edges, number), options
        yield "searchsorted.Scalar", (torch.stack([edges, edges], -1)[:, 0], 1), {"side": "right"}
        yield "searchsorted.Scalar", (edges[:0], 1), {}
        yield "searchsorted.Scalar", (edges.flip(0).contiguous(), 0), {"sorter": torch.arange(6, -1, -1)}


def distances():
    for dtype in FLOATS:
        for p in [2.0, 1.0, INFINITY, 0.5]:
            x, y = sampled(dtype, 3, 4), sampled(dtype, 2, 4)
            for given in [(x, y), (strided(x), strided(y)), (x[:0], y)]:
                distance = torch.cdist(*given, p)
                yield "_cdist_forward", (*given, p, None), {}
                yield "_cdist_backward", (sampled(dtype, *distance.shape), *given, p, distance), {}
    for dtype in [*FLOATS, torch.int16]:
        among = sampled(dtype, 3, 4)
        for number in [among[1, 2].item(), 100]:
            for options in [{}, {"invert": True}]:
                yield "isin.Scalar_Tensor", (number, strided(among)), options
        yield "isin.Scalar_Tensor", (1, among[:0]), {}
        if dtype != torch.int16:
            for steps in [0, 1, 5, 6]:
                yield "linspace.Scalar_Tensor", (0.5, sampled(dtype), steps), {"dtype": dtype, "device": torch.device("cpu")}
                yield "linspace.Tensor_Scalar", (sampled(dtype), -2, steps), {"dtype": dtype, "device": torch.device("cpu")}


def numbers():
    for dtype in [*FLOATS, torch.complex128, torch.int16, torch.bfloat16]:
        x = sampled(dtype, 3, 4)
        for given in [x, strided(x), x[:0]]:
            yield "sub.Scalar", (given, 2), {}
            yield "sub.Scalar", (given, 3, 2), {}
            if not dtype.is_complex:
                yield "not_equal.Scalar", (given, x[1, 1].item()), {}
    for dtype in FLOATS:
        q = sampled(dtype, 3, low=0, high=1)
        for name in ["quantile", "nanquantile"]:
            x = sampled(dtype, 3, 5)
            for dim, keep, how in [(0, False, "linear"), (1, True, "lower"), (-1, False, "midpoint"), (None, False, "nearest")]:
                yield name, (x, q, dim, keep), {"interpolation": how}
            yield name, (strided(x), q[0], 1), {}
        for align in [False, True]:
            for factor in [None, 1.3]:
                line, box = sampled(dtype, 1, 2, 4), sampled(dtype, 1, 1, 3, 2, 3)
                for given in [line, strided(line)]:
                    yield "upsample_linear1d", (given, [5], align, factor), {}
                yield "upsample_linear1d_backward", (sampled(dtype, 1, 2, 5), [5], [1, 2, 4], align, factor), {}
                yield "upsample_trilinear3d", (box, [4, 3, 2], align, *[factor] * 3), {}
                yield "upsample_trilinear3d", (strided(box), [2, 3, 4], align, *[factor] * 3), {}
        yield "upsample_linear1d", (line[:0], [3], False), {}
        yield "upsample_linear1d_backward", (sampled(dtype, 0, 2, 5), [5], [0, 2, 4], False), {}
        yield "upsample_trilinear3d", (box[:0], [4, 3, 2], False), {}


def sums():
    for dtype in INEXACT:
        x = sampled(dtype, 3, 4)
        named = x.clone()
        wider = torch.promote_types(dtype, torch.float64)
        for p in [2, 1, 0, INFINITY]:
            yield "norm.Scalar", (named, p), {}
            yield "norm.ScalarOpt_dtype", (named, p), {"dtype": wider}
            yield "norm.ScalarOpt_dim", (strided(named), p, [0], True), {}
            yield "norm.ScalarOpt_dim_dtype", (named, p, [1], False), {"dtype": wider}
        yield "norm.Scalar", (strided(x), 2.5), {}
        yield "norm.Scalar", (x[:0], 2), {}
        yield "norm.ScalarOpt_dtype", (x[:0], None), {"dtype": wider}
        yield "norm.ScalarOpt_dim_dtype", (strided(x), None, [0, -1], True), {"dtype": wider}
        for dim, keep in [([0], False), ([0, 1], True), ([-1], True)]:
            yield "frobenius_norm.dim", (x, dim, keep), {}
        yield "frobenius_norm.dim", (strided(x), [1], False), {}
        yield "frobenius_norm.dim", (x[:0], [0], False), {}
    for dtype in [*FLOATS, torch.complex64, torch.int16]:
        x = sampled(dtype, 4, 5)
        if dtype == torch.int16:
            x = x.contiguous()
        steps = [torch.tensor([0.0, 0.5, 2.0, 3.0]), torch.tensor([0.0, 1.0, 1.5, 3.0, 4.0])]
        if dtype in FLOATS:
            steps = [step.to(dtype) for step in steps]
        for edge in [1, 2]:
            yield "gradient.scalararray", (x,), {"spacing": 0.5, "dim": [0], "edge_order": edge}
            yield "gradient.scalararray", (strided(x),), {"spacing": 2, "dim": [0, 1], "edge_order": edge}
            yield "gradient.array", (x,), {"dim": [1], "edge_order": edge}
            yield "gradient.scalarrayarray", (x,), {"spacing": [0.5, 2.0], "dim": [0, 1], "edge_order": edge}
            yield "gradient.tensorarrayint", (x,), {"spacing": steps[:1], "dim": 0, "edge_order": edge}
            yield "gradient.tensorarrayint", (x,), {"spacing": steps, "edge_order": edge}
            yield "gradient.tensorarray", (strided(x),), {"spacing": steps, "dim": [0, 1], "edge_order": edge}
            yield "gradient.tensorarray", (x,), {"spacing": steps[1:], "dim": [-1], "edge_order": edge}


def losses():
    for dtype in FLOATS:
        scores, weight = sampled(dtype, 4, 3).log_softmax(-1), sampled(dtype, 3, low=0.2, high=2.0)
        target = torch.tensor([0, 2, 1, 2])
        for reduction in [0, 1, 2]:
            yield "nll_loss", (scores, target, None, reduction, -100), {}
            yield "nll_loss", (strided(scores), target, weight, reduction, 2), {}
            image, picture = sampled(dtype, 2, 3, 2, 2).log_softmax(1), torch.tensor([[[0, 2], [1, 1]], [[2, 2], [0, 1]]])
            yield "nll_loss2d", (image, picture, None, reduction, -100), {}
            yield "nll_loss2d", (strided(image), picture, weight, reduction, 0), {}
        yield "nll_loss", (scores[:0], target[:0], weight, 2, -100), {}
        yield "nll_loss2d", (image[:0], picture[:0], None, 2, -100), {}
        logits = sampled(dtype, 6, 2, 4).log_softmax(-1)
        targets = torch.tensor([[1, 2, 2], [3, 1, 2]])
        for reduction, infinite in [(0, False), (1, True), (2, False)]:
            yield "ctc_loss.IntList", (logits, targets, [6, 5], [3, 2], 0, reduction, infinite), {}
            yield "ctc_loss.Tensor", (strided(logits), targets, torch.tensor([6, 5]), torch.tensor([3, 2]), 0, reduction, infinite), {}
        for lengths in [[3, 3], [2, 3]]:
            loss, alpha = torch.ops.aten._ctc_loss.default(logits, targets, [6, 6], lengths)
            grad = sampled(dtype, 2)
            yield "_ctc_loss_backward", (grad, logits, targets, [6, 6], lengths, loss, alpha, 0, False), {}
        yield "_ctc_loss_backward", (grad, logits, targets, [6, 6], lengths, loss, alpha, 0, True), {}
        for sizes, window, stride, padding, ceil in [((1, 2, 5, 4), [2, 2], [], [0, 0], False), ((2, 1, 5, 5), [3, 2], [2, 1], [1, 1], True)]:
            x = sampled(dtype, *sizes)
            out = torch.nn.functional.max_pool2d(x, window, stride or None, padding, 1, ceil)
            for given in [x, x.contiguous(memory_format=torch.channels_last)]:
                yield "max_pool2d_backward", (sampled(dtype, *out.shape), given, window, stride, padding, [1, 1], ceil), {}


def activations():
    for dtype in [*FLOATS, torch.bfloat16]:
        for grad, x in [(sampled(dtype, 3, 4), sampled(dtype, 3, 4)), (strided(sampled(dtype, 4, 3)), sampled(dtype, 4, 3))]:
            for given in [(grad, x), (grad[:0], x[:0])]:
                for name in ["hardshrink_backward", "softshrink_backward"]:
                    yield name, (*given, 0.75), {}
                yield "softplus_backward", (*given, 1.5, 0.8), {}


def steps():
    for dtype in FLOATS:
        make = lambda: [sampled(dtype, *sizes, low=0.01, high=0.99) for sizes in [(3, 5), (7,), (0,)]]
        for decay, momentum, dampening, nesterov, maximize, first in [
            (0.0, 0.0, 0.0, False, False, True), (0.1, 0.9, 0.0, True, False, False), (0.1, 0.9, 0.5, False, True, False), (0.0, 0.5, 0.5, False, False, True),
        ]:  # fmt: skip
            options = {"weight_decay": decay, "momentum": momentum, "lr": 0.05, "dampening": dampening, "nesterov": nesterov}
            buffers = make() if momentum else []
            yield "_fused_sgd_", (make(), make(), buffers), options | {"maximize": maximize, "is_first_step": first}
        for name in ["_fused_adam_", "_fused_adamw_"]:
            for decay, amsgrad, maximize, step in [(0.0, False, False, 1.0), (0.1, True, False, 3.0), (0.1, False, True, 2.0)]:
                options = {"lr": 0.05, "beta1": 0.9, "beta2": 0.99, "weight_decay": decay, "eps": 1e-8, "amsgrad": amsgrad, "maximize": maximize}
                states = [make(), make(), make(), make(), make() if amsgrad else []]
                yield name, (*states, [torch.tensor(step) for _ in range(3)]), options


def recurrent():
    for dtype in FLOATS:
        for name, gates, states in [("lstm", 4, 2), ("gru", 3, 1), ("rnn_tanh", 1, 1), ("rnn_relu", 1, 1)]:
            for layers, both, biases, batch_first in [(1, False, True, False), (2, True, True, True), (1, True, False, False)]:
                directions, hidden, width = 1 + both, 3, 2
                make = lambda *sizes: sampled(dtype, *sizes, low=-0.7, high=0.7)
                parameters = []
                for layer in range(layers):
                    for _ in range(directions):
                        inputs = width if layer == 0 else hidden * directions
                        parameters += [make(gates * hidden, inputs), make(gates * hidden, hidden)]
                        parameters += [make(gates * hidden), make(gates * hidden)] if biases else []
                start = lambda batch: [make(layers * directions, batch, hidden) for _ in range(states)]
                state = start(2)
                x = make(2, 4, width) if batch_first else make(4, 2, width)
                given = state if states == 2 else state[0]
                yield f"{name}.input", (x, given, parameters, biases, layers, 0.0, False, both, batch_first), {}
                if not batch_first:
                    yield f"{name}.input", (strided(x), given, parameters, biases, layers, 0.0, True, both, False), {}
                sizes = torch.tensor([2, 2, 1])
                yield f"{name}.data", (make(5, width), sizes, given, parameters, biases, layers, 0.0, False, both), {}
            cell = [make(2, width), [make(2, hidden), make(2, hidden)] if states == 2 else make(2, hidden)]
            weights = [make(gates * hidden, width), make(gates * hidden, hidden)]
            offsets = [make(gates * hidden), make(gates * hidden)]
            yield f"{name}_cell", (*cell, *weights, *offsets), {}
            yield f"{name}_cell", (*cell, *map(strided, weights)), {}
            empty = [make(0, width), [make(0, hidden), make(0, hidden)] if states == 2 else make(0, hidden)]
            yield f"{name}_cell", (*empty, *weights, *offsets), {}
        x, lengths = sampled(dtype, 4, 3, 2), torch.tensor([4, 2, 1])
        yield "_pack_padded_sequence", (x, lengths, False), {}
        yield "_pack_padded_sequence", (strided(sampled(dtype, 3, 4, 2)), lengths, True), {}
        yield "_pack_padded_sequence", (sampled(dtype, 2, 2), torch.tensor([2, 2]), False), {}
        data, sizes = torch.ops.aten._pack_padded_sequence.default(x, lengths, False)
        for first, value, total in [(False, 0.0, -1), (True, -1.5, 5), (False, 2, 4)]:
            yield "_pad_packed_sequence", (data, sizes, first, value, total), {}


def random_numbers():
    for dtype in [torch.float32, torch.float64, torch.bfloat16]:
        x = torch.zeros(3, 5, dtype=dtype)
        for like in [x, x.t(), torch.zeros(20, dtype=dtype), x[:0]]:
            yield "rand_like", (like,), {}
            yield "randn_like", (like,), {}
            yield "randint_like", (like, 100), {}
            yield "randint_like.low_dtype", (like, -5, 100), {}
            yield "bernoulli.p", (like, 0.3), {}
            yield "bernoulli_.Tensor", (like.clone(), torch.tensor(0.4, dtype=torch.float64)), {}
            yield "random_.to", (like.clone(), 50), {}
        yield "bernoulli_.Tensor", (x.clone(), sampled(dtype, 5, low=0, high=1)), {}
        yield "rand_like", (x,), {"dtype": torch.float64}
        out = lambda: {"out": torch.zeros(2, 4, dtype=dtype).t()}
        yield "rand.out", ([4, 2],), out()
        yield "randn.out", ([4, 2],), out()
        yield "normal.float_float_out", (0.5, 2.0, [4, 2]), out()
        yield "randint.out", (90, [4, 2]), out()
        yield "randint.low_out", (-7, 90, [4, 2]), out()
        yield "randperm.out", (17,), {"out": torch.zeros(0, dtype=dtype)}
    for dtype in [torch.int16, torch.int64, torch.uint8]:
        yield "random_.to", (torch.zeros(3, 4, dtype=dtype), 50), {}
        yield "bernoulli.p", (torch.zeros(3, 4, dtype=dtype), 0.6), {}
        yield "bernoulli_.Tensor", (torch.zeros(3, 4, dtype=dtype), torch.tensor(0.4)), {}


def matrix(dtype, *sizes):
    """Returns well-conditioned matrices: a multiple of the identity is added."""
    square = sampled(dtype, *sizes, low=-1.0, high=1.0)
    return square + 3 * torch.eye(sizes[-2], sizes[-1], dtype=dtype)


def definite(dtype, *sizes):
    root = matrix(dtype, *sizes)
    return root @ root.mH


def products():
    for dtype in [*INEXACT, torch.int16]:
        make = lambda *sizes: sampled(dtype, *sizes)
        yield "chain_matmul", ([make(2, 3), make(3, 4), make(4, 2), make(2, 5)],), {}
        yield "chain_matmul", ([strided(make(3, 2)), make(2, 3)],), {}
        yield "chain_matmul", ([make(0, 2), make(2, 3), make(3, 1)],), {}
        yield "chain_matmul", ([make(3, 2)],), {}
        yield "kron", (make(2, 3), make(3, 2)), {}
        yield "kron", (strided(make(2, 2)), make(3)), {}
        yield "kron", (make(2, 0), make(2, 2)), {}
        yield "kron", (make(2), make(2, 1, 2)), {}
        yield "vander", (make(4),), {}
        yield "vander", (make(3), 5), {"increasing": True}
        yield "vander", (make(6)[::2], 2), {}
        yield "vander", (make(0), 3), {}
    int8 = lambda *sizes: torch.randint(-128, 128, sizes).to(torch.int8)
    for rows, inner, columns in [(17, 8, 8), (20, 16, 24), (18, 8, 16)]:
        yield "_int_mm", (int8(rows, inner), int8(inner, columns)), {}
    yield "_int_mm", (strided(int8(17, 8)), int8(8, 8).t()), {}


def spectra():
    for dtype in INEXACT:
        square, tall = matrix(dtype, 3, 3), sampled(dtype, 4, 3)
        batch = matrix(dtype, 2, 3, 3)
        for given in [square, strided(batch), torch.zeros(0, 0, dtype=dtype)]:
            yield "_linalg_eigvals", (given,), {}
        for given in [square / 4, strided(batch) / 4, sampled(dtype, 0, 0), sampled(dtype, 0, 2, 2)]:
            yield "matrix_exp_backward", (given, sampled(dtype, *given.shape)), {}
            yield "linalg_matrix_exp", (given,), {}
            yield "matrix_exp", (given,), {}
        low_rank = tall[:, :1] @ sampled(dtype, 1, 3)
        for given in [square, tall, strided(batch), tall[:0], low_rank]:
            # Where the rank changes there is no derivative.
            kind = ["values"] if given is low_rank else []
            yield "linalg_pinv", (given, 1e-4), {}, *kind
            yield "linalg_pinv.rcond_tensor", (given, torch.tensor(1e-4, dtype=torch.float64)), {}, *kind
        yield "linalg_pinv", (definite(dtype, 3, 3), 1e-4, True), {}, "values"
        yield "linalg_pinv.rcond_tensor", (definite(dtype, 3, 3), torch.tensor(1e-4, dtype=torch.float64), True), {}, "values"
        for given in [square, batch, strided(batch)]:
            for norm in ["fro", "nuc"]:
                yield "linalg_cond.p_str", (given, norm), {}
                yield "linalg_norm.ord_str", (given, norm, [-2, -1]), {}
        for norm in ["fro", "nuc"]:
            yield "linalg_norm.ord_str", (tall, norm), {"keepdim": True}
            yield "linalg_norm.ord_str", (tall[:0], norm), {}
        for given in [tall, strided(tall), tall[:0]]:
            yield "nuclear_norm", (given,), {}
            yield "nuclear_norm", (given, True), {}
            yield "nuclear_norm.dim", (given, [0, 1]), {}
        yield "nuclear_norm.dim", (sampled(dtype, 2, 3, 2), [0, 2], True), {}


def half_exponentials():
    for dtype in [torch.bfloat16, torch.float16]:
        for sizes in [(3, 3), (2, 2, 2), (1, 1), (0, 0)]:
            for scale in [8, 20]:
                yield "linalg_matrix_exp", (sampled(dtype, *sizes) / scale,), {}
                yield "matrix_exp", (sampled(dtype, *sizes) / scale,), {}


def special_matrices():
    """Singular matrices, not definite ones, NaN and infinities, empty ones, batches, strides; errors where they are checked."""
    for dtype in INEXACT:
        square, batch = matrix(dtype, 3, 3), matrix(dtype, 2, 3, 3)
        singular = square.clone()
        # Row and column, so that the same element of U is 0 in the factorization of the transpose, which PyTorch may choose.
        singular[1], singular[:, 1] = 0, 0
        mixed = torch.stack([square, singular])
        empties = [torch.zeros(0, 0, dtype=dtype), torch.zeros(0, 3, 3, dtype=dtype), torch.zeros(2, 0, 0, dtype=dtype)]
        regular = [square, strided(batch), *empties]
        for given in regular:
            yield "linalg_inv_ex", (given,), {"check_errors": True}
            yield "linalg_lu_factor_ex", (given,), {"check_errors": True}
            yield "linalg_ldl_factor_ex", (given + given.mH,), {"hermitian": dtype.is_complex, "check_errors": True}
            yield "linalg_solve_ex", (given, sampled(dtype, *given.shape[:-1], 2)), {"check_errors": True}
            # PyTorch factorizes the transpose of a real matrix that is contiguous.
            for name in ["_linalg_det", "_linalg_slogdet"]:
                yield name, (strided(given),), {}
            yield "_linalg_solve_ex", (strided(given), sampled(dtype, *given.shape[:-1], 2)), {"check_errors": True}
        for given in [singular, mixed, torch.zeros(2, 2, dtype=dtype)]:
            right = sampled(dtype, *given.shape[:-1], 2)
            for name, rest in [("linalg_inv_ex", ()), ("linalg_lu_factor_ex", ()), ("linalg_solve_ex", (right,)), ("_linalg_solve_ex", (right,))]:
                yield name, (given, *rest), {"check_errors": True}, "error"
            yield "linalg_inv", (given,), {}, "error"
            yield "inverse", (given,), {}, "error"
            yield "linalg_lu_factor", (given,), {}, "error"
            yield "linalg_solve", (given, right), {}, "error"
            yield "linalg_tensorinv", (given[0] if given.dim() == 3 else given, 1), {}, "error"
            yield "linalg_matrix_power", (given, -2), {}, "error"
            # PyTorch's gradients of these are 0, NaN or infinite by accident.
            for name in ["linalg_lu_factor_ex", "linalg_det", "linalg_slogdet", "slogdet", "det", "linalg_matrix_rank.atol_rtol_float"]:
                yield name, (given,), {}, "values"
            if not dtype.is_complex:
                yield "logdet", (given,), {}, "values"
            for p in [1, INFINITY, "fro"]:
                yield "linalg_cond.p_str" if p == "fro" else "linalg_cond", (given, p), {}, "values"
        root = definite(dtype, 3, 3)
        indefinite = root.clone()
        indefinite[1, 1] = -1
        both = torch.stack([root, indefinite])
        for upper in [False, True]:
            for given in [root, strided(definite(dtype, 2, 3, 3)), *empties]:
                yield "linalg_cholesky_ex", (given,), {"upper": upper, "check_errors": True}
            for given in [indefinite, both, -root]:
                yield "linalg_cholesky_ex", (given,), {"upper": upper, "check_errors": True}, "error"
                yield "linalg_cholesky", (given,), {"upper": upper}, "error"
                yield "cholesky", (given, upper), {}, "error"
        for value in [NAN, INFINITY]:
            broken = square.clone()
            broken[0, 2] = value
            pair = torch.stack([square, broken])
            for given in [broken, pair]:
                for name in ["_linalg_svd", "linalg_svd", "linalg_svdvals", "linalg_eig", "linalg_pinv.atol_rtol_float"]:
                    yield name, (given,), {}, "error"
                yield "linalg_matrix_norm.str_ord", (given, "nuc"), {}, "error"
                if value is NAN:
                    yield "linalg_det", (given,), {}, "values"
                    yield "linalg_inv_ex", (given,), {}, "values"


def reflections():
    """Householder vectors with factors that make each reflection unitary, for which gradients are accurate; and scaled exponents."""
    for dtype in [*INEXACT]:
        for sizes, factors in [((4, 3), 3), ((2, 3, 2), 2), ((3, 3), 2), ((4, 2), 0), ((0, 4, 2), 2), ((0, 0), 0)]:
            columns, tau = torch.geqrf(matrix(dtype, *sizes)) if 0 not in sizes else (sampled(dtype, *sizes), sampled(dtype, *sizes[:-2], factors))
            tau = tau[..., :factors].contiguous()
            for name in ["linalg_householder_product", "orgqr"]:
                yield name, (columns, tau), {}
                yield name, (strided(columns), tau), {}


def python_operators():
    """The operators of Python's `&`, `|`, `^`, `<<` and `>>`."""
    for dtype in [torch.int64, torch.int16, torch.uint8, torch.bool, torch.float32]:
        x, y = (sampled(dtype, 3, 4) if dtype != torch.bool else torch.rand(3, 4) > 0.5 for _ in range(2))
        for name in ["and", "or", "xor", "lshift", "rshift"]:
            if dtype == torch.bool and name.endswith("shift"):
                continue
            wrong = ["error"] if dtype == torch.float32 else []
            near = y.abs() % 5 if name.endswith("shift") else y
            for given, other in [(x, near), (strided(x), near[0]), (x[:0], near[:0])]:
                if wrong and not given.numel():
                    continue
                yield f"__{name}__.Tensor", (given, other), {}, *wrong
                yield f"__i{name}__.Tensor", (given.clone(), other), {}, *wrong
                yield f"__{name}__.Scalar", (given, True if dtype == torch.bool else 3), {}, *wrong
                yield f"__i{name}__.Scalar", (given.clone(), True if dtype == torch.bool else 2), {}, *wrong


def convolutions():
    """What traced and scripted models call for convolutions, and weight normalization."""
    flags, older = (False, False, True, True), (False, False, True)
    for dtype in FLOATS:
        line, plane, filters = sampled(dtype, 2, 4, 7), sampled(dtype, 2, 4, 6, 5), sampled(dtype, 6, 2, 3, 3)
        bias = sampled(dtype, 6)
        calls = [
            (plane, filters, bias, [1, 2], [1, 0], [1, 1], False, [0, 0], 2),
            (strided(plane), filters, None, [2, 1], [2, 2], [2, 1], False, [0, 0], 2),
            (plane, sampled(dtype, 4, 3, 3, 2), bias, [2, 2], [1, 0], [1, 1], True, [1, 0], 2),
            (line, sampled(dtype, 6, 2, 3), bias, [2], [1], [1], False, [0], 2),
            (sampled(dtype, 1, 2, 3, 4, 3), sampled(dtype, 3, 2, 2, 2, 2), None, [1, 1, 2], [1, 0, 0], [1, 1, 1], False, [0, 0, 0], 1),
        ]
        for call in calls:
            yield "_convolution", (*call, *flags), {}
            yield "_convolution.deprecated", (*call, *older), {}
        yield "_convolution", (plane, sampled(dtype, 6, 3, 3, 3), bias, *calls[0][3:], *flags), {}, "error"
        for padding, dilation in [("same", [1, 2]), ("valid", [1, 1]), ("same", [1, 1])]:
            for given in [plane, strided(plane)]:
                yield "_convolution_mode", (given, filters, bias, [1, 1], padding, dilation, 2), {}
        yield "_convolution_mode", (line, sampled(dtype, 6, 2, 4), None, [1], "same", [1], 2), {}
        yield "_convolution_mode", (plane, filters, bias, [2, 1], "same", [1, 1], 2), {}, "error"
        for sizes, dim in [((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 0), ((2, 3, 4), 2)]:
            v, g = sampled(dtype, *sizes), sampled(dtype, *[size if at == dim else 1 for at, size in enumerate(sizes)])
            norms = torch.norm_except_dim(v, 2, dim)
            for given in [v, strided(v)]:
                yield "_weight_norm", (given, g, dim), {}
                yield "_weight_norm_interface", (given.contiguous(), g, dim), {}
                grad = sampled(dtype, *sizes)
                yield "_weight_norm_interface_backward", (grad, given.contiguous(), g, norms, dim), {}, "values"
                yield "_weight_norm_differentiable_backward", (grad, given.contiguous(), g, norms, dim), {}, "values"
        yield "_weight_norm", (sampled(dtype, 2, 3, 4), sampled(dtype, 1, 3, 1), 1), {}


def encoders():
    """Self-attention and encoder layers, which modules call without gradients."""
    for dtype in FLOATS:
        width, heads = 6, 2
        packed, bias = sampled(dtype, 3 * width, width), sampled(dtype, 3 * width)
        out, out_bias = sampled(dtype, width, width), sampled(dtype, width)
        x, y = sampled(dtype, 2, 4, width), sampled(dtype, 2, 4, width)
        keys, pairs = torch.rand(2, 4) > 0.7, torch.rand(4, 4) > 0.6
        pairs.fill_diagonal_(False)
        keys[:, 0] = False
        full = pairs.expand(2, heads, 4, 4).contiguous()
        weights = (width, heads, packed, bias, out, out_bias)
        for given in [(x, x, x), (x, y, y), (strided(x), y, x)]:
            for mask, kind in [(None, None), (keys, 1), (pairs, 0), (full, 2)]:
                for need, average in [(True, True), (True, False)]:
                    yield "_native_multi_head_attention", (*given, *weights, mask, need, average, kind), {}, "values"
        yield "_native_multi_head_attention", (x, x, x, width, 4, *weights[2:]), {}, "error"
        yield "_native_multi_head_attention", (x[0], x[0], x[0], *weights), {}, "error"
        scores = sampled(dtype, 2, heads, 4, 4)
        # PyTorch reads a strided input as if it were contiguous.
        for given in [scores, sampled(dtype, 2, heads, 4, 4)]:
            for mask, kind in [(keys, 1), (pairs, 0), (full, 2)]:
                yield "_masked_softmax", (given, mask, 3, kind), {}, "values"
                yield "_masked_softmax", (given, mask), {"dim": 2, "mask_type": kind}, "values"
            yield "_masked_softmax_backward", (given, scores.softmax(-1), full), {"dim": 3}, "values"
        yield "_masked_softmax", (scores, pairs.to(dtype), 3, 0), {}, "error"
        yield "_masked_softmax", (scores, pairs), {}, "error"
        yield "_masked_softmax_backward", (scores, scores, pairs), {}, "error"
        for given in [sampled(dtype, 2, 3, 3 * width), strided(sampled(dtype, 2, 3, 3 * width))]:
            for count in [1, 2, 3]:
                yield "_transform_bias_rescale_qkv", (given, bias, count), {}, "values"
        norms = [sampled(dtype, width) for _ in range(4)]
        network = sampled(dtype, 8, width), sampled(dtype, 8), sampled(dtype, width, 8), sampled(dtype, width)
        for gelu in [False, True]:
            for first in [False, True]:
                for mask, kind in [(None, None), (keys, 1), (pairs, 0)]:
                    yield "_transformer_encoder_layer_fwd", (x, *weights, gelu, first, 1e-5, *norms, *network, mask, kind), {}, "values"


def boxes(dtype, count, images, height, width):
    """Boxes inside of an image and beyond its edges."""
    corners = torch.rand(count, 4) * torch.tensor([width, height, width, height]) * 1.5 - 1
    first, second = corners[:, :2].minimum(corners[:, 2:]), corners[:, :2].maximum(corners[:, 2:])
    return torch.cat([torch.randint(images, (count, 1)), first, second], 1).to(dtype)


def detection():
    for dtype in [*FLOATS, torch.float16]:
        x = sampled(dtype, 2, 8, 6, 7)
        rois = boxes(dtype, 5, 2, 6, 7)
        rois[-1, 1:] = rois[-1, [3, 4, 1, 2]]
        kind = ["values"] if dtype == torch.float16 else []
        for given, places in [(x, rois), (strided(x), strided(rois)), (x, rois[:0])]:
            for scale, (height, width), sampling in [(1.0, (2, 2), 2), (0.5, (2, 2), -1), (1.25, (1, 4), 0)]:
                sizes = (2, 8, 6, 7)
                for aligned in [False, True]:
                    yield "torchvision::roi_align", (given, places, scale, height, width, sampling, aligned), {}, *kind
                    grad = sampled(dtype, len(places), 8, height, width)
                    yield "torchvision::_roi_align_backward", (grad, places, scale, height, width, *sizes, sampling, aligned), {}, "values"
                yield "torchvision::roi_pool", (given, places, scale, height, width), {}, *kind
                argmax = torch.ops.torchvision.roi_pool(given, places, scale, height, width)[1]
                yield "torchvision::_roi_pool_backward", (grad, places, argmax, scale, height, width, *sizes), {}, "values"
                part = sampled(dtype, len(places), 2, height, width)
                yield "torchvision::ps_roi_pool", (given, places, scale, height, width), {}, *kind
                mapping = torch.ops.torchvision.ps_roi_pool(given, places, scale, height, width)[1]
                yield "torchvision::_ps_roi_pool_backward", (part, places, mapping, scale, height, width, *sizes), {}, "values"
                if sampling > 0:
                    # Without it, boxes of negative size divide 0 by a number of samples that nothing defines.
                    yield "torchvision::ps_roi_align", (given, places, scale, height, width, sampling), {}, *kind
                    yield "torchvision::_ps_roi_align_backward", (part, places, mapping, scale, height, width, sampling, *sizes), {}, "values"
        for name in ["ps_roi_align", "ps_roi_pool"]:
            sampling = (2,) if name.endswith("align") else ()
            yield f"torchvision::{name}", (x[:, :7], rois, 1.0, 2, 2, *sampling), {}, "error"
        candidates = torch.cat([rois[:, 1:], rois[:, 1:] + 0.5, boxes(dtype, 8, 1, 6, 7)[:, 1:]])
        candidates[4] = candidates[4, [2, 3, 0, 1]]
        if dtype == torch.float16:
            yield "torchvision::nms", (candidates, sampled(dtype, len(candidates)), 0.5), {}, "error"
        else:
            for scores in [sampled(dtype, len(candidates)), torch.ones(len(candidates), dtype=dtype)]:
                for threshold in [0.0, 0.3, 0.5, 0.9]:
                    yield "torchvision::nms", (candidates, scores, threshold), {}
            yield "torchvision::nms", (strided(candidates), scores, 0.2), {}
            yield "torchvision::nms", (candidates[:0], scores[:0], 0.2), {}
            yield "torchvision::nms", (rois, scores[:5], 0.2), {}, "error"
            yield "torchvision::nms", (candidates, scores[:5], 0.2), {}, "error"
            yield "torchvision::nms", (candidates, candidates, 0.2), {}, "error"
        for steps, groups, offset_groups, masked in [((1, 1, 1, 1, 1, 1), 1, 1, True), ((2, 1, 0, 1, 1, 2), 2, 2, True), ((1, 2, 2, 1, 2, 1), 1, 4, False), ((1, 1, 0, 0, 1, 1), 4, 1, True)]:
            image, weight, bias = sampled(dtype, 2, 4, 6, 5), sampled(dtype, 4, 4 // groups, 3, 2), sampled(dtype, 4)
            height = (6 + 2 * steps[2] - 2 * steps[4] - 1) // steps[0] + 1
            width = (5 + 2 * steps[3] - steps[5] - 1) // steps[1] + 1
            offset = sampled(dtype, 2, offset_groups * 12, height, width)
            mask = sampled(dtype, 2, offset_groups * 6, height, width) if masked else torch.zeros(2, 1, dtype=dtype)
            rest = (*steps, groups, offset_groups, masked)
            yield "torchvision::deform_conv2d", (image, weight, offset, mask, bias, *rest), {}, *kind
            yield "torchvision::deform_conv2d", (strided(image), strided(weight), strided(offset), mask, bias, *rest), {}, *kind
            if dtype != torch.float16:
                grad = sampled(dtype, 2, 4, height, width)
                yield "torchvision::_deform_conv2d_backward", (grad, image, weight, offset, mask, bias, *rest), {}, "values"
                yield "torchvision::deform_conv2d", (image, weight, offset[:, 1:], mask, bias, *rest), {}, "error"
                yield "torchvision::deform_conv2d", (image, weight, offset[:1], mask, bias, *rest), {}, "error"
                yield "torchvision::deform_conv2d", (image, weight, offset[:, :, 1:], mask, bias, *rest), {}, "error"


def gamma_samples():
    """PyTorch's approximation is accurate for small samples only: elsewhere it is wrong by up to 6e-5."""
    for dtype in FLOATS:
        concentrations, samples = sampled(dtype, 3, 4, low=0.1, high=2.0), sampled(dtype, 3, 4, low=1e-6, high=0.05)
        yield "_standard_gamma_grad", (concentrations, samples), {}
        yield "_standard_gamma_grad", (strided(concentrations), samples[0]), {}
        yield "_standard_gamma_grad", (concentrations[:, :1], samples[1, 2]), {}
    yield "_standard_gamma_grad", (torch.ones(0, 2), torch.ones(2)), {}
    yield "_standard_gamma_grad", (torch.ones(2), torch.ones(2, dtype=torch.float64)), {}, "error"
    yield "_standard_gamma_grad", (torch.ones(2), torch.ones(3)), {}, "error"
    for dtype in [torch.float16, torch.int64]:
        yield "_standard_gamma_grad", (torch.ones(2, dtype=dtype), torch.ones(2, dtype=dtype)), {}, "error"


def dirichlet_samples():
    """PyTorch's approximation is accurate for small samples only: elsewhere it is wrong by up to 1e-3."""
    for dtype in FLOATS:
        samples, concentrations = sampled(dtype, 3, 4, low=1e-6, high=0.01), sampled(dtype, 3, 4, low=0.1, high=1.5)
        totals = concentrations.sum(-1, keepdim=True).expand(3, 4)
        yield "_dirichlet_grad", (samples, concentrations, totals), {}
        yield "_dirichlet_grad", (strided(samples), concentrations, totals.contiguous()), {}
        yield "_dirichlet_grad", (samples[1], concentrations[:, :1], totals[0]), {}
    empty = torch.ones(0, 2)
    yield "_dirichlet_grad", (empty, empty, empty), {}
    yield "_dirichlet_grad", (torch.ones(2), torch.ones(2), torch.ones(2, dtype=torch.float64)), {}, "error"
    yield "_dirichlet_grad", (torch.ones(2), torch.ones(3), torch.ones(2)), {}, "error"


def segments():
    """PyTorch shares gradients of equal extrema only if they are positive."""
    for dtype in FLOATS:
        data = sampled(dtype, 6, 3)
        data[1, 0] = data[4, 1] = data[5, 1] = 0
        data[3, 2] = data[2, 2]
        lengths, batches = torch.tensor([2, 0, 4]), torch.tensor([[1, 2], [3, 0]])
        for reduce in ["sum", "mean", "max", "min", "prod"]:
            # Only a product with a zero depends on the initial value.
            for initial in [None, 2.0] if reduce == "prod" else [None]:
                output = torch.segment_reduce(data, reduce, lengths=lengths, initial=initial)
                grad = sampled(dtype, *output.shape, low=0.1, high=2.0)
                yield "_segment_reduce_backward", (grad, output, data, reduce), {"lengths": lengths, "axis": 0, "initial": initial}, "values"
            inner = data.reshape(2, 3, 3)
            output = torch.segment_reduce(inner, reduce, lengths=batches, axis=1)
            yield "_segment_reduce_backward", (sampled(dtype, *output.shape, low=0.1, high=2.0), output, inner, reduce), {"lengths": batches, "axis": 1}, "values"
        output = torch.segment_reduce(data, "sum", offsets=torch.tensor([1, 3, 4]))
        yield "_segment_reduce_backward", (sampled(dtype, 2, 3), output, data, "sum"), {"offsets": torch.tensor([1, 3, 4])}, "values"
        # The rows that the lengths leave out have no gradient.
        yield "_segment_reduce_backward", (sampled(dtype, 2, 3), sampled(dtype, 2, 3), data, "mean"), {"lengths": torch.tensor([2, 1])}, "values"


GROUPS = [
    windows, indices, shapes, searches, distances, numbers, sums, losses, activations, steps, recurrent, random_numbers, products, half_exponentials, spectra,
    special_matrices, reflections, python_operators, convolutions, encoders, detection,
    gamma_samples, dirichlet_samples, segments,
]  # fmt: skip


def by_name():
    """Returns the calls by overload: arguments, keywords, and what is recorded if it is not everything."""
    calls = collections.defaultdict(list)
    for at, group in enumerate(GROUPS):
        torch.manual_seed(1000 + at)
        for name, args, kwargs, *kind in group():
            calls[name].append((args, kwargs, *kind))
    return calls
