"""Writes tests/data/rng_state.bin: torch.get_rng_state() after five floats and three normals (PyTorch 2.7.1)."""

import pathlib

import torch

torch.manual_seed(42)
torch.rand(5)
torch.empty(3, dtype=torch.float64).normal_()
target = pathlib.Path(__file__).parent.parent / "data" / "rng_state.bin"
target.write_bytes(bytes(torch.get_rng_state().numpy()))
