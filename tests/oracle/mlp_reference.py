"""What PyTorch gets when it trains the demo: tests/data/mlp_reference.json.

The C, C++ and Java demos follow this recipe operator by operator. Every random number comes from the default CPU
generator, so the ORDER of the calls marked (rng) is part of the recipe.

 1. images, labels = digits.safetensors              uint8 [1797, 64], int64 [1797]
    x = images.to(float32).div(16)
 2. manual_seed(0)
 3. model = Sequential(Linear(64, 128), ReLU, Dropout(0.1), Linear(128, 64), ReLU, Linear(64, 10))
    Each Linear fills its weight, then its bias, as it is constructed, layer by layer (rng):
    weight [out, in] and bias [out] both uniform_(-1/sqrt(in), 1/sqrt(in)).
    (torch reaches the weight's bound through kaiming_uniform_(a=sqrt(5)); it is the same number in double.)
 4. order = randperm(1797) (rng)                     int64
    train = order.slice(0, 0, 1437); test = order.slice(0, 1437, 1797)
    train_x, train_y = x.index_select(0, train), labels.index_select(0, train); the same for test
 5. optimizer = Adam(lr=3e-3): betas (0.9, 0.999), eps 1e-8, no weight decay
 6. 15 times:
      model.train()
      perm = randperm(1437) (rng)
      for start in 0, 64, .., 1408:                  23 batches, the last one holds 29 rows and is kept
        rows = perm.slice(0, start, min(start + 64, 1437))
        input, target = train_x.index_select(0, rows), train_y.index_select(0, rows)
        optimizer.zero_grad()
        output = model(input)                        dropout draws one mask per batch (rng)
        loss = nll_loss(log_softmax(output, 1), target)        mean over the batch
        loss.backward()
        optimizer.step()
      model.eval()
      accuracy = model(test_x).argmax(1).eq(test_y) .sum() / 360, without gradients and without random numbers
    Dropout(0.1) in training is: noise = empty_like(input).bernoulli_(0.9); noise.div_(0.9); input * noise.

"losses" counts optimizer steps from 1: losses[0] is the loss BEFORE the first update, "loss_step_20" is losses[19]. An
epoch's mean loss is the plain mean of its 23 batch losses. The second run is the same, from step 2 on, with
SGD(lr=0.1, momentum=0.9, weight_decay=1e-4), for 40 steps.

"drift" runs the Adam recipe in float64 with the same parameters, batches and masks: how far rounding alone moves a loss.
A port in float32 should stay within that order of magnitude; 1e-4 at step 20 leaves room.
"""

import json
import pathlib

import torch
from torch import nn

import safetensors_lite

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
TRAIN, BATCH = 1437, 64


class Dropout(nn.Dropout):
    """Dropout whose mask is drawn in float32 whatever the input is (the float64 run needs the same masks)."""

    def forward(self, input):
        if not self.training:
            return input
        noise = torch.empty(input.shape).bernoulli_(1 - self.p).to(input.dtype)
        return input * noise.div_(1 - self.p)


def floats(tensor, count=4):
    return tensor.detach().flatten()[:count].tolist()


def train(digits, make_optimizer, epochs, steps=None, dtype=torch.float32, dropout=nn.Dropout):
    images, labels = (torch.from_numpy(digits[name].copy()) for name in ("images", "labels"))
    x = images.to(torch.float32).div(16).to(dtype)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), dropout(0.1), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    model.to(dtype)
    start = {name: {"sum": p.double().sum().item(), "first": floats(p)} for name, p in model.named_parameters()}

    order = torch.randperm(len(x))
    train_rows, test_rows = order[:TRAIN], order[TRAIN:]
    train_x, train_y = x.index_select(0, train_rows), labels.index_select(0, train_rows)
    test_x, test_y = x.index_select(0, test_rows), labels.index_select(0, test_rows)

    optimizer = make_optimizer(model.parameters())
    losses, epoch_losses, accuracies, first = [], [], [], None
    for _ in range(epochs):
        model.train()
        perm = torch.randperm(TRAIN)
        epoch = []
        for begin in range(0, TRAIN, BATCH):
            rows = perm[begin : begin + BATCH]
            input, target = train_x.index_select(0, rows), train_y.index_select(0, rows)
            optimizer.zero_grad()
            output = model(input)
            loss = nn.functional.nll_loss(nn.functional.log_softmax(output, 1), target)
            loss.backward()
            if first is None:
                first = {
                    "order": order[:8].tolist(),
                    "perm": perm[:8].tolist(),
                    "targets": target[:8].tolist(),
                    "output_row_0": output[0].tolist(),
                    "gradient_sums": {name: p.grad.double().sum().item() for name, p in model.named_parameters()},
                }
            optimizer.step()
            epoch.append(loss.item())
            if steps and len(losses) + len(epoch) == steps:
                break
        losses += epoch
        if steps and len(losses) == steps:
            break
        epoch_losses.append(sum(epoch) / len(epoch))
        model.eval()
        with torch.no_grad():
            predicted = model(test_x).argmax(1)
        accuracies.append(predicted.eq(test_y).sum().item() / len(test_y))

    model.eval()
    with torch.no_grad():
        predicted = model(test_x).argmax(1)
    confusion = [[((test_y == t) & (predicted == p)).sum().item() for p in range(10)] for t in range(10)]
    return {
        "first_loss": losses[0],
        "loss_step_20": losses[19],
        "test_accuracy": predicted.eq(test_y).sum().item() / len(test_y),
        "losses": losses[:40],
        "epoch_mean_losses": epoch_losses,
        "epoch_test_accuracies": accuracies,
        "parameter_sum": sum(p.double().sum().item() for p in model.parameters()),
        "confusion": confusion,  # rows: the digit, columns: what the model says
        "next_rand": torch.rand(4).tolist(),  # what the generator gives afterwards: it moved exactly as far
        "start": {"parameters": start, **first},
        "all_losses": losses,
    }


def main():
    torch.set_num_threads(1)
    digits = safetensors_lite.load(DATA / "digits" / "digits.safetensors")

    def adam(parameters):
        return torch.optim.Adam(parameters, lr=3e-3)

    def sgd(parameters):
        return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=1e-4)

    runs = {"adam": train(digits, adam, 15), "sgd": train(digits, sgd, 2, steps=40)}
    double = train(digits, adam, 15, dtype=torch.float64, dropout=Dropout)
    assert double["next_rand"] == runs["adam"]["next_rand"], "the float64 run drew other random numbers"

    gaps = [abs(a - b) for a, b in zip(runs["adam"]["all_losses"], double["all_losses"])]
    drift = {"step_1": gaps[0], "step_20": gaps[19], "first_40": max(gaps[:40]), "whole_run": max(gaps)}
    drift["test_accuracy_float64"] = double["test_accuracy"]

    # The start is the same for both; state it once.
    start = runs["adam"].pop("start")
    assert runs["sgd"].pop("start") == start
    for run in runs.values():
        run.pop("all_losses")
    for key in ("epoch_mean_losses", "epoch_test_accuracies", "confusion", "test_accuracy"):
        runs["sgd"].pop(key)

    result = {"torch": torch.__version__.split("+")[0], "start": start, **runs, "drift": drift}
    (DATA / "mlp_reference.json").write_text(json.dumps(result, indent=1) + "\n")
    print({k: runs["adam"][k] for k in ("first_loss", "loss_step_20", "test_accuracy", "parameter_sum")}, drift)
    print({k: runs["sgd"][k] for k in ("first_loss", "loss_step_20", "parameter_sum")})


if __name__ == "__main__":
    main()
