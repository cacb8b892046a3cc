"""Golden cases of operators that no sample input of PyTorch's reaches by name: overloads, what composites call inside, views in
place, fused steps, `binary_cross_entropy` of shapes that differ in dimensions of size 1, resizing with antialiasing.

    python golden_overloads.py DIR

writes DIR/NAME.safetensors as golden.py does, which records; here are the calls. tests/data/golden-overloads.tar.zst holds them.
"""

import pathlib
import sys

import torch
from torch._dispatch.python import enable_python_dispatcher

import golden

aten = torch.ops.aten


class Recorder(golden.Recorder):
    """Writes a call down without gradients where PyTorch has none."""

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


def drawn(dtype, *shape, low=-2.0, high=2.0):
    """Numbers of a dtype; whole ones for integers."""
    if dtype.is_complex:
        return torch.complex(*(drawn(dtype.to_real(), *shape, low=low, high=high) for _ in range(2)))
    numbers = torch.rand(shape) * (high - low) + low
    return (numbers * 4).to(dtype) if not dtype.is_floating_point else numbers.to(dtype)


def pointwise(dtype):
    x, positive = drawn(dtype, 3, 4), drawn(dtype, 3, 4, low=0.5, high=3.0)
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
    yield aten.clamp_max.default, (drawn(dtype, 2, 3, 4)[:, ::2], 1), {}
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
        above = drawn(dtype, 3, 4, low=1.5, high=5.0)
        yield aten.special_zeta.default, (above.detach(), positive), {}
        yield aten.special_zeta.self_scalar, (2.5, positive), {}
        yield aten.special_zeta.other_scalar, (above, 1.5), {}
        yield aten.igamma.default, (positive, above), {}
        yield aten.igammac.default, (positive, above), {}
    if dtype.is_floating_point:
        yield aten._neg_view.default, (x,), {}
    yield aten.aminmax.default, (x,), {}
    yield aten.aminmax.default, (x,), {"dim": 1}
    yield aten.aminmax.default, (drawn(dtype, 2, 3, 4).transpose(0, 2),), {"dim": -1, "keepdim": True}


def copies(dtype):
    x = drawn(dtype, 3, 4)
    yield aten.fill.Tensor, (x, drawn(dtype)), {}
    yield aten.copy_.default, (x, drawn(dtype, 4)), {}
    yield aten.copy_.default, (drawn(dtype, 4, 3).t(), drawn(dtype, 3, 1)), {}
    yield aten.narrow_copy.default, (x, 1, 1, 2), {}
    yield aten.narrow_copy.default, (x.t(), -2, 0, 3), {}
    yield aten.squeeze_copy.dims, (drawn(dtype, 1, 3, 1, 2), [0, 2]), {}
    yield aten.squeeze_copy.dims, (drawn(dtype, 1, 3, 1, 2), [-2, 1]), {}
    yield aten.slice_scatter.default, (x, drawn(dtype, 3, 2), 1, 1, 3), {}
    yield aten.slice_scatter.default, (x, drawn(dtype, 2, 4), 0, 0, 3, 2), {}
    indices = [torch.tensor([0, 2, 0]), torch.tensor([1, 3, 1])]
    yield aten._index_put_impl.default, (x, indices, drawn(dtype, 3), True), {}
    yield aten._index_put_impl.default, (x, [None, torch.tensor([3, 0])], drawn(dtype, 2)), {}
    index = torch.tensor([[0, 1, 2, 0], [2, 0, 0, 1]])
    for reduce in ["add", "multiply"]:
        yield aten.scatter.reduce, (x, 0, index, drawn(dtype, 2, 4)), {"reduce": reduce}
        yield aten.scatter.value_reduce, (x, 0, index, 2), {"reduce": reduce}


def padding(dtype):
    for dims, sizes, pads in [(1, (2, 3, 5), [2, 1]), (2, (2, 3, 4, 5), [2, 1, 0, 3]), (3, (1, 2, 3, 4, 3), [1, 2, 2, 1, 1, 0])]:
        for kind in ["reflection", "replication"]:
            forward, backward = (getattr(aten, f"{kind}_pad{dims}d{suffix}").default for suffix in ["", "_backward"])
            for shape in [sizes, sizes[1:]]:
                x = drawn(dtype, *shape)
                yield forward, (x, pads), {}
                yield backward, (drawn(dtype, *forward(x, pads).shape), x, pads), {}
            yield forward, (drawn(dtype, *sizes).transpose(0, 1), [1] * (2 * dims)), {}


def windows(dtype):
    if dtype.is_complex or not dtype.is_floating_point:
        return
    for dims, forward, backward in [
        (2, aten.fractional_max_pool2d, aten.fractional_max_pool2d_backward),
        (3, aten.fractional_max_pool3d, aten.fractional_max_pool3d_backward),
    ]:
        x = drawn(dtype, 2, 3, *[7, 6, 5][:dims])
        window, sizes = [2] * dims, [3, 4, 2][:dims]
        samples = torch.rand(2, 3, dims).to(dtype)
        out, indices = forward.default(x, window, sizes, samples)
        yield forward.default, (x, window, sizes, samples), {}
        yield backward.default, (drawn(dtype, *out.shape), x, window, sizes, indices), {}
    for dilation, pads, strides in [(1, 0, 1), (2, 1, 2)]:
        x = drawn(dtype, 2, 3, 7, 6)
        options = ([2, 3], [dilation] * 2, [pads] * 2, [strides] * 2)
        columns = aten.im2col.default(x, *options)
        yield aten.im2col.default, (x, *options), {}
        yield aten.im2col.default, (x[0], *options), {}
        yield aten.col2im.default, (drawn(dtype, *columns.shape), [7, 6], *options), {}
        yield aten.col2im.default, (drawn(dtype, *columns.shape[1:]), [7, 6], *options), {}
    yield aten.native_dropout_backward.default, (drawn(dtype, 3, 4), torch.rand(3, 4) > 0.4, 2.5), {}
    if dtype in (torch.float32, torch.float64):
        logits = drawn(dtype, 6, 2, 4).log_softmax(-1)
        # Both as long as the longest: PyTorch leaves the rest of its second result unwritten.
        targets, sizes = torch.tensor([[1, 2, 2], [3, 1, 2]]), ([6, 6], [3, 3])
        yield aten._ctc_loss.default, (logits, targets, *sizes), {}
        yield aten._ctc_loss.default, (logits, targets.flatten(), *sizes, 0, True), {}


def views(dtype):
    if dtype not in (torch.float32, torch.int64):
        return
    for tensor in [drawn(dtype, 2, 3), drawn(dtype, 3), drawn(dtype), drawn(dtype, 4, 3).t()]:
        yield aten.t_.default, (tensor,), {}
    for name in [aten.transpose_, aten.swapaxes_, aten.swapdims_, aten.swapaxes, aten.swapdims]:
        for sizes, dims in [((2, 3, 4), (0, 2)), ((2, 3, 4), (-1, 1)), ((2, 3), (1, 1))]:
            yield name.default, (drawn(dtype, *sizes), *dims), {}
    for dim in [0, 1, -1, 2]:
        yield aten.unsqueeze_.default, (drawn(dtype, 2, 3), dim), {}
    yield aten.unsqueeze_.default, (drawn(dtype, 4, 3).t(), 1), {}
    for sizes in [(1, 2, 1, 3), (2, 3), (1, 1)]:
        yield aten.squeeze_.default, (drawn(dtype, *sizes),), {}
        yield aten.squeeze_.dim, (drawn(dtype, *sizes), 0), {}
        yield aten.squeeze_.dim, (drawn(dtype, *sizes), -1), {}
        yield aten.squeeze_.dims, (drawn(dtype, *sizes), [0, 1]), {}
    yield aten.as_strided_.default, (drawn(dtype, 3, 4), [2, 2], [1, 4], 1), {}
    yield aten.as_strided_.default, (drawn(dtype, 3, 4), [5], [2]), {}
    for sizes, strides in [((4, 3), (3, 1)), ((12,), (1,)), ((2, 2, 3), (6, 3, 1))]:
        yield aten._reshape_alias.default, (drawn(dtype, 3, 4), sizes, strides), {}


def cross_entropies(dtype):
    if dtype not in (torch.float32, torch.float64):
        return
    share = lambda *sizes: drawn(dtype, *sizes, low=0.01, high=0.99)
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
    function, make = aten.pad_sequence.default, lambda *sizes: drawn(dtype, *sizes)
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
        lists = [[drawn(dtype, *sizes, low=0.01, high=0.99) for sizes in [(3, 5), (33,)]] for _ in range(3)]
        options = {"lr": 0.1, "lr_decay": lr_decay, "weight_decay": decay, "eps": 1e-10, "maximize": maximize}
        yield aten._fused_adagrad_.default, (*lists, [torch.tensor(1.0), torch.tensor(4.0)]), options


def images(dtype):
    if dtype not in (torch.float32, torch.float64, torch.uint8):
        return
    make = lambda *sizes: drawn(dtype, *sizes, low=0, high=63 if dtype == torch.uint8 else 1)
    # An image of width 1 is left out: PyTorch 2.7.1 mixes its rows up.
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


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    files = {}
    recorder = Recorder(files)
    dtypes = [torch.float32, torch.float64, torch.complex64, torch.bfloat16, torch.float16, torch.int64, torch.uint8]
    for group in [pointwise, copies, padding, windows, views, cross_entropies, sequences, steps, images]:
        for at, dtype in enumerate(dtypes):
            torch.manual_seed(2026 + at)
            try:
                for function, args, kwargs in group(dtype):
                    try:
                        with enable_python_dispatcher(), recorder:
                            function(*args, **kwargs)
                    except (RuntimeError, NotImplementedError) as error:
                        print(f"{function} {dtype}: refused: {str(error).splitlines()[0]}")
            except (RuntimeError, NotImplementedError) as error:
                print(f"{group.__name__} {dtype}: ends: {str(error).splitlines()[0]}")
    for name, file in files.items():
        if file.cases:
            file.save(directory / f"{name}.safetensors")
    print(sum(len(file.cases) for file in files.values()), "cases of", len(files), "operators")


if __name__ == "__main__":
    main()
