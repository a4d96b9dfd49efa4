"""`segment --preprocess`: photographs that are brought to a square first, and results that come back to their pixels."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageDraw

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import onnx_model as onnx
from program import DATA, ROOT, content_of, millrace
from segmenting import made_model, needs_openvino, needs_runtime, picture, runtime
from window_reference import brought_back, segment as by_definition

pytestmark = needs_runtime
SIDE, WINDOW = "160", 64
MEAN, STD = np.float32([0.485, 0.456, 0.406] * 2), np.float32([0.229, 0.224, 0.225] * 2)


def sigmoid(raw):
    return 1 / (1 + np.exp(-raw))


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fundi") / "photos"
    subprocess.run([sys.executable, ROOT / "bench" / "recipes" / "make_fundus.py", folder, "3", "7"], check=True)
    (folder / "truth.csv").unlink()
    return folder


@pytest.fixture(scope="module")
def found(photographs):
    """What `fundus` makes of them, whose crops and enhanced pictures have tests of their own."""
    out = photographs.parent / "found"
    millrace("fundus", photographs, "-o", out, "--size", SIDE)
    return out, json.loads((out / "bounds.json").read_text())["photographs"]


def segment(photos, model, out, *more, check=True):
    return millrace("segment", photos, "--model", model, "-o", out, *more, check=check)


def channels_of(found, name):
    rgb, enhanced = (np.array(Image.open(found / f"{name}.{kind}.png")) for kind in ("crop", "enhanced"))
    return np.concatenate([rgb, enhanced], 2).astype(np.float32).transpose(2, 0, 1) / np.float32(255)


def test_six_channels_of_a_fundus_come_back_to_the_photograph(photographs, found, tmp_path):
    network = made_model(tmp_path / "m.onnx", classes=2, height=WINDOW, width=WINDOW, channels=6)
    (tmp_path / "m.json").write_text(json.dumps({"preprocess": "fundus", "size": int(SIDE), "activation": "sigmoid"}))
    segment(photographs, tmp_path / "m.onnx", tmp_path / "out", "--write", "mask,probability,overlay")
    folder, bounds = found
    assert len(bounds) == 3
    for one in bounds:
        name = os.path.basename(one["path"])
        # ImageNet's means and deviations, unless the card says others.
        window = (channels_of(folder, name) - MEAN[:, None, None]) / STD[:, None, None]
        square = sigmoid(by_definition(window, network, (WINDOW, WINDOW), 0.5))
        expected, inside = brought_back(square, one["center"], one["crop"]["scale"], one["height"], one["width"])
        made = np.load(tmp_path / "out" / f"{name}.probability.npy")
        assert made.shape == expected.shape and np.abs(made - expected).max() < 2e-6
        assert (made[:, ~inside] == 0).all()
        labels = np.where((made.max(0) >= 0.5) & inside, 1 + made.argmax(0), 0)
        mask = np.array(Image.open(tmp_path / "out" / f"{name}.mask.png"))
        assert (mask == labels).all()
        photo, overlay = (np.array(Image.open(path)) for path in
                          (photographs / name, tmp_path / "out" / f"{name}.overlay.png"))
        assert (overlay[mask == 0] == photo[mask == 0]).all() and (overlay[mask > 0] != photo[mask > 0]).any()
        record = json.loads((tmp_path / "out" / f"{name}.segment.json").read_text())
        assert record["field_of_view"]["center"] == one["center"]
        assert record["field_of_view"]["doubts"] == one["doubts"]


def painted(path, out, draw):
    image = Image.open(path).convert("RGB")
    draw(image)
    out.parent.mkdir(parents=True, exist_ok=True)
    image.save(out)
    return image.size


BLUE = (0, 0, 255)


def blue_network(path, height, width, **card):
    """How blue a pixel is, beside red and green."""
    path.write_bytes(onnx.color([[-2, -2, 4]], [-1], height, width))
    path.with_suffix(".json").write_text(json.dumps(card))


@needs_openvino
def test_what_is_drawn_on_the_photograph_is_where_it_was_drawn(photographs, found, tmp_path):
    ious = []
    for k, one in enumerate(found[1]):
        (x, y), r = one["center"], one["radius"]
        box = [x - 0.35 * r, y - 0.15 * r, x + 0.3 * r, y + 0.3 * r]
        name = os.path.basename(one["path"])
        size = painted(one["path"], tmp_path / "photos" / name, lambda image: ImageDraw.Draw(image).ellipse(box, BLUE))
        drawn = Image.new("1", size)
        ImageDraw.Draw(drawn).ellipse(box, 1)
        ious.append((name, np.array(drawn)))
    blue_network(tmp_path / "m.onnx", 256, 256, activation="sigmoid")
    segment(tmp_path / "photos", tmp_path / "m.onnx", tmp_path / "out", "--preprocess", "fundus")
    for name, drawn in ious:
        mask = np.array(Image.open(tmp_path / "out" / f"{name}.mask.png")) > 0
        assert (mask & drawn).sum() / (mask | drawn).sum() >= 0.99


@needs_openvino
def test_points_come_back_to_the_photograph(photographs, found, tmp_path):
    places = {}
    for k, one in enumerate(found[1]):
        (x, y), r = one["center"], one["radius"]
        places[os.path.basename(one["path"])] = at = (int(x + (0.2 - 0.15 * k) * r), int(y - 0.1 * r))

        def draw(image, at=at):
            # A cone, whose tip is the middle of a pixel.
            for dy in range(-40, 41):
                for dx in range(-40, 41):
                    height = 255 - 6 * np.hypot(dx, dy)
                    if height > 20:
                        image.putpixel((at[0] + dx, at[1] + dy), (0, 0, int(height)))
        painted(one["path"], tmp_path / "photos" / os.path.basename(one["path"]), draw)
    # As many pixels as the photographs have, or more.
    blue_network(tmp_path / "m.onnx", 512, 512, task="keypoints", classes=[{"name": "tip"}], preprocess="fundus", size=2048)
    segment(tmp_path / "photos", tmp_path / "m.onnx", tmp_path / "out")
    rows = list(csv.DictReader(open(tmp_path / "out" / "points.csv")))
    assert len(rows) == 3
    for row in rows:
        x, y = places[os.path.basename(row["path"])]
        assert abs(float(row["x"]) - (x + 0.5)) <= 0.5 and abs(float(row["y"]) - (y + 0.5)) <= 0.5, row


def test_all_of_a_picture_in_a_square(tmp_path):
    """Edges lie on edges, what is padded is not of the picture, and comes back as nothing."""
    pixels = picture(tmp_path / "photos" / "a.png", 60, 90)
    network = made_model(tmp_path / "m.onnx", classes=1, height=48, width=48)
    segment(tmp_path / "photos", tmp_path / "m.onnx", tmp_path / "out", "--preprocess", "square", "--size", "90", "--write",
            "probability,csv")
    square = np.zeros((3, 90, 90), np.float32)
    square[:, 15:75] = pixels.transpose(2, 0, 1) / np.float32(255)
    expected = by_definition(square, network, (48, 48), 0.5)[:, 15:75]
    made = np.load(tmp_path / "out" / "a.png.probability.npy")
    assert np.abs(made - expected).max() < 1e-5


def test_the_same_in_parts_and_for_any_threads(photographs, tmp_path):
    made_model(tmp_path / "m.onnx", classes=2, height=WINDOW, width=WINDOW, channels=6)
    how = ["--preprocess", "fundus", "--size", SIDE, "--write", "mask,probability,contours"]
    segment(photographs, tmp_path / "m.onnx", tmp_path / "one", *how, "--threads", "1")
    for k in (2, 1):
        segment(photographs, tmp_path / "m.onnx", tmp_path / "parts", *how, "--part", f"{k}/2", "--threads", "4")
    assert content_of(tmp_path / "one") == content_of(tmp_path / "parts")
    again = segment(photographs, tmp_path / "m.onnx", tmp_path / "one", *how)
    assert b"3 were already complete" in again.stderr


def test_what_has_no_field_of_view_is_an_outcome_and_doubts_are_said(photographs, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "good.png").write_bytes(sorted(photographs.iterdir())[0].read_bytes())
    Image.new("RGB", (300, 200)).save(photos / "black.png")
    picture(photos / "noise.png", 300, 300)
    made_model(tmp_path / "m.onnx", height=WINDOW, width=WINDOW)
    done = segment(photos, tmp_path / "m.onnx", tmp_path / "out", "--preprocess", "fundus", "--size", SIDE, check=False)
    said = done.stderr.decode()
    assert done.returncode == 3 and "black.png" in said and "no circle" in said
    assert "check " in said and "noise.png" in said
    rows = {os.path.basename(row["path"]): row for row in csv.DictReader(open(tmp_path / "out" / "pictures.csv"))}
    assert set(rows) == {"good.png", "noise.png"} and rows["noise.png"]["doubts"] and not rows["good.png"]["doubts"]


@pytest.mark.parametrize("more, words", [
    (["--roi", "ROI"], "--roi"), (["--preprocess", "none"], "--size"), (["--size", "9000"], "8192")])
def test_what_does_not_go_with_a_square(photographs, tmp_path, more, words):
    made_model(tmp_path / "m.onnx", height=WINDOW, width=WINDOW)
    how = ["--preprocess", "fundus", "--size", SIDE, *[str(photographs) if each == "ROI" else each for each in more]]
    done = segment(photographs, tmp_path / "m.onnx", tmp_path / "out", *how, check=False)
    assert done.returncode == 2 and words in done.stderr.decode()


def test_a_network_of_six_channels_says_what_it_needs(photographs, tmp_path):
    made_model(tmp_path / "m.onnx", height=WINDOW, width=WINDOW, channels=6)
    done = segment(photographs, tmp_path / "m.onnx", tmp_path / "out", check=False)
    assert done.returncode == 2 and "use --preprocess fundus" in done.stderr.decode()


@needs_openvino
@pytest.mark.skipif(not (DATA / "fundus").exists(), reason="the fundus photograph is not there")
def test_vessels_of_a_real_photograph(tmp_path):
    out = tmp_path / "out"
    segment(DATA / "fundus" / "HRF_07_dr.jpg", DATA / "models" / "vessels_wnet_drive.onnx", out, "--preprocess", "fundus",
            "--window", "512", "--threshold", "0.4196", "--write", "mask,overlay")
    mask = np.array(Image.open(out / "HRF_07_dr.jpg.mask.png"))
    assert mask.shape == (2336, 3504)
    yy, xx = np.mgrid[0:2336, 0:3504]
    inside = np.hypot(xx - 1760.6, yy - 1166.4) < 1631
    assert 0.03 < (mask[inside] > 0).mean() < 0.25 and (mask[~inside] > 0).mean() < 0.01


@needs_openvino
def test_points_lie_on_the_photograph(tmp_path):
    """What is padded is brightest there: a place in it is no place of the picture."""
    picture(tmp_path / "photos" / "a.png", 20, 96)
    (tmp_path / "m.onnx").write_bytes(onnx.color([[-1, -1, -1]], [0], 48, 48))
    (tmp_path / "m.json").write_text(json.dumps({"task": "keypoints", "preprocess": "square", "size": 96}))
    segment(tmp_path / "photos", tmp_path / "m.onnx", tmp_path / "out")
    row, = csv.DictReader(open(tmp_path / "out" / "points.csv"))
    assert 0 <= float(row["x"]) <= 96 and 0 <= float(row["y"]) <= 20
    pixels = np.array(Image.open(tmp_path / "photos" / "a.png")).astype(int).sum(2)
    y, x = np.unravel_index(pixels.argmin(), pixels.shape)
    assert (float(row["x"]), float(row["y"])) == (x + 0.5, y + 0.5)


@needs_openvino
def test_where_nobody_looked_there_is_no_point(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 60, 96)
    Image.fromarray(np.zeros_like(pixels)).save(tmp_path / "black.png")
    (tmp_path / "m.onnx").write_bytes(onnx.color([[1, 1, 1]], [0], 48, 48))
    (tmp_path / "m.json").write_text(json.dumps({"task": "keypoints"}))
    segment(tmp_path / "photos", tmp_path / "m.onnx", tmp_path / "out", "--roi", tmp_path / "black.png", "--report")
    row, = csv.DictReader(open(tmp_path / "out" / "points.csv"))
    assert (row["x"], row["y"], row["value"]) == ("", "", "")
    again = segment(tmp_path / "photos", tmp_path / "m.onnx", tmp_path / "out", "--roi", tmp_path / "black.png")
    assert b"1 were already complete" in again.stderr


def test_empty_windows_of_six_channels(photographs, tmp_path):
    """The corners of a fundus are dark, and left out; its middle is not."""
    made_model(tmp_path / "m.onnx", height=16, width=16, channels=6)
    how = ["--preprocess", "fundus", "--size", SIDE, "--write", "probability"]
    segment(photographs, tmp_path / "m.onnx", tmp_path / "all", *how)
    done = segment(photographs, tmp_path / "m.onnx", tmp_path / "some", *how, "--skip-empty")
    assert b"windows were skipped" in done.stderr
    for name in content_of(tmp_path / "all"):
        if name.endswith(".npy"):
            every, some = (np.load(tmp_path / folder / name)[0] for folder in ("all", "some"))
            h, w = every.shape
            middle = np.s_[h // 2 - h // 8 : h // 2 + h // 8, w // 2 - w // 8 : w // 2 + w // 8]
            assert (every[middle] == some[middle]).all()


@needs_openvino
def test_classes_of_damaged_and_doubtful_photographs_say_so(photographs, tmp_path):
    """No mask, and yet a line each, doubts and damage with it, and the photograph on the page."""
    photos = tmp_path / "photos"
    photos.mkdir()
    picture(photos / "noise.png", 300, 300)
    Image.open(sorted(photographs.iterdir())[0]).save(tmp_path / "whole.jpg", quality=95)
    whole = (tmp_path / "whole.jpg").read_bytes()
    (photos / "cut.jpg").write_bytes(whole[: len(whole) * 4 // 5])
    (tmp_path / "m.onnx").write_bytes(onnx.heads(64, 64)[0])
    (tmp_path / "m.json").write_text(json.dumps({"preprocess": "fundus", "outputs": {"grade": {"task": "classification"}}}))
    done = segment(photos, tmp_path / "m.onnx", tmp_path / "out", "--report")
    assert b"damaged: " in done.stderr
    rows = {os.path.basename(row["path"]): row for row in csv.DictReader(open(tmp_path / "out" / "pictures.csv"))}
    assert set(rows) == {"noise.png", "cut.jpg"} and rows["cut.jpg"]["damage"] and rows["noise.png"]["doubts"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("data:image/jpeg") == 2 and "damaged: part of it is missing" in page
