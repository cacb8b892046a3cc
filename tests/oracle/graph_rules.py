"""PyTorch's behaviour for the graph rules that tests/c/hooks.c checks: writes tests/data/graph_rules.txt, a line per
rule. Run with the Python of tests/oracle/run.sh; compare manually when the C test changes."""

import os

import torch

answers = []


def ask(question, answer):
    try:
        text = str(answer())
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
    answers.append(f"{question}: {text}".replace("\n", " "))


def leaf():
    return torch.tensor([1.0, 2.0], requires_grad=True)


def hooks():
    log = []
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.grad_fn.register_prehook(lambda grads: (log.append("prehook"), (grads[0] * 10,))[1])
    y.register_hook(lambda grad: (log.append("tensor"), grad + 1)[1])
    y.grad_fn.register_hook(lambda gave, took: log.append("post"))
    x.register_hook(lambda grad: log.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: log.append("acc"))
    y.sum().backward()
    return log, y.grad.tolist(), x.grad.tolist()


def hook_of_leaf():
    x = leaf()
    x.register_hook(lambda grad: grad * 5)
    return torch.autograd.grad((x * 2).sum(), x)[0].tolist()


def packs():
    counts = [0, 0]

    def pack(tensor):
        counts[0] += 1
        return tensor.clone()

    def unpack(tensor):
        counts[1] += 1
        return tensor

    x = leaf()
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() * x
    y.sum().backward()
    return counts


def pack_writes():
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.add_(1), lambda tensor: tensor):
        return torch.ones(2) * leaf()


def inference():
    with torch.inference_mode():
        return leaf().exp()


def view_in(mode):
    y = leaf() * 1
    with mode():
        view = y.view(2)
    return view.add_(1)


def retained_after_write():
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    return y.grad.tolist(), x.grad.tolist()


def retained_twice():
    y = leaf() * 2
    y.retain_grad()
    total = y.sum()
    total.backward(retain_graph=True)
    first = y.grad
    total.backward()
    return first.tolist(), y.grad.tolist(), y.grad.stride()


def nan():
    with torch.autograd.detect_anomaly(check_nan=True):
        torch.tensor([-1.0, 4.0], requires_grad=True).sqrt().sum().backward()


ask("order of hooks, kept gradient, gradient", hooks)
ask("hook of a leaf under grad()", hook_of_leaf)
ask("calls of pack and unpack", packs)
ask("pack hook that writes", pack_writes)
ask("post-accumulate hook on a result", lambda: (leaf() * 2).register_post_accumulate_grad_hook(print))
ask("inference tensor saved", lambda: leaf() * inference())
ask("inference tensor written", lambda: inference().add_(1))
ask("inference tensor asked for a gradient", lambda: inference().requires_grad_())
ask("view of an inference tensor", lambda: inference().view(2).is_inference())
ask("view made in no_grad mode written", lambda: view_in(torch.no_grad))
ask("view made in inference mode written", lambda: view_in(torch.inference_mode))
ask("one of several views written", lambda: (leaf() * 1).unbind(0)[1].add_(1))
ask("kept gradient after a write", retained_after_write)
ask("kept gradient, twice", retained_twice)
ask("gradient of another size", lambda: setattr(leaf(), "grad", torch.ones(3)))
ask("gradient of another dtype", lambda: setattr(leaf(), "grad", torch.ones(2, dtype=torch.float64)))
ask("anomaly", nan)

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "..", "data", "graph_rules.txt"), "w") as file:
    file.write("\n".join(answers) + "\n")
