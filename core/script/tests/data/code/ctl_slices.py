class Slices(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(self: __torch__.zoo_public.Slices,
    x: Tensor,
    idx: Tensor) -> List[Tensor]:
    y = torch.clone(x)
    _0 = torch.slice(torch.slice(y), 1, 1, 3)
    _1 = torch.tensor(0, dtype=ops.prim.dtype(_0), device=ops.prim.device(_0))
    _2 = torch.copy_(_0, _1)
    _3 = torch.add_(torch.select(y, 0, 0), 1)
    _4 = torch.mul_(torch.select(y, -1, -1), 2)
    _5 = annotate(List[Optional[Tensor]], [idx])
    _6 = torch.sub(torch.index(y, _5), 3)
    _7 = annotate(List[Optional[Tensor]], [idx])
    _8 = torch.index_put_(y, _7, _6)
    _9 = torch.gt(y, 1)
    _10 = torch.tensor(0.5, dtype=ops.prim.dtype(y), device=ops.prim.device(y))
    _11 = annotate(List[Optional[Tensor]], [_9])
    _12 = torch.index_put_(y, _11, _10)
    m = torch.lt(x, 0)
    z = torch.where(m, x, torch.neg(x))
    _13 = torch.zeros([int(torch.sum(m))])
    _14 = annotate(List[Optional[Tensor]], [m])
    _15 = torch.index_put_(z, _14, _13)
    v = torch.slice(torch.view(x, [-1]), 0, None, None, 2)
    _16 = torch.view(torch.contiguous(torch.t(x)), [torch.size(x, 1), -1, 1])
    _17 = torch.unsqueeze(torch.slice(_16), 1)
    w = torch.select(torch.slice(_17, 2), 3, 0)
    _18 = torch.select(x, 1, 0)
    _19 = annotate(List[Optional[Tensor]], [idx])
    a = torch.index(_18, _19)
    a0 = torch.sub_(a, 1)
    _20 = torch.slice(torch.unsqueeze(x, 0), 1)
    b = torch.slice(_20, -1, 1)
    _21 = torch.select(torch.slice(y, 0, 1), 1, 0)
    _22 = torch.fill_(_21, 9)
    _23 = torch.expand(torch.unsqueeze(x, 0), [2, -1, -1])
    x2 = torch.select(_23, 0, 1)
    _24 = torch.flip(x2, [0])
    _25 = torch.slice(torch.slice(torch.cat([x, y], 1)), 1, None, None, 3)
    _26 = [y, z, v, w, a0, b, _24, _25, torch.index_select(x, 0, idx), torch.masked_fill(x, m, 7.), torch.narrow(x, 1, 0, 2)]
    return _26
