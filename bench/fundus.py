#!/usr/bin/env python3
"""`fundus` beside the public program whose outline it follows, on the same photographs.

  fundus.py PROGRAM BENCH_FOLDER WORK_FOLDER DATA PEER

PEER is the public program's command. CPU time of a photograph is that of many less that of one, over the others: starts
and imports do not count.
"""

import csv
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys

ROUNDS, MANY, COUNT = 3, 9, 300


def line(label, value, bar=""):
    print(f"  {label:66} {value:>14}   {bar}", flush=True)


def cpu_of(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([os.fspath(one) for one in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def a_photograph(run):
    return statistics.median((run(MANY) - run(1)) / (MANY - 1) for _ in range(ROUNDS)) * 1000


def errors_of(truth, found):
    """In steps of the radius."""
    out = []
    for row in truth:
        step = 142 / 256 * max(int(row["width"]), int(row["height"])) / 256
        one = found.get(row["name"])
        out.append(float("inf") if one is None else
                   max(abs(a - float(row[key])) for a, key in zip(one, ("x", "y", "radius"))) / step)
    return out


def main():
    program, bench, work, data, peer = map(pathlib.Path, sys.argv[1:6])
    work = work / "fundus"
    shutil.rmtree(work, ignore_errors=True)
    photograph = data / "fundus" / "HRF_07_dr.jpg"
    for count in (1, MANY):
        (work / str(count)).mkdir(parents=True)
        for k in range(count):
            shutil.copy(photograph, work / str(count) / f"{k}.jpg")

    def ours(write):
        def run(count):
            shutil.rmtree(work / "out", ignore_errors=True)
            return cpu_of(program, "fundus", work / str(count), "-o", work / "out", "--write", write, "--threads", "1", "-q")
        return run

    def theirs(*what):
        def run(count):
            return cpu_of(peer, "prep", work / str(count), "--n_jobs", "1", *what)
        return run

    print(f"fundus: {photograph.name} (3504 x 2336 JPEG), CPU ms a photograph, decoding included, medians of {ROUNDS}")
    bounds = theirs("--bounds_path", work / "b.csv")
    all_of_it = theirs("--bounds_path", work / "b.csv", "--rgb_path", work / "rgb", "--ce_path", work / "ce")
    a, b, c, d = (a_photograph(run) for run in (ours("bounds"), bounds, ours("crop,enhanced"), all_of_it))
    line("millrace fundus --write bounds", f"{a:.1f} ms")
    line("the public program, bounds alone", f"{b:.1f} ms", f"{b / a:.1f}x")
    line("millrace fundus, crop and enhanced picture written", f"{c:.1f} ms")
    line("the public program, the same", f"{d:.1f} ms", f"{d / c:.1f}x")
    subprocess.run([bench / "fundus_bench", "--benchmark_counters_tabular=true"], check=True)

    print(f"fundus: {COUNT} made photographs, largest error of centre and radius in steps of the radius")
    subprocess.run([sys.executable, pathlib.Path(__file__).parent / "recipes" / "make_fundus.py", work / "made", str(COUNT)],
                   check=True)
    truth = list(csv.DictReader(open(work / "made" / "truth.csv")))
    subprocess.run([program, "fundus", work / "made", "-o", work / "found", "--write", "bounds", "-q"], check=True)
    found = {os.path.basename(row["path"]): (float(row["center_x"]), float(row["center_y"]), float(row["radius"]))
             for row in csv.DictReader(open(work / "found" / "bounds.csv"))}
    (work / "made" / "truth.csv").unlink()
    subprocess.run([peer, "prep", work / "made", "--bounds_path", work / "peer.csv", "--n_jobs", "2"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    public = {}
    for row in csv.DictReader(open(work / "peer.csv")):
        numbers = [float(one) for one in re.findall(r"float64\(([-\d.e+]+)\)", row["bounds"])]
        if len(numbers) >= 3:
            public[row["id"] + ".png"] = numbers[:3]
    for label, one in (("millrace", found), ("the public program", public)):
        errors = errors_of(truth, one)
        line(label, f"{statistics.median(errors):.3f} median", f"{100 * sum(e <= 1 for e in errors) / len(errors):.1f} % within one step; bar 99 %")


if __name__ == "__main__":
    main()
