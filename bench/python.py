#!/usr/bin/env python3
"""The Python package against the program, against C++, and against what Python has today, in one run, on two threads.

    PYTHONPATH=build/release/python python bench/python.py [PART...]      files, charts, codes, images, latents; all without one

Each pair is measured in turns, and medians are told. "files": hash_files() of 10,000 JPEGs of 256 x 192, and `millrace hash`
of the same folder. "charts": ChartDrawer into one array of 205 MB, and the drawer of C++ (drawer_bench). "codes": pairs of
1,000,000 codes, with what memory that takes, and FAISS on 100,000. "images": hash() of decoded images, and imagehash.
"latents": latents.measure(), and NumPy with care (bench/recipes/latents_numpy.py).
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import millrace

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/release"
THREADS = 2


def in_turns(rounds, *works):
    """Medians of seconds of each."""
    seconds = [[] for _ in works]
    for _ in range(rounds):
        for own, work in zip(seconds, works):
            begin = time.perf_counter()
            work()
            own.append(time.perf_counter() - begin)
    return [statistics.median(own) for own in seconds]


def an_image(rng, width, height):
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    waves = sum(40 * np.sin(x * rng.uniform(0.02, 0.3) + y * rng.uniform(0.02, 0.3) + rng.uniform(0, 6)) for _ in range(3))
    return np.clip(np.stack([128 + waves, 128 - waves, 100 + waves / 2], 2), 0, 255).astype(np.uint8)


def files():
    from PIL import Image

    folder = ROOT / "build/bench/small-jpegs"
    if not (folder / "9999.jpg").exists():
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(1)
        for k in range(10_000):
            Image.fromarray(an_image(rng, 256, 192)).save(folder / f"{k:04}.jpg", quality=85)
    program = [BUILD / "millrace", "hash", folder, "--kinds", "dhash,phash", "--format", "jsonl", "--threads", str(THREADS), "--quiet"]

    def by_program():
        subprocess.run(program, check=True, stdout=subprocess.DEVNULL)

    def by_python():
        assert len(millrace.hash_files(folder, ["dhash", "phash"], threads=THREADS)) == 10_000

    program_s, python_s = in_turns(7, by_program, by_python)
    print(f"files: 10,000 small JPEGs hashed by the program in {program_s:.2f} s, by hash_files() in {python_s:.2f} s: {100 * (python_s / program_s - 1):+.1f} %")


def charts():
    count, rows, batches = 512, 100, 8
    rng = np.random.default_rng(1)
    series = np.exp(np.cumsum(rng.normal(0, 0.012, (batches, count, rows)), axis=2))
    drawer = millrace.ChartDrawer(threads=THREADS)
    out = np.empty((count, *drawer.image_shape), np.uint8)
    ours, theirs = [], []
    for _ in range(5):
        said = subprocess.run([BUILD / "bench/drawer_bench"], check=True, capture_output=True, text=True).stdout
        theirs.append(float(said.split()[2]))
        seconds = in_turns(1, *[lambda batch=batch: drawer(batch, out=out) for batch in series])
        ours.append(count / statistics.median(seconds))
    a, b = statistics.median(ours), statistics.median(theirs)
    print(f"charts: {a:.0f}/s of 800 x 500 from Python, {b:.0f}/s from C++: {100 * (a / b - 1):+.1f} %")


def codes():
    import faiss

    rng = np.random.default_rng(20240607)
    base = rng.integers(0, 2**63, 1_000_000, dtype=np.uint64)
    near = base[rng.integers(0, len(base), 10_000)] ^ (np.uint64(1) << rng.integers(0, 63, 10_000).astype(np.uint64))
    base[rng.choice(len(base), 10_000, replace=False)] = near
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    pairs = millrace.join(base, 5, threads=THREADS)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/codes.npy", base)
        took = in_turns(3, lambda: subprocess.run([BUILD / "millrace", "join", f"{folder}/codes.npy", "--radius", "5", "-o", f"{folder}/pairs.npy", "--threads",
                                                   str(THREADS), "--quiet", "--overwrite"], check=True, stdout=subprocess.DEVNULL),
                        lambda: millrace.join(base, 5, threads=THREADS))
        assert np.array_equal(np.load(f"{folder}/pairs.npy"), pairs)
    print(f"codes: {len(pairs)} pairs of 1,000,000 codes of 64 bits (8 MB) within 5 bits, the first time in {seconds:.2f} s, {(peak - before) / 1024:.0f} MiB more "
          f"at the peak; {took[1]:.2f} s, the program with reading and writing {took[0]:.2f} s")
    few = base[:100_000]
    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexBinaryFlat(64)
    index.add(few.view(np.uint8).reshape(-1, 8))
    ours, theirs = in_turns(3, lambda: millrace.join(few, 5, threads=THREADS), lambda: index.range_search(few.view(np.uint8).reshape(-1, 8), 6))
    print(f"codes: 100,000 within 5 bits: {ours:.4f} s, FAISS {theirs:.2f} s: {theirs / ours:.0f} times as fast")


def images():
    import concurrent.futures

    import imagehash
    from PIL import Image

    rng = np.random.default_rng(2)
    for width, height, count in ((512, 384, 200), (4000, 3000, 4)):
        arrays = [an_image(rng, width, height) for _ in range(count)]
        pictures = [Image.fromarray(array) for array in arrays]
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            ours, theirs = in_turns(3, lambda: millrace.hash(arrays, ["dhash", "phash"], threads=THREADS),
                                    lambda: list(pool.map(lambda p: (imagehash.dhash(p), imagehash.phash(p)), pictures)))
        assert [str(imagehash.phash(p)) for p in pictures[:4]] == millrace.hex_of(millrace.hash(arrays[:4], "phash"))
        print(f"images: dhash and phash of {width} x {height}: {count / ours:.0f} images/s, imagehash in two threads {count / theirs:.0f}: "
              f"{theirs / ours:.1f} times as fast")


def latents():
    sys.path.insert(0, os.fspath(ROOT / "bench/recipes"))
    import latents_numpy

    half = np.random.default_rng(3).standard_normal((16, 21, 60, 104)).astype(np.float16)
    measurer = millrace.latents.Measurer(threads=1)
    ours, theirs = in_turns(3, lambda: measurer(half), lambda: latents_numpy.measure(half))
    print(f"latents: {half.shape}, {half.nbytes / 1e6:.1f} MB, on one thread: {1000 * ours:.0f} ms, NumPy with care {1000 * theirs:.0f} ms: "
          f"{theirs / ours:.0f} times as fast")


PARTS = {"files": files, "charts": charts, "codes": codes, "images": images, "latents": latents}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
