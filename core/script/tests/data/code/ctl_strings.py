class Strings(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  vocab : Dict[str, int]
  emb : __torch__.torch.nn.modules.sparse.Embedding
  def forward(self: __torch__.zoo_public.Strings,
    text: str,
    loud: bool) -> Tuple[Tensor, str, List[int]]:
    if torch.gt(torch.len(text), 0):
      pass
    else:
      ops.prim.RaiseException("AssertionError: empty text")
    words = torch.split(torch.lower(torch.strip(text)), " ")
    ids = annotate(List[int], [])
    _0 = [9223372036854775807, torch.len(words)]
    for i in range(ops.prim.min(_0)):
      w = words[i]
      if torch.startswith(w, "#"):
        _1 = torch.format("bad word {} at {}", w, i)
        ops.prim.RaiseException(_1, "builtins.RuntimeError")
      else:
        pass
      w0 = torch.replace(w, "-", "_")
      vocab = self.vocab
      if torch.__contains__(vocab, w0):
        vocab0 = self.vocab
        _2 = torch.append(ids, vocab0[w0])
      else:
        if torch.isdigit(w0):
          _3 = torch.append(ids, torch.remainder(int(w0), 16))
        else:
          _4 = torch.add(torch.len(w0), torch.find(w0, "e"))
          _5 = torch.append(ids, _4)
    if loud:
      _6 = torch.format("{} words", torch.len(ids))
      print("ids", ids, _6, 1.5, True, None)
    else:
      pass
    _7 = torch.format("{} of {}: {}", torch.len(ids), torch.len(words), torch.join("|", words))
    msg = torch.upper(_7)
    _8 = torch.percentFormat(" %d/%s", (ids[0], "end"))
    _9 = torch.add(torch.add(torch.add(msg, _8), "!"), torch.slice(msg, 2, 5))
    msg0 = torch.add(torch.add(_9, "0.25"), str(ids))
    emb = self.emb
    _10 = torch.clamp(torch.tensor(ids), 0, 15)
    return ((emb).forward(_10, ), msg0, ids)
