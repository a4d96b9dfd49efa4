#!/usr/bin/env python3
"""millrace.torch.Charts in a DataLoader with two workers, and what people have instead: charts of 224 x 224 a second.

    PYTHONPATH=build/release/python python bench/python_loader.py [ROUNDS]      needs torch, OpenCV and matplotlib

In turns, medians are told: ChartDrawer alone, in batches on as many threads as there are workers; a dataset that returns
empty arrays of that size, which is what the loader costs; Charts, with labels; cv2.polylines in __getitem__; a canvas of
matplotlib that each worker keeps. Beside charts a second what they cost, microseconds of processors a chart, which others on
the machine change less.
"""

import os
import resource
import statistics
import sys
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import millrace
import millrace.torch

ROWS, SIDE, BATCH, WORKERS, CHARTS = 60, 224, 128, 2, 40_000
#: Of the slow ones.
FEWER = {"cv2": 20_000, "matplotlib": 600}
PRICES = 100 * np.exp(np.cumsum(np.random.default_rng(11).normal(0, 0.012, CHARTS + ROWS - 1)))


class Windows(Dataset):
    """Charts that are made one by one, with the label that millrace.torch has."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        window = PRICES[number : number + ROWS]
        later = PRICES[number + ROWS + 4] / window[-1] - 1 if number + ROWS + 4 < len(PRICES) else np.nan
        return self.image(window), np.float32(later)


class Empty(Windows):
    def image(self, _):
        return np.empty((1, SIDE, SIDE), np.uint8)


class Cv2(Windows):
    def image(self, window):
        import cv2

        norm = (window - window.min()) / (window.max() - window.min())
        points = np.stack([np.linspace(0, SIDE - 1, ROWS), (1 - norm) * (SIDE - 1)], 1)
        image = np.full((SIDE, SIDE), 255, np.uint8)
        cv2.polylines(image, [np.round(points * 16).astype(np.int32)], False, 0, 2, cv2.LINE_AA, 4)
        return image[None]


class Canvas(Windows):
    """A figure, a line and a canvas for all charts, its bytes read where they lie."""

    figure = None

    def image(self, window):
        if self.figure is None:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            self.figure = Figure((SIDE / 100, SIDE / 100), dpi=100)
            self.canvas = FigureCanvasAgg(self.figure)
            axes = self.figure.add_axes([0, 0, 1, 1])
            axes.axis("off")
            axes.set_xlim(0, ROWS - 1)
            axes.set_ylim(0, 1)
            (self.line,) = axes.plot(np.arange(ROWS), np.zeros(ROWS), color="black", linewidth=3 * 72 / 100)
        self.line.set_ydata((window - window.min()) / (window.max() - window.min()))
        self.canvas.draw()
        return np.ascontiguousarray(np.asarray(self.canvas.buffer_rgba())[None, :, :, 0])


def processors():
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def through_a_loader(dataset):
    """(seconds, charts) after a first batch of each worker, which started it."""
    loader = DataLoader(dataset, batch_size=BATCH, shuffle=True, num_workers=WORKERS)
    batches, count = iter(loader), 0
    for _ in range(WORKERS):
        next(batches)
    begin = time.perf_counter()
    for images, _ in batches:
        count += len(images)
    return time.perf_counter() - begin, count


def by_the_drawer(drawer, series, out):
    begin = time.perf_counter()
    for first in range(0, len(series) - BATCH + 1, BATCH):
        drawer(series[first : first + BATCH], out=out)
    return time.perf_counter() - begin, len(series) // BATCH * BATCH


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    drawing = {"rows": ROWS, "width": SIDE, "height": SIDE}
    charts = millrace.torch.Charts(PRICES, labels=5, **drawing)
    drawer = millrace.ChartDrawer(threads=WORKERS, **drawing)
    series = np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(PRICES, ROWS))
    out = np.empty((BATCH, SIDE, SIDE), np.uint8)
    works = {
        "drawer": lambda: by_the_drawer(drawer, series, out),
        "empty": lambda: through_a_loader(Empty(CHARTS)),
        "charts": lambda: through_a_loader(charts),
        "cv2": lambda: through_a_loader(Cv2(FEWER["cv2"])),
        "matplotlib": lambda: through_a_loader(Canvas(FEWER["matplotlib"])),
    }
    rates, costs, loads = {name: [] for name in works}, {name: [] for name in works}, []
    for _ in range(rounds):
        loads.append(os.getloadavg()[0])
        for name, work in works.items():
            used = processors()
            seconds, count = work()
            rates[name].append(count / seconds)
            costs[name].append((processors() - used) / (FEWER.get(name, CHARTS)) * 1e6)
    rate = {name: statistics.median(own) for name, own in rates.items()}
    cost = {name: statistics.median(own) for name, own in costs.items()}
    print(f"loader: {SIDE} x {SIDE}, batches of {BATCH}, {WORKERS} workers, torch {torch.__version__}, medians of {rounds}; load before each round "
          + " ".join(f"{load:.1f}" for load in loads))
    for name in works:
        print(f"  {name:12} {rate[name]:>10,.0f} charts/s   {cost[name]:>8,.1f} us of processors a chart")
    floor, dearest = min(rate["drawer"], rate["empty"]), max(cost["drawer"], cost["empty"])
    print(f"  charts against the lower of drawer and empty: {100 * rate['charts'] / floor:.0f} % by the clock, {100 * dearest / cost['charts']:.0f} % by processors"
          "   bar: at least 80 %")
    for name in FEWER:
        print(f"  charts against {name}: {rate['charts'] / rate[name]:.1f} x")


if __name__ == "__main__":
    main()
