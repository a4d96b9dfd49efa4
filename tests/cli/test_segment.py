"""`segment` against a definition in NumPy, with small networks that are made here; what it makes of models, cards,
pictures and folders that are not as they should be."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import onnx_model as onnx
from program import BUILD, DATA, PROGRAM, ROOT, content_of, millrace
from segmenting import made_model, needs_openvino, needs_runtime, picture, run, runtime
from window_reference import segment as by_definition

pytestmark = needs_runtime


def as_input(pixels, mean=0.0, std=1.0, order=(0, 1, 2)):
    planes = pixels.astype(np.float32).transpose(2, 0, 1)[list(order)] / np.float32(255)
    return (planes - np.float32(mean)) / np.float32(std)


def probabilities(out, name="a.png"):
    return np.load(out / f"{name}.probability.npy")


@pytest.mark.parametrize("height, width", [(24, 32), (25, 33), (90, 101), (17, 80), (80, 19), (17, 20)])
@pytest.mark.parametrize("kind", ["gaussian", "constant"])
def test_probabilities_are_those_of_the_definition(tmp_path, height, width, kind):
    pixels = picture(tmp_path / "photos" / "a.png", height, width)
    network = made_model(tmp_path / "m.onnx", classes=2)
    run(tmp_path, "--importance", kind)
    expected = by_definition(as_input(pixels), network, (24, 32), 0.5, kind)
    found = probabilities(tmp_path / "out")
    assert found.dtype == np.float32 and found.shape == expected.shape
    assert np.abs(found - expected).max() < 1e-5
    # The likeliest of several classes that exclude each other; nowhere here are two as likely.
    mask = Image.open(tmp_path / "out" / "a.png.mask.png")
    assert mask.mode == "P" and (np.array(mask) == found.argmax(0)).all()


@pytest.mark.parametrize("pad", ["reflect", "constant", "replicate", "circular"])
@pytest.mark.parametrize("overlap", ["0", "0.25", "0.9"])
def test_every_padding_and_overlap(tmp_path, pad, overlap):
    pixels = picture(tmp_path / "photos" / "a.png", 20, 53)
    network = made_model(tmp_path / "m.onnx")
    run(tmp_path, "--pad", pad, "--overlap", overlap)
    expected = by_definition(as_input(pixels), network, (24, 32), float(overlap), pad=pad)
    assert np.abs(probabilities(tmp_path / "out") - expected).max() < 1e-5


def test_a_card_says_what_the_file_does_not_and_an_option_beats_it(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 40, 50)
    network = made_model(tmp_path / "m.onnx")
    (tmp_path / "m.json").write_text(json.dumps({
        "input": "bgr", "mean": [0.1, 0.2, 0.3], "std": [0.5, 0.6, 0.7], "activation": "sigmoid", "threshold": 0.7,
        "classes": [{"name": "vessel", "color": "#ff0000"}]}))
    run(tmp_path)
    mean, std = (np.array(v)[:, None, None] for v in ([0.1, 0.2, 0.3], [0.5, 0.6, 0.7]))
    raw = by_definition(as_input(pixels, mean, std, (2, 1, 0)), network, (24, 32), 0.5)
    expected = 1 / (1 + np.exp(-raw))
    found = probabilities(tmp_path / "out")
    assert np.abs(found - expected).max() < 2e-6
    mask = Image.open(tmp_path / "out" / "a.png.mask.png")
    assert (np.array(mask) == (found[0] >= np.float32(0.7))).all()
    assert mask.getpalette()[:6] == [0, 0, 0, 255, 0, 0]
    row, = csv.DictReader(open(tmp_path / "out" / "pictures.csv"))
    assert row["class"] == "vessel" and int(row["pixels"]) == np.count_nonzero(mask)
    assert float(row["mean_probability"]) == pytest.approx(found.mean(dtype=np.float64), rel=1e-6)
    run(tmp_path, "--input", "rgb", "--activation", "none", "--threshold", "0", out="other")
    raw = by_definition(as_input(pixels, mean, std), network, (24, 32), 0.5)
    assert np.abs(probabilities(tmp_path / "other") - raw).max() < 1e-5
    assert (np.array(Image.open(tmp_path / "other" / "a.png.mask.png")) == (raw[0] >= 0)).mean() > 0.999


def test_classes_that_do_not_exclude_each_other_leave_nothing_where_none_is_likely(tmp_path):
    picture(tmp_path / "photos" / "a.png", 40, 50)
    made_model(tmp_path / "m.onnx", classes=3)
    run(tmp_path, "--activation", "sigmoid", "--threshold", "0.6")
    found = probabilities(tmp_path / "out")
    expected = np.where(found.max(0) >= np.float32(0.6), 1 + found.argmax(0), 0)
    assert (np.array(Image.open(tmp_path / "out" / "a.png.mask.png")) == expected).all()
    run(tmp_path, "--activation", "softmax", out="soft")
    assert probabilities(tmp_path / "soft").sum(0) == pytest.approx(1, abs=1e-5)


def test_gray_pictures_and_gray_networks(tmp_path):
    gray = picture(tmp_path / "photos" / "g.png", 40, 50, mode="L")
    color = picture(tmp_path / "photos" / "c.png", 40, 50)
    network = made_model(tmp_path / "m.onnx")
    run(tmp_path)
    expected = by_definition(as_input(np.stack([gray] * 3, 2)), network, (24, 32), 0.5)
    assert np.abs(probabilities(tmp_path / "out", "g.png") - expected).max() < 1e-5
    network = made_model(tmp_path / "m.onnx", channels=1)
    run(tmp_path, out="gray")
    luma = np.array(Image.fromarray(color).convert("L"))
    expected = by_definition(as_input(luma[:, :, None], order=(0,)), network, (24, 32), 0.5)
    assert np.abs(probabilities(tmp_path / "gray", "c.png") - expected).max() < 1e-5


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collection")
    for k, (height, width) in enumerate([(40, 50), (24, 32), (150, 70), (10, 200), (64, 64)]):
        picture(folder / "photos" / f"{k % 2}" / f"{k}.png", height, width, seed=k)
    (folder / "photos" / "broken.png").write_bytes((folder / "photos" / "0" / "2.png").read_bytes()[:4000])
    (folder / "photos" / "notes.txt").write_text("no picture")
    made_model(folder / "m.onnx", classes=2)
    done = run(folder)
    assert done.returncode == 3
    return folder


def results(folder):
    return content_of(folder)


@pytest.mark.parametrize("how", [["--threads", "1"], ["--threads", "4"], ["--requests", "1"], ["--requests", "5"]])
def test_the_result_is_the_same_however_it_is_made(collection, tmp_path, how):
    millrace("segment", collection / "photos", "--model", collection / "m.onnx", "-o", tmp_path / "out", "--write",
             "mask,probability", *how)
    assert results(tmp_path / "out") == results(collection / "out")


@needs_openvino
def test_sums_over_a_window_are_the_same_for_any_threads_and_requests(tmp_path):
    # What a runtime adds up in several threads, where it has them, depends on how many.
    picture(tmp_path / "photos" / "a.png", 600, 700)
    one, zero = np.ones(3, np.float32), np.zeros(3, np.float32)
    (tmp_path / "m.onnx").write_bytes(onnx.model(
        [onnx.node("InstanceNormalization", "norm", ["x", "one", "zero"], "y")], [onnx.tensor("one", one), onnx.tensor("zero", zero)],
        [onnx.value_info("x", [1, 3, 512, 512])], [onnx.value_info("y", [1, 3, 512, 512])]))
    found = []
    for k, how in enumerate([(1, 1), (2, 1), (2, 2), (4, 1), (4, 3)]):
        run(tmp_path, "--threads", str(how[0]), "--requests", str(how[1]), out=f"out{k}")
        found.append(content_of(tmp_path / f"out{k}"))
    assert all(each == found[0] for each in found)


def test_grays_of_sixteen_bits_are_refused_and_colors_of_them_are_not(tmp_path):
    import cv2
    picture(tmp_path / "photos" / "a.png", 40, 50)
    gray = np.arange(2000, dtype=np.uint16).reshape(40, 50) * 30
    Image.fromarray(gray).save(tmp_path / "photos" / "wide.png")
    Image.fromarray(gray).save(tmp_path / "photos" / "wide.tif")
    Image.fromarray(gray.astype(np.float32)).save(tmp_path / "photos" / "float.tif")
    cv2.imwrite(str(tmp_path / "photos" / "color.png"), np.stack([gray] * 3, 2))
    made_model(tmp_path / "m.onnx")
    done = run(tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 3 and said.count("gray values of more than 8 bits") == 3
    assert {name.split(".mask")[0] for name in content_of(tmp_path / "out") if ".mask" in name} == {"a.png", "color.png"}


def test_a_threshold_that_means_nothing_is_refused(tmp_path):
    picture(tmp_path / "photos" / "a.png", 40, 50)
    made_model(tmp_path / "m.onnx", classes=2)
    done = run(tmp_path, "--threshold", "0.9", check=False)
    assert done.returncode == 2 and "--activation sigmoid" in done.stderr.decode()


def test_a_damaged_picture_is_named(tmp_path):
    path = tmp_path / "photos" / "a.jpg"
    picture(path, 400, 500)
    path.write_bytes(path.read_bytes()[:-20_000])
    made_model(tmp_path / "m.onnx")
    said = run(tmp_path).stderr.decode()
    assert f"damaged: {path}" in said


def test_one_picture_that_cannot_be_used_costs_no_other_anything(collection):
    done = content_of(collection / "out")
    assert {name for name in done if name.endswith(".mask.png")} == {
        "0/0.png.mask.png", "0/2.png.mask.png", "0/4.png.mask.png", "1/1.png.mask.png", "1/3.png.mask.png"}
    assert not [name for name in done if "broken" in name or "partial" in name]
    assert b"broken" not in done["pictures.csv"]


def test_what_is_done_is_not_done_again(collection, tmp_path):
    before = {p: p.stat().st_mtime_ns for p in (collection / "out").rglob("*.png")}
    done = run(collection, "--json", tmp_path / "r.json")
    result = json.loads((tmp_path / "r.json").read_text())
    assert done.returncode == 3 and (result["taken"], result["windows"]) == (5, 0)
    assert {p: p.stat().st_mtime_ns for p in (collection / "out").rglob("*.png")} == before
    assert len(result["pictures"]) == 5 and len(result["unusable"]) == 1


def test_a_changed_picture_and_a_lost_mask_are_made_anew(tmp_path):
    picture(tmp_path / "photos" / "a.png", 40, 50)
    picture(tmp_path / "photos" / "b.png", 40, 50)
    made_model(tmp_path / "m.onnx")
    run(tmp_path)
    first = content_of(tmp_path / "out")
    picture(tmp_path / "photos" / "a.png", 40, 50, seed=99)
    (tmp_path / "out" / "b.png.mask.png").unlink()
    run(tmp_path)
    second = content_of(tmp_path / "out")
    assert second["a.png.probability.npy"] != first["a.png.probability.npy"]
    assert second["b.png.mask.png"] == first["b.png.mask.png"]


@pytest.mark.parametrize("change, named", [
    (["--overlap", "0.25"], "--overlap was '0.5', is '0.25'"), (["--pad", "constant"], "--pad was 'reflect', is 'constant'"),
    (["--importance", "constant"], "--importance was 'gaussian', is 'constant'")])
def test_results_of_other_options_are_not_mixed(collection, change, named):
    before = content_of(collection / "out")
    done = run(collection, *change, check=False)
    assert done.returncode == 1 and named in done.stderr.decode()
    assert content_of(collection / "out") == before


def test_a_picture_that_comes_back_is_not_taken_for_what_half_replaced_it(tmp_path):
    picture(tmp_path / "photos" / "a.png", 40, 50, seed=1)
    first = (tmp_path / "photos" / "a.png").read_bytes()
    made_model(tmp_path / "m.onnx")
    run(tmp_path)
    before = content_of(tmp_path / "out")
    # Another picture of that name, whose probabilities have no place: nothing of the first one's is touched for it.
    picture(tmp_path / "photos" / "a.png", 40, 50, seed=2)
    (tmp_path / "out" / "a.png.probability.npy").unlink()
    (tmp_path / "out" / "a.png.probability.npy").mkdir()
    done = run(tmp_path, check=False)
    assert done.returncode == 3 and "is a folder" in done.stderr.decode()
    assert content_of(tmp_path / "out")["a.png.mask.png"] == before["a.png.mask.png"]
    # As it lies there when a run is killed between two of its files.
    (tmp_path / "photos" / "a.png").write_bytes(first)
    (tmp_path / "out" / "a.png.probability.npy").rmdir()
    (tmp_path / "out" / "a.png.probability.npy").write_bytes(before["a.png.probability.npy"])
    (tmp_path / "out" / "a.png.segment.json").write_text('{"millrace": "segment picture"}\n')
    Image.new("P", (50, 40)).save(tmp_path / "out" / "a.png.mask.png")
    run(tmp_path)
    assert content_of(tmp_path / "out") == before


def test_a_first_try_that_made_nothing_is_forgotten(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.png").write_text("no picture")
    made_model(tmp_path / "m.onnx")
    assert run(tmp_path, check=False).returncode == 3
    assert list((tmp_path / "out").iterdir()) == []
    picture(tmp_path / "photos" / "a.png", 40, 50)
    run(tmp_path, "--overlap", "0")
    # Where there are results, tables are of what the last run was given: of nothing, if none of it could be used.
    (tmp_path / "photos" / "a.png").write_text("no picture")
    assert run(tmp_path, "--overlap", "0", check=False).returncode == 3
    assert list(csv.DictReader(open(tmp_path / "out" / "pictures.csv"))) == []
    assert (tmp_path / "out" / "a.png.mask.png").exists() and (tmp_path / "out" / "run.json").exists()


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    picture(tmp_path / "photos" / "a.png", 40, 50)
    made_model(tmp_path / "m.onnx")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.png.mask.png").write_text("mine")
    done = run(tmp_path, check=False)
    assert done.returncode == 1 and "not empty" in done.stderr.decode()
    (tmp_path / "out" / "run.json").write_text('{"mine": "too"}')
    done = run(tmp_path, check=False)
    assert done.returncode == 1 and "not from this job" in done.stderr.decode()
    assert content_of(tmp_path / "out") == {"a.png.mask.png": b"mine", "run.json": b'{"mine": "too"}'}
    (tmp_path / "empty").write_text("")
    done = run(tmp_path, out="empty", check=False)
    assert done.returncode == 1 and "is not a folder" in done.stderr.decode()


def test_results_below_the_pictures_are_no_pictures(tmp_path):
    picture(tmp_path / "photos" / "a.png", 40, 50)
    made_model(tmp_path / "m.onnx")
    for _ in range(2):
        run(tmp_path, out="photos/out")
        assert sorted(content_of(tmp_path / "photos" / "out")) == [
            "a.png.mask.png", "a.png.probability.npy", "a.png.segment.json", "pictures.csv", "run.json"]


def test_results_of_another_folder_are_no_pictures(tmp_path):
    """Masks and overlays that lie among the photographs, made into another folder than this run's; a picture that is
    only named as they are is one."""
    picture(tmp_path / "photos" / "a.png", 40, 50)
    picture(tmp_path / "photos" / "own.mask.png", 40, 50)
    made_model(tmp_path / "m.onnx")
    for out in ("photos/earlier", "out"):
        millrace("segment", tmp_path / "photos", "--model", tmp_path / "m.onnx", "-o", tmp_path / out, "--write", "mask,overlay")
    assert {row["path"] for row in csv.DictReader(open(tmp_path / "out" / "pictures.csv"))} == {
        str(tmp_path / "photos" / name) for name in ("a.png", "own.mask.png")}


def test_two_pictures_of_one_name_are_refused_before_the_work(tmp_path):
    for folder in ("x", "y"):
        picture(tmp_path / folder / "a.png", 40, 50)
    made_model(tmp_path / "m.onnx")
    done = millrace("segment", tmp_path / "x", tmp_path / "y", "--model", tmp_path / "m.onnx", "-o", tmp_path / "out",
                    check=False)
    assert done.returncode == 2 and "would have the same name" in done.stderr.decode()
    assert not (tmp_path / "out").exists()


@needs_openvino
def test_a_network_that_gives_no_numbers_is_said_of_the_picture(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 40, 50)
    pixels[30:, 20:] = 0
    Image.fromarray(pixels).save(tmp_path / "photos" / "a.png")
    Image.fromarray(np.maximum(pixels, 1)).save(tmp_path / "photos" / "b.png")
    # x / x is NaN for black pixels alone.
    (tmp_path / "m.onnx").write_bytes(onnx.model(
        [onnx.node("Div", "quotient", ["x", "x"], "y")], [], [onnx.value_info("x", [1, 3, 24, 32])],
        [onnx.value_info("y", [1, 3, 24, 32])]))
    done = run(tmp_path)
    assert done.returncode == 3 and "a.png: the network produced NaN" in done.stderr.decode()
    assert sorted(content_of(tmp_path / "out")) == [
        "b.png.mask.png", "b.png.probability.npy", "b.png.segment.json", "pictures.csv", "run.json"]


def test_medical_volumes_are_named_with_what_converts_them(tmp_path):
    picture(tmp_path / "photos" / "a.png", 40, 50)
    (tmp_path / "photos" / "scan.dcm").write_bytes(b"\0" * 200)
    (tmp_path / "photos" / "head.nii.gz").write_bytes(b"\x1f\x8b")
    made_model(tmp_path / "m.onnx")
    done = run(tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 3 and "dcm2img" in said and "nibabel" in said
    assert (tmp_path / "out" / "a.png.mask.png").exists()


def test_a_picture_named_as_the_job_names_its_own(tmp_path):
    picture(tmp_path / "run.png", 40, 50)
    (tmp_path / "run").write_bytes((tmp_path / "run.png").read_bytes())
    made_model(tmp_path / "m.onnx")
    for _ in range(2):
        millrace("segment", tmp_path / "run", "--model", tmp_path / "m.onnx", "-o", tmp_path / "out")
    assert sorted(content_of(tmp_path / "out")) == ["pictures.csv", "run.json", "run.mask.png", "run.segment.json"]


def test_what_is_too_small_to_mirror_is_said(tmp_path):
    picture(tmp_path / "photos" / "a.png", 3, 50)
    made_model(tmp_path / "m.onnx")
    done = run(tmp_path)
    assert done.returncode == 3 and "--pad replicate" in done.stderr.decode()
    run(tmp_path, "--pad", "replicate", out="other")
    assert (tmp_path / "other" / "a.png.mask.png").exists()


@needs_openvino
def test_sums_that_do_not_fit_into_memory_lie_in_a_file_and_are_the_same(tmp_path):
    picture(tmp_path / "photos" / "a.png", 40, 20_000)
    picture(tmp_path / "photos" / "b.png", 40, 50)
    made_model(tmp_path / "m.onnx", classes=9, height=512, width=32)
    run(tmp_path, "--memory", "4G", "--pad", "replicate")
    run(tmp_path, "--memory", "240M", "--pad", "replicate", out="little")
    assert content_of(tmp_path / "little") == content_of(tmp_path / "out")
    plans = [run(tmp_path, "--memory", memory, "--pad", "replicate", "--plan").stdout.decode() for memory in ("4G", "240M")]
    assert ["sums in a scratch file" in plan for plan in plans] == [False, True]


@needs_openvino
def test_what_has_too_little_memory_is_said(tmp_path):
    picture(tmp_path / "photos" / "a.png", 40, 60_000)
    picture(tmp_path / "photos" / "b.png", 40, 50)
    made_model(tmp_path / "m.onnx", classes=9, height=512, width=32)
    done = run(tmp_path, "--memory", "130M", "--pad", "replicate")
    assert done.returncode == 3 and "--memory" in done.stderr.decode()
    assert (tmp_path / "out" / "b.png.mask.png").exists()
    assert not (tmp_path / "out" / "a.png.mask.png").exists()


def test_a_killed_run_is_gone_on_with(tmp_path):
    for k in range(40):
        picture(tmp_path / "photos" / f"{k:02}.png", 200, 200, seed=k)
    made_model(tmp_path / "m.onnx")
    run(tmp_path, out="whole")
    arguments = ["segment", tmp_path / "photos", "--model", tmp_path / "m.onnx", "-o", tmp_path / "out", "--write",
                 "mask,probability"]
    for after in (1, 5, 12, 30):
        process = subprocess.Popen([PROGRAM, *map(os.fspath, arguments)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and len(list((tmp_path / "out").glob("*.json"))) < after + 1:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
    millrace(*arguments)
    found = {name: data for name, data in content_of(tmp_path / "out").items() if "partial" not in name}
    assert found == content_of(tmp_path / "whole")


@pytest.mark.skipif(not DATA.exists(), reason="../shared/data is not here")
@needs_openvino
def test_the_real_model_runs_in_any_window(tmp_path):
    photo = Image.open(DATA / "fundus" / "HRF_07_dr.jpg").reduce(4)
    (tmp_path / "photos").mkdir()
    photo.save(tmp_path / "photos" / "a.png")
    done = millrace("segment", tmp_path / "photos", "--model", DATA / "models" / "vessels_wnet_drive.onnx", "-o",
                    tmp_path / "out", "--threshold", "0.4196", "--window", "256")
    assert done.returncode == 0
    mask = np.array(Image.open(tmp_path / "out" / "a.png.mask.png"))
    assert mask.shape == (photo.height, photo.width)
    assert 0.02 < mask.mean() < 0.2


@pytest.mark.skipif("MILLRACE_ALL" not in os.environ, reason="only with ./dev test --all: MONAI is some gigabytes")
@pytest.mark.skipif(not DATA.exists(), reason="../shared/data is not here")
@needs_openvino
def test_results_are_those_of_monai(tmp_path):
    subprocess.run([ROOT / ".venv-monai/bin/python", ROOT / "bench/segment.py", PROGRAM, BUILD / "bench", tmp_path, DATA, "agree"],
                   check=True)
