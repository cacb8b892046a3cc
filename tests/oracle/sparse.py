"""Writes tests/data/sparse.expected.txt: results of PyTorch 2.7.1 for the calls of core/tensor/tests/sparse_cases.rs.

A line is a name, the layout, and the elements: of a tensor in COO format its coordinates and values, of a compressed one its
indices and values, of a strided one its elements.
"""

import pathlib
import warnings

import torch

warnings.filterwarnings("ignore")
OUT = pathlib.Path(__file__).parent.parent / "data" / "sparse.expected.txt"


def numbers(tensor):
    tensor = tensor.detach()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return " ".join(f"{float(value):.9g}" for value in tensor.to(torch.float64).flatten())


def line(name, tensor):
    if tensor.layout == torch.sparse_coo:
        parts = [numbers(tensor._indices()), numbers(tensor._values())]
    elif tensor.layout == torch.sparse_csr:
        parts = [numbers(tensor.crow_indices()), numbers(tensor.col_indices()), numbers(tensor.values())]
    elif tensor.layout == torch.sparse_csc:
        parts = [numbers(tensor.ccol_indices()), numbers(tensor.row_indices()), numbers(tensor.values())]
    else:
        parts = [numbers(tensor)]
    sizes = "x".join(str(size) for size in tensor.shape)
    return f"{name} | {str(tensor.layout).split('.')[-1]} | {str(tensor.dtype).split('.')[-1]} {sizes} | " + " | ".join(parts)


def inputs(dtype):
    i = torch.tensor([[0, 1, 1, 0, 3, 2], [2, 0, 2, 2, 1, 0]])
    v = torch.tensor([3.0, 4.0, 5.0, 1.0, -2.0, 0.5]).to(dtype)
    a = torch.sparse_coo_tensor(i, v, (4, 3))
    j = torch.tensor([[0, 1, 3], [2, 1, 1]])
    b = torch.sparse_coo_tensor(j, torch.tensor([2.0, 7.0, 3.0]).to(dtype), (4, 3))
    h = torch.sparse_coo_tensor(
        torch.tensor([[1, 3, 1]]), (torch.arange(6.0) - 2).reshape(3, 2).to(dtype), (4, 2)
    )
    d = (torch.arange(12.0).reshape(4, 3) - 5).to(dtype)
    m = (torch.arange(6.0).reshape(3, 2) - 2).to(dtype)
    return a, b, h, d, m


def attempt(name, call):
    """The result, unless PyTorch has no kernel for the dtype."""
    try:
        yield name, call()
    except RuntimeError as error:
        if "not implemented" not in str(error) and "not intended" not in str(error):
            raise RuntimeError(f"{name}: {error}") from error


def cases(dtype):
    a, b, h, d, m = inputs(dtype)
    c, cb = a.coalesce(), b.coalesce()
    csr, csc = c.to_sparse_csr(), c.to_sparse_csc()
    yield from attempt("coalesce", lambda: c)
    yield from attempt("coalesce.hybrid", lambda: h.coalesce())
    yield from attempt("to_dense", lambda: a.to_dense())
    yield from attempt("to_dense.hybrid", lambda: h.to_dense())
    yield from attempt("to_sparse", lambda: d.to_sparse())
    yield from attempt("to_sparse.1", lambda: d.to_sparse(1))
    yield from attempt("to_sparse_csr", lambda: csr)
    yield from attempt("to_sparse_csc", lambda: csc)
    yield from attempt("csr.to_sparse", lambda: csr.to_sparse())
    yield from attempt("csc.to_sparse_csr", lambda: csc.to_sparse_csr())
    yield from attempt("t", lambda: a.t())
    yield from attempt("csr.t", lambda: csr.t())
    yield from attempt("unsqueeze", lambda: c.unsqueeze(1))
    yield from attempt("permute", lambda: c.permute(1, 0))
    yield from attempt("select.0", lambda: c.select(0, 1))
    yield from attempt("select.1", lambda: c.select(1, -1))
    yield from attempt("index_select", lambda: c.index_select(0, torch.tensor([1, 0])))
    yield from attempt("cat.0", lambda: torch.cat([c, cb], 0))
    yield from attempt("cat.1", lambda: torch.cat([c, cb], 1))
    yield from attempt("neg", lambda: -a)
    yield from attempt("abs", lambda: a.abs())
    yield from attempt("sign", lambda: a.sign())
    yield from attempt("mul.number", lambda: a * 3)
    yield from attempt("csr.mul.number", lambda: csr * 3)
    yield from attempt("mul.sparse", lambda: a * b)
    yield from attempt("mul.dense", lambda: a * d)
    yield from attempt("csr.mul.sparse", lambda: csr * cb.to_sparse_csr())
    yield from attempt("add.sparse", lambda: c + cb)
    yield from attempt("add.alpha", lambda: torch.add(c, cb, alpha=2))
    yield from attempt("sub.sparse", lambda: c - cb)
    yield from attempt("csr.add", lambda: csr + cb.to_sparse_csr())
    yield from attempt("add.dense", lambda: d + a)
    yield from attempt("add.dense.hybrid", lambda: torch.ones(4, 2, dtype=dtype) + h)
    yield from attempt("sum", lambda: a.sum())
    yield from attempt("sum.0", lambda: a.sum(0))
    yield from attempt("sum.1", lambda: a.sum(1))
    yield from attempt("sum.keepdim", lambda: a.sum(0, keepdim=True))
    yield from attempt("sum.hybrid.1", lambda: h.sum(1))
    yield from attempt("sparse_mask", lambda: d.sparse_mask(c))
    yield from attempt("sparse_mask.sparse", lambda: cb.sparse_mask(c))
    yield from attempt("sparse_mask.csr", lambda: d.sparse_mask(csr))
    if dtype.is_floating_point or dtype.is_complex:
        yield from attempt("div.number", lambda: a / 2)
        yield from attempt("mm", lambda: torch.mm(a, m))
        yield from attempt("csr.mm", lambda: torch.mm(csr, m))
        yield from attempt("csc.mm", lambda: torch.mm(csc, m))
        yield from attempt("mm.dense.sparse", lambda: torch.mm(m.t(), c.t()))
        yield from attempt("mm.sparse.sparse", lambda: torch.mm(c, cb.t()).coalesce())
        yield from attempt("addmm", lambda: torch.addmm(torch.ones(4, 2, dtype=dtype), a, m, beta=0.5, alpha=2))
        yield from attempt("csr.addmm", lambda: torch.addmm(torch.ones(4, 2, dtype=dtype), csr, m, beta=0.5, alpha=2))
        yield from attempt("mv", lambda: torch.mv(a, m[:, 1]))
        yield from attempt("csr.mv", lambda: torch.mv(csr, m[:, 1]))
        yield from attempt("hspmm", lambda: torch.hspmm(c, m))
        yield from attempt("smm", lambda: torch.smm(c, m))
        yield from attempt("sspaddmm", lambda: torch.sspaddmm(torch.mm(c, cb.t()).coalesce(), c, cb.t().to_dense(), alpha=2).coalesce())
        yield from attempt("sampled_addmm", lambda: torch.sparse.sampled_addmm(csr, d @ d.t(), d, beta=0.5, alpha=2))
    if dtype.is_floating_point:
        yield from attempt("sin", lambda: a.sin())
        yield from attempt("expm1", lambda: a.expm1())
        yield from attempt("relu", lambda: a.relu())
        yield from attempt("csr.sin", lambda: csr.sin())
        yield from attempt("pow", lambda: a.pow(2))
        yield from attempt("norm", lambda: c.norm())
    yield from inner_cases(dtype, a, b, h, d, csr)


def inner_cases(dtype, a, b, h, d, csr):
    """Operators that other ones call."""
    op = torch.ops.aten
    yield from attempt("sum_backward.0", lambda: op._sparse_sum_backward(torch.sparse.sum(a, 0, dtype=dtype), a, [0]))
    yield from attempt("sum_backward.hybrid.1", lambda: op._sparse_sum_backward(torch.sparse.sum(h, 1, dtype=dtype), h, [1]))
    yield from attempt("sum_backward.dense", lambda: op._sparse_sum_backward(h.to_dense()[1], h, [0]))
    yield from attempt("sum_backward.all", lambda: op._sparse_sum_backward(d[1, 2], a, [0, 1]))
    for name, function in [("sum", op._sparse_csr_sum), ("prod", op._sparse_csr_prod)]:
        for dims in [[0], [1], [0, 1], [-1], []]:
            label = ".".join(str(dim) for dim in dims)
            yield from attempt(f"csr_{name}.{label}", lambda: function(csr, dims, True))
        yield from attempt(f"csr_{name}.dtype", lambda: function(csr, [1], True, dtype=torch.float64))
    yield from attempt("broadcast_to.lead", lambda: op._sparse_broadcast_to(a, [2, 4, 3]))
    yield from attempt("broadcast_to.hybrid", lambda: op._sparse_broadcast_to(h, [2, 4, 2]))
    one = torch.sparse_coo_tensor(torch.tensor([[1, 2], [0, 0]]), d[0, :2], (3, 1)).coalesce()
    yield from attempt("broadcast_to.last", lambda: op._sparse_broadcast_to(one, [3, 4]))
    yield from attempt("broadcast_to.last.coalesced", lambda: torch.tensor(op._sparse_broadcast_to(one, [3, 4]).is_coalesced()))
    yield from attempt("broadcast_to.first", lambda: op._sparse_broadcast_to(one.t().coalesce(), [2, 3]))
    yield from attempt("mask_projection", lambda: op._sparse_mask_projection(a, b))
    yield from attempt("mask_projection.accumulated", lambda: op._sparse_mask_projection(b, a, True))
    yield from attempt("mask_projection.hybrid", lambda: op._sparse_mask_projection(h, h, True))
    if dtype.is_floating_point:
        for name, function, backward in [
            ("softmax", op._sparse_softmax, op._sparse_softmax_backward_data),
            ("log_softmax", op._sparse_log_softmax, op._sparse_log_softmax_backward_data),
        ]:
            for label, x, dim in [("0", a, 0), ("1", a, 1), ("hybrid.0", h, 0), ("hybrid.1", h, 1)]:
                result = function.default(x, dim, False)
                yield from attempt(f"{name}.{label}", lambda: result)
                yield from attempt(f"{name}.backward.{label}", lambda: backward(x * 0.5, result, dim, x))
            yield from attempt(f"{name}.backward.other", lambda: backward(b, function.default(a, 1, False), 1, a))
            yield from attempt(f"{name}.dtype", lambda: function.int(a, 0, torch.float64))
        for p in [2, 1, 3.5, float("inf")]:
            yield from attempt(f"native_norm.{p}", lambda: op.native_norm(a, p))
        yield from attempt("native_norm.dims", lambda: op.native_norm(h, None, [0, 1], False, None))
        empty_row = torch.sparse_csr_tensor([0, 1, 1, 3], [0, 1, 3], d[0], (3, 4))
        for reduce in ["sum", "mean", "amax", "amin"]:
            yield from attempt(f"mm_reduce.{reduce}", lambda: op._sparse_mm_reduce_impl(empty_row, d, reduce)[0])


def gradients():
    a, b, h, d, m = inputs(torch.float64)
    c, cb = a.coalesce(), b.coalesce()

    def weighted(result):
        if result.layout != torch.strided:
            result = result.to_dense()
        weights = torch.arange(1.0, result.numel() + 1, dtype=torch.float64).reshape(result.shape)
        return (result * weights).sum()

    def run(name, call, *leaves):
        leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
        weighted(call(*leaves)).backward()
        for index, leaf in enumerate(leaves):
            grad = leaf.grad.coalesce() if leaf.grad.layout == torch.sparse_coo else leaf.grad
            yield f"grad.{name}.{index}", grad

    yield from run("to_dense", lambda x: x.to_dense(), c)
    yield from run("csr.to_dense", lambda x: x.to_dense(), c.to_sparse_csr())
    yield from run("to_sparse", lambda x: x.to_sparse(), d)
    yield from run("values", lambda x: x.coalesce().values(), c)
    yield from run("construct", lambda v: torch.sparse_coo_tensor(a._indices(), v, (4, 3)), a._values())
    yield from run("construct.hybrid", lambda v: torch.sparse_coo_tensor(h._indices(), v, (4, 2)), h._values())
    yield from run("mm", torch.mm, c, m)
    yield from run("csr.mm", torch.mm, c.to_sparse_csr(), m)
    yield from run("sparse.mm", torch.sparse.mm, c, m)
    yield from run("csr.sparse.mm", torch.sparse.mm, c.to_sparse_csr(), m)
    yield from run("addmm", lambda i, y: torch.addmm(i, c, y, beta=2, alpha=3), torch.ones(4, 2, dtype=torch.float64), m)
    yield from run("mul.number", lambda x: x * 3, c)
    yield from run("neg", lambda x: -x, c)
    yield from run("add", lambda x, y: torch.add(x, y, alpha=2), c, cb)
    yield from run("add.dense", lambda x, y: torch.add(x, y, alpha=2), d, c)
    yield from run("mul.sparse", lambda x, y: x * y, c, cb)
    yield from run("t", lambda x: x.t(), c)
    yield from run("sum", lambda x: x.sum() * 2, c)
    yield from run("sparse.sum", lambda x: torch.sparse.sum(x) * 2, c)
    yield from run("sparse.sum.0", lambda x: torch.sparse.sum(x, 0), c)
    yield from run("sparse_mask", lambda x: x.sparse_mask(c), d)
    for dim in [0, 1]:
        yield from run(f"softmax.{dim}", lambda x: torch.sparse.softmax(x, dim), c)
        yield from run(f"log_softmax.{dim}", lambda x: torch.sparse.log_softmax(x, dim), c)
    yield from run("softmax.hybrid", lambda x: torch.sparse.softmax(x, 0), h.coalesce())
    for reduce in ["sum", "mean", "amax", "amin"]:
        yield from run(f"mm_reduce.{reduce}", lambda x, y: torch.sparse.mm(x, y, reduce), c.to_sparse_csr(), m)


def main():
    lines = []
    for dtype in [torch.float32, torch.float64, torch.int64, torch.complex64]:
        name = str(dtype).split(".")[-1]
        generator = cases(dtype)
        lines += [line(f"{name}.{case}", tensor) for case, tensor in generator]
    lines += [line(name, tensor) for name, tensor in gradients()]
    OUT.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} lines in {OUT}")


main()
