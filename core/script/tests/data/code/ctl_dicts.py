class Dicts(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  scale : Dict[str, float]
  names : List[str]
  def forward(self: __torch__.zoo_public.Dicts,
    d: Dict[str, Tensor],
    counts: Dict[int, int]) -> Tuple[Dict[str, Tensor], Dict[int, int], List[str], float]:
    out = annotate(Dict[str, Tensor], {})
    _0 = torch.items(d)
    total = 0.
    for _1 in range(torch.len(_0)):
      k, v, = _0[_1]
      scale = self.scale
      if torch.__contains__(scale, k):
        scale0 = self.scale
        torch._set_item(out, k, torch.mul(v, scale0[k]))
        scale1 = self.scale
        total0 = torch.add(total, scale1[k])
      else:
        _2 = torch.add(v, 1)
        torch._set_item(out, torch.add("other_", k), _2)
        total0 = total
      total = total0
    names = self.names
    for _3 in range(torch.len(names)):
      n = names[_3]
      t = torch.get(d, n)
      if torch.__isnot__(t, None):
        t0 = unchecked_cast(Tensor, t)
        _4 = torch.setdefault(out, n, t0)
      else:
        pass
    inv = annotate(Dict[int, int], {})
    _5 = torch.items(counts)
    for _6 in range(torch.len(_5)):
      k0, v0, = _5[_6]
      torch._set_item(inv, v0, k0)
    torch.update(inv, {99: torch.len(inv)})
    if torch.__contains__(inv, 5):
      gone = torch.pop(inv, 5)
      total1 = torch.add(total, gone)
    else:
      total1 = total
    if torch.__contains__(inv, 99):
      torch.Delete(inv, 99)
    else:
      pass
    keys = annotate(List[str], [])
    _7 = torch.keys(out)
    for _8 in range(torch.len(_7)):
      k1 = _7[_8]
      _9 = torch.append(keys, k1)
    sizes = annotate(List[int], [])
    _10 = torch.values(out)
    for _11 in range(torch.len(_10)):
      v1 = _10[_11]
      _12 = torch.append(sizes, torch.len(torch.size(v1)))
    _13 = [("x", 1), ("y", 2)]
    empty = annotate(Dict[str, int], {})
    for _14 in range(torch.len(_13)):
      _15, _16, = _13[_14]
      torch._set_item(empty, _15, _16)
    torch.clear(empty)
    _17 = sorted(keys)
    _18 = torch.add(torch.add(total1, torch.sum(sizes)), torch.len(empty))
    return (out, inv, _17, _18)
