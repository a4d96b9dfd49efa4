#!/usr/bin/env python3
"""Hamming self-join against FAISS, on the same codes, in the same run, on two threads.

Run with a Python that has numpy and faiss-cpu, after building the target hamming_bench:
    python bench/join.py [--full] [--bench build/release/bench/hamming_bench]

Prints for each case the seconds, the ratio to FAISS (IndexBinaryFlat.range_search, whose range is strict: its radius
is ours plus one), whether the pairs are the same, and the floor: the time to read the codes once at the measured
bandwidth. FAISS answers all ordered pairs and each code with itself; it has no self-join.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import faiss
import numpy as np

THREADS = 2
SEED = 20240607


def flip(codes, flips, rng):
    """Each row with flips[row] bits drawn (a bit drawn twice flips back)."""
    codes = codes.copy()
    rows = np.arange(len(codes))
    for drawn in range(int(flips.max(initial=0))):
        bits = rng.integers(0, codes.shape[1] * 8, len(codes))
        change = (1 << (bits % 8)).astype(np.uint8)
        change[flips <= drawn] = 0
        codes[rows, bits // 8] ^= change
    return codes


def uniform(n, width, radius, rng):
    """Random codes, one in a hundred near another."""
    codes = rng.integers(0, 256, (n, width), dtype=np.uint8)
    to = rng.choice(n, n // 100, replace=False)
    codes[to] = flip(codes[rng.integers(0, n, len(to))], rng.integers(0, radius + 1, len(to)), rng)
    return codes


def clustered(n, width, radius, rng):
    """Half of the codes around n / 50 centres, at up to twice the radius, and 20,000 equal codes."""
    codes = rng.integers(0, 256, (n, width), dtype=np.uint8)
    to = rng.choice(n, n // 2, replace=False)
    centres = rng.integers(0, n, max(1, n // 50))
    codes[to] = flip(codes[rng.choice(centres, len(to))], rng.integers(0, 2 * radius + 1, len(to)), rng)
    codes[rng.choice(n, min(20000, n // 2), replace=False)] = codes[0]
    return codes


def equal_pairs(codes):
    """The number of pairs of equal rows."""
    _, sizes = np.unique(codes.view([("", codes.dtype)] * codes.shape[1]), return_counts=True)
    sizes = sizes.astype(np.uint64)
    return int((sizes * (sizes - 1) // 2).sum())


def nodes_of(codes):
    """Each row's node, numbered by first row, and the first rows."""
    whole = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.shape[1]))).ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse], first[order]


def faiss_join(codes, radius):
    """Seconds, and the pairs i < j with distances, sorted."""
    index = faiss.IndexBinaryFlat(codes.shape[1] * 8)
    index.add(codes)
    begin = time.perf_counter()
    limits, distances, ids = index.range_search(codes, radius + 1)
    seconds = time.perf_counter() - begin
    rows = np.repeat(np.arange(len(codes)), np.diff(limits.astype(np.int64)))
    keep = rows < ids
    pairs = np.stack([rows[keep], ids[keep], distances[keep].astype(np.int64)], axis=1)
    return seconds, pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def bandwidth():
    """Bytes per second that two threads read (numpy sums release the lock)."""
    from concurrent.futures import ThreadPoolExecutor

    halves = [np.ones(1 << 25, dtype=np.uint64) for _ in range(THREADS)]
    best = 0.0
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(5):
            begin = time.perf_counter()
            list(pool.map(np.bitwise_or.reduce, halves))
            best = max(best, sum(h.nbytes for h in halves) / (time.perf_counter() - begin))
    return best


def ours(bench, codes, radius, folder, repeat):
    raw, pairs = folder / "codes.raw", folder / "pairs.raw"
    codes.tofile(raw)
    text = subprocess.run(
        [bench, f"input={raw}", f"pairs={pairs}", f"bits={codes.shape[1] * 8}", f"radius={radius}",
         f"threads={THREADS}", f"repeat={repeat}"], check=True, capture_output=True, text=True).stdout
    found = np.fromfile(pairs, dtype=np.uint32).reshape(-1, 3).astype(np.int64)
    return json.loads(text), found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/release/bench/hamming_bench")
    parser.add_argument("--full", action="store_true", help="10 M codes too (some minutes to make them)")
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(THREADS)
    speed = bandwidth()
    print(f"reading: {speed / 1e9:.1f} GB/s on {THREADS} threads; FAISS {faiss.__version__}")

    # width in bytes, radius, rows, bar in seconds
    cases = [(8, 5, 100_000, 0.030), (8, 5, 1_000_000, 0.5), (32, 31, 100_000, 0.25), (32, 31, 1_000_000, 10.0)]
    if arguments.full:
        cases.append((8, 5, 10_000_000, 8.0))
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for width, radius, n, bar in cases:
            for make in (uniform, clustered):
                codes = make(n, width, radius, np.random.default_rng(SEED))
                result, found = ours(arguments.bench, codes, radius, folder, 3 if n > 1_000_000 else 9)
                seconds = result["median_s"]
                floor = codes.nbytes / speed
                line = (f"{8 * width:3} bits r={radius:<2} {n:>10,} {make.__name__:9} median {seconds:8.4f} s "
                        f"best {result['best_s']:8.4f} s (bar {bar} s) {result['bytes_per_code']:5.1f} B/code "
                        f"floor {floor * 1e3:.3f} ms x{seconds / floor:,.0f} "
                        f"nodes {result['nodes']:,} pairs {result['pairs']:,} expanded {result['expanded']:,}")
                if n <= 100_000:
                    nodes, first = nodes_of(codes)
                    # The whole collection is timed; the nodes alone are compared, because the equal codes of the
                    # hot spot would be 400 M answers of 12 bytes.
                    timed = codes if make is uniform else codes[first]
                    peer, pairs = faiss_join(timed, radius)
                    if make is uniform:
                        pairs = faiss_join(codes[first], radius)[1] if len(first) < n else pairs
                    same = len(first) == result["nodes"] and np.array_equal(pairs, found)
                    sizes = np.bincount(nodes).astype(np.uint64)
                    expanded = equal_pairs(codes) + int((sizes[pairs[:, 0]] * sizes[pairs[:, 1]]).sum())
                    same = same and expanded == result["expanded"]
                    failed = failed or not same
                    line += f" | FAISS {peer:.3f} s, x{peer / seconds:,.0f}, {'same pairs' if same else 'PAIRS DIFFER'}"
                failed = failed or seconds > bar
                print(line)
                print(f"    {result['why']}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
