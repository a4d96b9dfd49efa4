"""`fundus` over photographs that a script makes, whose field of view is known; and the real one, where it is there."""

import csv
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageFilter

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from program import DATA, content_of, millrace  # noqa: E402

COUNT = 300 if os.environ.get("MILLRACE_ALL") else 24
REAL = DATA / "fundus" / "HRF_07_dr.jpg"


def fundus(*words, check=True):
    return millrace("fundus", *words, "--progress", "none", check=check)


def rows_of(folder):
    return list(csv.DictReader(open(folder / "bounds.csv")))


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photographs")
    subprocess.run([sys.executable, ROOT / "bench" / "recipes" / "make_fundus.py", folder, str(COUNT)], check=True)
    return folder


def errors_of(photographs, rows):
    """In steps of the radius, which is as fine as the boundary is known."""
    truth = {row["name"]: row for row in csv.DictReader(open(photographs / "truth.csv"))}
    out = []
    for row in rows:
        one = truth[os.path.basename(row["path"])]
        step = 142 / 256 * max(int(row["width"]), int(row["height"])) / 256
        out.append(max(abs(float(row["center_x"]) - float(one["x"])), abs(float(row["center_y"]) - float(one["y"])),
                       abs(float(row["radius"]) - float(one["radius"]))) / step)
    return np.array(out)


def test_the_field_of_view_is_found(photographs, tmp_path):
    fundus(photographs, "-o", tmp_path / "out", "--write", "bounds")
    rows = rows_of(tmp_path / "out")
    errors = errors_of(photographs, rows)
    assert len(rows) == COUNT
    assert (errors <= 1).mean() >= 0.99 and np.median(errors) < 0.15
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["bounds.csv", "bounds.json", "run.json"]
    said = json.loads((tmp_path / "out" / "bounds.json").read_text())["photographs"]
    assert [one["center"][0] for one in said] == pytest.approx([float(row["center_x"]) for row in rows], abs=1e-3)
    # How many sides were cut off is how many lines there are.
    sides = {row["name"]: int(row["sides"]) for row in csv.DictReader(open(photographs / "truth.csv"))}
    agree = [len(one["lines"]) == sides[os.path.basename(one["path"])] for one in said]
    assert np.mean(agree) >= 0.9


def test_the_same_for_any_number_of_threads_and_any_order(photographs, tmp_path):
    some = sorted(photographs.glob("00*.png"))[:6]
    fundus(*some, "-o", tmp_path / "one", "--threads", "1", "--size", "256")
    fundus(*reversed(some), "-o", tmp_path / "two", "--threads", "4", "--size", "256")
    assert content_of(tmp_path / "one") == content_of(tmp_path / "two")
    fundus(*some, "-o", tmp_path / "one", "--size", "256")  # once more, over its own
    assert content_of(tmp_path / "one") == content_of(tmp_path / "two")


def test_crops_are_where_the_table_says(photographs, tmp_path):
    some = sorted(photographs.glob("00*.png"))[:4]
    fundus(*some, "-o", tmp_path / "out", "--size", "512")
    for row in rows_of(tmp_path / "out"):
        name = os.path.basename(row["path"])
        photograph = np.asarray(Image.open(photographs / name)).astype(float)
        crop = np.asarray(Image.open(tmp_path / "out" / f"{name}.crop.png")).astype(float)
        scale, side = float(row["crop_scale"]), int(row["crop_side"])
        assert side == 512 and scale == pytest.approx(512 / (2 * float(row["radius"])), rel=1e-4)
        v, u = np.mgrid[100:400:37, 100:400:41]
        x, y = (u - side / 2) / scale + float(row["center_x"]), (v - side / 2) / scale + float(row["center_y"])
        left, top = np.floor(x).astype(int), np.floor(y).astype(int)
        inside = (left >= 0) & (top >= 0) & (left + 1 < photograph.shape[1]) & (top + 1 < photograph.shape[0])
        left, top, x, y, u, v = (one[inside] for one in (left, top, x, y, u, v))
        wx, wy = (x - left)[:, None], (y - top)[:, None]
        wanted = ((1 - wy) * ((1 - wx) * photograph[top, left] + wx * photograph[top, left + 1]) +
                  wy * ((1 - wx) * photograph[top + 1, left] + wx * photograph[top + 1, left + 1]))
        assert len(u) > 20 and np.abs(crop[v, u] - wanted).max() <= 1
        enhanced = np.asarray(Image.open(tmp_path / "out" / f"{name}.enhanced.png")).astype(float)
        yy, xx = np.mgrid[0:512, 0:512]
        assert (enhanced[np.hypot(xx - 256, yy - 256) > 0.99 * 256 + 1] == 0).all()
        core = enhanced[np.hypot(xx - 256, yy - 256) < 150]
        core = core[core.max(axis=1) > 0]
        assert abs(core.mean() - 127.5) < 12  # about the surround, nothing on the mean


def test_what_is_no_fundus_is_told(photographs, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    Image.new("RGB", (400, 300)).save(folder / "black.png")
    Image.new("RGB", (20, 20), (200, 90, 40)).save(folder / "tiny.png")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff and nothing")
    random = np.random.default_rng(5)
    Image.fromarray(random.integers(0, 255, (300, 400, 3), np.uint8)).save(folder / "noise.png")
    half = np.zeros((300, 400, 3), np.uint8)
    half[:, :200] = (150, 80, 40)
    Image.fromarray(half).save(folder / "half.png")
    Image.fromarray(np.tile(np.linspace(0, 255, 400)[None, :, None], (300, 1, 3)).astype(np.uint8)).save(folder / "ramp.png")
    yy, xx = np.mgrid[0:300, 0:400]
    away = np.where(np.hypot(xx - 90, yy - 150) < 80, 150, 4).astype(np.uint8)  # the middle lies outside of it
    Image.fromarray(np.stack([away] * 3, -1)).save(folder / "away.png")
    good = sorted(photographs.glob("00*.png"))[0]
    Image.open(good).save(folder / "good.png")
    done = fundus(folder, "-o", tmp_path / "out", "--json", tmp_path / "r.json")
    said = json.loads((tmp_path / "r.json").read_text())
    assert done.returncode == 3
    assert {os.path.basename(one["path"]) for one in said["unusable"]} >= {"tiny.png", "broken.jpg"}
    found = {os.path.basename(one["path"]): one for one in said["photographs"]}
    assert "good.png" in found
    for name in ("black.png", "noise.png", "half.png", "ramp.png", "away.png"):
        assert name not in found or found[name]["doubts"], name


def test_doubts(photographs, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    truth = [row for row in csv.DictReader(open(photographs / "truth.csv")) if row["sides"] == "0" and row["dark"] == "0"]
    good = Image.open(photographs / truth[0]["name"]).convert("RGB")
    good.save(folder / "good.png")
    good.filter(ImageFilter.GaussianBlur(12)).save(folder / "blurred.png")
    good.point(lambda v: v // 8).save(folder / "dark.png")
    good.point(lambda v: min(255, v * 4)).save(folder / "bright.png")
    width, height = good.size
    good.crop((int(width * 0.35), int(height * 0.3), int(width * 0.65), int(height * 0.7))).save(folder / "inside.png")
    done = fundus(folder, "-o", tmp_path / "out", "--write", "bounds")
    doubts = {os.path.basename(row["path"]): row["doubts"] for row in rows_of(tmp_path / "out")}
    assert doubts["good.png"] == ""
    assert "blurred" in doubts["blurred.png"] and "dark" in doubts["dark.png"] and "overexposed" in doubts["bright.png"]
    assert "full frame" in doubts["inside.png"]
    assert "check " in done.stderr.decode() and "dark.png: dark" in done.stderr.decode()


def test_what_is_not_of_this_job_stays(photographs, tmp_path):
    some = sorted(photographs.glob("00*.png"))[:2]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "holiday.txt").write_text("mine")
    assert fundus(*some, "-o", tmp_path / "mine", check=False).returncode == 1
    assert content_of(tmp_path / "mine") == {"holiday.txt": b"mine"}
    fundus(*some, "-o", tmp_path / "out", "--size", "128")
    crop = tmp_path / "out" / f"{some[0].name}.crop.png"
    Image.new("RGB", (9, 9)).save(crop)
    before = crop.read_bytes()
    done = fundus(*some, "-o", tmp_path / "out", "--size", "128")
    assert done.returncode == 3 and some[0].name in done.stderr.decode() and crop.read_bytes() == before
    other = fundus(*some, "-o", tmp_path / "out", "--size", "64", check=False)
    assert other.returncode == 1 and "--size was '128', is '64'" in other.stderr.decode()
    for table in ("bounds.csv", "bounds.json"):
        kept = (tmp_path / "out" / table).read_bytes()
        (tmp_path / "out" / table).write_text("mine")
        refused = fundus(some[1], "-o", tmp_path / "out", "--size", "128", check=False)
        assert refused.returncode == 1 and (tmp_path / "out" / table).read_text() == "mine"
        (tmp_path / "out" / table).write_bytes(kept)
    # A link among the results leads nothing elsewhere.
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in" / "sub").mkdir(parents=True)
    Image.open(some[0]).save(tmp_path / "in" / "sub" / "a.png")
    (tmp_path / "out" / "sub").symlink_to(tmp_path / "elsewhere")
    done = fundus(tmp_path / "in", "-o", tmp_path / "out", "--size", "128")
    assert done.returncode == 3 and not list((tmp_path / "elsewhere").iterdir())


def test_usage(photographs, tmp_path):
    one = sorted(photographs.glob("00*.png"))[0]
    assert fundus(one, check=False).returncode == 2
    assert fundus(one, "-o", tmp_path / "o", "--write", "crops", check=False).returncode == 2
    assert fundus(one, "-o", tmp_path / "o", "--size", "3", check=False).returncode == 2
    assert fundus(tmp_path / "nothing", "-o", tmp_path / "o", check=False).returncode in (1, 3)
    (tmp_path / "empty").mkdir()
    assert "no photographs were found" in fundus(tmp_path / "empty", "-o", tmp_path / "o").stderr.decode()
    assert not (tmp_path / "o").exists()
    assert "photographs" in fundus(one, "-o", tmp_path / "o", "--plan").stdout.decode() and not (tmp_path / "o").exists()


@pytest.mark.skipif(not REAL.exists(), reason="the shared photograph is not beside the checkout")
def test_a_real_photograph(tmp_path):
    fundus(REAL, "-o", tmp_path / "out")
    row = rows_of(tmp_path / "out")[0]
    # As others have published it.
    assert float(row["center_x"]) == pytest.approx(1760.60, abs=0.01)
    assert float(row["center_y"]) == pytest.approx(1166.37, abs=0.01)
    assert float(row["radius"]) == pytest.approx(1630.97, abs=0.01) and row["doubts"] == ""
    assert row["top_offset"] and row["bottom_offset"] and not row["left_offset"] and not row["right_offset"]
