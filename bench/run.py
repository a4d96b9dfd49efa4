"""The benches: this project and its peers on the same inputs, in the same run.

  run.py [NAME...]   hash, hash-fast, join, quality, closelook, page, scale, render, latents, segment, fundus, video, python; all of them without a name
"""

import concurrent.futures
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build/release/millrace"
BENCH = ROOT / "build/release/bench"
WORK = ROOT / "build/bench"
PYTHON = sys.executable
PHOTOS = WORK / "photographs12"


def photographs():
    subprocess.run([PYTHON, ROOT / "bench/recipes/photographs12.py", PHOTOS], check=True)
    return sorted(PHOTOS.glob("*.jpg"))


def seconds_of(*command):
    start = time.monotonic()
    subprocess.run([os.fspath(c) for c in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def decode_rate(files, space, eighths):
    out = subprocess.run([BENCH / "decode_bench", space, str(eighths), "2", *files], check=True, capture_output=True, text=True)
    return float(out.stdout)


def imagehash_four(path):
    import imagehash
    from PIL import Image

    image = Image.open(path)
    image.load()
    return [str(f(image)) for f in (imagehash.average_hash, imagehash.dhash, imagehash.phash, imagehash.whash)]


def imagehash_three(path):
    import imagehash
    from PIL import Image

    image = Image.open(path)
    image.load()
    return [str(f(image)) for f in (imagehash.average_hash, imagehash.dhash, imagehash.phash)]


def peer_rate(function, files):
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(function, files[:2]))  # imports, outside the clock
        start = time.monotonic()
        hashes = list(pool.map(function, files))
        return len(files) / (time.monotonic() - start), hashes


def rates(files, *arguments, rounds=5):
    return [len(files) / seconds_of(PROGRAM, "hash", PHOTOS, "--threads", "2", "-q", *arguments) for _ in range(rounds)]


def line(label, value, bar=""):
    print(f"  {label:58} {value:>12}   {bar}", flush=True)


def bench_hash():
    files = photographs()
    print(f"hash, exact: {len(files)} photographs of 12 megapixels, two threads, medians of 5")
    floors, four, three = [], [], []
    for _ in range(5):  # in turn, so that a change of the machine's speed meets all alike
        floors.append(decode_rate(files, "rgb", 8))
        four += rates(files, "--kinds", "ahash,dhash,phash,whash", rounds=1)
        three += rates(files, "--kinds", "ahash,dhash,phash", rounds=1)
    floor, ours4, ours3 = map(statistics.median, (floors, four, three))
    peer4, hashes = peer_rate(imagehash_four, files)
    peer3, _ = peer_rate(imagehash_three, files)
    printed = subprocess.run([PROGRAM, "hash", PHOTOS, "--kinds", "ahash,dhash,phash,whash", "-q"], capture_output=True, text=True)
    equal = [row.split()[:4] for row in printed.stdout.splitlines()] == hashes
    line("every hash equal to imagehash's", "yes" if equal else "NO", "bar: yes")
    line("a + d + p + w, images/s", f"{ours4:.1f}")
    line("imagehash in two processes, images/s", f"{peer4:.2f}")
    line("ratio", f"{ours4 / peer4:.1f} x", "bar: at least 8 x")
    line("libjpeg-turbo alone to RGB, images/s (the floor)", f"{floor:.1f}")
    line("share of the floor", f"{100 * ours4 / floor:.0f} %", "bar: at least 75 %")
    line("a + d + p, images/s; imagehash", f"{ours3:.1f}; {peer3:.2f}")
    line("ratio", f"{ours3 / peer3:.1f} x", "bar: at least 2.5 x")


def bench_hash_fast():
    files = photographs()
    print("hash, fast: dhash at 1/8 scale, two threads, medians of 5")
    floors, ours = [], []
    for _ in range(5):
        floors.append(decode_rate(files, "gray", 1))
        ours += rates(files, "--kinds", "dhash", "--decode", "fast", rounds=1)
    floor, rate = statistics.median(floors), statistics.median(ours)
    line("images/s", f"{rate:.1f}")
    line("libjpeg-turbo alone to gray at that scale, images/s", f"{floor:.1f}")
    line("share of the floor", f"{100 * rate / floor:.0f} %", "bar: at least 85 %")
    listed = subprocess.run(["dpkg", "-L", "mate-backgrounds", "plasma-workspace-wallpapers", "ukui-wallpapers"],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    pictures = sorted(p for p in listed if p.endswith(".jpg") and os.path.isfile(p) and not os.path.islink(p))
    print("drift of reduced decoding:")
    subprocess.run([BENCH / "drift_bench", *pictures, *files], check=True)


def bench_join():
    subprocess.run([PYTHON, ROOT / "bench/join.py"], check=True, cwd=ROOT)


def bench_quality():
    versions = WORK / "versions"
    if not (versions / "truth.json").exists():
        photos = ROOT.parent / "shared/data/photos"
        extra = ["--photos", photos] if photos.is_dir() else []
        subprocess.run([PYTHON, ROOT / "bench/recipes/versions.py", versions, *extra], check=True)
    subprocess.run([PYTHON, ROOT / "bench/quality.py", versions, PROGRAM, WORK / "quality"], check=True)


def bench_page():
    subprocess.run([PYTHON, ROOT / "bench/page.py", PROGRAM, WORK / "page"], check=True)


def bench_scale():
    subprocess.run([PYTHON, ROOT / "bench/scale.py", PROGRAM, BENCH, WORK / "scale"], check=True)


def bench_render():
    subprocess.run([PYTHON, ROOT / "bench/render.py", PROGRAM, WORK / "render"], check=True)


def bench_fundus():
    subprocess.run([PYTHON, ROOT / "bench/fundus.py", PROGRAM, BENCH, WORK, ROOT.parent / "shared/data",
                    ROOT / ".venv-fundus/bin/fundusprep"], check=True)


def bench_segment():
    subprocess.run([ROOT / ".venv-monai/bin/python", ROOT / "bench/segment.py", PROGRAM, BENCH, WORK / "segment",
                    ROOT.parent / "shared" / "data"], check=True)


def bench_video():
    subprocess.run([ROOT / ".venv-film/bin/python", ROOT / "bench/video.py", PROGRAM, WORK / "video", ROOT.parent / "shared" / "data"],
                   check=True)


def bench_latents():
    subprocess.run([PYTHON, ROOT / "bench/latents.py", PROGRAM, WORK], check=True)


def bench_closelook():
    pictures = WORK / "lookalikes"
    if not (pictures / "truth.json").exists():
        data = ROOT.parent / "shared/data"
        extra = ["--data", data] if data.is_dir() else []
        subprocess.run([PYTHON, ROOT / "bench/recipes/lookalikes.py", pictures, *extra], check=True)
    subprocess.run([PYTHON, ROOT / "bench/closelook.py", pictures, "--program", PROGRAM, "--czkawka"], check=True)


def bench_python():
    subprocess.run([PYTHON, ROOT / "bench/python.py"], check=True, env=dict(os.environ, PYTHONPATH=os.fspath(ROOT / "build/release/python")))


BENCHES = {"hash": bench_hash, "hash-fast": bench_hash_fast, "join": bench_join, "quality": bench_quality,
           "closelook": bench_closelook, "page": bench_page, "scale": bench_scale, "render": bench_render, "latents": bench_latents,
           "segment": bench_segment, "fundus": bench_fundus, "video": bench_video, "python": bench_python}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHES:
        if name not in BENCHES:
            sys.exit(f"there is no bench '{name}'; there are {', '.join(BENCHES)}")
        BENCHES[name]()
