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
import shutil
import subprocess
import sys
import time
import zlib

import cv2
import h5py
import numpy as np

CHARTS, WINDOW, WIDTH, HEIGHT = 85_887, 100, 800, 500
PRICES = pathlib.Path(__file__).resolve().parents[2] / "shared/data/prices/SPY_D.csv"
OTHER_CHARTS = 20_000


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


def matplotlib_images(part, as_people_do):
    import io

    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    for values in part:
        norm = (values - values.min()) / (values.max() - values.min())
        figure, axes = plt.subplots(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100)
        axes.plot(norm, color="black", linewidth=3 * 72 / 100)
        axes.set_xlim(0, len(norm))
        axes.set_ylim(0, 1)
        axes.axis("off")
        figure.subplots_adjust(left=0, right=1, bottom=0, top=1)
        if as_people_do:
            # Saved and read back: how the charts of the system that this replaces came to be arrays.
            file = io.BytesIO()
            figure.savefig(file, format="png", dpi=100)
            image = np.asarray(Image.open(file).convert("L"))
        else:
            figure.canvas.draw()
            image = np.asarray(figure.canvas.buffer_rgba())[..., 0]
        plt.close(figure)
        yield image


def store(images, part, path):
    with h5py.File(path, "w") as file:
        out = file.create_dataset("images", (len(part), HEIGHT, WIDTH), np.uint8, chunks=(1, HEIGHT, WIDTH),
                                  compression="gzip", compression_opts=4)
        file.create_dataset("sequences", data=part.astype(np.float32))
        for i, image in enumerate(images):
            out[i] = image
    return len(part)


def matplotlib_charts(task):
    part, path = task
    return store(matplotlib_images(part, True), part, path)


def matplotlib_canvas_charts(task):
    part, path = task
    return store(matplotlib_images(part, False), part, path)


def opencv_images(part):
    x = np.linspace(0, WIDTH - 1, WINDOW)
    for values in part:
        norm = (values - values.min()) / (values.max() - values.min())
        points = np.stack([x, (1 - norm) * (HEIGHT - 1)], 1)
        image = np.full((HEIGHT, WIDTH), 255, np.uint8)
        cv2.polylines(image, [np.round(points * 16).astype(np.int32)], False, 0, 2, cv2.LINE_AA, 4)
        yield image


def opencv_charts(task):
    part, path = task
    return store(opencv_images(part), part, path)


def peer(function, series, count, work):
    """Charts a second in two processes, imports and a first round outside the clock."""
    cv2.setNumThreads(1)
    halves = [windows(series, h * count, count // 2) for h in range(2)]
    paths = [os.fspath(work / f"peer{k}.h5") for k in range(2)]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(function, [(h[:2], p) for h, p in zip(halves, paths)]))
        start = time.monotonic()
        done = sum(pool.map(function, zip(halves, paths)))
        return done / (time.monotonic() - start)


def remove(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def shards_of(output):
    return output.with_name(output.name + ".shards")


def copy_seconds(path):
    """A floor: what the output's bytes and names cost alone."""
    copy = path.with_name("copy")
    start = time.monotonic()
    subprocess.run(["cp", "-r", path, copy], check=True)
    seconds = time.monotonic() - start
    remove(copy)
    return seconds


def size_of(path):
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file()) if path.is_dir() else path.stat().st_size


def bars(length):
    """Open, high, low, close and volume: days of the real series, drawn again, each relative to the close before it."""
    random = np.random.default_rng(12)
    if PRICES.exists():
        with open(PRICES) as file:
            rows = np.array([[float(row[c]) for c in ("open", "high", "low", "close", "volume")] for row in csv.DictReader(file)])
    else:
        close = 100 * np.exp(np.cumsum(random.normal(0, 0.012, 5000)))
        rows = np.stack([close, close * 1.01, close * 0.99, close, random.integers(1, 1000, 5000)], 1)
    picked = random.integers(1, len(rows), length)
    shape = np.log(rows[picked, :4] / rows[picked - 1, 3:4])
    before = np.cumsum(shape[:, 3] - shape[:, 3].mean()) - shape[:, 3]
    return np.column_stack([100 * np.exp(before[:, None] + shape), rows[picked, 4]])


def ours(program, source, output, *options):
    """Seconds of a run without its last sync, that sync's, and the most memory that was resident."""
    remove(output)
    remove(shards_of(output))
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
    line("copying that file, s (a floor)", f"{copy_seconds(output):.2f}")
    output.unlink()
    for name, function, count, bar in [
            ("matplotlib, saved and read back, + h5py", matplotlib_charts, 60, "bar: at least 250 x"),
            ("matplotlib, its canvas read, + h5py", matplotlib_canvas_charts, 160, ""),
            ("OpenCV polylines + h5py gzip 4", opencv_charts, 1500, "bar: at least 15 x")]:
        other = peer(function, series, count, work)
        line(f"{name}, two processes, charts a second", f"{other:.1f}")
        line("  ratio", f"{rate / other:.1f} x", bar)
    np.save(work / "noise.npy", np.random.default_rng(3).normal(0, 1, OTHER_CHARTS + WINDOW - 1))
    np.save(work / "bars.npy", bars(OTHER_CHARTS + WINDOW - 1))
    print(f"{OTHER_CHARTS:,} charts each, two threads, last sync apart; the floor is a copy of the output")
    for name, series, options in [
            ("line, HDF5", source, []),
            ("line, 1 bit a pixel", source, ["--dtype", "bit"]),
            ("line, float32", source, ["--dtype", "f32"]),
            ("line, RGB", source, ["--channels", "rgb"]),
            ("white noise", work / "noise.npy", []),
            ("jkx, 180 x 96", work / "bars.npy", ["--style", "jkx", "--window", "60"]),
            ("ohlc, 400 x 500", work / "bars.npy", ["--style", "ohlc"]),
            ("candle, 800 x 500", work / "bars.npy", ["--style", "candle"]),
            ("line, virtual HDF5", source, ["--virtual"]),
            ("line, Zarr", source, ["--store", "zarr"]),
            ("line, PNG files", source, ["--store", "png"]),
            ("line, WebDataset", source, ["--store", "webdataset"]),
            ("line, JPEG files", source, ["--store", "jpeg"]),
            ("line, NPY (5,000)", source, ["--store", "npy", "--limit", "5000"])]:
        output = work / "other"
        limit = [] if "--limit" in options else ["--limit", str(OTHER_CHARTS)]
        count = 5_000 if "--limit" in options else OTHER_CHARTS
        seconds = sorted(ours(program, series, output, *options, *limit)[0] for _ in range(3))[1]
        shards = shards_of(output)
        floor = copy_seconds(shards if shards.exists() else output)
        size = size_of(output) + (size_of(shards) if shards.exists() else 0)
        line(name, f"{count / seconds:,.0f}/s", f"{size / count / 1000:7.1f} KB a chart; floor {count / floor:,.0f}/s")
        remove(output)
        remove(shards)


if __name__ == "__main__":
    main()
