class Mixed(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  gates : __torch__.torch.nn.modules.container.ModuleList
  heads : __torch__.torch.nn.modules.container.ModuleDict
  ws : __torch__.torch.nn.modules.container.ParameterList
  def forward(self: __torch__.zoo_public.Mixed,
    x: Tensor,
    deep: bool) -> Tuple[Dict[str, Tensor], Tensor]:
    _0 = __torch__.zoo_public.___torch_mangle_0.Gate.post
    _1 = __torch__.torch.nn.modules.linear.___torch_mangle_1.Linear.pre
    gates = self.gates
    _00 = getattr(gates, "0")
    _10 = getattr(gates, "1")
    _2 = getattr(gates, "2")
    x0 = torch.add(x, torch.mul((_00).forward(x, ), 1))
    _3 = _0(_10, (x0,), (_10).forward(x0, ), )
    x1 = torch.add(x0, torch.mul(_3, 2))
    x2 = torch.add(x1, torch.mul((_2).forward(x1, ), 3))
    ws = self.ws
    _02 = getattr(ws, "0")
    _14 = getattr(ws, "1")
    _22 = getattr(ws, "2")
    gates0 = self.gates
    _03 = getattr(gates0, "0")
    _15 = getattr(gates0, "1")
    _23 = getattr(gates0, "2")
    x3 = torch.add(torch.mul(x2, _02), (_03).forward(x2, ))
    _4 = torch.mul(x3, _14)
    _5 = _0(_15, (x3,), (_15).forward(x3, ), )
    x4 = torch.add(_4, _5)
    x5 = torch.add(torch.mul(x4, _22), (_23).forward(x4, ))
    if deep:
      gates1 = self.gates
      _24 = getattr(gates1, "2")
      x6 = (_24).forward(x5, )
    else:
      x6 = x5
    out = annotate(Dict[str, Tensor], {})
    heads = self.heads
    small = heads.small
    large = heads.large
    _6, = _1(small, (x6,), )
    torch._set_item(out, "small", (small).forward(_6, ))
    torch._set_item(out, "large", (large).forward(x6, ))
    return (out, x6)
class Gate(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  k : float
  lin : __torch__.torch.nn.modules.linear.Linear
  def forward(self: __torch__.zoo_public.Gate,
    x: Tensor) -> Tensor:
    lin = self.lin
    _6 = torch.sigmoid((lin).forward(x, ))
    k = self.k
    return torch.mul(_6, k)
