"""What `segment` writes: in every format what the definition says, readable by what its users read with; regions, empty
windows, parts."""

import csv
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import tifffile
import zarr
from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import onnx_model as onnx
from processes import end_held, hold_when
from program import PROGRAM, content_of, millrace
from segmenting import made_model, needs_openvino, needs_runtime, picture, runtime

pytestmark = needs_runtime

ALL = "mask,probability,overlay,contours"


def run(tmp_path, *more, out="out", check=True, write=ALL, photos="photos"):
    return millrace("segment", tmp_path / photos, "--model", tmp_path / "m.onnx", "-o", tmp_path / out, "--write", write,
                    *more, check=check)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scene")
    # Over a tile of every format, and no multiple of one.
    pixels = picture(folder / "photos" / "a.png", 300, 2100)
    made_model(folder / "m.onnx", classes=2, height=64, width=128)
    run(folder, "--activation", "sigmoid")
    return folder, pixels


def mask_of(folder):
    return np.array(Image.open(folder / "a.png.mask.png"))


def probabilities(folder):
    return np.load(folder / "a.png.probability.npy")


def test_tiff_is_the_same_image(scene):
    folder, pixels = scene
    run(folder, "--activation", "sigmoid", "--format", "tiff", out="tiff")
    with tifffile.TiffFile(folder / "tiff" / "a.png.mask.tif") as file:
        page, = file.pages
        assert file.is_bigtiff and page.is_tiled and page.photometric.name == "PALETTE"
        assert (page.asarray() == mask_of(folder / "out")).all()
        assert page.colormap[:, 1].tolist() == [230 * 257, 159 * 257, 0]
    found = tifffile.imread(folder / "tiff" / "a.png.probability.tif")
    assert found.dtype == np.float32 and (found == probabilities(folder / "out")).all()
    overlay = np.array(Image.open(folder / "out" / "a.png.overlay.png"))
    assert (tifffile.imread(folder / "tiff" / "a.png.overlay.tif") == overlay).all()
    # What reads no tifffile: libtiff.
    assert (np.array(Image.open(folder / "tiff" / "a.png.overlay.tif")) == overlay).all()
    assert (np.array(Image.open(folder / "tiff" / "a.png.mask.tif")) == mask_of(folder / "out")).all()


def test_npy_is_the_same_array(scene):
    folder, _ = scene
    run(folder, "--activation", "sigmoid", "--format", "npy", out="npy")
    mask = np.load(folder / "npy" / "a.png.mask.npy")
    assert mask.dtype == np.uint8 and (mask == mask_of(folder / "out")).all()
    assert (np.load(folder / "npy" / "a.png.probability.npy") == probabilities(folder / "out")).all()
    assert (folder / "npy" / "a.png.overlay.png").read_bytes() == (folder / "out" / "a.png.overlay.png").read_bytes()


def test_zarr_is_the_same_array_and_an_image_of_ome(scene):
    folder, _ = scene
    run(folder, "--activation", "sigmoid", "--format", "zarr", out="zarr")
    mask = zarr.open_group(folder / "zarr" / "a.png.mask.zarr", mode="r")
    assert (mask["0"][:] == mask_of(folder / "out")).all()
    ome = mask.attrs["ome"]
    assert ome["version"] == "0.5" and ome["multiscales"][0]["datasets"][0]["path"] == "0"
    assert [axis["name"] for axis in ome["multiscales"][0]["axes"]] == ["y", "x"]
    assert [color["rgba"] for color in ome["image-label"]["colors"][:2]] == [[0, 0, 0, 0], [230, 159, 0, 255]]
    found = zarr.open_group(folder / "zarr" / "a.png.probability.zarr", mode="r")
    assert (found["0"][:] == probabilities(folder / "out")).all()
    assert found.attrs["classes"] == ["class 0", "class 1"]
    # Again, in place of one that is half lost.
    before = content_of(folder / "zarr")
    record = folder / "zarr" / "a.png.segment.json"
    record.write_text(record.read_text().replace('"hash": "', '"hash": "00'))
    (folder / "zarr" / "a.png.mask.zarr" / "0" / "c" / "0" / "0").unlink()
    run(folder, "--activation", "sigmoid", "--format", "zarr", out="zarr")
    assert content_of(folder / "zarr") == before


def test_an_overlay_is_the_photograph_and_the_colors_half_and_half(scene):
    folder, pixels = scene
    mask, overlay = mask_of(folder / "out"), np.array(Image.open(folder / "out" / "a.png.overlay.png"))
    colors = np.array([[0, 0, 0], [230, 159, 0], [86, 180, 233]])
    expected = np.where((mask > 0)[..., None], (pixels.astype(int) + colors[mask] + 1) // 2, pixels)
    assert (overlay == expected).all()


def test_a_gray_photograph_has_an_overlay_too(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 40, 50, mode="L")
    made_model(tmp_path / "m.onnx", channels=1)
    run(tmp_path, "--threshold", "1", "--activation", "sigmoid")
    overlay = np.array(Image.open(tmp_path / "out" / "a.png.overlay.png"))
    assert (overlay[mask_of(tmp_path / "out") == 0] == pixels[mask_of(tmp_path / "out") == 0][:, None]).all()


def filled(outline, shape):
    """The pixels inside of a polygon with holes: between its 1st and 2nd side from the left, its 3rd and 4th ..."""
    flips = np.zeros((shape[0], shape[1] + 1), int)
    for ring in outline:
        assert ring[0] == ring[-1] and len(ring) >= 5
        for (x0, y0), (x1, y1) in zip(ring, ring[1:]):
            assert (x0 == x1) != (y0 == y1)
            if x0 == x1:
                flips[min(y0, y1):max(y0, y1), x0] += 1
    return flips.cumsum(1)[:, :-1] % 2 == 1


def test_contours_hold_the_pixels_of_the_mask(scene):
    folder, _ = scene
    mask = mask_of(folder / "out")
    contours = json.loads((folder / "out" / "a.png.contours.geojson").read_text())
    assert contours["type"] == "FeatureCollection" and len(contours["features"]) > 100
    found = np.zeros_like(mask)
    names = {"class 0": 1, "class 1": 2}
    # The largest ones take the longest, and there are thousands: by their boxes.
    for feature in contours["features"]:
        assert feature["type"] == "Feature" and feature["geometry"]["type"] == "Polygon"
        rings = feature["geometry"]["coordinates"]
        left, top = np.min(rings[0], 0)
        right, bottom = np.max(rings[0], 0)
        inside = filled([[(x - left, y - top) for x, y in ring] for ring in rings], (bottom - top, right - left))
        part = found[top:bottom, left:right]
        assert not part[inside].any()
        part[inside] = names[feature["properties"]["classification"]["name"]]
    assert (found == mask).all()


def test_a_class_without_a_color_is_not_drawn(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 60, 80)
    made_model(tmp_path / "m.onnx", classes=3)
    card = {"classes": [{"name": "a"}, {"name": "b", "color": None}, {"name": "c", "color": "#ffffff"}]}
    (tmp_path / "m.json").write_text(json.dumps(card))
    run(tmp_path)
    mask = mask_of(tmp_path / "out")
    assert set(np.unique(mask)) == {0, 1, 2}
    overlay = np.array(Image.open(tmp_path / "out" / "a.png.overlay.png"))
    assert (overlay[mask != 2] == pixels[mask != 2]).all()
    assert (overlay[mask == 2] == (pixels[mask == 2].astype(int) + 256) // 2).all()
    contours = json.loads((tmp_path / "out" / "a.png.contours.geojson").read_text())
    assert {f["properties"]["classification"]["name"] for f in contours["features"]} == {"c"}


def test_a_region_leaves_out_windows_and_says_how_many(tmp_path):
    for name in ("a.png", "b.jpg", "c.jpg"):
        picture(tmp_path / "photos" / name, 96, 128)
    made_model(tmp_path / "m.onnx", height=32, width=32)
    run(tmp_path, "--overlap", "0", "--activation", "sigmoid", out="whole", write="mask,probability")
    region = np.zeros((96, 128), np.uint8)
    region[40, 70] = 255
    (tmp_path / "roi").mkdir()
    Image.fromarray(region).save(tmp_path / "roi" / "a.png")
    Image.fromarray(255 - region).save(tmp_path / "roi" / "b.jpg.png")
    done = run(tmp_path, "--overlap", "0", "--activation", "sigmoid", "--roi", tmp_path / "roi", "--json",
               tmp_path / "r.json")
    said = done.stderr.decode()
    # The picture without one is named, and costs no other anything.
    assert done.returncode == 3 and "c.jpg" in said and "11 windows were skipped" in said
    rows = {row["path"].split("/")[-1]: row for row in csv.DictReader(open(tmp_path / "out" / "pictures.csv"))}
    assert {name: (row["windows"], row["left_out"]) for name, row in rows.items()} == {
        "a.png": ("1", "11"), "b.jpg": ("12", "0")}
    assert json.loads((tmp_path / "r.json").read_text())["left_out"] == 11
    found, whole = probabilities(tmp_path / "out"), probabilities(tmp_path / "whole")
    assert (found[:, 32:64, 64:96] == whole[:, 32:64, 64:96]).all()
    found[:, 32:64, 64:96] = 0
    assert not found.any()
    mask = mask_of(tmp_path / "out")
    mask[32:64, 64:96] = 0
    assert not mask.any()
    # Another region is other results; the same one is not done again.
    again = run(tmp_path, "--overlap", "0", "--activation", "sigmoid", "--roi", tmp_path / "roi", "--json", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["windows"] == 0, again.stderr
    Image.fromarray(255 - region).save(tmp_path / "roi" / "a.png")
    run(tmp_path, "--overlap", "0", "--activation", "sigmoid", "--roi", tmp_path / "roi", "--json", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["windows"] == 12


@pytest.mark.parametrize("kind", ["of another size", "of no picture", "missing"])
def test_a_region_that_does_not_fit_is_said(tmp_path, kind):
    picture(tmp_path / "photos" / "a.png", 96, 128)
    made_model(tmp_path / "m.onnx")
    if kind == "of another size":
        picture(tmp_path / "roi.png", 95, 128, mode="L")
    elif kind == "of no picture":
        (tmp_path / "roi.png").write_text("here")
    done = run(tmp_path, "--roi", tmp_path / "roi.png", check=False)
    said = done.stderr.decode()
    assert done.returncode == (2 if kind == "missing" else 3) and "roi.png" in said and "--roi" in said
    assert kind == "missing" or "a.png: --roi" in said
    assert not (tmp_path / "out" / "a.png.mask.png").exists()


def test_empty_windows_are_left_out(tmp_path):
    pixels = np.full((96, 128, 3), 240, np.uint8)
    pixels[::2] -= 16
    pixels[70, 10, 1] = 200
    (tmp_path / "photos").mkdir()
    Image.fromarray(pixels).save(tmp_path / "photos" / "a.png")
    made_model(tmp_path / "m.onnx", height=32, width=32)
    done = run(tmp_path, "--overlap", "0", "--skip-empty", "--activation", "sigmoid")
    assert "1 windows" in done.stderr.decode() and "11 windows were skipped" in done.stderr.decode()
    assert np.count_nonzero(probabilities(tmp_path / "out").any(0)) == 32 * 32
    # All of a picture, too.
    pixels[70, 10, 1] = 240
    Image.fromarray(pixels).save(tmp_path / "photos" / "a.png")
    run(tmp_path, "--overlap", "0", "--skip-empty", "--activation", "sigmoid", out="none")
    assert not probabilities(tmp_path / "none").any() and not mask_of(tmp_path / "none").any()


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crowd")
    for k in range(7):
        picture(folder / "photos" / f"{k}.png", 60 + k, 80, seed=k)
    (folder / "photos" / "5.jpg").write_bytes((folder / "photos" / "5.png").read_bytes()[:3000])
    made_model(folder / "m.onnx", classes=2)
    run(folder)
    return folder


def test_parts_make_what_one_run_makes(crowd, tmp_path):
    for k in (2, 3):
        done = run(crowd, "--part", f"{k}/3", out=tmp_path / "out")
        assert "belong to other shards" in done.stderr.decode()
    assert run(crowd, "--part", "1/3", out=tmp_path / "out").stderr.decode().count("belong to other shards") == 0
    assert content_of(tmp_path / "out") == content_of(crowd / "out")


def test_runs_of_another_number_are_refused_while_others_are_at_it(crowd, tmp_path):
    out = tmp_path / "out"
    running = subprocess.Popen([PROGRAM, "segment", crowd / "photos", "--model", crowd / "m.onnx", "-o", out, "--write", ALL, "--part", "2/3"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert hold_when(running, lambda: (out / "unfinished.shards/runs.json").exists())
    done = run(crowd, "--part", "1/4", out=out, check=False)
    end_held(running, signal.SIGKILL)
    running.wait()
    assert done.returncode == 1 and b"shared by 3 runs, and this is one of 4" in done.stderr, done.stderr


def test_parts_at_once_make_what_one_run_makes(crowd, tmp_path):
    import concurrent.futures
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        # Two of them are told the same part.
        list(pool.map(lambda k: run(crowd, "--part", f"{k}/3", out=tmp_path / "out"), (1, 2, 3, 3, 2, 1)))
    found = content_of(tmp_path / "out")
    run(crowd, "--part", "1/3", out=tmp_path / "out")
    assert content_of(tmp_path / "out") == content_of(crowd / "out")
    assert found["pictures.csv"] == content_of(crowd / "out")["pictures.csv"]
    assert {name for name in found if name.endswith("segment.json")} == {
        name for name in content_of(crowd / "out") if name.endswith("segment.json")}


def test_two_runs_in_one_folder_that_share_nothing(crowd, tmp_path):
    import fcntl
    import struct
    run(crowd, out=tmp_path / "out")
    folder = tmp_path / "out" / "unfinished.shards"
    folder.mkdir()
    with open(folder / "run.lock", "w+b") as lock:
        fcntl.fcntl(lock, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 1, 0))  # F_OFD_SETLK
        done = run(crowd, out=tmp_path / "out", check=False)
    assert done.returncode == 1 and "another run" in done.stderr.decode()


@needs_openvino
def test_channels_that_come_last(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 60, 80)
    network = made_model(tmp_path / "m.onnx", classes=2)
    run(tmp_path, "--activation", "sigmoid", out="first")
    contents, _ = onnx.ramps(2, 24, 32, channels_last=True)
    (tmp_path / "m.onnx").write_bytes(contents)
    done = run(tmp_path, "--activation", "sigmoid", check=False)
    assert done.returncode == 1 and "nhwc" in done.stderr.decode()
    card = json.loads(millrace("segment", "--describe", "--model", tmp_path / "m.onnx").stdout)
    assert card["layout"] == "nhwc" and len(card["classes"]) == 2
    (tmp_path / "m.json").write_text('{"layout": "nhwc"}')
    run(tmp_path, "--activation", "sigmoid")
    assert np.abs(probabilities(tmp_path / "out") - probabilities(tmp_path / "first")).max() < 1e-6


@needs_openvino
def test_a_picture_that_does_not_come_in_rows_is_decoded_first(tmp_path):
    (tmp_path / "photos").mkdir()
    ramp = np.add.outer(np.arange(3000), np.arange(4000)).astype(np.uint8)
    Image.fromarray(np.stack([ramp, ramp // 2, 255 - ramp], 2)).save(tmp_path / "photos" / "b.jpg", quality=90,
                                                                      progressive=True, subsampling=0)
    (tmp_path / "m.onnx").write_bytes(onnx.model(
        [onnx.node("ReduceMean", "gray", ["x"], "y", onnx.integers("axes", [1]))], [],
        [onnx.value_info("x", [1, 3, None, None])], [onnx.value_info("y", [1, 1, None, None])]))
    done = run(tmp_path, "--overlap", "0", write="mask,overlay")
    assert "decoded to a scratch file first" in done.stderr.decode()
    Image.open(tmp_path / "photos" / "b.jpg").save(tmp_path / "photos" / "c.png")
    (tmp_path / "photos" / "b.jpg").unlink()
    done = run(tmp_path, "--overlap", "0", write="mask,overlay", out="other")
    assert "scratch" not in done.stderr.decode()
    for kind in ("mask", "overlay"):
        assert (tmp_path / "out" / f"b.jpg.{kind}.png").read_bytes() == (tmp_path / "other" / f"c.png.{kind}.png").read_bytes()


@pytest.mark.parametrize("folder", ["unfinished.shards", "pictures.csv", "run.json"])
def test_pictures_in_a_folder_of_an_unlucky_name(tmp_path, folder):
    picture(tmp_path / "photos" / folder / "a.png", 60, 80)
    picture(tmp_path / "photos" / "b.png", 60, 80)
    made_model(tmp_path / "m.onnx")
    done = run(tmp_path)
    assert done.returncode == 3 and "rename its folder" in done.stderr.decode()
    assert (tmp_path / "out" / "b.png.mask.png").exists() and (tmp_path / "out" / "pictures.csv").is_file()


def test_results_stay_in_the_folder_of_results(tmp_path):
    for name in ("a/x.png", "b/y.png", "b/c/z.png"):
        picture(tmp_path / name, 60, 80)
    made_model(tmp_path / "m.onnx")
    before = set(content_of(tmp_path))
    millrace("segment", "a", "a/../b", "./b/c/../c", "--model", "m.onnx", "-o", "out", cwd=tmp_path)
    found = set(content_of(tmp_path)) - before
    assert all(name.startswith("out/") for name in found)
    assert {name for name in found if name.endswith("mask.png")} == {f"out/{n}.png.mask.png" for n in "xyz"}


def test_what_lies_in_the_folder_of_results_is_no_input_and_no_other_jobs(tmp_path):
    picture(tmp_path / "photos" / "a.png", 60, 80)
    made_model(tmp_path / "m.onnx")
    run(tmp_path)
    before = content_of(tmp_path / "out")
    done = run(tmp_path, "--roi", tmp_path / "out" / "a.png.mask.png", check=False)
    assert done.returncode == 2 and "--roi" in done.stderr.decode()
    # Named by mistake, it is no reason to forget what is there.
    done = run(tmp_path, photos="out", check=False)
    assert done.returncode == 1 and "inside the results folder" in done.stderr.decode()
    done = run(tmp_path, photos="out/a.png.mask.png")
    assert done.returncode == 3 and "it is inside the results folder" in done.stderr.decode()
    assert content_of(tmp_path / "out") == before
    parts = tmp_path / "other" / "unfinished.shards"
    parts.mkdir(parents=True)
    (parts / "run.json").write_text('{"millrace": "features run"}')
    (parts / "part-00000.h5").write_text("data")
    done = run(tmp_path, out="other", check=False)
    assert done.returncode == 1 and "another job" in done.stderr.decode()
    assert (parts / "part-00000.h5").read_text() == "data"


def test_what_no_run_has_written_is_not_replaced(tmp_path):
    for name in ("a.png", "z.png"):
        picture(tmp_path / "photos" / name, 60, 80)
    made_model(tmp_path / "m.onnx")
    millrace("segment", tmp_path / "photos" / "a.png", "--model", tmp_path / "m.onnx", "-o", tmp_path / "out", "--write", ALL)
    (tmp_path / "out" / "z.png.mask.png").write_text("by hand")
    done = run(tmp_path)
    assert done.returncode == 3 and "z.png.mask.png' already exists, and no run has written it" in done.stderr.decode()
    assert (tmp_path / "out" / "z.png.mask.png").read_text() == "by hand"
    assert not (tmp_path / "out" / "z.png.segment.json").exists()
    (tmp_path / "out" / "z.png.mask.png").unlink()
    run(tmp_path)
    # Its own it replaces, when the photograph is another one.
    picture(tmp_path / "photos" / "z.png", 61, 80)
    run(tmp_path)
    assert np.array(Image.open(tmp_path / "out" / "z.png.mask.png")).shape == (61, 80)


def test_names_that_results_cannot_have(tmp_path):
    picture(tmp_path / "photos" / "a.png", 60, 80)
    picture(tmp_path / "photos" / ("n" * 246 + ".png"), 60, 80)
    made_model(tmp_path / "m.onnx")
    done = run(tmp_path)
    assert done.returncode == 3 and "shorter" in done.stderr.decode() and (tmp_path / "out" / "a.png.mask.png").exists()
    picture(tmp_path / "photos" / "a.png.mask.zarr" / "b.png", 60, 80)
    done = run(tmp_path, out="other", check=False)
    assert done.returncode == 2 and "same name as the results" in done.stderr.decode()


def test_what_is_no_file_any_more_is_made_again(tmp_path):
    picture(tmp_path / "photos" / "a.png", 60, 80)
    made_model(tmp_path / "m.onnx")
    run(tmp_path)
    before = content_of(tmp_path / "out")
    (tmp_path / "out" / "a.png.mask.png").write_bytes(b"")
    run(tmp_path)
    assert content_of(tmp_path / "out") == before


def test_a_part_does_not_tell_of_pictures_that_were_changed_since(crowd, tmp_path):
    import shutil
    shutil.copytree(crowd / "photos", tmp_path / "photos")
    shutil.copy(crowd / "m.onnx", tmp_path)
    run(tmp_path)
    picture(tmp_path / "photos" / "1.png", 33, 44)
    run(tmp_path, "--part", "1/2")
    rows = [row["path"] for row in csv.DictReader(open(tmp_path / "out" / "pictures.csv"))]
    assert rows and not any(row.endswith("/1.png") for row in rows)


def test_a_picture_that_had_failed_and_is_whole_again_is_in_the_table(crowd, tmp_path):
    import shutil
    shutil.copytree(crowd / "photos", tmp_path / "photos")
    shutil.copy(crowd / "m.onnx", tmp_path)
    (tmp_path / "photos" / "5.jpg").unlink()
    run(tmp_path)
    before = content_of(tmp_path / "out")
    whole = (tmp_path / "photos" / "0.png").read_bytes()
    (tmp_path / "photos" / "0.png").write_bytes(whole[:2000])
    picture(tmp_path / "photos" / "1.png", 61, 81, seed=99)
    run(tmp_path, "--part", "1/2")  # 0.png fails, and 1.png waits for the other part
    (tmp_path / "photos" / "0.png").write_bytes(whole)
    (tmp_path / "photos" / "1.png").write_bytes((crowd / "photos" / "1.png").read_bytes())
    run(tmp_path, "--part", "1/2")
    run(tmp_path, "--part", "2/2")
    assert content_of(tmp_path / "out") == before


def test_files_that_are_named_one_by_one_have_their_own_names(tmp_path):
    for name in ("a/x.png", "a/b/y.png"):
        picture(tmp_path / name, 60, 80)
    made_model(tmp_path / "m.onnx")
    for k, named in enumerate([["a/x.png", "a/b/y.png"], ["a/b", "a/x.png"], [tmp_path / "a" / "x.png", "./a//b/"]]):
        millrace("segment", *named, "--model", "m.onnx", "-o", f"out{k}", cwd=tmp_path)
        assert sorted(p.name for p in (tmp_path / f"out{k}").rglob("*.mask.png")) == ["x.png.mask.png", "y.png.mask.png"]
        assert (tmp_path / f"out{k}" / "y.png.mask.png").exists()
    millrace("segment", "a", "a/b", "--model", "m.onnx", "-o", "both", cwd=tmp_path)
    assert (tmp_path / "both" / "x.png.mask.png").exists() and (tmp_path / "both" / "y.png.mask.png").exists()
    millrace("segment", ".", "--model", "m.onnx", "-o", "all", cwd=tmp_path)
    assert (tmp_path / "all" / "a" / "b" / "y.png.mask.png").exists()


@needs_openvino
def test_a_window_larger_than_the_memory(tmp_path):
    picture(tmp_path / "photos" / "a.png", 60, 80)
    contents = onnx.model([onnx.node("Relu", "only", ["x"], "y")], [], [onnx.value_info("x", [1, 3, None, None])],
                          [onnx.value_info("y", [1, 3, None, None])])
    (tmp_path / "m.onnx").write_bytes(contents)
    done = run(tmp_path, "--window", "8000", "--memory", "300M", check=False)
    assert done.returncode == 1 and "smaller window" in done.stderr.decode()


def test_what_no_network_saw_is_said(tmp_path):
    """Of a file of several pages the first is used, of 16 bits the high ones, of a cut-out the colours below."""
    pixels = picture(tmp_path / "photos" / "plain.png", 60, 90)
    image = Image.fromarray(pixels)
    image.save(tmp_path / "photos" / "pages.tif", save_all=True, append_images=[image.rotate(180)])
    image.save(tmp_path / "photos" / "frames.webp", save_all=True, append_images=[image.rotate(180)], lossless=True)
    tifffile.imwrite(tmp_path / "photos" / "deep.tif", pixels.astype(np.uint16) * 256 + 77, photometric="rgb")
    cut = image.convert("RGBA")
    cut.putalpha(Image.linear_gradient("L").resize(image.size))
    cut.save(tmp_path / "photos" / "cut.png")
    made_model(tmp_path / "m.onnx", height=32, width=32)
    expected = {"plain.png": None, "pages.tif": ["pages"], "frames.webp": ["frames"], "deep.tif": ["depth"], "cut.png": ["transparency"]}
    for _ in range(2):  # the next run takes it from the records
        told = json.loads(run(tmp_path, "--json", "-", write="mask").stdout)
        assert {os.path.basename(each["path"]): each.get("holds") for each in told["pictures"]} == expected
    masks = {content_of(tmp_path / "out" / f"{name}.mask.png") for name in expected}
    assert len(masks) == 1, "all of the same 8 bits"
