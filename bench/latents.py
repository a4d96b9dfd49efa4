#!/usr/bin/env python3
"""`latents` beside a careful NumPy program in two processes, on the same latents, in turn.

  latents.py PROGRAM WORK_FOLDER [LATENTS]

The latents are made (recipes/make_latents.py): 6 groups of 12 videos of 20 steps, [16, 16, 60, 106] float16, 4.7 GB, which have to
fit into memory to be measured without the disk.
"""

import gzip
import io
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

RECIPES = pathlib.Path(__file__).resolve().parent / "recipes"
sys.path.insert(0, str(RECIPES.parents[1] / "tests" / "support"))

import torch_files  # noqa: E402

ROUNDS = 5
# Of the peer's, which takes about as long for each.
SAMPLE = 120
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def npz(latent, save):
    file = io.BytesIO()
    save(file, latent)
    return file.getvalue()


def stored(latent):
    return torch_files.Tensor(torch_files.Storage("float16", latent.tobytes()), latent.shape)


FORMATS = {
    ".npy.gz": lambda latent: gzip.compress(torch_files.npy_of(stored(latent)), 6),
    ".npz": lambda latent: npz(latent, np.savez),
    ".pt": lambda latent: torch_files.archive(stored(latent)),
    ".safetensors": lambda latent: torch_files.safetensors({"latents": stored(latent)}),
}


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_rate(files):
    """Seconds that reading takes alone: the floor."""
    room = bytearray(os.path.getsize(files[0]))
    start = time.monotonic()
    for path in files:
        with open(path, "rb", buffering=0) as file:
            file.readinto(room)
    return (time.monotonic() - start) / len(files)


def ours(program, folder, out, *more):
    shutil.rmtree(out, ignore_errors=True)
    before, start = cpu(), time.monotonic()
    subprocess.run([program, "latents", folder, "-o", out, "--threads", "2", "-q", *more], check=True)
    return time.monotonic() - start, cpu() - before


def peer(files):
    start = time.monotonic()
    halves = [subprocess.Popen([sys.executable, RECIPES / "latents_numpy.py", *files[i::2]], env=os.environ | ALONE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for i in range(2)]
    used = sum(float(half.communicate()[1].splitlines()[-1]) for half in halves)
    return time.monotonic() - start, used


def took(folder):
    """What the program says of one run."""
    told = json.loads((folder / "performance.json").read_bytes())
    return told["seconds"], told["cpu_seconds"], told


def medians(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def variant(files, work, ending):
    """The same latents in another format: a tenth of them, ten times each."""
    folder = work / f"latents{ending.replace('.', '-')}"
    for i, path in enumerate(files[::10]):
        to = folder / "latents" / path.parts[-3] / path.parts[-2]
        to.mkdir(parents=True, exist_ok=True)
        first = to / f"step_{10 * i:05d}{ending}"
        if first.exists():
            continue
        first.write_bytes(FORMATS[ending](np.load(path)))
        for k in range(1, 10):
            # Copies: what is inflated of one inode is kept for its next name.
            shutil.copyfile(first, to / f"step_{10 * i + k:05d}{ending}")
    return folder


def many(files, work):
    """10,080 latents, of which each seven are one file."""
    folder = work / "latents-many"
    if not folder.exists():
        for k in range(7):
            for path in files:
                to = folder / "latents" / path.parts[-3] / f"{path.parts[-2]}_{k}"
                to.mkdir(parents=True, exist_ok=True)
                os.link(path, to / path.name)
    return folder


def line(what, value, unit, note=""):
    print(f"  {what:58} {value:9.2f} {unit:3} {note}".rstrip())


def main():
    program, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else work / "latents"
    if not folder.exists():
        subprocess.run([sys.executable, RECIPES / "make_latents.py", folder], check=True)
    files = sorted(folder.rglob("step_*.npy"))
    print(f"latents: {len(files)} files, two threads, medians of {ROUNDS}")
    read_rate(files)
    out = work / "latents-out"
    numbers, moves, whole, peers = [], [], [], []
    for _ in range(ROUNDS):
        ours(program, folder, out, "--metrics", "*.*")
        numbers.append(took(out))
        ours(program, folder, out, "--metrics", "*.*,trajectory")
        moves.append(took(out))
        ours(program, folder, out, "--report")
        whole.append(took(out))
        peers.append(peer(files[:: max(1, len(files) // SAMPLE)]))
    sample = len(files[:: max(1, len(files) // SAMPLE)])
    wall, cpu_s = medians([run[0] for run in numbers]), medians([run[1] for run in numbers])
    moves_cpu = medians([run[1] for run in moves])
    all_wall = medians([run[0] for run in whole])
    measuring = wall["finding"] + wall["measuring"] + wall["writing"]
    each = (cpu_s["finding"] + cpu_s["measuring"] + cpu_s["writing"]) / len(files) * 1e3
    peer_wall, peer_used = (statistics.median(column) for column in zip(*peers))
    peer_all = peer_wall / sample * len(files)
    line("every metric of a latent and metrics.csv, wall", measuring, "s", "bar 2")
    line("a latent, CPU", each, "ms", f"bar 2.0; reading alone {read_rate(files) * 1e3:.2f}")
    line("trajectories, more CPU a latent", (moves_cpu["measuring"] - cpu_s["measuring"]) / len(files) * 1e3, "ms", "bar 0.5")
    more = all_wall["statistics"] + all_wall["separability"] + all_wall["writing"]
    line("statistics, separability, all outputs and the page, wall", more, "s",
         f"bar 3; statistics {all_wall['statistics']:.2f}, separability {all_wall['separability']:.2f}")
    line("all of it, wall", all_wall["all"], "s")
    line(f"NumPy, a latent, CPU ({sample} of them)", peer_used / sample * 1e3, "ms", "at most 40")
    line("NumPy in two processes, all of them, wall", peer_all, "s", f"{peer_all / measuring:.1f} times ours; bar 10")
    parts = whole[0][2]["thread_seconds_by_part"]
    print("  by part, ms a latent: " + ", ".join(f"{name} {value / len(files) * 1e3:.2f}" for name, value in parts.items()))
    if "quick" in sys.argv:
        return
    for ending in FORMATS:
        other = variant(files, work, ending)
        runs = []
        for _ in range(3):
            ours(program, other, out, "--metrics", "*.*")
            runs.append(took(out))
        count = runs[0][2]["latents_measured"]
        wall = medians([run[0] for run in runs])
        read = statistics.median(run[2]["thread_seconds_by_part"]["reading"] for run in runs) / count
        line(f"{count} latents as {ending}, wall", wall["finding"] + wall["measuring"] + wall["writing"], "s",
             f"bar 8; reading one {read * 1e3:.2f} ms")
        shutil.rmtree(other)
    every = many(files, work)
    ours(program, every, out, "--memory", "1G", "--report")
    seconds, _, told = took(out)
    line(f"{told['latents_measured']} latents, wall", seconds["measuring"], "s",
         f"{seconds['measuring'] / told['latents_measured'] / all_wall['measuring'] * len(files):.2f} times as long each")
    line("the same, all of it", seconds["all"], "s", f"peak {told['peak_memory_bytes'] / 2**20:.0f} MiB at --memory 1G")


if __name__ == "__main__":
    main()
