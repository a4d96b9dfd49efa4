"""--sandbox all: somebody who has taken the program over by a file that it reads (tests/support/taken_over.c) has what the run
was given, and nothing else. The same attempts succeed without it."""

import json
import os
import pathlib
import shutil
import subprocess

import latent_files
import numpy as np
import onnx_model
import pytest
from films import made as made_film
from films import needs_ffmpeg
from outputs import codes_text
from processes import shared_object
from program import BUILD, PROGRAM, content_of, millrace
from segmenting import needs_runtime, picture, runtime  # noqa: F401

pytestmark = pytest.mark.skipif(BUILD.name in ("asan", "tsan"), reason="sanitizers want to be loaded first")
JOBS = ["hash", "dedupe", "compare", "inventory", "fundus", "join", "render", "render hdf5", "latents", "finish",
        pytest.param("segment", marks=needs_runtime), pytest.param("video", marks=[needs_runtime, needs_ffmpeg])]
# What each of them reads last, or all the time.
TAKEN_BY = {"hash": "00.png", "dedupe": "00.png", "compare": "00.png", "inventory": "photos", "fundus": "0.png", "join": "codes.npy",
            "render": "prices.csv", "render hdf5": "prices.csv", "latents": "step_000.npy", "finish": "00001.hashes.csv",
            "segment": "0.png", "video": "film.mp4"}


@pytest.fixture(scope="module")
def taken_over(tmp_path_factory):
    return shared_object("taken_over.c", tmp_path_factory.mktemp("taken") / "taken_over.so")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    for k in range(4):
        picture(folder / "photos" / f"{k:02}.png", 40, 56, seed=k)
        picture(folder / "others" / f"{k:02}.png", 40, 56, seed=k + 2)
        picture(folder / "large" / f"{k}.png", 70, 90, seed=k)
    (folder / "codes.npy").write_bytes(codes_text(300))
    walk = 100 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.02, 200)))
    (folder / "prices.csv").write_text("Close\n" + "\n".join(f"{price:.4f}" for price in walk) + "\n")
    latent_files.a_collection(folder / "latents")
    (folder / "models").mkdir()
    (folder / "models/m.onnx").write_bytes(onnx_model.ramps(1, 24, 32)[0])
    if shutil.which("ffmpeg"):
        made_film(folder / "film.mp4", "-c:v", "libx264", "-pix_fmt", "yuv420p", seconds=1)
    return folder


def words_of(job, inputs, out):
    return {
        "hash": ["hash", inputs / "photos", "-o", out / "hashes"],
        "dedupe": ["dedupe", inputs / "photos", "--catalog", out / "c.sqlite", "--report", out / "page.html"],
        "compare": ["dedupe", "compare", inputs / "photos", inputs / "others", "--catalog", out / "c.sqlite"],
        "inventory": ["inventory", inputs / "photos", "-o", out / "list.jsonl"],
        "fundus": ["fundus", inputs / "large", "-o", out / "fundus"],
        "join": ["join", inputs / "codes.npy", "--radius", "18", "-o", out / "pairs.npy"],
        "render": ["render", inputs / "prices.csv", "--window", "20", "--size", "60x40", "--store", "npy", "-o", out / "charts"],
        "render hdf5": ["render", inputs / "prices.csv", "--window", "20", "--size", "60x40", "-o", out / "charts.h5"],
        "latents": ["latents", inputs / "latents", "-o", out / "results", "--report"],
        "finish": ["finish", out / "hashes", "--from", out / "elsewhere.shards"],
        "segment": ["segment", inputs / "large", "--model", inputs / "models/m.onnx", "-o", out / "masks", "--report"],
        "video": ["video", inputs / "film.mp4", "--model", inputs / "models/m.onnx", "--write", "blur", "-o", out / "film.mp4"],
    }[job]


def made_by(job, inputs, folder, *more, **environment):
    """What the job left in a folder of its own, and its JSON."""
    (folder / "out").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "cache").mkdir()
    if job == "finish":  # what runs on two disks have made
        for part, name in (("1/2", "hashes"), ("2/2", "elsewhere")):
            millrace("hash", inputs / "photos", "-o", folder / "out" / name, "--part", part, "--shard", "2", "--format", "csv")
    millrace(*words_of(job, inputs, folder / "out"), "--json", folder / "out/result.json", *more, env={
        "XDG_DATA_HOME": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache"), **environment})
    return content_of(folder / "out"), json.loads((folder / "out/result.json").read_text())


@pytest.mark.parametrize("job", JOBS)
def test_who_takes_the_program_over_has_what_the_run_was_given(job, inputs, taken_over, tmp_path):
    secret = tmp_path / "secrets/key"
    secret.parent.mkdir()
    secret.write_text("key")
    reports = {}
    for sandbox in ("rare", "all"):
        folder = tmp_path / sandbox
        _, result = made_by(job, inputs, folder, "--sandbox", sandbox, LD_PRELOAD=str(taken_over), TAKEN_BY=TAKEN_BY[job],
                            TAKEN_SECRET=str(secret), TAKEN_REPORT=str(folder / "out/report"))
        reports[sandbox] = (folder / "out/report").read_text().splitlines()
        assert sandbox == "rare" or secret.read_text() == "key"
        if "sandbox" in result and not result["sandbox"]["program"]:
            pytest.skip(result["sandbox"]["reason"])
        secret.write_text("key")
        for name in ("new", "link"):
            left = pathlib.Path(f"{secret}.{name}")
            if left.is_dir():
                left.rmdir()
            left.unlink(missing_ok=True)
    assert {"read a file", "change a file", "change a mode", "make a socket", "read a file by a program", "join shared memory",
            "send to a name", "make a program with the user's rights"} <= set(reports["rare"])
    assert not list((tmp_path / "all/out").glob("*.program"))
    older = {"signal the caller"} if int(result["sandbox"]["how"].split()[1].rstrip(",")) < 6 else set()
    assert set(reports["all"]) - older == {"tried"}


@pytest.mark.parametrize("job", JOBS)
def test_the_same_is_made(job, inputs, tmp_path):
    def made(folder, *more):
        files, result = made_by(job, inputs, tmp_path / folder / "same", *more)
        skipped = ("performance", "result.json", "sqlite", "report.html", "page.html")
        return {name: data for name, data in files.items() if not any(each in name for each in skipped)}, set(files), result

    free, all_free, _ = made("rare")
    locked, all_locked, result = made("all", "--sandbox", "all")
    assert locked == free and all_locked == all_free
    assert result["sandbox"]["program"] or result["sandbox"]["reason"]


def runs(tmp_path, *words):
    done = millrace(*words, "--sandbox", "all", "--json", tmp_path / "result.json", "--overwrite", check=False, env={
        "XDG_CACHE_HOME": str(tmp_path / "none/cache")})
    assert done.returncode == 0, done.stderr.decode()
    return json.loads((tmp_path / "result.json").read_text())["sandbox"], done


def test_a_plan_tells_what_a_run_may_read_and_write(inputs, tmp_path):
    words = ["hash", inputs / "photos", "-o", tmp_path / "out", "--sandbox", "all", "--json", "-"]
    planned = json.loads(millrace(*words, "--plan").stdout)["plan"]["sandbox"]
    assert list(tmp_path.iterdir()) == []
    assert planned == json.loads(millrace(*words).stdout)["sandbox"]


@needs_runtime
def test_what_goes_with_a_model_is_read(inputs, tmp_path):
    """A card and numbers beside it, a mask of where to look; a folder of results that is not there yet."""
    (tmp_path / "models").mkdir()
    contents, network = onnx_model.ramps(1, 24, 32)
    (tmp_path / "models/m.onnx").write_bytes(contents)
    (tmp_path / "models/m.json").write_text(json.dumps({"threshold": 0.25}))
    for k in range(4):
        picture(tmp_path / "roi" / f"{k}.png", 70, 90, seed=k, mode="L")
    model = ["--model", tmp_path / "models/m.onnx"]
    said, done = runs(tmp_path, "segment", inputs / "large", *model, "--roi", tmp_path / "roi", "-o", tmp_path / "new/deep/masks")
    assert len(list((tmp_path / "new/deep/masks").glob("*.mask.png"))) == 4
    if said["program"]:
        assert str(tmp_path / "models/m.json") in said["reads"] and str(tmp_path) in said["writes"]
        assert str(tmp_path / "none/cache/millrace/sandboxed") in said["writes"], "what it leaves there no other run loads"
    assert b"not kept" not in done.stderr


def test_shards_of_another_disk_are_taken(inputs, tmp_path):
    words = ["hash", inputs / "photos", "--shard", "2"]
    (tmp_path / "disk").mkdir()
    (tmp_path / "here").mkdir()
    runs(tmp_path, *words, "-o", tmp_path / "here/out", "--part", "1/2")
    runs(tmp_path, *words, "-o", tmp_path / "disk/out", "--part", "2/2")
    runs(tmp_path, "finish", tmp_path / "here/out", "--from", tmp_path / "disk/out.shards")
    said, _ = runs(tmp_path, "finish", "--check", tmp_path / "here/out")
    assert not said["program"] or [path for path in said["writes"] if "sandboxed" not in path] == [str(tmp_path)], "--json alone"


@needs_runtime
@needs_ffmpeg
def test_a_film_that_is_finished_is_known_again(inputs, tmp_path):
    words = ["video", inputs / "film.mp4", "--model", inputs / "models/m.onnx", "--write", "blur", "-o", tmp_path / "film.mp4"]
    for _ in range(2):
        done = millrace(*words, "--sandbox", "all", check=False)
        assert done.returncode == 0, done.stderr.decode()


def test_files_that_were_not_named_are_named_as_unreadable(tmp_path):
    picture(tmp_path / "photos/a.png", 40, 56, seed=1)
    picture(tmp_path / "elsewhere/b.png", 40, 56, seed=2)
    os.symlink(tmp_path / "elsewhere/b.png", tmp_path / "photos/b.png")
    words = ["hash", tmp_path / "photos", "--follow-symlinks", "--format", "jsonl"]
    assert len(millrace(*words).stdout.splitlines()) == 2
    done = millrace(*words, "--sandbox", "all")
    if b"is not fully enforced" in done.stderr:
        pytest.skip(done.stderr.decode())
    assert done.returncode == 3 and b"b.png" in done.stdout and b"Permission denied" in done.stdout


def test_what_acts_on_files_says_that_its_decoders_alone_are(tmp_path):
    (tmp_path / "decisions.json").write_text("{}")
    done = subprocess.run([PROGRAM, "dedupe", "apply", tmp_path / "decisions.json", "--sandbox", "all"], capture_output=True, text=True)
    assert "only the decoders" in done.stderr
