class Classes(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(self: __torch__.zoo_public.Classes,
    pts: List[Tuple[float, float]]) -> Tuple[float, float, int, List[float], Tensor]:
    acc = __torch__.zoo_public.Vec.__new__(__torch__.zoo_public.Vec)
    _0 = (acc).__init__(0., 0., )
    vs = annotate(List[__torch__.zoo_public.Vec], [])
    acc0 = acc
    for _1 in range(torch.len(pts)):
      p = pts[_1]
      _2 = (p)[0]
      _3 = (p)[1]
      v = __torch__.zoo_public.Vec.__new__(__torch__.zoo_public.Vec)
      _4 = (v).__init__(_2, _3, )
      _5 = torch.append(vs, v)
      acc0 = (acc0).__add__(v, )
    _6 = (acc0).scale_(0.5, )
    torch.sort(vs)
    x = acc0.x
    y = acc0.y
    _7 = (acc0).__len__()
    _8 = annotate(List[float], [])
    for _9 in range(torch.len(vs)):
      v0 = vs[_9]
      _10 = torch.append(_8, (v0).norm())
    _11 = (acc0).norm()
    x0 = acc0.x
    _12 = (x, y, _7, _8, torch.tensor([_11, x0]))
    return _12
class Vec:
  x : float
  y : float
  log : List[str]
  def __add__(self: __torch__.zoo_public.Vec,
    o: __torch__.zoo_public.Vec) -> __torch__.zoo_public.Vec:
    x = self.x
    x1 = o.x
    _13 = torch.add(x, x1)
    y = self.y
    y0 = o.y
    _14 = torch.add(y, y0)
    r = __torch__.zoo_public.Vec.__new__(__torch__.zoo_public.Vec)
    _15 = (r).__init__(_13, _14, )
    log = self.log
    r.log = torch.add(log, ["add"])
    return r
  def __init__(self: __torch__.zoo_public.Vec,
    x: float,
    y: float) -> NoneType:
    self.x = x
    self.y = y
    self.log = annotate(List[str], [])
    return None
  def __len__(self: __torch__.zoo_public.Vec) -> int:
    log = self.log
    return torch.len(log)
  def __lt__(self: __torch__.zoo_public.Vec,
    o: __torch__.zoo_public.Vec) -> bool:
    return torch.lt((self).norm(), (o).norm())
  def norm(self: __torch__.zoo_public.Vec) -> float:
    x = self.x
    x2 = self.x
    _16 = torch.mul(x, x2)
    y = self.y
    y1 = self.y
    _17 = torch.sqrt(torch.add(_16, torch.mul(y, y1)))
    return _17
  def scale_(self: __torch__.zoo_public.Vec,
    k: float) -> NoneType:
    x = self.x
    self.x = torch.mul(x, k)
    y = self.y
    self.y = torch.mul(y, k)
    log = self.log
    _18 = torch.append(log, "scale")
    return None
