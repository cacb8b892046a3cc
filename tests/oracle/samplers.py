"""Writes tests/data/samplers.expected.txt: the orders of PyTorch's samplers, two epochs of each.

    python tests/oracle/samplers.py tests/data/samplers.expected.txt

A line is a name, a colon and the indices. Batches are separated by a bar.
"""

import sys

import torch
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler
from torch.utils.data.distributed import DistributedSampler

SIZE = 50
WEIGHTS = [float(i % 7) for i in range(SIZE)]
SUBSET = [i * i for i in range(7)]


def generator():
    return torch.Generator().manual_seed(3)


def seeded():
    torch.manual_seed(5)
    return None


def samplers():
    data = range(SIZE)
    for name, make in (("generator", generator), ("default", seeded)):
        yield f"random {name}", lambda: RandomSampler(data, generator=make())
        yield f"random 120 {name}", lambda: RandomSampler(data, num_samples=120, generator=make())
        yield f"replacement {name}", lambda: RandomSampler(data, replacement=True, generator=make())
        yield f"replacement 70 {name}", lambda: RandomSampler(data, replacement=True, num_samples=70, generator=make())
        yield f"subset {name}", lambda: SubsetRandomSampler(SUBSET, generator=make())
        yield f"weighted {name}", lambda: WeightedRandomSampler(WEIGHTS, 20, generator=make())
        yield f"weighted once {name}", lambda: WeightedRandomSampler(WEIGHTS, 20, replacement=False, generator=make())


def main(path):
    with open(path, "w") as out:
        for name, make in samplers():
            sampler = make()
            for epoch in range(2):
                print(f"{name} {epoch}:", *sampler, file=out)
        for size, replicas in ((50, 4), (3, 5), (12, 3), (2, 7)):
            for shuffle in (False, True):
                for drop_last in (False, True):
                    for rank in range(replicas):
                        sampler = DistributedSampler(range(size), replicas, rank, shuffle, 11, drop_last)
                        for epoch in (0, 6):
                            sampler.set_epoch(epoch)
                            print(f"distributed {size} {replicas} {rank} {shuffle} {drop_last} {epoch}:", *sampler, file=out)
        for drop_last in (False, True):
            batches = BatchSampler(SequentialSampler(range(11)), 4, drop_last)
            print(f"batches {drop_last}:", " | ".join(" ".join(map(str, batch)) for batch in batches), file=out)


main(sys.argv[1])
