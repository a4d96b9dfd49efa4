"""segment killed, interrupted or out of disk in the middle of a large picture: the next run goes on where it stopped, and
ends with the same bytes."""

import json
import os
import pathlib
import random
import resource
import signal
import struct
import subprocess
import sys
import time
import zlib

import pytest
from PIL import Image

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "support"))
sys.path.insert(0, str(HERE.parents[2] / "bench" / "recipes"))
sys.path.insert(0, str(HERE.parent))

import large_tiff  # noqa: E402
from other_cpu import NAME, on_another_cpu  # noqa: E402
from processes import end_held, hold_when, often  # noqa: E402
from program import PROGRAM, content_of, millrace  # noqa: E402
from test_hostile_files import broken_copies, write_valid  # noqa: E402
from segmenting import made_model, needs_runtime, runtime  # noqa: E402

pytestmark = needs_runtime

SIDE = 3000
MOMENTS = random.Random(2)
KILLS = {"png": often(20), "tiff": 4, "npy": 4, "zarr": 4}


@pytest.fixture(scope="module")
def slide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slide")
    large_tiff.write(folder / "slide.tif", SIDE)
    made_model(folder / "m.onnx", classes=2, height=128, width=128)
    Image.open(folder / "slide.tif").crop((0, 0, 1000, 1000)).save(folder / "small.png")
    return folder


def command(slide, output, format="png", name="slide.tif"):
    # Enough windows that saving is worth the while, whatever the machine.
    return ["segment", slide / name, "--model", slide / "m.onnx", "-o", output, "--overlap", "0.75", "--write",
            "mask,probability,overlay,contours", "--activation", "sigmoid", "--progress", "none", "--format", format]


@pytest.fixture(scope="module")
def undisturbed(slide, tmp_path_factory):
    made = {}

    def of(format):
        if format not in made:
            output = tmp_path_factory.mktemp("undisturbed") / "out"
            millrace(*command(slide, output, format), "--json", output.parent / "r.json")
            made[format] = content_of(output), json.loads((output.parent / "r.json").read_text())["windows"]
        return made[format]

    return of


def start(slide, output, format="png", name="slide.tif", **options):
    return subprocess.Popen([str(PROGRAM), *map(str, command(slide, output, format, name))], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, **options)


def rows_saved(output):
    """Of the picture that is being made; -1 where nothing is saved."""
    for path in (output / "unfinished.shards").glob("*/rows.json"):
        try:
            return json.loads(path.read_text())["rows"]
        except (FileNotFoundError, json.JSONDecodeError):
            pass
    return -1


def stop_when_saved(running, output, beyond, how):
    """Stops a run a moment after it has saved more rows than that; true where it was still running."""
    moment = iter(range(MOMENTS.randrange(20)))
    stopped = hold_when(running, lambda: rows_saved(output) > beyond and next(moment, None) is None, 0.003)
    if stopped:
        end_held(running, how)
    running.wait()
    return stopped


@pytest.mark.parametrize("format", KILLS)
def test_kills_in_the_middle_of_a_picture(slide, undisturbed, tmp_path, format):
    expected, windows = undisturbed(format)
    output, rows = tmp_path / "out", -1
    for _ in range(KILLS[format]):
        if not stop_when_saved(start(slide, output, format), output, rows, signal.SIGKILL):
            break
        assert not [name for name in content_of(output) if "unfinished" not in name and name != "run.json"
                    and not name.startswith(".millrace-partial")]
        rows = max(rows, rows_saved(output))
    assert rows > 0
    done = millrace(*command(slide, output, format), "--json", tmp_path / "r.json")
    result = json.loads((tmp_path / "r.json").read_text())
    # Not from the top; or it was through before there were so many kills.
    if not result["taken"]:
        assert result["resumed"] == 1 and result["windows"] < windows and b"resumed from an earlier run" in done.stderr
    found = {name: data for name, data in content_of(output).items() if "partial" not in name}
    assert found == expected


def test_an_interrupted_picture_is_gone_on_with(slide, undisturbed, tmp_path):
    output = tmp_path / "out"
    running = start(slide, output)
    assert stop_when_saved(running, output, -1, signal.SIGINT)
    assert running.returncode == 130 and b"to resume" in running.stderr.read()
    millrace(*command(slide, output), "--json", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["resumed"] == 1
    assert content_of(output) == undisturbed("png")[0]


def test_a_picture_that_another_cpu_has_begun_is_begun_anew(slide, undisturbed, tmp_path):
    """Half of a mask by one and half by another would be nobody's."""
    elsewhere = on_another_cpu(tmp_path)
    for begun, ended, resumed in (([], elsewhere, 0), (elsewhere, elsewhere, 1), (elsewhere, [], 0)):
        output = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        words = [str(PROGRAM), *map(str, command(slide, output)), "--mixed"]
        running = subprocess.Popen([*begun, *words], stderr=subprocess.DEVNULL)
        assert stop_when_saved(running, output, -1, signal.SIGKILL)
        subprocess.run([*ended, *words, "--json", output.with_suffix(".json")], check=True, stderr=subprocess.DEVNULL)
        assert json.loads(output.with_suffix(".json").read_text())["resumed"] == resumed
        assert (NAME in json.loads((output / "slide.tif.segment.json").read_text())["made_by"]) == bool(ended)
        for name, data in undisturbed("png")[0].items():
            if name.endswith(".png"):
                assert (output / name).read_bytes() == data


def test_a_picture_that_was_changed_is_begun_anew(slide, undisturbed, tmp_path):
    output, copy = tmp_path / "out", tmp_path / "slide.tif"
    copy.write_bytes((slide / "slide.tif").read_bytes())
    of_copy = [str(copy if str(a).endswith("slide.tif") else a) for a in command(slide, output)]
    running = subprocess.Popen([str(PROGRAM), *of_copy], stderr=subprocess.DEVNULL)
    assert stop_when_saved(running, output, -1, signal.SIGKILL)
    copy.write_bytes(copy.read_bytes())  # the same, and nobody can know it
    millrace(*of_copy, "--json", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["resumed"] == 0
    found, expected = content_of(output), undisturbed("png")[0]
    for name in expected:
        if name != "pictures.csv":
            assert found[name] == expected[name], name


def test_what_was_saved_and_is_damaged_is_begun_anew(slide, undisturbed, tmp_path):
    for kind in ("cut", "nonsense", "empty", "lost"):
        output = tmp_path / kind
        assert stop_when_saved(start(slide, output), output, -1, signal.SIGKILL)
        folder, = [path.parent for path in output.glob("unfinished.shards/*/rows.json")]
        if kind == "cut":
            os.truncate(folder / "mask.png", 100)
        elif kind == "nonsense":
            rows = json.loads((folder / "rows.json").read_text())
            (folder / "rows.json").write_text(json.dumps(rows | {"rows": rows["rows"] + 1}))
        elif kind == "empty":
            rows = json.loads((folder / "rows.json").read_text())
            rows["outputs"]["mask.png"] = ""
            (folder / "rows.json").write_text(json.dumps(rows))
        else:
            (folder / "contours.geojson.runs").unlink()
        millrace(*command(slide, output), "--json", tmp_path / "r.json")
        assert json.loads((tmp_path / "r.json").read_text())["resumed"] == 0
        assert content_of(output) == undisturbed("png")[0]


@pytest.mark.parametrize("format", KILLS)
def test_a_full_disk_is_said_and_costs_nothing(slide, tmp_path, format):
    millrace(*command(slide, tmp_path / "whole", format, "small.png"))
    output = tmp_path / "out"
    # As on a full disk, what goes past it fails.
    running = start(slide, output, format, "small.png",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)))
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 1 and b"File too large" in said and b"unfinished.shards" in said, said
    assert not list(output.glob("small.png.*"))
    millrace(*command(slide, output, format, "small.png"))
    found = {name: data for name, data in content_of(output).items() if "partial" not in name}
    assert found == content_of(tmp_path / "whole")


def test_hostile_pictures_are_outcomes_and_harm_no_other(slide, tmp_path):
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    count = 0
    for index, path in enumerate(write_valid(tmp_path / "valid")):
        data = path.read_bytes()
        for n, (kind, broken) in enumerate(broken_copies(data, 2000 + index)):
            # Every other one of each format: all of them are decoded in the tests of `hash`.
            if (n + index) % 2:
                (mixed / f"{index:02d}_{n:02d}_{kind}_{path.name}").write_bytes(broken)
                count += 1
    Image.open(slide / "small.png").save(mixed / "good.png")
    # A row of two gigabytes, in 60 bytes.
    header = b"IHDR" + struct.pack(">IIBBBBB", 2**31 - 1, 9, 8, 2, 0, 0, 0)
    (mixed / "wide.png").write_bytes(b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header +
                                     struct.pack(">I", zlib.crc32(header)) + struct.pack(">I", 0) + b"IDAT" + b"\x35\xaf\x06\x1e")
    done = millrace("segment", mixed, "--model", slide / "m.onnx", "-o", tmp_path / "out", "--memory", "600M", "--pad",
                    "replicate", "--json", tmp_path / "r.json", timeout=300)
    result = json.loads((tmp_path / "r.json").read_text())
    assert done.returncode == 3 and len(result["pictures"]) + len(result["unusable"]) == count + 2
    assert all(each["reason"] for each in result["unusable"])
    assert "wide.png" in {pathlib.Path(each["path"]).name for each in result["unusable"]}
    masks = {path.name for path in (tmp_path / "out").glob("*.mask.png")}
    assert masks == {pathlib.Path(each["path"]).name + ".mask.png" for each in result["pictures"]} and "good.png.mask.png" in masks
    assert not (tmp_path / "out" / "unfinished.shards").exists()
