"""Every hash kind, bit for bit against imagehash 4.3.2 over Pillow 13.0.0 and pdqhash 0.2.8."""

import pathlib
import sys

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import DATA, lines_of, millrace  # noqa: E402
from variants import make  # noqa: E402

imagehash = pytest.importorskip("imagehash")
pdqhash = pytest.importorskip("pdqhash")
from PIL import Image  # noqa: E402

KINDS = {
    "ahash": imagehash.average_hash,
    "dhash": imagehash.dhash,
    "dhash_vertical": imagehash.dhash_vertical,
    "phash": imagehash.phash,
    "whash": imagehash.whash,
    "colorhash": imagehash.colorhash,
}


def pdq_of(image):
    bits, quality = pdqhash.compute(numpy.asarray(image.convert("RGB")))
    return "".join(f"{int(''.join(map(str, bits[i : i + 4])), 2):x}" for i in range(0, 256, 4)), quality


def differences(folder, size=8, pdq=True):
    kinds = list(KINDS) + (["pdq"] if pdq else [])
    wrong, compared = [], 0
    for line in lines_of(millrace("hash", folder, "--kinds", ",".join(kinds), "--size", str(size), "--format", "jsonl")):
        try:
            image = Image.open(line["path"])
            image.load()
        except OSError:
            # What Pillow refuses must not be passed off as sound here.
            if "error" not in line and "damaged" not in line:
                wrong.append((line["path"], "Pillow refuses it"))
            continue
        if "error" in line:
            wrong.append((line["path"], line["error"]))
            continue
        compared += 1
        assert (line["width"], line["height"]) == image.size
        for kind, function in KINDS.items():
            try:
                expected = str(function(image) if kind == "colorhash" else function(image, hash_size=size))
            except (ValueError, AssertionError):
                continue  # imagehash has no such hash of this mode
            if line[kind] != expected:
                wrong.append((line["path"], kind, line[kind], expected))
        if pdq and image.mode not in ("I;16", "I", "F"):
            expected, quality = pdq_of(image)
            if (line["pdq"], line["quality"]) != (expected, quality):
                wrong.append((line["path"], "pdq", line["pdq"], expected, line["quality"], quality))
    return wrong, compared


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    folder = tmp_path_factory.mktemp("variants")
    assert make(folder) >= 400
    return folder


def test_generated_variants(variants):
    wrong, compared = differences(variants)
    assert compared >= 400
    assert not wrong, f"{len(wrong)} differ, among them {wrong[:8]}"


@pytest.mark.parametrize("size", [4, 16])
def test_other_sizes(variants, tmp_path, size):
    for path in sorted(variants.iterdir())[::7]:
        (tmp_path / path.name).hardlink_to(path)
    wrong, compared = differences(tmp_path, size, pdq=False)
    assert compared >= 60
    assert not wrong, f"{len(wrong)} differ, among them {wrong[:8]}"


def test_photographs():
    photos = DATA / "photos"
    if not photos.is_dir():
        pytest.skip("no photographs beside the checkout (../shared/data/photos)")
    wrong, compared = differences(photos)
    assert compared >= 13
    assert not wrong, wrong
