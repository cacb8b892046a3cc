"""Prepares the saved models that the group `saved` of `make compare` runs.

    python bench/compare/saved_models.py ZOO FOLDER

Each model of ZOO is a folder with `model.pt`, `meta.json` and `cases.safetensors`. FOLDER gets a folder for each model
whose first case calls `forward` with tensors, numbers and lists of tensors and prints nothing: `convolutional/NAME` if the model has
convolutions, otherwise `other/NAME`. It has a link to the model, and `arguments.pt`, a TorchScript module with the
arguments as attributes.
"""

import json
import pathlib
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))

from script_saved import tensors_of  # noqa: E402


def value(entry, tensors):
    """A value of meta.json that can be an attribute, or None."""
    kind = next(iter(entry))
    if kind == "tensor" and "quantized" not in entry and "complex" not in entry:
        return tensors[entry["tensor"]]
    if kind in ("int", "bool", "float", "str"):
        return entry[kind]
    if kind == "list" and entry["list"]:
        items = [value(item, tensors) for item in entry["list"]]
        return items if all(isinstance(item, torch.Tensor) for item in items) else None
    return None


class Arguments(torch.nn.Module):
    def __init__(self, values):
        super().__init__()
        self.count = len(values)
        for index, item in enumerate(values):
            setattr(self, f"argument{index}", item)

    def forward(self):
        return self.count


def main():
    zoo, target = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    prepared = 0
    for folder in sorted(zoo.iterdir()):
        model, meta = folder / "model.pt", json.loads((folder / "meta.json").read_text())
        case = meta["cases"][0]
        if not model.exists() or case["method"] != "forward" or case.get("kwargs") or case.get("stdout"):
            continue
        tensors = tensors_of(folder / "cases.safetensors")
        values = [value(entry, tensors) for entry in case["args"]]
        if any(item is None for item in values):
            continue
        convolves = any("conv" in name for name in meta["operators"]["torchscript"])
        place = target / ("convolutional" if convolves else "other") / folder.name
        place.mkdir(parents=True, exist_ok=True)
        link = place / "model.pt"
        link.unlink(missing_ok=True)
        link.symlink_to(model)
        torch.jit.save(torch.jit.script(Arguments(values)), place / "arguments.pt")
        prepared += 1
    print(f"{prepared} models in {target}")


if __name__ == "__main__":
    main()
