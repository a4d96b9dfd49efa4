"""One small run of each job that has a version for devices, on a simulated one of which a call fails once: the result is the
CPU's, the exit code 0, and what happened is told. Every call of its kind in turn where MILLRACE_EVERY_CALL is set, which
takes minutes; else more and more are passed by. (Every call of every operation, without the program around it:
src/device/operation_for_test.h.)"""

import json
import os
import pathlib
import shutil
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from devices import simulated, told  # noqa: E402
from latent_files import a_collection  # noqa: E402
from program import content_of, millrace  # noqa: E402
from variants import scene  # noqa: E402

EVERY = bool(os.environ.get("MILLRACE_EVERY_CALL"))


def join(folder):
    np.save(folder / "codes.npy", np.random.default_rng(1).integers(0, 2**63, 90, dtype=np.uint64) >> 50)
    return ["join", folder / "codes.npy", "--radius", "5", "--batch", "40", "-o"], "pairs.npy", None


def render(folder):
    (folder / "prices.csv").write_text("close\n" + "".join(f"{100 + k * 37 % 50}\n" for k in range(28)))
    return ["render", folder / "prices.csv", "--window", "20", "--size", "30x20", "--batch", "4", "-o"], "charts.h5", None


def latents(folder):
    a_collection(folder / "in", videos=2, steps=2, frames=(2, 2), sides=(4, 8, 12), effect=0.5)
    names = ("arrays.h5", "metrics.csv", "comparisons.csv", "summary.json")
    return ["latents", folder / "in", "--metrics", "spatial.*,channel.*,information.*", "--batch", "3", "-o"], "results", names


def dedupe(folder):
    (folder / "in").mkdir()
    for seed in range(2):
        scene(96, 72, seed).save(folder / "in" / f"{seed}.png")
        shutil.copy(folder / "in" / f"{seed}.png", folder / "in" / f"copy of {seed}.png")
    return ["dedupe", folder / "in", "--device-memory", "64M", "--report"], "report.html", None


def run(folder, command, name, of, fail, *arguments):
    """What it left, what is said of the device, and what was said."""
    for left in (folder / name, folder / "catalog.sqlite"):
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink(missing_ok=True)
    catalog = ["--catalog", folder / "catalog.sqlite"] if command[0] == "dedupe" else []
    done = millrace(*command, folder / name, *catalog, "--json", folder / "result.json", "--overwrite", *arguments,
                    env=simulated(FAKE_CUDA_FAIL=fail), check=False)
    assert done.returncode == 0, (fail, told(done))
    result = json.loads((folder / "result.json").read_text())
    left = content_of(folder / name)
    return {k: left[k] for k in of} if of else left, result.get("device"), told(done)


def numbers():
    n, step = 1, 1
    while True:
        yield n
        step = 1 if EVERY else 1 + n // 3
        n += step


@pytest.mark.parametrize("call", ["alloc", "copy", "launch"])
@pytest.mark.parametrize("job", [join, render, latents, dedupe], ids=lambda job: job.__name__)
def test_a_call_that_fails_once_costs_time_and_no_result(tmp_path, job, call):
    command, name, of = job(tmp_path)
    alone, _, _ = run(tmp_path, command, name, of, "", "--device", "cpu")
    reached = []
    for n in numbers():
        made, device, said = run(tmp_path, command, name, of, f"{call}:{n}=lost", "--device", "cuda")
        assert made == alone, n
        if not device["struck_out"]:
            break  # the run has fewer of these calls
        assert device["reason"] and "was no longer used" in said, n
        reached.append(n)
    assert len(reached) > 3
    # Where memory is short nobody is accused; what does not fit once, fits when it is asked for again or in halves.
    for n in reached:
        made, device, said = run(tmp_path, command, name, of, f"{call}:{n}=memory", "--device", "cuda")
        assert made == alone, n
        assert not device["struck_out"], (n, said)
