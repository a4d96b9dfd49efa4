#!/usr/bin/env python3
"""`dedupe` over large collections of made-up pictures, and over one real folder that they are fitted to.

  scale.py PROGRAM BENCH_FOLDER WORK_FOLDER [--full]

The real folder holds the pictures of Debian's packages that are installed (packages/, sections bench and scale). What the candidate
rule loses is told by comparing the pixels of every pair of 4,000 made-up pictures. With --full of 20,000, and 1,000,000 pictures:
finding candidates, and a run over a catalogue of them after one more file has come.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

PACKAGES = ["tuxpaint-stamps-default", "supertuxkart-data", "gnome-backgrounds", "mate-backgrounds",
            "plasma-workspace-wallpapers", "ukui-wallpapers"]
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".jxl")
MILLION = 1_000_000


def real_folder(folder):
    """Links to the packages' pictures, so that the walk finds each once."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    count = 0
    for package in PACKAGES:
        listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True)
        for path in listed.stdout.splitlines():
            if path.lower().endswith(PICTURES) and os.path.isfile(path) and not os.path.islink(path):
                os.symlink(path, folder / f"{count:06}{pathlib.Path(path).suffix.lower()}")
                count += 1
    return count


def run_over(program, catalog, folder, work):
    """Seconds of a run less its walk, and its peak memory."""
    trace = work / "trace.json"
    out = work / "result.json"
    start = time.monotonic()
    process = subprocess.Popen([program, "dedupe", folder, "--catalog", catalog, "--json", out, "--trace", trace,
                                "--threads", "2", "-q"])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    assert os.waitstatus_to_exitcode(status) in (0, 3), status
    walk = sum(e["dur"] for e in json.loads(trace.read_text())["traceEvents"] if e.get("name") == "walk") / 1e6
    return seconds - walk, walk, usage.ru_maxrss / 1024, out


def main():
    arguments = [a for a in sys.argv[1:] if a != "--full"]
    program, bench, work = map(pathlib.Path, arguments)
    tool = bench / "dedupe_scale_bench"
    work.mkdir(parents=True, exist_ok=True)

    def run(*parts):
        subprocess.run([tool, *map(str, parts)], check=True)

    catalog = work / "real.sqlite"
    for leftover in work.glob("real.sqlite*"):
        leftover.unlink()
    print(f"a real folder of {real_folder(work / 'real')} pictures from {len(PACKAGES)} packages", flush=True)
    subprocess.run([program, "dedupe", work / "real", "--follow-symlinks", "--cross-file-systems", "--catalog", catalog, "--json", work / "real.json", "-q"])
    run("distances", catalog, 3500)
    run("candidates", 100_000)
    if "--full" not in sys.argv:
        run("recall", 4000, 4000)
        return
    run("recall", 20_000, 20_000)
    run("candidates", MILLION)

    files = work / "million"
    catalog = work / "million.sqlite"
    if not catalog.exists():
        run("catalog", catalog, files, MILLION)
    seconds, walk, memory, out = run_over(program, catalog, files, work)
    print(f"{MILLION:,} files, all known, none compared yet: {seconds:.2f} s and the walk's {walk:.2f} s, {memory:.0f} MiB")
    for number in range(3):
        shutil.copy("/usr/share/backgrounds/mate/nature/Aqua.jpg", files / f"new{number}.jpg")
        with open(files / f"new{number}.jpg", "ab") as new:
            new.write(bytes([number]))  # other bytes, the same picture
        seconds, walk, memory, out = run_over(program, catalog, files, work)
        print(f"one new among {MILLION:,}: {seconds:.2f} s (bar 3 s) and the walk's {walk:.2f} s, {memory:.0f} MiB (bar 1024), "
              f"JSON of {out.stat().st_size / 2**20:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
