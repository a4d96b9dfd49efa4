"""latents killed, interrupted, or in several runs of which one dies: the next run ends with the same bytes; memory holds."""

import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from latent_files import put, results_of  # noqa: E402
from processes import end_held, hold_when, run_and_watch  # noqa: E402
from program import BUILD, PROGRAM, millrace  # noqa: E402

PER_PART = 256  # latents: src/jobs/latents/run.cc


@pytest.fixture(scope="module")
def latents(tmp_path_factory):
    """Four parts of small latents."""
    folder = tmp_path_factory.mktemp("latents")
    random = np.random.default_rng(11)
    for g in range(3):
        for v in range(4):
            for s in range(80):
                put(folder, random.normal(size=(4, 2, 20, 24)).astype(np.float16), f"prompt_{g}", f"vid_{v}", s)
    return folder


@pytest.fixture(scope="module")
def undisturbed(latents, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    millrace(*command(latents, out))
    return results_of(out)


def command(latents, out, *more):
    return ["latents", latents, "-o", out, "--threads", "2", "--progress", "none", "--report", *more]


def start(latents, out, *more):
    return subprocess.Popen([os.fspath(PROGRAM), *map(str, command(latents, out, *more))], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)


def whole_parts(out):
    folder = out / "arrays.h5.shards"
    return sum(1 for path in folder.glob("*") if path.suffix != ".part" and not path.name.endswith(".json")) if folder.exists() else 0


MOMENTS = {
    "before the first part": lambda out: out.exists(),
    "behind the first part": lambda out: whole_parts(out) >= 2,
    "while it is put together": lambda out: whole_parts(out) >= 4 or (out / "arrays.h5").exists(),
    "once arrays.h5 is there": lambda out: (out / "arrays.h5").exists(),
    "once the first table is there": lambda out: (out / "metrics.csv").exists(),
}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_that_ends_early_is_gone_on_with(latents, undisturbed, tmp_path, moment, how):
    out = tmp_path / "out"
    running = start(latents, out)
    assert hold_when(running, lambda: MOMENTS[moment](out)), "it has ended before"
    end_held(running, how)
    running.communicate()
    # Asked to end when arrays.h5 may be there, it may have ended.
    may_end = set() if moment.endswith("the first part") else {0}
    assert running.returncode in ({-signal.SIGKILL} if how == signal.SIGKILL else {130} | may_end)
    # What is under its name is whole.
    for name, content in results_of(out).items():
        if name in undisturbed:
            assert content == undisturbed[name], name
    millrace(*command(latents, out))
    assert results_of(out) == undisturbed
    assert sorted(os.listdir(tmp_path)) == ["out"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_device_has_begun_the_cpu_goes_on_with(latents, tmp_path, how, monkeypatch):
    metrics = ["--metrics", "spatial.*,trajectory"]
    millrace(*command(latents, tmp_path / "cpu", *metrics))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(BUILD / "fake_cuda"))
    out = tmp_path / "out"
    running = start(latents, out, *metrics, "--device", "cuda")
    assert hold_when(running, lambda: any(out.rglob("1.log")), 0.01), "it has ended before"
    end_held(running, how)
    running.communicate()
    assert running.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 130)
    millrace(*command(latents, out, *metrics))
    assert results_of(out) == results_of(tmp_path / "cpu")


def test_of_several_runs_one_may_die(latents, undisturbed, tmp_path):
    out = tmp_path / "out"
    first = start(latents, out, "--part", "1/3")
    assert hold_when(first, lambda: whole_parts(out) >= 1)
    second = start(latents, out, "--part", "2/3")
    end_held(first, signal.SIGKILL)
    assert second.wait() == 0
    for part in (1, 3):
        millrace(*command(latents, out, "--part", f"{part}/3"))
    assert results_of(out) == undisturbed


def test_parts_of_other_disks_are_put_together(latents, undisturbed, tmp_path):
    """As docs/latents.md has it: arrays.h5 by `finish`, all else by the same command."""
    for part in (1, 2):
        millrace(*command(latents, tmp_path / f"disk{part}", "--part", f"{part}/2"))
    done = millrace("finish", tmp_path / "disk1" / "arrays.h5", "--from", tmp_path / "disk2" / "arrays.h5.shards")
    assert done.returncode == 0
    millrace(*command(latents, tmp_path / "disk1"))
    assert results_of(tmp_path / "disk1") == undisturbed


def test_memory_does_not_grow_with_the_number_of_latents(tmp_path):
    random = np.random.default_rng(1)
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, videos in ((few, 16), (many, 80)):
        for v in range(videos):
            path = put(folder, random.normal(size=(16, 8, 60, 106)).astype(np.float16), "a", f"vid_{v:02}")
            for s in range(1, 8):
                os.link(path, path.with_name(f"step_{s:03d}.npy"))
    peaks = []
    for folder in (few, many):
        done, peak = run_and_watch([PROGRAM, *command(folder, folder / "out", "--metrics", "*.*,trajectory")])
        assert done.returncode == 0, done.stderr
        peaks.append(peak)
    # 512 more latents of 1.6 MB, of which the program holds a row of numbers each. How many threads hold how much at once
    # is not the same each time.
    assert peaks[1] - peaks[0] < 32 << 20


def test_memory_that_is_too_little_is_said_before_the_work(tmp_path):
    put(tmp_path, np.zeros((16, 16, 60, 106), np.float32))
    done = millrace(*command(tmp_path, tmp_path / "out", "--memory", "8M"), check=False)
    assert done.returncode == 1
    assert b"measuring" in done.stderr and b"8.0 MiB" in done.stderr
    assert not (tmp_path / "out" / "metrics.csv").exists()


def test_without_the_helper_that_reads_results_nothing_is_measured(latents, tmp_path, monkeypatch):
    monkeypatch.setenv("MILLRACE_HELPERS", str(tmp_path / "nowhere"))
    done = millrace(*command(latents, tmp_path / "out"), check=False)
    assert done.returncode == 4 and b"millrace-hdf5 cannot be started" in done.stderr
    assert not (tmp_path / "out").exists()
