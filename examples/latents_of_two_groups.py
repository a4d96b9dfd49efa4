#!/usr/bin/env python3
"""Do two groups of video latents differ, and in what? A table of the metrics that do, the surest first.

    python examples/latents_of_two_groups.py real/ generated/

A folder holds one latent a file: NumPy's .npy, [channels, frames, height, width] or [channels, height, width], one a video,
for a file is one row of the tests. Needs pandas. `millrace latents` takes whole trees of files, of many formats and several
steps a video, and writes a page.
"""

import argparse
import pathlib
import sys

import numpy

import millrace


def measured(folder):
    """Each latent's metrics. One file is in memory at a time."""
    measurer = millrace.latents.Measurer()
    metrics = []
    for path in sorted(pathlib.Path(folder).glob("*.npy")):
        one = measurer(numpy.load(path, mmap_mode="r"))
        if one.not_finite:
            print(f"{path}: {one.not_finite} numbers are not finite, left out", file=sys.stderr)
        else:
            metrics.append(one.metrics)
    return metrics


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--seed", type=int, default=0, help="of the permutations")
    parser.add_argument("--level", type=float, default=0.05, help="of p, corrected for all metrics")
    arguments = parser.parse_args()

    if arguments.first == arguments.second:
        sys.exit("there are two groups, and each is a folder of its own")
    groups = {folder: measured(folder) for folder in (arguments.first, arguments.second)}
    for folder, metrics in groups.items():
        if len(metrics) < 2:
            sys.exit(f"{folder}: {len(metrics)} latents; a test takes two at least")
    table = millrace.latents.compare(groups, seed=arguments.seed).to_pandas().sort_values("p_familywise")
    surely = table[table.p_familywise < arguments.level]
    print(f"{len(surely)} of {len(table)} metrics differ, p < {arguments.level} corrected for all of them")
    if not surely.empty:
        print(surely[["metric", "hedges_g", "p_familywise"]].to_string(index=False))


if __name__ == "__main__":
    try:
        main()
    except millrace.Error as error:
        sys.exit(str(error))
