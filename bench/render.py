#!/usr/bin/env python3
"""`render` beside matplotlib, and beside OpenCV with h5py: charts a second into one finished HDF5 file.

  render.py PROGRAM WORK_FOLDER

The series is a seeded bootstrap of a real one's log returns (../shared/data/prices) where that is here, else a random walk.
"""

import concurrent.futures
import csv
import os
import pathlib
import re
import subprocess
import sys
import time
import zlib

import cv2
import h5py
import numpy as np

CHARTS, WINDOW, WIDTH, HEIGHT = 85_887, 100, 800, 500
PRICES = pathlib.Path(__file__).resolve().parents[2] / "shared/data/prices/SPY_D.csv"
PEER_CHARTS = {"matplotlib": 60, "OpenCV": 1500}


def bootstrap(length):
    random = np.random.default_rng(11)
    if PRICES.exists():
        with open(PRICES) as file:
            close = np.array([float(row["close"]) for row in csv.DictReader(file)])
        returns = random.choice(np.diff(np.log(close)), length)
    else:
        returns = random.normal(0, 0.012, length)
    # Kept near its start: so long a walk would leave the range of prices.
    return 100 * np.exp(np.cumsum(returns - returns.mean()))


def windows(series, first, count):
    return np.stack([series[i : i + WINDOW] for i in range(first, first + count)])


def matplotlib_charts(part):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for values in part:
        norm = (values - values.min()) / (values.max() - values.min())
        figure = plt.figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100)
        axes = figure.add_axes([0, 0, 1, 1])
        axes.plot(norm, color="black", linewidth=3 * 72 / 100)
        axes.set_xlim(0, len(norm))
        axes.set_ylim(0, 1)
        axes.axis("off")
        figure.canvas.draw()
        np.asarray(figure.canvas.buffer_rgba())[..., 0].copy()
        plt.close(figure)
    return len(part)


def opencv_charts(task):
    part, path = task
    x = np.linspace(0, WIDTH - 1, WINDOW)
    with h5py.File(path, "w") as file:
        images = file.create_dataset("images", (len(part), HEIGHT, WIDTH), np.uint8, chunks=(1, HEIGHT, WIDTH),
                                     compression="gzip", compression_opts=4)
        file.create_dataset("sequences", data=part.astype(np.float32))
        for i, values in enumerate(part):
            norm = (values - values.min()) / (values.max() - values.min())
            points = np.stack([x, (1 - norm) * (HEIGHT - 1)], 1)
            image = np.full((HEIGHT, WIDTH), 255, np.uint8)
            cv2.polylines(image, [np.round(points * 16).astype(np.int32)], False, 0, 2, cv2.LINE_AA, 4)
            images[i] = image
    return len(part)


def peer(function, series, count, wrap):
    """Charts a second in two processes, imports outside the clock."""
    cv2.setNumThreads(1)
    halves = [windows(series, h * count, count // 2) for h in range(2)]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(function, [wrap(h[:2], k) for k, h in enumerate(halves)]))
        start = time.monotonic()
        done = sum(pool.map(function, [wrap(h, k) for k, h in enumerate(halves)]))
        return done / (time.monotonic() - start)


def ours(program, source, output, *options):
    """Seconds of a run without its last sync, that sync's, and the most memory that was resident."""
    output.unlink(missing_ok=True)
    start = time.monotonic()
    run = subprocess.Popen([program, "render", source, "-o", output, "--threads", "2", "--progress", "none", *options],
                           stderr=subprocess.PIPE, text=True)
    said = run.stderr.read()
    _, status, usage = os.wait4(run.pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        sys.exit(said)
    sync = float(re.search(r"last sync ([\d.]+) s", said).group(1))
    return seconds - sync, sync, usage.ru_maxrss / 1024, said


def line(label, value, bar=""):
    print(f"  {label:62} {value:>14}   {bar}", flush=True)


def main():
    program, work = map(pathlib.Path, sys.argv[1:])
    work.mkdir(parents=True, exist_ok=True)
    source, output = work / "series.npy", work / "charts.h5"
    series = bootstrap(CHARTS + WINDOW - 1)
    np.save(source, series)
    print(f"render: {CHARTS:,} windows of {WINDOW}, line, {WIDTH} x {HEIGHT} u8, one HDF5 file, two threads")
    runs = [ours(program, source, output) for _ in range(3)]
    seconds, sync, memory, _ = sorted(runs, key=lambda r: r[0])[1]
    rate = CHARTS / seconds
    line("seconds without the last sync, median of 3", f"{seconds:.2f}", "bar: at most 8")
    line("the three runs", " ".join(f"{r[0]:.2f}" for r in runs))
    line("last sync, s", f"{sync:.2f}")
    line("charts a second", f"{rate:,.0f}")
    line("peak memory, MiB", f"{memory:.0f}", "bar: at most 512")
    with h5py.File(output) as file:
        images = file["images"]
        sample = range(0, CHARTS, CHARTS // 300)
        gzip = sum(len(zlib.compress(images[i].tobytes(), 4)) for i in sample)
        stored = sum(images.id.get_chunk_info(i).size for i in sample)
    line("bytes a chart; gzip 4 of the same", f"{stored // len(sample):,}; {gzip // len(sample):,}", "bar: no more")
    line("size of the file, MB", f"{output.stat().st_size / 1e6:.0f}")
    copy = work / "copy.bin"
    start = time.monotonic()
    subprocess.run(["cp", output, copy], check=True)
    line("copying that file, s (a floor)", f"{time.monotonic() - start:.2f}")
    copy.unlink()
    output.unlink()
    rates = {"matplotlib": peer(matplotlib_charts, series, PEER_CHARTS["matplotlib"], lambda part, k: part),
             "OpenCV": peer(opencv_charts, series, PEER_CHARTS["OpenCV"],
                            lambda part, k: (part, os.fspath(work / f"peer{k}.h5")))}
    line("matplotlib in two processes, charts a second", f"{rates['matplotlib']:.1f}")
    line("ratio", f"{rate / rates['matplotlib']:.0f} x", "bar: at least 250 x")
    line("OpenCV + h5py gzip 4 in two processes, charts a second", f"{rates['OpenCV']:.0f}")
    line("ratio", f"{rate / rates['OpenCV']:.1f} x", "bar: at least 15 x")
    noise = work / "noise.npy"
    np.save(noise, np.random.default_rng(3).normal(0, 1, 10_000 + WINDOW - 1))
    seconds, *_ = ours(program, noise, output)
    line("white noise: charts a second; KB a chart", f"{10_000 / seconds:,.0f}; {output.stat().st_size / 1e7:.1f}")
    output.unlink()


if __name__ == "__main__":
    main()
