#!/usr/bin/env python3
"""`latents` beside a careful NumPy program in two processes, on the same latents, in turn.

  latents.py PROGRAM WORK_FOLDER [LATENTS]

The latents are made (recipes/make_latents.py): 6 groups of 12 videos of 20 steps, [16, 16, 60, 106] float16, 4.7 GB, which have to
fit into memory to be measured without the disk.
"""

import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

RECIPES = pathlib.Path(__file__).resolve().parent / "recipes"
ROUNDS = 5
# Of the peer's, which takes about as long for each.
SAMPLE = 120
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


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


def main():
    program, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else work / "latents"
    if not folder.exists():
        subprocess.run([sys.executable, RECIPES / "make_latents.py", folder], check=True)
    files = sorted(folder.rglob("step_*.npy"))
    print(f"latents: {len(files)} files, two threads, medians of {ROUNDS}")
    read_rate(files)
    mine, peers = [], []
    for _ in range(ROUNDS):
        mine.append(ours(program, folder, work / "latents-out"))
        peers.append(peer(files[:: max(1, len(files) // SAMPLE)]))
    sample = len(files[:: max(1, len(files) // SAMPLE)])
    wall, used = (statistics.median(column) for column in zip(*mine))
    peer_wall, peer_used = (statistics.median(column) for column in zip(*peers))
    peer_all = peer_wall / sample * len(files)
    print(f"  all of them, wall                          {wall:8.2f} s     bar 2")
    print(f"  a latent, CPU                              {used / len(files) * 1e3:8.2f} ms    bar 2.0; reading alone {read_rate(files) * 1e3:.2f}")
    print(f"  NumPy, a latent, CPU ({sample} of them)           {peer_used / sample * 1e3:8.2f} ms    at most 40")
    print(f"  NumPy in two processes, all of them, wall  {peer_all:8.2f} s     {peer_all / wall:.1f} times ours; bar 10")


if __name__ == "__main__":
    main()
