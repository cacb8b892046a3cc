"""Exports networks at full size for the group `saved` of `make compare`, and for ONNX Runtime.

    python bench/compare/full_models.py FOLDER

FOLDER gets `convolutional/NAME` and `other/NAME` with `model.pt`, `arguments.pt` and `model.onnx`. The weights are random under a
fixed seed. PyTorch 2.7.1, torchvision 0.22.1 and onnx are needed.
"""

import pathlib
import sys

import torch
import torchvision

from saved_models import Arguments


class Bert(torch.nn.Module):
    """The encoder of BERT base: embeddings, twelve layers, pooler."""

    class Layer(torch.nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.query, self.key, self.value, self.output = (torch.nn.Linear(width, width) for _ in range(4))
            self.grow, self.shrink = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
            self.norm1, self.norm2 = torch.nn.LayerNorm(width, eps=1e-12), torch.nn.LayerNorm(width, eps=1e-12)

        def forward(self, x, mask):
            batch, length, width = x.shape
            split = lambda y: y.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
            scores = torch.matmul(q, k.transpose(-1, -2)) / (width // self.heads) ** 0.5 + mask
            mixed = torch.matmul(torch.softmax(scores, dim=-1), v).transpose(1, 2).reshape(batch, length, width)
            x = self.norm1(self.output(mixed) + x)
            return self.norm2(self.shrink(torch.nn.functional.gelu(self.grow(x))) + x)

    def __init__(self, width=768, heads=12, layers=12, words=30522):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(words, width), torch.nn.Embedding(512, width)
        self.norm = torch.nn.LayerNorm(width, eps=1e-12)
        self.layers = torch.nn.ModuleList(Bert.Layer(width, heads) for _ in range(layers))
        self.pooler = torch.nn.Linear(width, width)

    def forward(self, ids, attention):
        mask = (1.0 - attention[:, None, None, :].float()) * -10000.0
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


def images(count):
    return (torch.randn(count, 3, 224, 224),)


def tokens(count, length):
    return torch.randint(0, 30522, (count, length)), torch.ones(count, length, dtype=torch.int64)


MODELS = {
    "convolutional/resnet50": (lambda: torchvision.models.resnet50(), lambda: images(4)),
    "convolutional/resnet50_b1": (lambda: torchvision.models.resnet50(), lambda: images(1)),
    "convolutional/vgg19": (lambda: torchvision.models.vgg19(), lambda: images(2)),
    "convolutional/alexnet": (lambda: torchvision.models.alexnet(), lambda: images(16)),
    "convolutional/mobilenet_v2": (lambda: torchvision.models.mobilenet_v2(), lambda: images(8)),
    "other/vit_b_16": (lambda: torchvision.models.vit_b_16(), lambda: images(2)),
    "other/bert": (Bert, lambda: tokens(2, 128)),
}


def main():
    target = pathlib.Path(sys.argv[1])
    # The fused attention of torch.nn.MultiheadAttention has no counterpart in ONNX.
    torch.backends.mha.set_fastpath_enabled(False)
    for name, (make, inputs) in MODELS.items():
        torch.manual_seed(0)
        model, arguments = make().eval(), inputs()
        place = target / name
        place.mkdir(parents=True, exist_ok=True)
        with torch.no_grad():
            torch.jit.save(torch.jit.trace(model, arguments), place / "model.pt")
            torch.onnx.export(model, arguments, str(place / "model.onnx"), opset_version=17, dynamo=False)
        torch.jit.save(torch.jit.script(Arguments(list(arguments))), place / "arguments.pt")
        print(name)


main()
