"""`segment` with several networks, with windows turned over, and with networks of several outputs, against NumPy."""

import csv
import json
import os
import sys

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import onnx_model as onnx
from program import content_of, millrace
from segmenting import made_model, needs_openvino, needs_runtime, picture, runtime
from window_reference import FLIPS, enlarged, segment as by_definition, turned

pytestmark = needs_runtime
WINDOW = (24, 32)


def planes(pixels):
    return pixels.astype(np.float32).transpose(2, 0, 1) / np.float32(255)


def sigmoid(raw):
    return 1 / (1 + np.exp(-raw))


def softmax(raw, axis=0):
    e = np.exp(raw - raw.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def close(found, expected):
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-6 * max(1, np.abs(expected).max())


def networks(folder, count, classes=1, card={}, cards=None):
    """m0.onnx and on, each with its card; and their functions, which take what is in the picture."""
    out = []
    for k in range(count):
        network = made_model(folder / f"m{k}.onnx", classes=classes, seed=5 + k)
        one = {**card, **(cards[k] if cards else {})}
        (folder / f"m{k}.json").write_text(json.dumps(one))
        mean, std = np.float32(one.get("mean", [0] * 3)), np.float32(one.get("std", [1] * 3))
        order = [2, 1, 0] if one.get("input") == "bgr" else [0, 1, 2]
        out.append(lambda window, network=network, mean=mean, std=std, order=order: network(
            (window[order] - mean[:, None, None]) / std[:, None, None]))
    return out


def run(folder, count, *more, out="out", check=True, write="mask,probability"):
    models = [word for k in range(count) for word in ("--model", folder / f"m{k}.onnx")]
    return millrace("segment", folder / "photos", *models, "-o", folder / out, "--write", write, *more, check=check)


def probabilities(folder, name="a.png", out="out"):
    return np.load(folder / out / f"{name}.probability.npy")


def test_several_networks_agree_on_the_mean_of_their_raw_outputs(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 50, 61)
    # Each has its own channels, means and deviations.
    cards = [{"mean": [0.1, 0.2, 0.3]}, {"input": "bgr", "std": [0.5, 0.6, 0.7]}, {"mean": [0.1, 0.2, 0.3]}]
    made = networks(tmp_path, 3, 2, {"activation": "softmax"}, cards)
    run(tmp_path, 3)
    raw = by_definition(planes(pixels), lambda w: np.mean([each(w) for each in made], axis=0), WINDOW, 0.5)
    found = probabilities(tmp_path)
    close(found, softmax(raw))
    # The mean of probabilities is something else.
    other = by_definition(planes(pixels), lambda w: np.mean([softmax(each(w)) for each in made], axis=0), WINDOW, 0.5)
    assert np.abs(found - other).max() > 1e-3
    assert (np.array(Image.open(tmp_path / "out" / "a.png.mask.png")) == found.argmax(0)).all()


@pytest.mark.parametrize("flips", FLIPS)
@pytest.mark.parametrize("mean", ["probability", "raw"])
@pytest.mark.parametrize("count", [1, 2])
def test_windows_turned_over(tmp_path, flips, mean, count):
    pixels = picture(tmp_path / "photos" / "a.png", 50, 61)
    made = networks(tmp_path, count, 2, {"activation": "sigmoid"})
    run(tmp_path, count, "--tta", flips, *(["--tta-mean", mean] if flips != "none" else []))
    together = lambda w: np.mean([each(w) for each in made], axis=0)
    if mean == "raw" or flips == "none":
        expected = sigmoid(by_definition(planes(pixels), turned(together, flips), WINDOW, 0.5))
    else:
        expected = by_definition(planes(pixels), turned(together, flips, sigmoid), WINDOW, 0.5)
    found = probabilities(tmp_path)
    close(found, expected)
    labels = np.where(found.max(0) >= np.float32(0.5), 1 + found.argmax(0), 0)
    assert (np.array(Image.open(tmp_path / "out" / "a.png.mask.png")) == labels).all()


def test_what_networks_disagree_about_is_counted(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", *WINDOW)
    made = networks(tmp_path, 3, 1, {"activation": "sigmoid"})
    run(tmp_path, 3)
    masks = np.array([sigmoid(each(planes(pixels)))[0] >= 0.5 for each in made])
    any_of, all_of = masks.any(0), masks.all(0)
    record = json.loads((tmp_path / "out" / "a.png.segment.json").read_text())
    assert record["disagreement"] == [{"differ": int((any_of & ~all_of).sum()), "any": int(any_of.sum()),
                                       "share": pytest.approx((any_of & ~all_of).sum() / any_of.sum())}]
    row, = csv.DictReader(open(tmp_path / "out" / "pictures.csv"))
    assert float(row["disagreement"]) == pytest.approx(record["disagreement"][0]["share"])
    # One that is asked three times agrees with itself.
    for k in (1, 2):
        (tmp_path / f"m{k}.onnx").write_bytes((tmp_path / "m0.onnx").read_bytes())
    run(tmp_path, 3, out="same")
    assert json.loads((tmp_path / "same" / "a.png.segment.json").read_text())["disagreement"][0]["differ"] == 0
    run(tmp_path, 1, out="one")
    assert np.abs(probabilities(tmp_path, out="same") - probabilities(tmp_path, out="one")).max() < 1e-6


def test_the_same_for_any_threads_and_requests(tmp_path):
    for k in range(4):
        picture(tmp_path / "photos" / f"{k}.png", 60 + k, 71, seed=k)
    networks(tmp_path, 2, 2, {"activation": "softmax"})
    found = []
    for k, (threads, requests) in enumerate([(1, 1), (2, 3), (4, 4)]):
        run(tmp_path, 2, "--tta", "hw", "--threads", str(threads), "--requests", str(requests), out=f"out{k}")
        found.append(content_of(tmp_path / f"out{k}"))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("other, words", [
    ({"activation": "none"}, "the same activation"), ({"threshold": 0.7}, "the same threshold"),
    ({"classes": [{"name": "disc"}]}, "the same classes"), ({"preprocess": "square"}, "use --preprocess")])
def test_networks_that_do_not_go_together_are_named(tmp_path, other, words):
    picture(tmp_path / "photos" / "a.png", 50, 61)
    networks(tmp_path, 2, 1, {"activation": "sigmoid"}, [{}, other])
    done = run(tmp_path, 2, check=False)
    said = done.stderr.decode()
    assert done.returncode == 1 and words in said and "m1.onnx" in said, said
    assert not (tmp_path / "out").exists()


def test_windows_of_two_sizes_and_cards_of_another_number(tmp_path):
    picture(tmp_path / "photos" / "a.png", 50, 61)
    networks(tmp_path, 3)
    made_model(tmp_path / "m1.onnx", height=32, width=32)
    done = run(tmp_path, 2, check=False)
    assert done.returncode == 1 and "its window is 32 x 32" in done.stderr.decode()
    card = ["--card", tmp_path / "m0.json", "--card", tmp_path / "m1.json"]
    done = run(tmp_path, 3, *card, check=False)
    assert done.returncode == 2 and "2 cards were named for 3 models" in done.stderr.decode()


def test_one_card_for_all(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 50, 61)
    made = networks(tmp_path, 2, 1, {"activation": "softmax", "mean": [9, 9, 9]})
    (tmp_path / "all.json").write_text(json.dumps({"activation": "sigmoid"}))
    plain = networks(tmp_path, 2)
    run(tmp_path, 2, "--card", tmp_path / "all.json")
    expected = sigmoid(by_definition(planes(pixels), lambda w: np.mean([each(w) for each in plain], axis=0), WINDOW, 0.5))
    close(probabilities(tmp_path), expected)


def test_results_of_other_networks_are_not_mixed(tmp_path):
    picture(tmp_path / "photos" / "a.png", 50, 61)
    networks(tmp_path, 3)
    run(tmp_path, 2)
    for how in (["m1", "m0"], ["m0", "m2"], ["m0"]):
        models = [word for each in how for word in ("--model", tmp_path / f"{each}.onnx")]
        done = millrace("segment", tmp_path / "photos", *models, "-o", tmp_path / "out", "--write", "mask,probability",
                        check=False)
        assert done.returncode == 1 and "other options or inputs" in done.stderr.decode()
    done = run(tmp_path, 2, "--tta", "h", check=False)
    assert done.returncode == 1 and "tta" in done.stderr.decode()


OUTPUTS = {
    "mask": {"task": "segmentation", "activation": "softmax",
             "classes": [{"name": "none", "color": None}, {"name": "artery"}, {"name": "vein"}]},
    "coarse": {"activation": "sigmoid", "classes": [{"name": "disc"}], "threshold": 0.6},
    "spots": {"task": "keypoints", "classes": [{"name": "fovea"}, {"name": "disc"}]},
}


@needs_openvino
def test_outputs_of_several_kinds_and_resolutions(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 50, 61)
    made = []
    for k in range(2):
        contents, network = onnx.heads(*WINDOW, seed=8 + k)
        (tmp_path / f"m{k}.onnx").write_bytes(contents)
        (tmp_path / f"m{k}.json").write_text(json.dumps({"outputs": OUTPUTS}))
        made.append(network)
    run(tmp_path, 2, "--tta", "w", "--tta-mean", "raw", write="mask,probability,overlay,contours")

    def blended(name, step, mean):
        def network(window):
            each = [enlarged(one(window)[name], step) if step > 1 else one(window)[name] for one in made]
            return mean(each, axis=0)
        return by_definition(planes(pixels), turned(network, "w"), WINDOW, 0.5)

    out = tmp_path / "out"
    mask = softmax(blended("mask", 1, np.mean))
    close(np.load(out / "a.png.mask.probability.npy"), mask)
    found = np.load(out / "a.png.mask.probability.npy")
    assert (np.array(Image.open(out / "a.png.mask.mask.png")) == found.argmax(0)).all()
    coarse = sigmoid(blended("coarse", 2, np.mean))
    close(np.load(out / "a.png.coarse.probability.npy"), coarse)
    assert (np.array(Image.open(out / "a.png.coarse.mask.png")) ==
            (np.load(out / "a.png.coarse.probability.npy")[0] >= np.float32(0.6))).all()
    # Maps of points are summed up over networks, and the highest place counts.
    spots = blended("spots", 4, np.sum)
    close(np.load(out / "a.png.spots.probability.npy"), spots)
    points = list(csv.DictReader(open(out / "points.csv")))
    assert [(each["output"], each["point"]) for each in points] == [("spots", "fovea"), ("spots", "disc")]
    for each, plane in zip(points, spots):
        y, x = np.unravel_index(plane.argmax(), plane.shape)
        assert (float(each["x"]), float(each["y"])) == (x + 0.5, y + 0.5)
        assert float(each["value"]) == pytest.approx(plane.max(), rel=1e-6)
    assert {name for name in content_of(out) if name.startswith("a.png")} == {
        "a.png.segment.json", "a.png.mask.mask.png", "a.png.mask.probability.npy", "a.png.mask.overlay.png",
        "a.png.mask.contours.geojson", "a.png.coarse.mask.png", "a.png.coarse.probability.npy",
        "a.png.coarse.overlay.png", "a.png.coarse.contours.geojson", "a.png.spots.probability.npy"}
    rows = list(csv.DictReader(open(out / "pictures.csv")))
    assert [(row["output"], row["class"]) for row in rows] == [
        ("mask", "none"), ("mask", "artery"), ("mask", "vein"), ("coarse", "disc")]
    before = content_of(out)
    again = run(tmp_path, 2, "--tta", "w", "--tta-mean", "raw", write="mask,probability,overlay,contours")
    assert b"1 were already complete" in again.stderr and content_of(out) == before


@needs_openvino
def test_outputs_that_no_card_names(tmp_path):
    picture(tmp_path / "photos" / "a.png", 50, 61)
    contents, _ = onnx.heads(*WINDOW)
    (tmp_path / "m0.onnx").write_bytes(contents)
    done = run(tmp_path, 1, check=False)
    said = done.stderr.decode()
    assert done.returncode == 1 and "5 outputs: 'mask', 'coarse'" in said and "--describe" in said
    for outputs, words in (({"msk": {}}, "the output 'msk'"), ({"grade": {}}, '"classification" or "regression"'),
                           ({"mask": {"task": "regression"}}, '"segmentation" or "keypoints"'),
                           ({"spots": {"task": "keypoints", "activation": "sigmoid"}}, "cannot have an activation")):
        (tmp_path / "m0.json").write_text(json.dumps({"outputs": outputs}))
        done = run(tmp_path, 1, check=False)
        assert done.returncode == 1 and words in done.stderr.decode(), done.stderr
    # What --describe writes is a card: of a mask alone.
    card = json.loads(millrace("segment", "--describe", tmp_path / "m0.onnx").stdout)
    assert list(card["outputs"]) == ["mask", "coarse", "spots", "grade", "age"]
    card["outputs"] = {"mask": card["outputs"]["mask"]}
    (tmp_path / "m0.json").write_text(json.dumps(card))
    run(tmp_path, 1)
    # One that counts needs no name.
    assert (tmp_path / "out" / "a.png.mask.png").exists()


@needs_openvino
def test_classes_and_numbers_of_pictures(tmp_path):
    side = 24
    pictures = {f"{name}.png": picture(tmp_path / "photos" / f"{name}.png", *size, seed=k)
                for k, (name, size) in enumerate([("square", (24, 24)), ("wide", (12, 24))])}
    card = {"preprocess": "square", "outputs": {
        "grade": {"task": "classification", "classes": [{"name": "none"}, {"name": "mild"}, {"name": "severe"}]},
        "age": {"task": "regression", "classes": [{"name": "years"}]}}}
    made = []
    for k in range(2):
        contents, network = onnx.heads(side, side, seed=3 + k)
        (tmp_path / f"m{k}.onnx").write_bytes(contents)
        (tmp_path / f"m{k}.json").write_text(json.dumps(card))
        made.append(network)
    # What is made of masks alone is left out.
    run(tmp_path, 2, "--tta", "hw", write="mask,probability,overlay,contours")
    rows = {}
    for row in csv.DictReader(open(tmp_path / "out" / "values.csv")):
        rows.setdefault(os.path.basename(row["path"]), []).append(row)
    for name, pixels in pictures.items():
        square = np.zeros((side, side, 3), np.uint8)
        top = (side - pixels.shape[0]) // 2
        square[top : top + pixels.shape[0]] = pixels
        window = planes(square)
        found = rows[name]
        # The mean over networks and flips of probabilities; of numbers of each network its own.
        grade = np.mean([softmax(each(np.flip(window, axes))["grade"]) for each in made for axes in FLIPS["hw"]], axis=0)
        assert [float(row["value"]) for row in found[:3]] == pytest.approx(grade.tolist(), abs=1e-6)
        assert [(row["model"], row["class"]) for row in found[:3]] == [("mean", "none"), ("mean", "mild"), ("mean", "severe")]
        for k, row in enumerate(found[3:]):
            age = np.mean([made[k](np.flip(window, axes))["age"] for axes in FLIPS["hw"]])
            assert float(row["value"]) == pytest.approx(age, rel=1e-6, abs=1e-6)
            assert (row["model"], row["class"], row["task"]) == (f"m{k}.onnx", "years", "regression")
    assert "2 were already complete" in run(tmp_path, 2, "--tta", "hw", write="mask,probability,overlay,contours").stderr.decode()
    # Without a square a picture is no window.
    done = run(tmp_path, 2, "--preprocess", "none", out="other", check=False)
    assert done.returncode == 2 and "--preprocess" in done.stderr.decode()
    done = run(tmp_path, 2, "--size", "64", out="other", check=False)
    assert done.returncode == 2 and "--size" in done.stderr.decode()


def decided(out):
    record = json.loads((out / "run.json").read_text())
    return record["precision"], record["precision policy"]


@needs_openvino
def test_bf16_is_for_masks_that_stay_the_same(tmp_path):
    """Of three pictures of noise one network looks for what differs by a level, which bf16 cannot tell; the other for
    what differs by half of them."""
    random = np.random.default_rng(2)
    (tmp_path / "photos").mkdir()
    for k in range(3):
        red = random.integers(128, 255, (60, 70), dtype=np.uint8)
        pixels = np.stack([red, red + random.integers(0, 2, red.shape, dtype=np.uint8),
                           (255 * random.integers(0, 2, red.shape)).astype(np.uint8)], 2)
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{k}.png")
    fine, coarse = tmp_path / "fine.onnx", tmp_path / "coarse.onnx"
    for model, weights, bias in ((fine, [-1, 1, 0], -0.001), (coarse, [0, 0, 1], -3.5)):
        # What lies between two layers is rounded.
        same = np.eye(3, dtype=np.float32)[:, :, None, None]
        model.write_bytes(onnx.model(
            [onnx.node("Conv", "first", ["x", "same"], "between"), onnx.node("Relu", "kept", ["between"], "kept"),
             onnx.node("Conv", "second", ["kept", "weights", "bias"], "y")],
            [onnx.tensor("same", same), onnx.tensor("weights", np.float32(weights)[None, :, None, None]),
             onnx.tensor("bias", np.float32([bias]))],
            [onnx.value_info("x", [1, 3, *WINDOW])], [onnx.value_info("y", [1, 1, *WINDOW])]))
    # From 3 to 4 bf16 has a number in four of a pixel's levels.
    for model in (fine, coarse):
        model.with_suffix(".json").write_text(json.dumps({"threshold": 0, "range": [3, 4]}))
    words = {}
    for model in (fine, coarse):
        words[model] = millrace("segment", tmp_path / "photos", "--model", model, "-o", tmp_path / model.stem,
                                "--precision", "auto").stderr.decode()
    policy = "auto: Dice of at least 0.99"
    assert decided(tmp_path / "fine") == ("f32", policy)
    if "this CPU does not support bf16" in words[coarse]:
        assert decided(tmp_path / "coarse") == ("f32", policy)
        pytest.skip("this CPU does not support bf16")
    assert decided(tmp_path / "coarse") == ("bf16", policy)
    assert "to a Dice of 1.0000 on 16 windows" in words[coarse]
    # How far is a person's to say.
    millrace("segment", tmp_path / "photos", "--model", fine, "-o", tmp_path / "lax", "--precision", "auto=0")
    assert decided(tmp_path / "lax") == ("bf16", "auto: Dice of at least 0")
    done = millrace("segment", tmp_path / "photos", "--model", fine, "-o", tmp_path / "no", "--precision", "auto=2", check=False)
    assert done.returncode == 2 and "--precision" in done.stderr.decode()
    # The masks of what was refused are float32's.
    millrace("segment", tmp_path / "photos", "--model", fine, "-o", tmp_path / "exact")
    assert ((tmp_path / "exact" / "1.png.mask.png").read_bytes() == (tmp_path / "fine" / "1.png.mask.png").read_bytes())
    # Who goes on does as was decided, and looks at no windows for it; also with another picture, of which much differs.
    Image.fromarray(pixels).save(tmp_path / "photos" / "9.png")
    again = millrace("segment", tmp_path / "photos", "--model", coarse, "-o", tmp_path / "coarse", "--precision", "auto")
    assert b"the same as in the previous run" in again.stderr and decided(tmp_path / "coarse")[0] == "bf16"
    done = millrace("segment", tmp_path / "photos", "--model", coarse, "-o", tmp_path / "coarse", check=False)
    assert done.returncode == 1 and b"other options or inputs" in done.stderr
    plan = millrace("segment", tmp_path / "photos", "--model", fine, "-o", tmp_path / "new", "--precision", "auto", "--plan")
    assert "Dice" in plan.stdout.decode() and not (tmp_path / "new").exists()


@needs_openvino
def test_bf16_is_not_for_what_makes_no_masks(tmp_path):
    picture(tmp_path / "photos" / "a.png", 50, 61)
    (tmp_path / "m0.onnx").write_bytes(onnx.heads(*WINDOW)[0])
    (tmp_path / "m0.json").write_text(json.dumps({"outputs": {"spots": {"task": "keypoints"}}}))
    done = run(tmp_path, 1, "--precision", "auto")
    assert b"only masks can be compared" in done.stderr and decided(tmp_path / "out")[0] == "f32"
