"""--mixed: machines of several CPUs make one output, or are refused; what each has made says so."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import onnx_model as onnx  # noqa: E402
from films import X264, ffmpeg, needs_ffmpeg  # noqa: E402
from other_cpu import NAME, on_another_cpu  # noqa: E402
from program import OWN_DATA, PROGRAM, content_of  # noqa: E402
from segmenting import made_model, needs_runtime, picture, runtime  # noqa: E402, F401

pytestmark = needs_runtime


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    return on_another_cpu(tmp_path_factory.mktemp("cpu"))


def run(before, *command):
    environment = dict(os.environ, XDG_DATA_HOME=OWN_DATA.name, XDG_CACHE_HOME=OWN_DATA.name)
    return subprocess.run([*before, PROGRAM, *map(os.fspath, command)], capture_output=True, text=True, env=environment)


def done(before, *command):
    out = run(before, *command)
    assert out.returncode == 0, out.stderr
    return out


def refused(out):
    assert out.returncode == 1 and "cpu' was" in out.stderr.replace("--cpu", "cpu'") and "--mixed" in out.stderr, out.stderr


@pytest.fixture
def photos(tmp_path):
    made_model(tmp_path / "m.onnx")
    for k in range(6):
        picture(tmp_path / f"photos/{k}.png", 40, 50, seed=k)
    return ["segment", tmp_path / "photos", "--model", tmp_path / "m.onnx"]


def test_pictures_of_another_cpu_are_refused(photos, elsewhere, tmp_path):
    out = tmp_path / "out"
    done([], *photos, "-o", out, "--part", "1/2")
    before = content_of(out)
    for more in ([], ["--mixed"]):
        refused(run(elsewhere, *photos, "-o", out, "--part", "2/2", *more))
        assert content_of(out) == before
    done([], *photos, "-o", out, "--part", "2/2")


def test_pictures_of_two_cpus_say_whose_they_are(photos, elsewhere, tmp_path):
    out = tmp_path / "out"
    done([], *photos, "-o", out, "--part", "1/2", "--mixed")
    refused(run([], *photos, "-o", out, "--part", "2/2"))
    done(elsewhere, *photos, "-o", out, "--part", "2/2", "--mixed")
    made_of = json.loads((out / "run.json").read_text())
    assert made_of["cpu"] == made_of["runtime"] == "mixed"
    by = [json.loads((out / f"{k}.png.segment.json").read_text())["made_by"] for k in range(6)]
    assert [NAME in one for one in by] == [False, True] * 3
    # Nothing is made again, wherever that runs; the masks are those of one machine.
    written = content_of(out)
    assert "6 were already complete" in (said := run(elsewhere, *photos, "-o", out, "--mixed").stderr) or "nothing to do" in said, said
    assert content_of(out) == written
    done([], *photos, "-o", tmp_path / "one")
    for k in range(6):
        assert (out / f"{k}.png.mask.png").read_bytes() == (tmp_path / f"one/{k}.png.mask.png").read_bytes()
    assert "made_by" not in (tmp_path / "one/0.png.segment.json").read_text()


def test_a_result_that_does_not_say_whose_it_is_is_made_again(photos, tmp_path):
    out = tmp_path / "out"
    done([], *photos, "-o", out, "--mixed")
    written = content_of(out)
    record = out / "3.png.segment.json"
    record.write_text("".join(line for line in record.read_text().splitlines(keepends=True) if "made_by" not in line))
    done([], *photos, "-o", out, "--mixed")
    assert content_of(out) == written


@needs_ffmpeg
def test_masks_as_files_say_whose_they_are(elsewhere, tmp_path):
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=3", *X264, tmp_path / "film.mp4")
    (tmp_path / "m.onnx").write_bytes(onnx.color([[60, -60, -60]], [-15], 32, 48))
    words = ["video", tmp_path / "film.mp4", "--model", tmp_path / "m.onnx", "--segment", "1", "--write", "matte-files", "--mixed", "-o", tmp_path / "masks"]
    done([], *words, "--part", "1/2")
    done(elsewhere, *words, "--part", "2/2")
    by = json.loads((tmp_path / "masks/masks.json").read_text())["made_by"]
    assert len(by) == 2 and sum(NAME in one for one in by) == 1, by


@needs_ffmpeg
def test_pieces_of_a_film(elsewhere, tmp_path):
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=4", *X264, tmp_path / "film.mp4")
    (tmp_path / "m.onnx").write_bytes(onnx.color([[60, -60, -60]], [-15], 32, 48))
    film = ["video", tmp_path / "film.mp4", "--model", tmp_path / "m.onnx", "--segment", "1", "-o"]
    done([], *film, tmp_path / "a.mkv", "--part", "1/2")
    for more in ([], ["--mixed"]):
        refused(run(elsewhere, *film, tmp_path / "a.mkv", "--part", "2/2", *more))
    done([], *film, tmp_path / "b.mkv", "--part", "1/2", "--mixed")
    done(elsewhere, *film, tmp_path / "b.mkv", "--part", "2/2", "--mixed")
    told = (tmp_path / "b.mkv").read_bytes()
    assert NAME.encode() in told and told.count(b" on ") >= 2
    done([], *film, tmp_path / "one.mkv")
    assert NAME.encode() not in (tmp_path / "one.mkv").read_bytes()
    # Whoever comes then finds it made.
    assert "nothing to do" in run([], *film, tmp_path / "b.mkv", "--mixed").stderr
    assert (tmp_path / "b.mkv").read_bytes() == told
