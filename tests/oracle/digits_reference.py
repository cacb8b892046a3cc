"""PyTorch's results for the training of the demo (examples/digits): tests/data/digits_reference.

`python tests/oracle/digits_reference.py` records it; with `check OUT/digits` it reads instead what `make demo` left there.

The C, C++ and Java programs follow this recipe call by call. Every random number comes from the default CPU generator, so the
ORDER of the calls marked (rng) is part of the recipe.

 1. images, labels = digits.safetensors                   uint8 [1797, 64], int64 [1797]
    images = images.to(float32).div(16).view(1797, 1, 8, 8)
 2. manual_seed(0)
 3. order = randperm(1797) (rng): the first 1437 rows are for training, the other 360 for the test
 4. the layers of Net, in the order of its constructor (rng). Convolutions and the linear layer fill their weight, the latter
    then its bias: uniform_(-bound, bound) with bound = 1 / sqrt(inputs of one output), which are 9, 144, 128.
 5. AdamW(lr=0.01, weight_decay=0.01): betas (0.9, 0.999), eps 1e-8; StepLR(4, 0.3)
 6. 12 times:
      permutation = randperm(1437) (rng)
      23 batches of 64 rows in that order, the last one holds 29 and is kept: forward (dropout draws one mask, rng), mean
      cross entropy, backward, step
      rate.step(); then the loss and the accuracy on the test rows in eval mode, which draws nothing
    Dropout(0.25) in training is: noise = empty_like(input).bernoulli_(0.75); noise.div_(0.75); input * noise.

A convolution before a batch norm has no bias: the norm takes it away again, so that its gradient is nothing but rounding errors,
which Adam would enlarge to steps of full length. And the network has no kink (GELU and mean pooling, not ReLU and maximum): at a
kink a rounding error decides which way a gradient goes, and two correct programs part by 1e-3 within a few epochs. Like this they
stay together: "drift" in the metadata is how far a run in float64 with the same parameters, batches and masks is from this one.
"""

import json
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional as F

import safetensors_lite

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
REFERENCE = DATA / "digits_reference"
TRAIN, BATCH, EPOCHS = 1437, 64, 12


class Dropout(nn.Dropout):
    """Dropout whose mask is sampled in float32 for every input dtype, because the float64 run needs the same masks."""

    def forward(self, input):
        if not self.training:
            return input
        noise = torch.empty(input.shape).bernoulli_(1 - self.p).to(input.dtype)
        return input * noise.div_(1 - self.p)


class Net(nn.Module):
    def __init__(self, dropout=nn.Dropout):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(32)
        self.dropout = dropout(0.25)
        self.output = nn.Linear(128, 10)

    def forward(self, x):
        x = F.avg_pool2d(F.gelu(self.norm1(self.conv1(x))), 2)
        x = F.avg_pool2d(F.gelu(self.norm2(self.conv2(x))), 2)
        return self.output(self.dropout(x.flatten(1)))


def load_digits():
    digits = safetensors_lite.load(DATA / "digits" / "digits.safetensors")
    images, labels = (torch.from_numpy(digits[name].copy()) for name in ("images", "labels"))
    return images.to(torch.float32).div(16).view(-1, 1, 8, 8), labels


def accuracy(logits, labels):
    return logits.argmax(1).eq(labels).double().mean().item()


def test_logits(model, images):
    model.eval()
    with torch.no_grad():
        return model(images)


def train(dtype=torch.float32, dropout=nn.Dropout):
    images, labels = load_digits()
    images = images.to(dtype)
    torch.manual_seed(0)
    order = torch.randperm(len(images))
    train_images, train_labels = images[order[:TRAIN]], labels[order[:TRAIN]]
    test_images, test_labels = images[order[TRAIN:]], labels[order[TRAIN:]]

    model = Net(dropout).to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
    rate = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.3)
    losses, test_losses, test_accuracies = [], [], []
    for _ in range(EPOCHS):
        model.train()
        permutation = torch.randperm(TRAIN)
        for start in range(0, TRAIN, BATCH):
            rows = permutation[start : start + BATCH]
            optimizer.zero_grad()
            loss = F.cross_entropy(model(train_images[rows]), train_labels[rows])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        rate.step()
        logits = test_logits(model, test_images)
        test_losses.append(F.cross_entropy(logits, test_labels).item())
        test_accuracies.append(accuracy(logits, test_labels))
    run = {
        "losses": torch.tensor(losses, dtype=dtype),
        "test_losses": torch.tensor(test_losses, dtype=dtype),
        "test_accuracies": torch.tensor(test_accuracies, dtype=torch.float64),
        "logits": logits,
    }
    return model, run, torch.rand(4)


def record():
    torch.set_num_threads(1)
    model, run, after = train()
    _, double, after_double = train(torch.float64, Dropout)
    assert after.equal(after_double), "the float64 run drew other random numbers"
    drift = {name: (run[name].double() - double[name]).abs().max().item() for name in ("losses", "logits")}

    REFERENCE.mkdir(exist_ok=True)
    torch.save(model.state_dict(), REFERENCE / "model.pt")
    metadata = {"torch": torch.__version__.split("+")[0], "drift": json.dumps(drift)}
    safetensors_lite.save(REFERENCE / "run.safetensors", {name: value.numpy() for name, value in run.items()}, metadata)
    print("accuracy", run["test_accuracies"][-1].item(), "last loss", run["losses"][-1].item(), "drift", drift)


def check(folder):
    """Loads every model below `folder` in Python and compares its logits with those of the program that wrote it."""
    from safetensors.torch import load_file

    images, labels = load_digits()
    torch.manual_seed(0)
    rows = torch.randperm(len(images))[TRAIN:]
    for path in sorted(folder.glob("*/model.*")):
        weights = load_file(path) if path.suffix == ".safetensors" else torch.load(path, weights_only=True)
        model = Net()
        model.load_state_dict(weights)
        logits = test_logits(model, images[rows])
        written = load_file(path.parent / "run.safetensors")["logits"]
        gap = (logits - written).abs().max() / written.abs().max()
        print(f"{path}: accuracy {accuracy(logits, labels[rows]):.4f}, logits differ by {gap:.1e} of the largest")
        assert gap <= 1e-6


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(pathlib.Path(sys.argv[2]))
    else:
        record()
