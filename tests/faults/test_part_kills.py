"""Parts and finish killed at any moment, thirty times each: the same bytes in the end; two that finish at once."""

import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM, content_of, millrace  # noqa: E402
from variants import scene  # noqa: E402

Image = pytest.importorskip("PIL.Image")
KILLS, PARTS = 30, 3


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """Words of a job by its name, before its output."""
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(4)
    (folder / "photos").mkdir()
    for i in range(90):
        Image.fromarray(rng.integers(0, 256, (40, 60), dtype=np.uint8)).save(folder / "photos" / f"{i:03}.png")
    (folder / "photos/broken.png").write_bytes(b"\x89PNG")
    (folder / "alike").mkdir()
    for i in range(36):
        scene(160, 120, i // 2).save(folder / "alike" / (f"{i:02}.png" if i % 2 else f"{i:02}.jpg"))
    codes = rng.integers(0, 2**63, 20_000, dtype=np.uint64)
    codes[rng.permutation(20_000)[:600]] = codes[0]
    np.save(folder / "codes.npy", codes)
    (folder / "p.csv").write_text("date,close\n" + "".join(f"2020-01-{1 + i // 1440:02}T{i // 60 % 24:02}:{i % 60:02},{100 + i * 7919 % 97}\n" for i in range(1500)))
    return {
        "hash": ["hash", folder / "photos", "--shard", "7"],
        "dedupe read": ["dedupe", folder / "photos", "--stage", "read", "--shard", "7"],
        "dedupe compare": ["dedupe", folder / "alike", "--stage", "compare", "--shard", "3", "--catalog", folder / "catalog2.sqlite"],
        "dedupe look": ["dedupe", folder / "alike", "--stage", "look", "--shard", "3", "--catalog", folder / "catalog.sqlite"],
        "join": ["join", folder / "codes.npy", "--radius", "5", "--block", "4000"],
        "render": ["render", folder / "p.csv", "--window", "20", "--size", "60x40", "--shard", "100"],
    }


def start(*words):
    return subprocess.Popen([PROGRAM, *map(str, words), "--progress", "none"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.mark.parametrize("job", ["hash", "dedupe read", "dedupe compare", "dedupe look", "join", "render"])
def test_thirty_kills(jobs, tmp_path, job):
    words = jobs[job]
    begin = time.monotonic()
    millrace(*words, "-o", tmp_path / "one")
    length = time.monotonic() - begin
    expected = content_of(tmp_path / "one")
    random.seed(job)
    killed = attempt = 0
    longest = {True: length / 4, False: length / PARTS}  # of a finish, of a part: what a kill may wait for
    output = tmp_path / "0"
    while killed < KILLS:
        if output.exists():
            assert content_of(output) == expected, f"kill {killed}"
            output = tmp_path / str(attempt)
        attempt += 1
        assert attempt < 50 * KILLS
        finishing = attempt % 4 == 3
        running = start("finish", output) if finishing else start(*words, "-o", output, "--part", f"{random.randint(1, PARTS)}/{PARTS}")
        try:
            running.wait(random.uniform(0, longest[finishing]))
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
        running.communicate()
        if running.returncode != -signal.SIGKILL:
            longest[finishing] *= 0.8
            continue
        longest[finishing] *= 1.1
        killed += 1
        if killed % 10 == 0:
            # All of it, by parts that nobody kills; after some kills the output is there already.
            for k in random.sample(range(1, PARTS + 1), PARTS):
                millrace(*words, "-o", output, "--part", f"{k}/{PARTS}")
            millrace("finish", output)
            assert content_of(output) == expected, f"kill {killed}"
            assert not pathlib.Path(f"{output}.shards").exists()


@pytest.mark.parametrize("job", ["hash", "join", "render"])
def test_of_two_that_finish_at_once_one_does_it(jobs, tmp_path, job):
    words, output, other = jobs[job], tmp_path / "out", tmp_path / "disk"
    other.mkdir()
    millrace(*words, "-o", tmp_path / "one")
    millrace(*words, "-o", output, "--part", "1/2")
    millrace(*words, "-o", other / "out", "--part", "2/2")
    for _ in range(8):
        running = [start("finish", output, "--from", other / "out.shards") for _ in range(2)]
        said = [process.communicate(timeout=60)[1].decode() for process in running]
        codes = sorted(process.returncode for process in running)
        assert codes in ([0, 0], [0, 1]), said
        for process, words_ in zip(running, said):
            if process.returncode:
                assert "another run" in words_, said
        assert content_of(output) == content_of(tmp_path / "one")
        output.unlink() if output.is_file() else shutil.rmtree(output)
        millrace(*words, "-o", output, "--part", "1/2")
        millrace(*words, "-o", other / "out", "--part", "2/2")
