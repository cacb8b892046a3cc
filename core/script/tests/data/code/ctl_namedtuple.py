class Boxes(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(self: __torch__.zoo_public.Boxes,
    b: __torch__.zoo_public.Box,
    by: Optional[float]=None,
    others: Optional[List[__torch__.zoo_public.Box]]=None) -> Tuple[__torch__.zoo_public.Box, Tuple[Tensor, Tensor], Optional[Tensor], List[str]]:
    g = (self).grow(b, by, )
    lo, hi, label, name, = g
    if torch.__isnot__(name, None):
      _0 = unchecked_cast(str, name)
    else:
      _0 = "?"
    names = [_0]
    if torch.__isnot__(others, None):
      others0 = unchecked_cast(List[__torch__.zoo_public.Box], others)
      inter0: Optional[Tensor] = None
      for _1 in range(torch.len(others0)):
        o = others0[_1]
        _2 = torch.sub(torch.min((o)[1], hi), torch.max((o)[0], lo))
        cur = torch.clamp(_2, 0)
        if torch.__is__(inter0, None):
          inter1 = cur
        else:
          inter2 = unchecked_cast(Tensor, inter0)
          inter1 = torch.add(inter2, cur)
        n = (o)[3]
        if torch.__isnot__(n, None):
          n0 = unchecked_cast(str, n)
          _3 = torch.append(names, n0)
        else:
          pass
        inter0 = inter1
      inter : Optional[Tensor] = inter0
    else:
      inter = None
    _4 = (g, (torch.mul(lo, label), hi), inter, names)
    return _4
  def grow(self: __torch__.zoo_public.Boxes,
    b: __torch__.zoo_public.Box,
    by: Optional[float]) -> __torch__.zoo_public.Box:
    if torch.__is__(by, None):
      k = 1.
    else:
      k = unchecked_cast(float, by)
    _5 = __torch__.zoo_public.Box(torch.sub((b)[0], k), torch.add((b)[1], k), torch.add((b)[2], 1), (b)[3])
    return _5
class Box(NamedTuple):
  lo : Tensor
  hi : Tensor
  label : int
  name : Optional[str]
