"""Results of PyTorch's optimizers and schedules: tests/data/java_optim.safetensors, for java/src/test/java/org/rushlight/OptimTest.java.

Each optimizer takes 6 steps from the same two parameters down the same function (`loss` below); `KEY|1` and `KEY|2` hold the parameters
after each step. `KEY|state|NAME` is the state that `torch.save(optimizer.state_dict())` writes into java_optim.pt. Each schedule
runs 12 epochs of SGD with two groups, 0.5 and 0.1; `KEY` holds the rates, from the start on. A key is the Python expression.
"""

import pathlib

import numpy as np
import torch
from torch import optim
from torch.optim import lr_scheduler as schedules

import safetensors_lite

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"

OPTIMIZERS = [
    "SGD(ps, 0.01)",
    "SGD(ps, 0.01, momentum=0.9, weight_decay=0.1)",
    "SGD(ps, 0.01, momentum=0.9, nesterov=True)",
    "SGD(ps, 0.01, momentum=0.9, dampening=0.3, maximize=True)",
    "Adam(ps, 0.02)",
    "Adam(ps, 0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1, amsgrad=True)",
    "AdamW(ps, 0.02)",
    "AdamW(ps, 0.02, weight_decay=0.3, amsgrad=True, maximize=True)",
    "Adagrad(ps, 0.05)",
    "Adagrad(ps, 0.05, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.2)",
    "RMSprop(ps, 0.01)",
    "RMSprop(ps, 0.01, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.1)",
    "LBFGS(ps, 0.1)",
    "LBFGS(ps, 1, max_iter=4, history_size=3, line_search_fn='strong_wolfe')",
    "SGD([{'params': [w], 'lr': 0.05, 'momentum': 0.5}, {'params': [v]}], 0.01)",
]
SCHEDULES = [
    "LambdaLR(opt, lambda epoch: 0.9 ** epoch)",
    "MultiplicativeLR(opt, lambda epoch: 1 / (1 + epoch))",
    "StepLR(opt, 3, 0.5)",
    "MultiStepLR(opt, [2, 5, 5, 9], 0.3)",
    "ExponentialLR(opt, 0.8)",
    "ConstantLR(opt, 0.25, 4)",
    "LinearLR(opt, 0.2, 0.9, 6)",
    "PolynomialLR(opt, 8, 2.0)",
    "CosineAnnealingLR(opt, 5, 0.01)",
    "OneCycleLR(opt, 2.0, 13)",
    "ReduceLROnPlateau(opt, factor=0.5, patience=1, cooldown=1, min_lr=0.03)",
    "ReduceLROnPlateau(opt, 'max', factor=0.5, patience=0, threshold=0.3, threshold_mode='abs')",
]
METRICS = [3.0, 2.0, 2.1, 2.2, 1.9999, 2.5, 2.4, 1.0, 1.5, 1.4, 1.3, 0.9]


def parameters(dtype=torch.float32):
    w = torch.tensor([0.5, -1.0, 2.0], dtype=dtype, requires_grad=True)
    v = torch.tensor([[0.1, -0.2], [1.5, 0.7]], dtype=dtype, requires_grad=True)
    return w, v


def loss(w, v):
    return (w**4 - 3 * w * w + w).sum() + (v * v).sum() * (1 + w.sum() ** 2) - v.sum()


def main():
    tensors = {}
    for text in OPTIMIZERS:
        # LBFGS takes many steps near the minimum, where the rounding of single precision decides.
        w, v = parameters(torch.float64 if "LBFGS" in text else torch.float32)
        optimizer = eval("optim." + text, {"optim": optim, "ps": [w, v], "w": w, "v": v})

        def closure():
            optimizer.zero_grad()
            value = loss(w, v)
            value.backward()
            return value

        after = [[], []]
        for _ in range(6):
            optimizer.step(closure)
            for kept, parameter in zip(after, (w, v)):
                kept.append(parameter.detach().clone())
        for index, kept in enumerate(after):
            tensors[f"{text}|{index + 1}"] = torch.stack(kept).numpy()
        if text == "Adam(ps, 0.02)":
            torch.save(optimizer.state_dict(), DATA / "java_optim.pt")
    for text in SCHEDULES:
        w, v = parameters()
        opt = optim.SGD([{"params": [w], "lr": 0.5}, {"params": [v], "lr": 0.1}], lr=1, momentum=0.9)
        schedule = eval("schedules." + text, {"schedules": schedules, "opt": opt})
        rates = []
        for epoch in range(12):
            rates.append([group[name] for name in ("lr", "momentum") for group in opt.param_groups])
            opt.step()
            schedule.step(*([METRICS[epoch]] if "Plateau" in text else []))
        rates.append([group[name] for name in ("lr", "momentum") for group in opt.param_groups])
        tensors[text] = np.array(rates)
    ordered = dict(sorted(tensors.items(), key=lambda item: -item[1].itemsize))
    safetensors_lite.save(DATA / "java_optim.safetensors", ordered, {"torch": torch.__version__.split("+")[0]})


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
