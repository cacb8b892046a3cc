class Enums(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  c : __torch__.zoo_public.Color
  def forward(self: __torch__.zoo_public.Enums,
    x: Tensor,
    flip: bool) -> Tuple[Tensor, str, int, bool]:
    c = self.c
    if flip:
      c0 = __torch__.zoo_public.Color.BLUE
    else:
      c0 = c
    _0 = torch.eq(c0, __torch__.zoo_public.Color.GREEN)
    if _0:
      x0 = torch.mul(x, 2)
    else:
      _1 = torch.__is__(c0, __torch__.zoo_public.Color.RED)
      if _1:
        x1 = torch.add(x, 1)
      else:
        x1 = torch.neg(x)
      x0 = x1
    _2 = (c0).name
    _3 = (c0).value
    _4 = torch.ne(c0, __torch__.zoo_public.Color.RED)
    return (x0, _2, _3, _4)
class Color(Enum):
  RED = 1
  GREEN = 2
  BLUE = 3
