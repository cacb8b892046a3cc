"""Records how PyTorch prints, orders and unifies the types of TorchScript: core/script/tests/data/types.txt."""
import sys
import torch

ANNOTATIONS = """Tensor
int
float
complex
number
bool
str
NoneType
Any
Device
Generator
Stream
Capsule
list
List[int]
List[float]
List[Tensor]
List[Any]
List[Optional[Tensor]]
List[List[int]]
Optional[int]
Optional[float]
Optional[Tensor]
Optional[Any]
Optional[List[int]]
Optional[number]
Dict[str, int]
Dict[str, Tensor]
Dict[int, Dict[str, List[float]]]
Tuple[()]
Tuple[int]
Tuple[int, str]
Tuple[int, Optional[str]]
Tuple[Any, Any]
Tuple[float, float]
Union[int, str]
Union[int, None, str]
Union[int, float]
Union[bool, int]
Union[List[int], Tensor]
Union[int, float, complex]
Optional[Union[int, str]]
Union[Tensor, List[Tensor], Tuple[Tensor]]
Union[List[int], List[float]]
Union[Optional[int], str]
Union[Tensor, Tensor, int]
Future[Tensor]
Future[int]
Future[Any]
RRef[int]
Await[int]
BroadcastingList2[int]
torch.Tensor
torch.device
torch.dtype
LongTensor
torch.Generator
Optional[Tuple[int, Optional[str]]]
List[None]
int | None | str
Union[None, int]""".split("\n")


def main():
    types = []
    for annotation in ANNOTATIONS:
        unit = torch.jit.CompilationUnit(f"def f(x: {annotation}):\n    pass\n")
        types.append(unit.f.schema.arguments[0].type)
    lines = []
    for annotation, kind in zip(ANNOTATIONS, types):
        schema = kind.str() if hasattr(kind, "str") else repr(kind)
        lines.append(f"type\t{annotation}\t{kind.annotation_str}\t{schema}")
    for i, left in enumerate(types):
        lines.append(f"subtype\t{i}\t" + "".join(str(int(left.isSubtypeOf(right))) for right in types))
    for i, left in enumerate(types):
        for j, right in enumerate(types):
            try:
                unified = torch._C.unify_type_list([left, right])
            except RuntimeError:
                unified = None
            lines.append(f"unify\t{i}\t{j}\t{unified.annotation_str if unified else '-'}")
    with open(sys.argv[1], "w") as file:
        file.write("\n".join(lines) + "\n")


main()
