"""Runs that share an output on a file system whose locks are a node's own: each process is a node that sees no other's locks
(tests/support/locks_of_a_node.c). A part that two runs make at once, killed or not, ends with the right output or with an exit
code that tells. MILLRACE_ROUNDS sets how many rounds there are; 60 were run for docs/performance.md."""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import latent_files  # noqa: E402
import onnx_model  # noqa: E402
from films import made as made_film  # noqa: E402
from films import needs_ffmpeg  # noqa: E402
from outputs import codes_text  # noqa: E402
from processes import shared_object  # noqa: E402
from program import BUILD, OWN_DATA, PROGRAM, content_of  # noqa: E402
from segmenting import needs_runtime, picture, runtime  # noqa: E402, F401

pytestmark = pytest.mark.skipif(BUILD.name in ("asan", "tsan"), reason="sanitizers want to be loaded first")
ROUNDS = int(os.environ.get("MILLRACE_ROUNDS", 2))
STORES = ["npy", "zarr", "webdataset", "hdf5", "png", "virtual"]
JOBS = ["hash", "join", *[f"render {store}" for store in STORES], "latents", pytest.param("segment", marks=needs_runtime),
        pytest.param("video", marks=[needs_runtime, needs_ffmpeg])]


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return shared_object("locks_of_a_node.c", tmp_path_factory.mktemp("shim") / "locks.so")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    for k in range(24):
        picture(folder / "photos" / f"{k:02}.png", 40, 56, seed=k)
    for k in range(4):
        picture(folder / "large" / f"{k}.png", 70, 90, seed=k)
    (folder / "codes.npy").write_bytes(codes_text(3000))
    walk = 100 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.02, 900)))
    (folder / "prices.csv").write_text("Close\n" + "\n".join(f"{price:.4f}" for price in walk) + "\n")
    latent_files.a_collection(folder / "latents")
    (folder / "m.onnx").write_bytes(onnx_model.ramps(1, 24, 32)[0])
    if shutil.which("ffmpeg"):
        made_film(folder / "film.mp4", "-c:v", "libx264", "-pix_fmt", "yuv420p", seconds=4)
    return folder


def words_of(job, folder):
    if job.startswith("render"):
        store = job.split()[1]
        more = ["--virtual"] if store == "virtual" else ["--store", store]
        return ["render", folder / "prices.csv", "--window", "20", "--size", "60x40", "--shard", "110", "--labels", "5", *more]
    return {
        "hash": ["hash", folder / "photos", "--shard", "3"],
        "join": ["join", folder / "codes.npy", "--radius", "18", "--block", "700"],
        "latents": ["latents", folder / "latents"],
        "segment": ["segment", folder / "large", "--model", folder / "m.onnx", "--write", "mask"],
        "video": ["video", folder / "film.mp4", "--model", folder / "m.onnx", "--write", "blur", "--segment", "0.5"],
    }[job]


def name_of(job):
    return {"render hdf5": "out.h5", "render virtual": "out.h5", "video": "out.mp4"}.get(job, "out")


def started(job, inputs, output, shim=None, part=None, boot=None):
    words = [PROGRAM, *map(os.fspath, words_of(job, inputs)), "-o", output, "--progress", "none", "--threads", "1"]
    env = dict(os.environ, XDG_DATA_HOME=OWN_DATA.name, XDG_CACHE_HOME=OWN_DATA.name)
    if shim:
        env["LD_PRELOAD"] = str(shim)
    if boot:
        env["NODE_BOOT"] = boot
    return subprocess.Popen([*words, *(["--part", part] if part else [])], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ended(process):
    words = process.communicate()[1].decode(errors="replace")
    assert process.returncode in (0, 1, 3, -9), (process.returncode, words)
    return process.returncode


def content(path, but=()):
    """Without what is measured; of a virtual file with the shards that it maps, `but` what begins with these."""
    out = content_of(path)
    if isinstance(out, dict):
        return {name: data for name, data in out.items() if "performance" not in name and not name.startswith("unfinished.shards/run.lock")}
    # A run that sees no other's locks may leave the empty folder that the next one removes.
    beside = pathlib.Path(f"{path}.shards")
    there = content_of(beside) if beside.exists() else {}
    return out, {name: data for name, data in there.items() if not name.startswith(("run.lock", *but))}


@pytest.fixture(scope="module")
def expected(inputs, tmp_path_factory):
    known = {}

    def of(job):
        if job not in known:
            # Under the same name: a virtual file has the name of its shards in it.
            output = tmp_path_factory.mktemp("expected") / name_of(job)
            began = time.monotonic()
            assert ended(started(job, inputs, output)) == 0
            known[job] = content(output), time.monotonic() - began
        return known[job]
    return of


@pytest.mark.parametrize("kills", [2, 0])
@pytest.mark.parametrize("job", JOBS)
def test_a_part_that_runs_twice(job, kills, inputs, expected, shim, tmp_path):
    right, seconds = expected(job)
    chance = random.Random(f"{job} {kills}")
    for k in range(ROUNDS):
        output = tmp_path / str(k) / name_of(job)
        output.parent.mkdir()
        runs = [started(job, inputs, output, shim, part) for part in ("1/2", "1/2", "2/2", "2/2")]
        for run in chance.sample(runs, kills):
            time.sleep(chance.random() * seconds / 2)
            run.kill()
        codes = [ended(run) for run in runs]
        if output.exists() and job not in ("latents", "segment"):  # folders that fill as they go
            # A run that was killed beside those that have ended may still say that it is at work.
            assert content(output, but=("run-", "claim-")) == right, (k, codes)
        # Submitted again, until a run of each part has ended well.
        for part in ("1/2", "2/2", "1/2"):
            codes.append(ended(started(job, inputs, output, shim, part)))
        assert codes[-1] == 0, codes
        assert content(output) == right, (k, codes)


def test_a_run_of_another_machine_is_waited_for(inputs, expected, shim, tmp_path):
    """It has claimed a shard and was killed: nobody here can see that at once. After a minute its shard is made again."""
    if not os.environ.get("MILLRACE_ALL"):
        pytest.skip("it waits for a minute: ./dev test --all")
    right, _ = expected("hash")
    output = tmp_path / "out"
    run = started("hash", inputs, output, shim, "1/2", boot="another-machine")
    shards = pathlib.Path(f"{output}.shards")
    while run.poll() is None and not list(shards.glob("claim-*")):
        time.sleep(0.001)
    run.kill()
    run.communicate()
    began = time.monotonic()
    for part in ("2/2", "1/2"):
        assert ended(started("hash", inputs, output, shim, part)) == 0
    assert content(output) == right
    assert list(shards.glob("claim-*")) == [] or time.monotonic() - began > 55
