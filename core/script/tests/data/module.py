"""Writes module.pt: a small module as torch.jit.save writes it. Usage: python module.py, with torch 2.7.1."""

import os

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))
        with torch.no_grad():
            self.fc.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
            self.fc.bias.copy_(torch.tensor([1.0, 1.0]))

    def forward(self, x):
        self.seen += 1
        return self.fc(x)

    @torch.jit.export
    def twice(self, x):
        return self.forward(x) * 2


path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "module.pt")
torch.jit.save(torch.jit.script(Net().eval()), path, _extra_files={"note": "hello"})
