class Loops(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  limit : int
  lin : __torch__.torch.nn.modules.linear.Linear
  def forward(self: __torch__.zoo_public.Loops,
    x: Tensor,
    n: int,
    stop: float) -> Tuple[Tensor, List[int], int, float, bool]:
    _0 = uninitialized(Tensor)
    _1 = uninitialized(float)
    _2 = uninitialized(bool)
    kept = annotate(List[Tensor], [])
    if torch.eq(torch.numel(x), 0):
      _3 = (x, [0], -1, 0., False)
    else:
      total = 0.
      x0 = x
      _4 = 0
      _5 = torch.gt(n, 0)
      while _5:
        _6 = torch.eq(torch.remainder(_4, 3), 1)
        if _6:
          _7, _8, _9, _10, _11, _12, _13 = True, True, total, x0, _2, _1, _0
        else:
          lin = self.lin
          x1 = torch.tanh((lin).forward(x0, ))
          _14 = torch.item(torch.sum(torch.abs(x1)))
          s = float(_14)
          total0 = torch.add(total, s)
          if torch.gt(total0, stop):
            _15, _16, _17, _18, _19, _20, _21 = True, False, total0, x1, _2, _1, _0
          else:
            _22 = torch.append(kept, torch.mul(x1, _4))
            _15, _16, _17, _18, _19, _20, _21 = False, _2, _1, _0, True, total0, x1
          _7, _8, _9, _10, _11, _12, _13 = _15, _16, _17, _18, _19, _20, _21
        if _7:
          _23, _24, _25 = _8, _9, _10
        else:
          _23, _24, _25 = _11, _12, _13
        _26 = torch.add(_4, 1)
        _27 = torch.__and__(torch.lt(_26, n), _23)
        _5, total, x0, _4 = _27, _24, _25, _26
      limit = self.limit
      _28 = torch.__range_length(limit, -1, -2)
      total1 = total
      for _29 in range(_28):
        j = torch.__derive_index(_29, limit, -2)
        total2 = total1
        _30 = 0
        _31 = torch.gt(j, 0)
        while _31:
          if torch.gt(_30, 2):
            _32, _33 = False, total2
          else:
            _32, _33 = True, torch.add(total2, 0.25)
          _34 = torch.add(_30, 1)
          _35 = torch.__and__(torch.lt(_34, j), _32)
          _31, total2, _30 = _35, _33, _34
        total1 = total2
      seq = (self).collatz(n, )
      last = torch.pop(seq)
      torch.insert(seq, 1, torch.floordiv(int(total1), 2))
      if torch.gt(torch.len(kept), 0):
        _36 = torch.sum(torch.stack(kept), [0])
        y = _36
      else:
        y = torch.zeros_like(x0)
      _37 = torch.add(int(bool(last)), torch.len(kept))
      _38 = torch.div(float(n), 3)
      if torch.gt(n, 3):
        _39 = torch.lt(total1, stop)
      else:
        _39 = False
      _40 = (y, seq, _37, _38, torch.__not__(_39))
      _3 = _40
    return _3
  def collatz(self: __torch__.zoo_public.Loops,
    n: int) -> List[int]:
    seq = [n]
    n0 = n
    _41 = torch.ne(n, 1)
    while _41:
      _42 = torch.eq(torch.remainder(n0, 2), 0)
      if _42:
        n1 = torch.floordiv(n0, 2)
      else:
        n1 = torch.add(torch.mul(3, n0), 1)
      _43 = torch.append(seq, n1)
      if torch.gt(torch.len(seq), 50):
        _44 = False
      else:
        _44 = torch.ne(n1, 1)
      _41, n0 = _44, n1
    return seq
