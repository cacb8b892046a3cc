"""Golden cases of operators that no sample input of PyTorch reaches by name: overloads, inner calls of composites, views in
place, fused steps, `binary_cross_entropy` of shapes that differ in dimensions of size 1, resizing with antialiasing.

    python golden_overloads.py DIR

writes DIR/NAME.overloads.safetensors in the format of golden.py, which records; here are the calls. `golden_pack.py DIR` puts them
into tests/data/golden.
"""

import pathlib
import sys

import torch
from torch._dispatch.python import enable_python_dispatcher

import golden

aten = torch.ops.aten


class Recorder(golden.Recorder):
    """Records a call, without gradients where PyTorch has none."""

    constants = {
        "log_sigmoid_backward": {"2"},
        "soft_margin_loss_backward": {"2"},
        "rrelu_with_noise_backward": {"2"},
        "native_layer_norm_backward": {"3", "4"},
        "native_batch_norm_backward": {"3", "4", "5", "6"},
        "batch_norm_backward": {"3", "4", "5", "6", "10"},
    }

    def add(self, file, function, *call):
        before, gradients = len(file.tensors), golden.WITH_GRADIENTS
        try:
            added = super().add(file, function, *call)
        except RuntimeError:
            for key in list(file.tensors)[before:]:
                del file.tensors[key]
            golden.WITH_GRADIENTS = []
            try:
                added = super().add(file, function, *call)
            finally:
                golden.WITH_GRADIENTS = gradients
        if added and not function._schema.returns:
            file.cases[-1]["outs"] = []
        return added


def sampled(dtype, *shape, low=-2.0, high=2.0):
    """Returns values of a dtype; integral values for integer dtypes."""
    if dtype.is_complex:
        return torch.complex(*(sampled(dtype.to_real(), *shape, low=low, high=high) for _ in range(2)))
    numbers = torch.rand(shape) * (high - low) + low
    return (numbers * 4).to(dtype) if not dtype.is_floating_point else numbers.to(dtype)


def pointwise(dtype):
    x, positive = sampled(dtype, 3, 4), sampled(dtype, 3, 4, low=0.5, high=3.0)
    if dtype.is_complex:
        yield aten.float_power.Scalar, (1.5, x), {}
        yield aten.float_power.Tensor_Scalar, (x, 2.5), {}
        return
    for mode in [None, "trunc", "floor"]:
        yield aten.div.Scalar_mode, (x, 1.5), {"rounding_mode": mode}
        yield aten.div.Scalar_mode, (x.t(), -3), {"rounding_mode": mode}
        yield aten.divide.Scalar_mode, (x, -0.75), {"rounding_mode": mode}
    for number in [1.5, -0.75, 3]:
        yield aten.fmod.Scalar, (x, number), {}
        yield aten.remainder.Scalar, (x, number), {}
        yield aten.remainder.Scalar_Tensor, (number, positive), {}
        yield aten.clamp_max.default, (x, number), {}
    yield aten.clamp_max.default, (sampled(dtype, 2, 3, 4)[:, ::2], 1), {}
    yield aten.float_power.Scalar, (1.5, x), {}
    yield aten.float_power.Scalar, (2, x[:, 1:3]), {}
    yield aten.float_power.Tensor_Scalar, (positive, 2.5), {}
    yield aten.float_power.Tensor_Scalar, (x, 3), {}
    for name in [aten.xlogy, aten.special_xlog1py]:
        self_scalar = name.Scalar_Self if name is aten.xlogy else name.self_scalar
        other_scalar = name.Scalar_Other if name is aten.xlogy else name.other_scalar
        yield self_scalar, (1.5, positive), {}
        yield self_scalar, (0, positive), {}
        yield other_scalar, (x, 2.5), {}
    if dtype in (torch.float32, torch.float64):
        above = sampled(dtype, 3, 4, low=1.5, high=5.0)
        yield aten.special_zeta.default, (above.detach(), positive), {}
        yield aten.special_zeta.self_scalar, (2.5, positive), {}
        yield aten.special_zeta.other_scalar, (above, 1.5), {}
        yield aten.igamma.default, (positive, above), {}
        yield aten.igammac.default, (positive, above), {}
    if dtype.is_floating_point:
        yield aten._neg_view.default, (x,), {}
    yield aten.aminmax.default, (x,), {}
    yield aten.aminmax.default, (x,), {"dim": 1}
    yield aten.aminmax.default, (sampled(dtype, 2, 3, 4).transpose(0, 2),), {"dim": -1, "keepdim": True}


def copies(dtype):
    x = sampled(dtype, 3, 4)
    yield aten.fill.Tensor, (x, sampled(dtype)), {}
    yield aten.copy_.default, (x, sampled(dtype, 4)), {}
    yield aten.copy_.default, (sampled(dtype, 4, 3).t(), sampled(dtype, 3, 1)), {}
    yield aten.narrow_copy.default, (x, 1, 1, 2), {}
    yield aten.narrow_copy.default, (x.t(), -2, 0, 3), {}
    yield aten.squeeze_copy.dims, (sampled(dtype, 1, 3, 1, 2), [0, 2]), {}
    yield aten.squeeze_copy.dims, (sampled(dtype, 1, 3, 1, 2), [-2, 1]), {}
    yield aten.slice_scatter.default, (x, sampled(dtype, 3, 2), 1, 1, 3), {}
    yield aten.slice_scatter.default, (x, sampled(dtype, 2, 4), 0, 0, 3, 2), {}
    indices = [torch.tensor([0, 2, 0]), torch.tensor([1, 3, 1])]
    yield aten._index_put_impl.default, (x, indices, sampled(dtype, 3), True), {}
    yield aten._index_put_impl.default, (x, [None, torch.tensor([3, 0])], sampled(dtype, 2)), {}
    index = torch.tensor([[0, 1, 2, 0], [2, 0, 0, 1]])
    for reduce in ["add", "multiply"]:
        yield aten.scatter.reduce, (x, 0, index, sampled(dtype, 2, 4)), {"reduce": reduce}
        yield aten.scatter.value_reduce, (x, 0, index, 2), {"reduce": reduce}


def padding(dtype):
    for dims, sizes, pads in [(1, (2, 3, 5), [2, 1]), (2, (2, 3, 4, 5), [2, 1, 0, 3]), (3, (1, 2, 3, 4, 3), [1, 2, 2, 1, 1, 0])]:
        for kind in ["reflection", "replication"]:
            forward, backward = (getattr(aten, f"{kind}_pad{dims}d{suffix}").default for suffix in ["", "_backward"])
            for shape in [sizes, sizes[1:]]:
                x = sampled(dtype, *shape)
                yield forward, (x, pads), {}
                yield backward, (sampled(dtype, *forward(x, pads).shape), x, pads), {}
            yield forward, (sampled(dtype, *sizes).transpose(0, 1), [1] * (2 * dims)), {}


def windows(dtype):
    if dtype.is_complex or not dtype.is_floating_point:
        return
    for dims, forward, backward in [
        (2, aten.fractional_max_pool2d, aten.fractional_max_pool2d_backward),
        (3, aten.fractional_max_pool3d, aten.fractional_max_pool3d_backward),
    ]:
        x = sampled(dtype, 2, 3, *[7, 6, 5][:dims])
        window, sizes = [2] * dims, [3, 4, 2][:dims]
        samples = torch.rand(2, 3, dims).to(dtype)
        out, indices = forward.default(x, window, sizes, samples)
        yield forward.default, (x, window, sizes, samples), {}
        yield backward.default, (sampled(dtype, *out.shape), x, window, sizes, indices), {}
    for dilation, pads, strides in [(1, 0, 1), (2, 1, 2)]:
        x = sampled(dtype, 2, 3, 7, 6)
        options = ([2, 3], [dilation] * 2, [pads] * 2, [strides] * 2)
        columns = aten.im2col.default(x, *options)
        yield aten.im2col.default, (x, *options), {}
        yield aten.im2col.default, (x[0], *options), {}
        yield aten.col2im.default, (sampled(dtype, *columns.shape), [7, 6], *options), {}
        yield aten.col2im.default, (sampled(dtype, *columns.shape[1:]), [7, 6], *options), {}
    yield aten.native_dropout_backward.default, (sampled(dtype, 3, 4), torch.rand(3, 4) > 0.4, 2.5), {}
    if dtype in (torch.float32, torch.float64):
        logits = sampled(dtype, 6, 2, 4).log_softmax(-1)
        # Both have the maximum length: PyTorch leaves the rest of its second result uninitialized.
        targets, sizes = torch.tensor([[1, 2, 2], [3, 1, 2]]), ([6, 6], [3, 3])
        yield aten._ctc_loss.default, (logits, targets, *sizes), {}
        yield aten._ctc_loss.default, (logits, targets.flatten(), *sizes, 0, True), {}


def views(dtype):
    if dtype not in (torch.float32, torch.int64):
        return
    for tensor in [sampled(dtype, 2, 3), sampled(dtype, 3), sampled(dtype), sampled(dtype, 4, 3).t()]:
        yield aten.t_.default, (tensor,), {}
    for name in [aten.transpose_, aten.swapaxes_, aten.swapdims_, aten.swapaxes, aten.swapdims]:
        for sizes, dims in [((2, 3, 4), (0, 2)), ((2, 3, 4), (-1, 1)), ((2, 3), (1, 1))]:
            yield name.default, (sampled(dtype, *sizes), *dims), {}
    for dim in [0, 1, -1, 2]:
        yield aten.unsqueeze_.default, (sampled(dtype, 2, 3), dim), {}
    yield aten.unsqueeze_.default, (sampled(dtype, 4, 3).t(), 1), {}
    for sizes in [(1, 2, 1, 3), (2, 3), (1, 1)]:
        yield aten.squeeze_.default, (sampled(dtype, *sizes),), {}
        yield aten.squeeze_.dim, (sampled(dtype, *sizes), 0), {}
        yield aten.squeeze_.dim, (sampled(dtype, *sizes), -1), {}
        yield aten.squeeze_.dims, (sampled(dtype, *sizes), [0, 1]), {}
    yield aten.as_strided_.default, (sampled(dtype, 3, 4), [2, 2], [1, 4], 1), {}
    yield aten.as_strided_.default, (sampled(dtype, 3, 4), [5], [2]), {}
    for sizes, strides in [((4, 3), (3, 1)), ((12,), (1,)), ((2, 2, 3), (6, 3, 1))]:
        yield aten._reshape_alias.default, (sampled(dtype, 3, 4), sizes, strides), {}


def cross_entropies(dtype):
    if dtype not in (torch.float32, torch.float64):
        return
    share = lambda *sizes: sampled(dtype, *sizes, low=0.01, high=0.99)
    pairs = [((4, 1), (4,), None), ((4,), (1, 4), (4,)), ((2, 1, 3), (2, 3), (3,)), ((2, 3), (3,), (1, 3)), ((0, 1), (0,), None), ((1, 1), (), ())]
    for sizes, others, weights in pairs:
        for reduction in [0, 1, 2]:
            target = share(*others) if others == (3,) else (share(*others) > 0.5).to(dtype)
            rest = (target, None if weights is None else share(*weights), reduction)
            input, grad = share(*sizes), share(*(sizes if reduction == 0 else ()))
            yield aten.binary_cross_entropy.default, (input, *rest), {}
            yield aten.binary_cross_entropy_backward.default, (grad, input, *rest), {}


def sequences(dtype):
    if dtype not in (torch.float32, torch.float64, torch.int64):
        return
    function, make = aten.pad_sequence.default, lambda *sizes: sampled(dtype, *sizes)
    for first in [False, True]:
        for side in ["right", "left"]:
            yield function, ([make(3, 2), make(1, 2), make(4, 2)], first, 7.0, side), {}
            yield function, ([make(2), make(5)], first, 0.0, side), {}
    yield function, ([make(2, 3), make(1)],), {}
    yield function, ([make(2, 0), make(1, 0)],), {}
    yield function, ([make(2).double(), make(3).float()],), {}


def steps(dtype):
    if dtype not in (torch.float32, torch.float64):
        return
    for lr_decay, decay, maximize in [(0.0, 0.0, False), (0.1, 0.0, True), (0.1, 0.01, False)]:
        lists = [[sampled(dtype, *sizes, low=0.01, high=0.99) for sizes in [(3, 5), (33,)]] for _ in range(3)]
        options = {"lr": 0.1, "lr_decay": lr_decay, "weight_decay": decay, "eps": 1e-10, "maximize": maximize}
        yield aten._fused_adagrad_.default, (*lists, [torch.tensor(1.0), torch.tensor(4.0)]), options


def images(dtype):
    if dtype not in (torch.float32, torch.float64, torch.uint8):
        return
    make = lambda *sizes: sampled(dtype, *sizes, low=0, high=63 if dtype == torch.uint8 else 1)
    # No image of width 1: PyTorch 2.7.1 mixes up its rows.
    shapes = [((1, 2, 6, 5), (3, 4)), ((2, 3, 4, 7), (9, 3)), ((1, 1, 9, 3), (2, 8)), ((1, 2, 5, 2), (1, 5)), ((0, 1, 4, 4), (2, 2))]
    kinds = [("_upsample_bilinear2d_aa", "_upsample_bilinear2d_aa_backward"), ("_upsample_bicubic2d_aa", "_upsample_bicubic2d_aa_backward")]
    for forward, backward in ((getattr(aten, name), getattr(aten, other)) for name, other in kinds):
        for sizes, wanted in shapes:
            # Factors that do not lead beyond the image, where weights are quotients of rounding errors.
            factors = tuple((out + 0.25) / size for out, size in zip(wanted, sizes[2:]))
            for align, scales in [(False, (None, None)), (True, (None, None)), (False, factors)]:
                yield forward.default, (make(*sizes), wanted, align, *scales), {}
                if dtype != torch.uint8:
                    yield backward.default, (make(*sizes[:2], *wanted), wanted, sizes, align, *scales), {}
        image = make(2, 2, 6, 5)
        yield forward.default, (image.contiguous(memory_format=torch.channels_last), (3, 4), False), {}
        yield forward.vec, (image, None, False, [0.5, 0.7]), {}
        yield forward.vec, (image, [4, 3], True, None), {}


def activations(dtype):
    if not dtype.is_floating_point:
        return
    share = sampled(dtype, 3, 4, low=0.05, high=0.95)
    x, grad = sampled(dtype, 3, 4), sampled(dtype, 3, 4)
    for eps in [None, 0.25]:
        yield aten.logit_backward.default, (grad, share, eps), {}
        yield aten.logit_backward.default, (grad[0], sampled(dtype, 4, 3, low=-0.5, high=1.5).t(), eps), {}
        out = torch.empty(0, dtype=dtype)
        yield aten.logit_backward.grad_input, (grad, share, eps), {"grad_input": out}
    yield aten.logit_backward.default, (sampled(dtype, 0, 2), sampled(dtype, 0, 2)), {}
    for scores in [x, x.t(), sampled(dtype), sampled(dtype, 0, 3)]:
        result, buffer = aten.log_sigmoid_forward.default(scores)
        yield aten.log_sigmoid_forward.default, (scores,), {}
        yield aten.log_sigmoid_backward.default, (sampled(dtype, *scores.shape), scores, buffer), {}
        outs = {name: torch.empty(0, dtype=dtype) for name in ["output", "buffer"]}
        yield aten.log_sigmoid_forward.output, (scores,), outs
        given = {"grad_input": torch.empty(0, dtype=dtype)}
        yield aten.log_sigmoid_backward.grad_input, (sampled(dtype, *scores.shape), scores, buffer), given
    for sizes, dim in [((4,), 0), ((2, 6), 1), ((2, 6), -1), ((4, 3), 0)]:
        half = list(sizes)
        half[dim] //= 2
        of, input = sampled(dtype, *half), sampled(dtype, *sizes)
        call = (aten.glu_backward.default(of, input, dim), of, input, sampled(dtype, *half), sampled(dtype, *sizes), dim)
        yield aten.glu_backward_jvp.default, call, {}
    for training, lower, upper in [(True, 0.125, 0.25), (False, 0.125, 0.5), (True, 0.25, 0.25)]:
        noise = torch.where(x > 0, torch.ones_like(x), sampled(dtype, 3, 4, low=lower, high=upper + 0.01))
        for is_result in [False, True]:
            yield aten.rrelu_with_noise_backward.default, (grad, x, noise, lower, upper, training, is_result), {}
        strided = sampled(dtype, 4, 3).t()
        for tensor in [x, strided, sampled(dtype, 0)]:
            factors = torch.zeros_like(tensor)
            yield aten.rrelu_with_noise_.default, (tensor.clone(), factors, lower, upper, training), {}
            given = {"out": torch.empty_like(tensor)}
            yield aten.rrelu_with_noise.out, (tensor, factors.clone(), lower, upper, training), given
            yield aten.rrelu_with_noise.default, (tensor, factors.clone(), lower, upper, training), {}
    for tensor in [x, x.t(), sampled(dtype), sampled(dtype, 0)]:
        yield aten.infinitely_differentiable_gelu_backward.default, (sampled(dtype, *tensor.shape), tensor), {}


def margins(dtype):
    if not dtype.is_floating_point:
        return
    for reduction in [0, 1, 2]:
        for sizes, others in [((3, 4), (3, 4)), ((3, 4), (4,)), ((), ()), ((0, 2), (0, 2))]:
            input, target = sampled(dtype, *sizes), torch.where(sampled(dtype, *others) > 0, 1.0, -1.0).to(dtype)
            call = (sampled(dtype, *(sizes if reduction == 0 else ())), input, target, reduction)
            yield aten.soft_margin_loss_backward.default, call, {}
            yield aten.soft_margin_loss_backward.grad_input, call, {"grad_input": torch.empty(0, dtype=dtype)}
        for p, margin, weighted in [(1, 1, False), (2, 1.5, False), (2, 0.5, True), (1, -0.5, True)]:
            weight = sampled(dtype, 4, low=0.5, high=2.0) if weighted else None
            for input, target in [
                (sampled(dtype, 3, 4), torch.tensor([1, 3, 0])),
                (sampled(dtype, 4, 3).t(), torch.tensor([2, 0, 3])),
                (sampled(dtype, 4), torch.tensor(2)),
                (sampled(dtype, 0, 4), torch.zeros(0, dtype=torch.int64)),
            ]:
                grad = sampled(dtype, *(target.shape if reduction == 0 else ()))
                call = (grad, input, target, p, margin, weight, reduction)
                yield aten.multi_margin_loss_backward.default, call, {}
                yield aten.multi_margin_loss_backward.grad_input, call, {"grad_input": torch.empty(0, dtype=dtype)}


def gradients(dtype):
    make = lambda *sizes: sampled(dtype, *sizes)
    index = torch.tensor([[0, 1, 2, 0], [2, 0, 0, 1]])
    yield aten.gather_backward.default, (make(2, 4), make(3, 4), 0, index, False), {}
    yield aten.gather_backward.default, (make(4, 2).t(), make(2, 5), 1, index, False), {}
    yield aten.gather_backward.default, (make(0, 4), make(3, 4), -2, index[:0], False), {}
    for mask, input in [((3, 4), (3, 4)), ((4,), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((0, 4), (0, 4))]:
        chosen = torch.rand(mask) > 0.4
        count = int(torch.broadcast_to(chosen, torch.broadcast_shapes(mask, input)).sum())
        yield aten.masked_select_backward.default, (make(count), make(*input), chosen), {}
    for mask, grad, sizes in [((3, 4), make(3, 4), (2, 7)), ((4,), make(4, 3).t(), (12,)), ((0,), make(0), (3,)), ((1, 2), make(2, 2), (5,))]:
        yield aten.masked_scatter_backward.default, (grad, torch.rand(mask) > 0.4, sizes), {}
    for sizes, offset, dims in [((3, 4), 0, (0, 1)), ((3, 4), 1, (0, 1)), ((2, 3, 4), -1, (0, 2)), ((3, 3, 2), 0, (-1, 0)), ((2, 2), 2, (0, 1))]:
        shape = torch.zeros(sizes).diagonal(offset, *dims).shape
        yield aten.diagonal_backward.default, (make(*shape), sizes, offset, *dims), {}
    # No taller matrix: PyTorch's diagonal starts again below the square.
    for sizes in [(3, 4), (3, 2), (1, 1), (0, 3)]:
        yield aten.trace_backward.default, (make(), sizes), {}
    for sizes, dim in [((2, 3), 1), ((3, 2), 0), ((2, 2, 3), -2), ((), 0), ((0, 2), 0)]:
        input = make(*sizes)
        indices = torch.randint(0, max(1, sizes[dim]) if sizes else 1, sizes)
        yield aten.cummaxmin_backward.default, (make(*sizes), input, indices, dim), {}
        if dtype.is_floating_point or dtype.is_complex:
            yield aten.cumprod_backward.default, (make(*sizes), input, dim, input.cumprod(dim)), {}
    if dtype.is_floating_point or dtype.is_complex:
        zeros = make(3, 4)
        zeros[0, 1] = zeros[2, 0] = zeros[2, 3] = 0
        yield aten.cumprod_backward.default, (make(3, 4), zeros, 1, zeros.cumprod(1)), {}
        for padding, scaled in [(-1, False), (0, True), (2, False)]:
            yield aten.embedding_backward.default, (make(4, 3), torch.tensor([0, 2, 0, 1]), 4, padding, scaled, False), {}
        yield aten.embedding_backward.default, (make(2, 2, 3), torch.tensor([[0, 2], [4, 2]]), 5, 2, True, False), {}
        yield aten.embedding_backward.default, (make(0, 3), torch.zeros(0, dtype=torch.int64), 2, -1, False, False), {}


def norm_gradients(dtype):
    if not dtype.is_floating_point:
        return
    masks = [[True, True, True], [True, False, True], [False, True, False]]
    wide = lambda tensor: tensor.to(torch.float64 if dtype == torch.float64 else torch.float32)
    for sizes, shape in [((3, 4), (4,)), ((2, 3, 4), (3, 4)), ((2, 3, 4), (4,)), ((0, 4), (4,))]:
        x, weight, bias = sampled(dtype, *sizes), sampled(dtype, *shape), sampled(dtype, *shape)
        mean, rstd = aten.native_layer_norm.default(x, shape, weight, bias, 1e-5)[1:]
        for mask in masks:
            yield aten.native_layer_norm_backward.default, (sampled(dtype, *sizes), x, shape, mean, rstd, weight, bias, mask), {}
        call = (sampled(dtype, *sizes), x, shape, mean, rstd, None, None, [True, False, False])
        yield aten.native_layer_norm_backward.default, call, {}
    for sizes, groups in [((2, 4, 3), 2), ((3, 4), 2), ((2, 4, 2, 2), 1), ((2, 4, 2, 2), 4), ((0, 4, 3), 2)]:
        x, weight, bias = sampled(dtype, *sizes), sampled(dtype, 4), sampled(dtype, 4)
        inner = torch.Size(sizes[2:]).numel()
        counts = (sizes[0], 4, inner, groups)
        yield aten.native_group_norm.default, (x, weight, bias, *counts, 1e-5), {}
        yield aten.native_group_norm.default, (x, None, None, *counts, 0.125), {}
        mean, rstd = aten.native_group_norm.default(x, weight, bias, *counts, 1e-5)[1:]
        for mask in masks:
            yield aten.native_group_norm_backward.default, (sampled(dtype, *sizes), x, mean, rstd, weight, *counts, mask), {}
        call = (sampled(dtype, *sizes), x, mean, rstd, None, *counts, [True, False, False])
        yield aten.native_group_norm_backward.default, call, {}
    for sizes in [(4, 3), (2, 3, 4), (2, 3, 2, 2)]:
        x, weight, bias = sampled(dtype, *sizes), sampled(dtype, 3), sampled(dtype, 3)
        average, variance = sampled(dtype, 3), sampled(dtype, 3, low=0.5, high=2.0)
        mean, rstd = aten.native_batch_norm.default(x, weight, bias, None, None, True, 0.1, 1e-5)[1:]
        for train, mask in [(True, masks[0]), (False, masks[0]), (True, masks[1]), (False, masks[2])]:
            grad = sampled(dtype, *sizes)
            running, saved = (average, variance), (mean, rstd)
            yield aten.native_batch_norm_backward.default, (grad, x, weight, *running, *saved, train, 1e-5, mask), {}
            yield aten.native_batch_norm_backward.default, (grad, x, None, *running, *saved, train, 1e-5, [True, False, False]), {}
            reserve = torch.empty(0, dtype=torch.uint8)
            yield aten.batch_norm_backward.default, (grad, x, weight, *running, *saved, train, 1e-5, mask, reserve), {}
    for x in [sampled(dtype, 2, 3, 4), sampled(dtype, 4, 3, 2).transpose(0, 2), sampled(dtype, 4), sampled(dtype, 3, 0)]:
        for pow, dim in [(2, 0), (1, -1), (3, x.ndim - 1), (2, -x.ndim)]:
            if x.numel() or dim == 0:
                yield aten.norm_except_dim.default, (x, pow, dim), {}


def slow_convolutions(dtype):
    if not dtype.is_floating_point:
        return
    make = lambda *sizes: sampled(dtype, *sizes)
    image, volume, bias = make(2, 2, 5, 4), make(1, 2, 4, 3, 4), make(3)
    flat, deep = make(3, 2, 2, 3), make(3, 2, 2, 1, 2)
    for stride, padding in [([1, 1], [0, 0]), ([2, 1], [1, 2])]:
        for given in [bias, None]:
            call = (image, flat, [2, 3], given, stride, padding)
            yield aten.thnn_conv2d.default, call, {}
            yield aten.slow_conv_dilated2d.default, (*call, [2, 1]), {}
        yield aten.thnn_conv2d.out, call, {"out": torch.empty(0, dtype=dtype)}
        yield aten.thnn_conv2d.default, (image, make(3, 12), [2, 3], bias, stride, padding), {}
        yield aten.slow_conv_dilated2d.default, (image[0], flat, [2, 3], bias, stride, padding, [1, 1]), {}
        turned = (image, make(2, 3, 2, 3), [2, 3], bias, stride, padding, [1 if stride[0] > 1 else 0, 0], [1, 2])
        yield aten.slow_conv_transpose2d.default, turned, {}
        yield aten.slow_conv_transpose2d.default, (image[0], *turned[1:3], None, *turned[4:]), {}
        yield aten.slow_conv_transpose2d.out, turned, {"out": torch.empty(0, dtype=dtype)}
    # Strided weights: PyTorch's gradient for a strided image is another than that for its contiguous copy.
    yield aten.thnn_conv2d.default, (image, make(3, 2, 3, 2).transpose(2, 3), [2, 3]), {}
    for stride, padding in [([1, 1, 1], [0, 0, 0]), ([2, 1, 1], [1, 0, 1])]:
        for given in [bias, None]:
            call = (volume, deep, [2, 1, 2], given, stride, padding)
            yield aten.slow_conv3d.default, call, {}
            yield aten.slow_conv3d_forward.default, call, {}
            yield aten.slow_conv_dilated3d.default, (*call, [2, 1, 1]), {}
        yield aten.slow_conv3d.out, call, {"out": torch.empty(0, dtype=dtype)}
        yield aten.slow_conv3d_forward.output, call, {"output": torch.empty(0, dtype=dtype)}
        # PyTorch adds the bias of an unbatched volume to other planes than its channels.
        yield aten.slow_conv_dilated3d.default, (volume[0], deep, [2, 1, 2], None, stride, padding, [1, 2, 1]), {}
        turned = (volume, make(2, 3, 2, 1, 2), [2, 1, 2], bias, stride, padding, [1 if stride[0] > 1 else 0, 0, 0], [1, 1, 2])
        yield aten.slow_conv_transpose3d.default, turned, {}
        yield aten.slow_conv_transpose3d.default, (volume[0], *turned[1:3], None, *turned[4:]), {}
        yield aten.slow_conv_transpose3d.out, turned, {"out": torch.empty(0, dtype=dtype)}
    for pad, batch in [(0, 2), (1, 2), (2, 1)]:
        x, weight = make(5, batch, 3), make(2, 3, 4)
        yield aten.conv_tbc.default, (x, weight, make(4), pad), {}
        grad = make(4 + 2 * pad, batch, 4)
        yield aten.conv_tbc_backward.default, (grad, x, weight, make(4), pad), {}
    if dtype in (torch.float32, torch.float64):
        for x, out in [(make(2, 3, 4, 5, 3), (2, 3, 1)), (make(2, 4, 4, 2), (2, 2, 2))]:
            given = {"grad_input": torch.empty(0, dtype=dtype)}
            yield aten.adaptive_avg_pool3d_backward.grad_input, (make(*x.shape[:-3], *out), x), given


def written(dtype):
    make = lambda *sizes: sampled(dtype, *sizes)
    for x in [make(3, 4), make(4, 3).t(), make(4, 4)[:, ::2][:3], make(3, 1).expand(3, 4), make()]:
        for source in [make(*x.shape), make(*x.shape).float(), make(*x.shape[-1:]).half()]:
            if not (source.is_complex() and not dtype.is_complex):
                yield aten.copy.default, (x, source), {}
    yield aten.copy.default, (make(0, 2), make(1, 2)), {}
    for sizes, wrap in [((3, 3), False), ((8, 3), True), ((11, 3), True), ((8, 3), False), ((2, 5), True), ((3, 3, 3), True), ((0, 2), True), ((4, 1), True)]:
        yield aten.fill_diagonal_.default, (make(*sizes), 2, wrap), {}
    yield aten.fill_diagonal_.default, (make(3, 7).t(), 2, True), {}
    yield aten.slice_inverse.default, (make(12), make(3, 4), 0, 1, 2), {}
    yield aten.slice_inverse.default, (make(4, 3).t(), make(4, 3).t(), 1, 0, 2, 2), {}
    yield aten.slice_inverse.default, (make(4), make(0, 2)), {}
    for x, sizes, dim in [(make(3, 4), [1, 3], 1), (make(3, 4), [0, 2, 1], 0), (make(4, 3).t(), [2, 2], -1), (make(0), [0], 0)]:
        yield aten.unsafe_split_with_sizes.default, (x, sizes, dim), {}
    if not dtype.is_floating_point:
        return
    positive = sampled(dtype, 3, 4, low=2.5, high=6.0)
    for x in [positive, positive.t(), positive[:0], positive[0, 0]]:
        for order in [1, 2, 3]:
            yield aten.mvlgamma_.default, (x.clone(), order), {}
            yield aten.polygamma_.default, (x.clone(), order - 1), {}
        yield aten.normal_functional.default, (x, 1.5, 0.5), {}
        yield aten.special_log_softmax.default, (x, 0), {}
    yield aten.special_log_softmax.default, (positive, -1), {"dtype": torch.float64}
    yield aten.special_log_softmax.default, (torch.tensor([[1, 5], [2, 3]]), 1), {"dtype": dtype}
def metadata(dtype):
    x, other = sampled(dtype, 2, 3), sampled(dtype, 3)
    for tensor in [x, x.t(), other, sampled(dtype)]:
        for query in [aten.is_complex, aten.is_signed, aten.is_conj, aten.is_neg, aten.is_inference, aten.is_leaf, aten.output_nr, aten.is_distributed, aten.lift, aten.lift_fresh]:
            yield query.default, (tensor,), {}
    for number in [torch.tensor([0], dtype=dtype), torch.tensor([[3]], dtype=dtype), torch.tensor(1, dtype=dtype)]:
        yield aten.is_nonzero.default, (number,), {}
    for pair in [(x, x.clone()), (x, x.t()), (x, other), (x[:, 0], x[:, 0].clone())]:
        yield aten.is_same_size.default, pair, {}
        yield aten.equal.default, pair, {}
        yield aten.type_as.default, pair, {}
    yield aten.equal.default, (x, x.clone().fill_(1)), {}
    yield aten.equal.default, (x[:0], x[:0].clone()), {}
    yield aten.allclose.default, (x, x.clone()), {}
    yield aten.allclose.default, (x, x[:1].clone()), {}
    yield aten.allclose.default, (x, x + 1), {"rtol": 0.0, "atol": 1.5}
    if dtype.is_floating_point:
        nan = torch.tensor([float("nan"), 1], dtype=dtype)
        yield aten.equal.default, (nan, nan.clone()), {}
        yield aten.allclose.default, (nan, nan.clone()), {}
        yield aten.allclose.default, (nan, nan.clone()), {"equal_nan": True}
    for third in [torch.float16, torch.float64, torch.int32, torch.bool, torch.complex64]:
        yield aten.promote_types.default, (dtype, third), {}
        yield aten.can_cast.default, (dtype, third), {}
        yield aten.can_cast.default, (third, dtype), {}
        yield aten.result_type.Tensor, (x, torch.ones(2, dtype=third)), {}
        yield aten.result_type.Tensor, (x, torch.ones((), dtype=third)), {}
        yield aten.type_as.default, (x, torch.ones(2, dtype=third)), {}
    for number in [2, 2.5, True, 1j]:
        yield aten.result_type.Scalar, (x, number), {}
        yield aten.result_type.Scalar_Tensor, (number, other), {}
        yield aten.result_type.Scalar_Scalar, (number, 1.5), {}
        yield aten.result_type.Scalar_Scalar, (3, number), {}


def ranges(dtype):
    if dtype.is_complex:
        return
    for bounds in [(1, 4), (0.5, 4.5), (2, 2), (-1.5, 1)]:
        yield aten.range.default, bounds, {"dtype": dtype}
        yield aten.range.step, (*bounds, 2), {"dtype": dtype}
        yield aten.range.out, bounds, {"out": torch.empty(0, dtype=dtype)}
        yield aten.range.out_, bounds, {"out": torch.empty(0, dtype=dtype)}
    yield aten.range.step, (4, -1, -1), {"dtype": torch.float32 if dtype == torch.uint8 else dtype}
    yield aten.range.step, (0, 3, 0.25), {}
    yield aten.range.default, (1, 3), {}


def bytes_of(dtype):
    tensors = [sampled(dtype, 4, 8), sampled(dtype, 8), sampled(dtype, 4, 8)[1:, 2:6], sampled(dtype, 0, 4), sampled(dtype, 6, 2).t()]
    for tensor in tensors + [sampled(dtype)]:
        for other in [torch.int8, torch.int16, torch.float32, torch.int64, torch.complex128]:
            # Values that compare, whatever the bytes are: no half precision and no NaN.
            if dtype in (torch.int64, torch.uint8) and other.is_floating_point | other.is_complex:
                continue
            yield aten.view.dtype, (tensor, other), {}
            yield aten.view_copy.dtype, (tensor, other), {}


def view_copies(dtype):
    x = sampled(dtype, 3, 4)
    for tensor in [x, sampled(dtype, 4, 3).t(), sampled(dtype, 6, 4)[::2]]:
        yield aten.detach_copy.default, (tensor,), {}
        for dim, index in [(0, 1), (1, -1), (-2, 0)]:
            yield aten.select_copy.int, (tensor, dim, index), {}
        yield aten.slice_copy.Tensor, (tensor, 1, 1, None, 2), {}
        yield aten.slice_copy.Tensor, (tensor, 0, -2, 9), {}
        yield aten.slice_copy.Tensor, (tensor,), {}
        yield aten.split_copy.Tensor, (tensor, 2), {}
        yield aten.split_copy.Tensor, (tensor, 3, 1), {}
        yield aten.split_copy.Tensor_out, (tensor, 2), {"out": [torch.zeros(2, 4, dtype=dtype), torch.zeros(1, 4, dtype=dtype)]}
        yield aten.split_with_sizes_copy.out, (tensor, [1, 3], 1), {"out": [torch.zeros(3, 1, dtype=dtype), torch.zeros(0, dtype=dtype)]}
        yield aten.unbind_copy.int_out, (tensor,), {"out": [torch.zeros(4, dtype=dtype) for _ in range(3)]}
        if dtype.is_complex:
            yield aten.view_as_real_copy.default, (tensor,), {}
            yield aten.view_as_real_copy.default, (tensor.conj(),), {}
    if dtype in (torch.float32, torch.float64, torch.float16):
        for tensor in [sampled(dtype, 3, 2), sampled(dtype, 2), sampled(dtype, 4, 3, 2)[::2, 1:]]:
            yield aten.view_as_complex_copy.default, (tensor.detach(),), {}


def stored(dtype):
    source = sampled(dtype, 3, 4)
    for other in [source, source.t(), sampled(dtype, 0), sampled(dtype)]:
        yield aten.set_.source_Tensor, (sampled(dtype, 2), other), {}
    yield aten.set_.default, (sampled(dtype, 2),), {}
    for storage in [(1, [2, 3]), (2, [2, 2], [4, 1]), (0, [2, 0]), (11, [], []), (3, [3], [2])]:
        yield aten.set_.source_Tensor_storage_offset, (sampled(dtype, 2), source, *storage), {}


def conditions(dtype):
    for tensor in [sampled(dtype, 2, 3), torch.tensor([[0, 1], [2, 0]], dtype=dtype), torch.tensor([0, 1, 0], dtype=dtype)[::2], torch.tensor(1, dtype=dtype), sampled(dtype, 0, 2)]:
        yield aten.where.default, (tensor,), {}


def flat(dtype):
    make = lambda *sizes: sampled(dtype, *sizes)
    for tensors in [[make(2, 3), make(2)], [make(4, 2).t()], [make(), make(0, 3), make(1, 2)], [make(2), make(3).double()]]:
        yield aten.flatten_dense_tensors.default, (tensors,), {}
        yield aten.unflatten_dense_tensors.default, (make(9), tensors), {}


def histograms(dtype):
    if dtype not in (torch.float32, torch.float64):
        return
    # Multiples of 1/8 far from rounding at the edges.
    x, weight = (sampled(dtype, 3, 5, 2) * 8).round() / 8 + 0.01, sampled(dtype, 3, 5, low=0, high=1)
    edges = [torch.tensor([-2.0, -0.5, 0.25, 2.0], dtype=dtype), torch.tensor([-1.0, 0.0, 1.5], dtype=dtype)]
    for given, weights in [(x, weight), (x.transpose(0, 1), weight.t()), (x[0], weight[0]), (x[:, :0], weight[:, :0])]:
        for options in [{}, {"weight": weights}, {"weight": weights, "density": True}, {"density": True, "range": [-2.5, 2.5, -3.0, 2.0]}]:
            yield aten.histogramdd.default, (given, [3, 4]), options
            yield aten.histogramdd.int_bins, (given, 3), options
            yield aten.histogramdd.TensorList_bins, (given, edges), options


def lists(dtype):
    make = lambda low=-2.0, high=2.0: [sampled(dtype, 2, 3, low=low, high=high), sampled(dtype, 6, low=low, high=high)[::2], sampled(dtype, low=low, high=high)]
    a, b, c, positive = make(), make(), make(0.5, 3.0), make(0.5, 3.0)
    for name in "abs ceil cos cosh erf erfc exp expm1 floor frac neg reciprocal round sigmoid sign sin sinh tan tanh trunc atan".split():
        for suffix in ["", "_"]:
            yield getattr(aten, f"_foreach_{name}{suffix}").default, (c if name == "reciprocal" else a,), {}
    for name in "lgamma log log10 log1p log2 rsqrt sqrt acos asin".split():
        for suffix in ["", "_"]:
            values = make(0.1, 0.9) if name in ("acos", "asin") else positive
            yield getattr(aten, f"_foreach_{name}{suffix}").default, (values,), {}
    for suffix in ["", "_"]:
        of = lambda name: getattr(aten, f"_foreach_{name}{suffix}")
        for name in ["add", "sub", "mul", "div", "clamp_max", "clamp_min", "maximum", "minimum", "pow"]:
            base = positive if name == "pow" else a
            yield of(name).Scalar, (base, 2), {}
            yield of(name).List, (base, c), {}
            yield of(name).ScalarList, (base, [3, 2, 1]), {}
            if dtype.is_floating_point:
                yield of(name).Scalar, (base, 1.5), {}
        for name in ["add", "sub"]:
            yield of(name).List, (a, b), {"alpha": 2}
        for name in ["add", "mul", "div"]:
            yield of(name).Tensor, (a, torch.tensor(2, dtype=dtype)), {}
            yield of(name).Tensor, (a, torch.tensor(3, dtype=torch.uint8)), {}
        for name in ["addcdiv", "addcmul"]:
            yield of(name).Scalar, (a, b, c), {}
            yield of(name).Scalar, (a, b, c, 2), {}
            yield of(name).ScalarList, (a, b, c, [1, 2, 3]), {}
            yield of(name).Tensor, (a, b, c, torch.tensor([1, 2, 3], dtype=torch.float64)), {}
        yield of("lerp").Scalar, (a, b, 0.25), {}
        yield of("lerp").List, (a, b, make(0.1, 0.9)), {}
        yield of("lerp").ScalarList, (a, b, [0.25, 0.5, 0.75]), {}
    yield aten._foreach_pow.ScalarAndTensor, (2, c), {}
    yield aten._foreach_pow.ScalarAndTensor, (1.5, c), {}
    for order in [2, 1, 0, float("inf"), 3.5]:
        yield aten._foreach_norm.Scalar, (a, order), {}
    yield aten._foreach_norm.Scalar, (a, 2, torch.complex128 if dtype.is_complex else torch.float64), {}
    yield aten._foreach_max.default, (a,), {}
    yield aten._foreach_max.default, (b[:2],), {}
    yield aten._foreach_max.default, (c,), {}
    yield aten._foreach_copy_.default, (a, b), {}
    yield aten._foreach_copy_.default, (a, [sampled(dtype, 3), sampled(dtype, 1), sampled(dtype)]), {}
    yield aten._foreach_copy_.default, (a, [tensor.double().real for tensor in b]), {}
    for tensors in [a, b[:1], [c[0].t()]]:
        yield aten._foreach_zero_.default, (tensors,), {}


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    files = {}
    recorder = Recorder(files)
    dtypes = [torch.float32, torch.float64, torch.complex64, torch.bfloat16, torch.float16, torch.int64, torch.uint8]
    groups = [pointwise, copies, padding, windows, views, cross_entropies, sequences, steps, images]
    groups += [activations, margins, gradients, norm_gradients, slow_convolutions, written, metadata, ranges, bytes_of]
    groups += [view_copies, stored, conditions, flat, histograms, lists]
    for group in groups:
        for at, dtype in enumerate(dtypes):
            torch.manual_seed(2026 + at)
            try:
                for function, args, kwargs in group(dtype):
                    try:
                        with enable_python_dispatcher(), recorder:
                            function(*args, **kwargs)
                    except (RuntimeError, NotImplementedError) as error:
                        print(f"{function} {dtype}: rejected: {str(error).splitlines()[0]}")
            except (RuntimeError, NotImplementedError) as error:
                print(f"{group.__name__} {dtype}: ends: {str(error).splitlines()[0]}")
    for name, file in files.items():
        if file.cases:
            file.save(directory / f"{name}.overloads.safetensors")
    print(sum(len(file.cases) for file in files.values()), "cases of", len(files), "operators")


if __name__ == "__main__":
    main()
