"""Writes the TorchScript modules that the Java tests load, with PyTorch 2.7.1.

`values.pt` has a method for each kind of value that crosses between Java and a program, and for the layouts of tensors.
`classifier.pt` is a small classifier of images with the names of its classes as an extra file; it is in evaluation mode.
`picture.bmp` is a picture for it, which `examples/classify` reads. The numbers that the tests expect are printed.
"""

import pathlib
import struct
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor

FOLDER = pathlib.Path(__file__).parent.parent / "data" / "script"


class Extent(NamedTuple):
    low: int
    high: int


class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.tensor([1.0, -2.0]))

    def forward(self, x: Tensor):
        return x * self.gain


class Values(torch.nn.Module):
    counts: Dict[str, int]
    shape: List[int]
    factor: float

    def __init__(self):
        super().__init__()
        self.part = Part()
        self.register_buffer("offset", torch.tensor([0.5]))
        self.counts = {"a": 1}
        self.shape = [2, 3]
        self.factor = 1.5

    def forward(self, x: Tensor) -> Optional[Tensor]:
        return None

    @torch.jit.export
    def same_bool(self, value: bool) -> bool:
        return value

    @torch.jit.export
    def same_int(self, value: int) -> int:
        return value

    @torch.jit.export
    def same_float(self, value: float) -> float:
        return value

    @torch.jit.export
    def same_complex(self, value: complex) -> complex:
        return value

    @torch.jit.export
    def same_str(self, value: str) -> str:
        return value

    @torch.jit.export
    def same_tensor(self, value: Tensor) -> Tensor:
        return value

    @torch.jit.export
    def same_device(self, value: torch.device) -> torch.device:
        return value

    @torch.jit.export
    def same_bools(self, value: List[bool]) -> List[bool]:
        return value

    @torch.jit.export
    def same_floats(self, value: List[float]) -> List[float]:
        return value

    @torch.jit.export
    def same_strs(self, value: List[str]) -> List[str]:
        return value

    @torch.jit.export
    def same_tensors(self, value: List[Tensor]) -> List[Tensor]:
        return value

    @torch.jit.export
    def same_optional_tensors(self, value: List[Optional[Tensor]]) -> List[Optional[Tensor]]:
        return value

    @torch.jit.export
    def same_nested(self, value: List[List[int]]) -> List[List[int]]:
        return value

    @torch.jit.export
    def same_tuple(self, value: Tuple[int, str, Tensor]) -> Tuple[int, str, Tensor]:
        return value

    @torch.jit.export
    def same_int_dict(self, value: Dict[int, int]) -> Dict[int, int]:
        return value

    @torch.jit.export
    def same_str_dict(self, value: Dict[str, Tensor]) -> Dict[str, Tensor]:
        return value

    @torch.jit.export
    def same_float_dict(self, value: Dict[float, str]) -> Dict[float, str]:
        return value

    @torch.jit.export
    def list_and_sum(self, value: List[int]) -> Tuple[List[int], int]:
        total = 0
        for item in value:
            total += item
        return value, total

    @torch.jit.export
    def extent(self, value: List[int]) -> Extent:
        return Extent(min(value), max(value))

    @torch.jit.export
    def is_none(self, value: Optional[int]) -> bool:
        return value is None

    @torch.jit.export
    def none_if_zero(self, value: int) -> Optional[int]:
        return None if value == 0 else value

    @torch.jit.export
    def three_times(self, text: str) -> str:
        return text + text + text

    @torch.jit.export
    def scaled(self, x: Tensor, factor: float = 2.0, shift: float = 0.0) -> Tensor:
        return self.part(x) * factor + shift

    @torch.jit.export
    def zero_dim(self, x: Tensor) -> Tensor:
        return x.reshape(-1)[0]

    @torch.jit.export
    def parts(self) -> List[Tensor]:
        whole = torch.tensor([10, 20, 30, 40])
        return [whole[1:], whole[3:]]

    @torch.jit.export
    def every_other(self) -> Tensor:
        return torch.tensor([[10, 20], [30, 40]])[:, 1]

    @torch.jit.export
    def contiguous(self, x: Tensor) -> Tensor:
        return x.contiguous()

    @torch.jit.export
    def channels_last(self, x: Tensor) -> Tensor:
        return x.contiguous(memory_format=torch.channels_last)

    @torch.jit.export
    def channels_last_3d(self, x: Tensor) -> Tensor:
        return x.contiguous(memory_format=torch.channels_last_3d)

    @torch.jit.export
    def conv2d(self, x: Tensor, weight: Tensor) -> Tensor:
        return torch.nn.functional.conv2d(x, weight)

    @torch.jit.export
    def conv3d(self, x: Tensor, weight: Tensor) -> Tensor:
        return torch.nn.functional.conv3d(x, weight)

    @torch.jit.export
    def cast(self, x: Tensor, dtype: int) -> Tensor:
        return x.to(dtype)

    @torch.jit.export
    def add_one_(self, x: Tensor) -> Tensor:
        return x.add_(1)

    @torch.jit.export
    def say(self, text: str, times: int):
        for i in range(times):
            print(text, i)

    @torch.jit.export
    def fail(self, text: str) -> int:
        if len(text) > 0:
            raise ValueError(text)
        return 0

    @torch.jit.export
    def mode(self) -> str:
        return "training" if self.training else "evaluation"


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)
        self.fc = torch.nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.norm(self.conv(x)))
        return self.fc(x.mean([2, 3]))


def classifier():
    """Its classes are the colours: the centre of each kernel passes one channel."""
    net = Classifier().eval()
    with torch.no_grad():
        net.conv.weight.zero_()
        net.conv.bias.zero_()
        for channel in range(3):
            net.conv.weight[channel, channel, 1, 1] = 1.0
        net.fc.weight.copy_(torch.eye(3, 4) * 3)
        net.fc.bias.zero_()
    return net


def write_picture(path, width, height):
    """A bitmap whose colours change along both sides."""
    row = (3 * width + 3) // 4 * 4
    header = b"BM" + struct.pack("<IHHI", 54 + row * height, 0, 0, 54)
    header += struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, row * height, 2835, 2835, 0, 0)
    rows = b""
    for y in reversed(range(height)):
        pixels = b"".join(bytes([200 - 5 * y, 255 - 3 * x, 60 + 3 * x + 2 * y]) for x in range(width))
        rows += pixels.ljust(row, b"\0")
    path.write_bytes(header + rows)


def prepared(path, width, height, net):
    """What examples/classify prints for the picture: probabilities after torchvision's preparation."""
    data, row = path.read_bytes()[54:], (3 * width + 3) // 4 * 4
    rows = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(height, row)[:, :3 * width].reshape(height, width, 3)
    x = rows.flip(0).flip(2).permute(2, 0, 1).unsqueeze(0).float() / 255
    short = min(width, height)
    size = [256 * height // short, 256 * width // short]
    x = torch.nn.functional.interpolate(x, size=size, mode="bilinear", antialias=True)
    top, left = (size[0] - 224) // 2, (size[1] - 224) // 2
    x = x[:, :, top:top + 224, left:left + 224]
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    return net((x - mean.view(3, 1, 1)) / deviation.view(3, 1, 1)).softmax(1)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    values = torch.jit.script(Values())
    torch.jit.save(values, FOLDER / "values.pt")
    print("scaled", values.scaled(torch.tensor([1.0, 2.0]), shift=0.5))
    net = torch.jit.script(classifier())
    torch.jit.save(net, FOLDER / "classifier.pt", _extra_files={"classes.txt": "red\ngreen\nblue\n"})
    image = torch.zeros(1, 3, 2, 2)
    image[0, 1] = 1.0
    print("classes of a green image", net(image).softmax(1))
    write_picture(FOLDER / "picture.bmp", 40, 30)
    print("classes of picture.bmp", prepared(FOLDER / "picture.bmp", 40, 30, net))


if __name__ == "__main__":
    main()
