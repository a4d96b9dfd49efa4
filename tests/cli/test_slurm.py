"""Arrays under a real Slurm: one machine as two nodes, a task killed, one never run, a node drained."""

import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import onnx_model as onnx  # noqa: E402
from films import made  # noqa: E402
from latent_files import a_collection, results_of  # noqa: E402
from program import BUILD, content_of, millrace  # noqa: E402
from segmenting import made_model, needs_runtime, picture, runtime  # noqa: E402, F401
from variants import scene  # noqa: E402

Image, np = pytest.importorskip("PIL.Image"), pytest.importorskip("numpy")
pytestmark = [
    pytest.mark.skipif("MILLRACE_ALL" not in os.environ, reason="only with ./dev test --all: a scheduler's daemons are started"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can start Slurm's daemons"),
    pytest.mark.skipif(any(shutil.which(name) is None for name in ("slurmctld", "slurmd", "munged")), reason="there is no Slurm here"),
]
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=17000
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation={top}/state
SlurmdSpoolDir={top}/spool-%n
SlurmctldLogFile={top}/controller.log
SlurmdLogFile={top}/%n.log
SlurmctldPidFile={top}/controller.pid
SlurmdPidFile={top}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=2 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def wait_until(what, holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.2)


class Slurm:
    def __init__(self, top):
        self.env = dict(os.environ, SLURM_CONF=f"{top}/slurm.conf", PATH=f"{BUILD}:{os.environ['PATH']}")

    def __call__(self, *command):
        return subprocess.run(list(map(str, command)), env=self.env, check=True, capture_output=True, text=True).stdout

    def submit(self, array, *script, cwd):
        done = subprocess.run(["sbatch", "--parsable", f"--array={array}", *map(str, script)], env=self.env, cwd=cwd, check=True,
                              capture_output=True, text=True)
        wait_until("the array's end", lambda: not self("squeue", "--noheader", "--jobs", done.stdout.strip()).strip())


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    top = tmp_path_factory.mktemp("slurm")
    (top / "state").mkdir()
    (top / "slurm.conf").write_text(CONFIGURATION.format(host=socket.gethostname().split(".")[0], top=top))
    munge = None
    if subprocess.run(["munge", "-n"], capture_output=True).returncode != 0:
        os.makedirs("/run/munge", exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")
        munge = subprocess.Popen(["munged", "--foreground"], user="munge", group="munge", extra_groups=[])
        wait_until("munged", lambda: subprocess.run(["munge", "-n"], capture_output=True).returncode == 0)
    run = Slurm(top)
    daemons = [subprocess.Popen(["slurmctld", "-D"], env=run.env)]
    daemons += [subprocess.Popen(["slurmd", "-D", "-N", node], env=run.env) for node in ("n1", "n2")]
    try:
        # It is not there at first.
        wait_until("two idle nodes", lambda: subprocess.run(["sinfo", "--noheader", "--format=%D %t"], env=run.env, capture_output=True)
                   .stdout.split() == [b"2", b"idle"])
        yield run
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()
        if munge:
            munge.terminate()
            munge.wait()


def test_an_array_of_which_a_task_was_killed_and_one_never_ran(slurm, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    rng = random.Random(5)
    for i in range(2000):
        image = Image.new("L", (16, 12))
        image.putdata([rng.randrange(256) for _ in range(192)])
        image.save(photos / f"{i:04}.png")
    (photos / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    millrace("inventory", photos, "-o", tmp_path / "list.jsonl")
    millrace("hash", "--inventory", tmp_path / "list.jsonl", "-o", tmp_path / "one", "--shard", "32")
    # The second task is killed a moment after it began, the fourth is not submitted.
    script = (ROOT / "examples/slurm/hash.sbatch").read_text().replace(
        "\nmillrace hash", '\nwhen=60\n[ "$SLURM_ARRAY_TASK_ID" = 2 ] && when=0.01\ntimeout --signal KILL $when millrace hash')
    (tmp_path / "killed.sbatch").write_text(script)
    slurm.submit("1-3", tmp_path / "killed.sbatch", "list.jsonl", "hashes", 4, "--shard", 32, cwd=tmp_path)
    assert not (tmp_path / "hashes").exists()
    refused = millrace("finish", tmp_path / "hashes", check=False).stderr.decode()
    array = re.search(r"--array=([\d,-]+)\)", refused)[1]
    assert array == "2,4", refused
    slurm("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test")
    slurm.submit(array, ROOT / "examples/slurm/hash.sbatch", "list.jsonl", "hashes", 4, "--shard", 32, cwd=tmp_path)
    assert content_of(tmp_path / "hashes") == content_of(tmp_path / "one")
    assert b"nothing to do" in millrace("finish", tmp_path / "hashes").stderr


def test_duplicates_by_arrays_of_which_a_task_was_killed(slurm, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for i in range(60):
        picture = scene(240, 180, i // 2)
        picture.save(photos / (f"{i:02}.png" if i % 2 else f"{i:02}.jpg"))
    (photos / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")

    def found(name, *more):
        millrace("dedupe", photos, "--catalog", tmp_path / f"{name}.sqlite", "--json", tmp_path / name, *more)
        return (tmp_path / name).read_bytes()

    millrace("inventory", photos, "-o", tmp_path / "list.jsonl")
    expected = found("one")
    script = (ROOT / "examples/slurm/dedupe.sbatch").read_text()
    (tmp_path / "killed.sbatch").write_text(script.replace(
        "\nmillrace dedupe", '\nwhen=60\n[ "$SLURM_ARRAY_TASK_ID" = 2 ] && when=0.01\ntimeout --signal KILL $when millrace dedupe'))
    take = []
    for stage in ("read", "compare", "look"):
        words = [stage, tmp_path / stage, 3, "list.jsonl", photos, "--shard", 4, *take]
        take += ["--from", tmp_path / stage]
        slurm.submit("1-3", tmp_path / "killed.sbatch", *words, cwd=tmp_path)
        refused = millrace("finish", tmp_path / stage, check=False).stderr.decode()
        array = re.search(r"--array=([\d,-]+)\)", refused)[1]
        assert array == "2", refused
        slurm.submit(array, ROOT / "examples/slurm/dedupe.sbatch", *words, cwd=tmp_path)
    assert found("two", *take) == expected


def test_charts_by_an_array(slurm, tmp_path):
    (tmp_path / "p.csv").write_text("date,close\n" + "".join(f"2020-01-01T{i // 60:02}:{i % 60:02},{100 + i * 7919 % 97}\n" for i in range(1400)))
    how = ["--window", "20", "--size", "60x40", "--shard", "100"]
    millrace("render", "p.csv", "-o", "one.h5", *how, cwd=tmp_path)
    slurm.submit("1-3", ROOT / "examples/slurm/render.sbatch", "charts.h5", 3, "p.csv", *how, cwd=tmp_path)
    assert content_of(tmp_path / "charts.h5") == content_of(tmp_path / "one.h5")


def test_pairs_by_an_array(slurm, tmp_path):
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 2**63, 4000, dtype=np.uint64)
    codes[rng.permutation(4000)[:150]] = codes[0]
    np.save(tmp_path / "codes.npy", codes)
    millrace("join", "codes.npy", "--radius", "8", "-o", "one.npy", cwd=tmp_path)
    slurm.submit("1-4", ROOT / "examples/slurm/join.sbatch", "codes.npy", "pairs", 4, "--radius", "8", "--block", "700", cwd=tmp_path)
    assert content_of(tmp_path / "pairs/pairs.npy") == content_of(tmp_path / "one.npy")


def test_latents_by_an_array(slurm, tmp_path):
    a_collection(tmp_path / "latents", groups=3, videos=3, steps=32)
    millrace("latents", "latents", "-o", "one", cwd=tmp_path)
    slurm.submit("1-3", ROOT / "examples/slurm/latents.sbatch", "results", 3, "latents", cwd=tmp_path)
    assert results_of(tmp_path / "results") == results_of(tmp_path / "one")


@needs_runtime
def test_masks_by_an_array(slurm, tmp_path, runtime):
    made_model(tmp_path / "m.onnx", classes=2)
    for i in range(6):
        picture(tmp_path / "photos" / f"{i}.png", 60 + i, 80, seed=i)
    millrace("segment", "photos", "--model", "m.onnx", "-o", "one", cwd=tmp_path)
    slurm.submit("1-3", ROOT / "examples/slurm/segment.sbatch", "masks", 3, "m.onnx", "photos", cwd=tmp_path)
    assert content_of(tmp_path / "masks") == content_of(tmp_path / "one")


@needs_runtime
@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg here")
def test_a_film_by_an_array(slurm, tmp_path, runtime):
    made(tmp_path / "film.mp4", "-c:v", "libx264", "-pix_fmt", "yuv420p", seconds=3)
    (tmp_path / "m.onnx").write_bytes(onnx.color([[60, -60, -60]], [-15], 32, 48))
    millrace("video", "film.mp4", "-o", "one.mkv", "--model", "m.onnx", "--segment", "0.7", "--progress", "none", cwd=tmp_path)
    slurm.submit("1-3", ROOT / "examples/slurm/video.sbatch", "mask.mkv", 3, "m.onnx", "film.mp4", "--segment", "0.7", cwd=tmp_path)
    assert content_of(tmp_path / "mask.mkv") == content_of(tmp_path / "one.mkv")
