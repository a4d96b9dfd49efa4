#!/usr/bin/env python3
"""A network learns to read charts: which way does the price go next? About a minute on two cores.

    python examples/train_charts.py

The prices are made up, so that there is something to learn: somewhere in the last third of each chart a shape is planted, a
dip or a hump, and nine times of ten the price then rises after a dip and falls after a hump. Charts are drawn while the
network trains, by the DataLoader's workers; nothing is stored. Series that it never saw tell what it has learnt: it exits
with 1 where that is no better than chance. With prices of your own, expect much less. Needs torch.
"""

import argparse
import sys

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader

from millrace.torch import Charts

ROWS, AHEAD, SIDE = 40, 5, 64
BLOCK = ROWS + AHEAD


def a_series(random, blocks):
    """Closes of a random walk, a chart and its future after another, with a shape and what follows it in each."""
    steps = random.normal(0, 0.01, (blocks, BLOCK))
    side = random.choice([-1, 1], blocks)  # 1: a dip, then a rise
    shape = -numpy.sin(numpy.pi * numpy.linspace(0, 1, 11))
    for block in range(blocks):
        begin = random.integers(2 * ROWS // 3, ROWS - len(shape) + 1)
        steps[block, begin : begin + 10] += 0.08 * side[block] * numpy.diff(shape)
        surprise = -1 if random.random() < 0.1 else 1
        steps[block, ROWS:] += 0.02 * side[block] * surprise
    return 100 * numpy.exp(numpy.cumsum(steps))


def charts_of(random, series, blocks):
    """A chart a block: its window, and whether the price is higher AHEAD rows later."""
    made = {f"series {number}": a_series(random, blocks) for number in range(series)}
    return Charts(made, rows=ROWS, stride=BLOCK, width=SIDE, height=SIDE, labels=AHEAD, target_transform=rises)


def rises(labels):
    return (labels[0] > 0).float()


def network():
    def stage(channels, out):
        return [nn.Conv2d(channels, out, 4, stride=2, padding=1), nn.BatchNorm2d(out), nn.ReLU()]

    return nn.Sequential(*stage(1, 8), *stage(8, 16), *stage(16, 32), nn.Flatten(), nn.Linear(32 * (SIDE // 8) ** 2, 1))


def ink(images):
    """Bytes as the network wants them: 1 where the line is."""
    return 1 - images.float() / 255


def accuracy(model, charts, workers):
    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in DataLoader(charts, batch_size=256, num_workers=workers):
            right += ((model(ink(images))[:, 0] > 0) == (labels > 0.5)).sum().item()
    return right / len(charts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=100, help="charts of each of 80 series; a quarter of the series is held out")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    torch.manual_seed(arguments.seed)
    random = numpy.random.default_rng(arguments.seed)
    training, held_out = (charts_of(random, series, arguments.blocks) for series in (60, 20))
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loader = DataLoader(training, batch_size=64, shuffle=True, num_workers=arguments.workers)
    for epoch in range(arguments.epochs):
        model.train()
        total = 0.0
        for images, labels in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(ink(images))[:, 0], labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(images)
        print(f"epoch {epoch + 1}: loss {total / len(training):.3f}", flush=True)

    reached = accuracy(model, held_out, arguments.workers)
    # The commoner answer is right more often than half the time; four standard errors above that are no chance.
    share = (held_out.labels[:, 0] > 0).mean()
    chance = max(share, 1 - share)
    bound = chance + 4 * (chance * (1 - chance) / len(held_out)) ** 0.5
    print(f"held out: {reached:.3f} of {len(held_out)} charts right; chance {chance:.3f}, four standard errors above it {bound:.3f}")
    sys.exit(0 if reached > bound else 1)


if __name__ == "__main__":
    main()
