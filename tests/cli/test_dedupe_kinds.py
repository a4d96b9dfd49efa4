"""`dedupe` says what it did not read, which copy is the original, and which two files were one once."""

import io
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402
from searches import goes, searched  # noqa: E402

pytest.importorskip("PIL")
from holdings import STARS, film, jpeg, with_xmp  # noqa: E402
from PIL import Image  # noqa: E402
from variants import scene  # noqa: E402

PICTURE = scene(960, 720, 4)
STILL = jpeg(PICTURE)


def encoded(image, kind, **more):
    out = io.BytesIO()
    image.save(out, kind, **more)
    return out.getvalue()


def test_kinds_that_are_not_read_are_counted(tmp_path):
    files = {"a.psd": b"8BPS", "b.PSD": b"8BPS", "c.exr": b"v/1\1", "notes": b"words", "alone.mov": film(1), "d.jpg": STILL, "d.mov": film(2),
             "d.xmp": b"<x/>", "Thumbs.db": b"x", "deep/desktop.ini": b"x"}
    found, _, done = searched(tmp_path, files)
    assert found["not_read"] == [{"kind": ".psd", "files": 2}, {"kind": "", "files": 1}, {"kind": ".exr", "files": 1}, {"kind": ".mov", "files": 1}]
    assert found["totals"]["not_read"] == 5
    assert b"5 files" in done.stderr and b"2 .psd" in done.stderr
    (tmp_path / "plain").mkdir()
    found, _, _ = searched(tmp_path / "plain", {"d.jpg": STILL})
    assert found["not_read"] == []


def test_names_without_an_extension_are_read_when_asked(tmp_path):
    files = {"a/IMG_1": STILL, "b/IMG_1.jpg": with_xmp(STILL, STARS), "words": b"nothing that is a picture", "c.data": encoded(PICTURE, "PNG")}
    found, members, _ = searched(tmp_path, files)
    assert members == {} and found["totals"]["not_read"] == 3
    found, members, _ = searched(tmp_path, files, "--all-files")
    assert set(members) == {"a/IMG_1", "b/IMG_1.jpg", "c.data"} and found["not_read"] == [{"kind": "", "files": 1}]


def test_a_raw_file_of_another_name_is_not_read_by_its_thumbnail(tmp_path):
    """It begins as TIFF does: its first picture may be a thumbnail."""
    files = {"a/1.dng.bak": encoded(PICTURE, "TIFF"), "a/1": encoded(PICTURE, "TIFF"), "b/1.jpg": STILL}
    found, members, _ = searched(tmp_path, files, "--all-files")
    assert members == {} and found["totals"]["not_read"] == 2


def test_mpo_is_read(tmp_path):
    _, members, _ = searched(tmp_path, {"a/DSCF1.MPO": STILL, "b/x.jpg": with_xmp(STILL, STARS)})
    assert goes(members) == ["a/DSCF1.MPO"]


@pytest.mark.parametrize("kind, name", [("PNG", "x.png"), ("BMP", "x.bmp"), ("TIFF", "x.tif"), ("PPM", "x.ppm")])
def test_a_jpeg_stays_before_what_was_made_of_it(tmp_path, kind, name):
    made = encoded(Image.open(io.BytesIO(STILL)).convert("RGB"), kind)
    assert len(made) > len(STILL)
    _, members, _ = searched(tmp_path, {"web/x.jpg": STILL, f"saved/{name}": made})
    assert goes(members) == [f"saved/{name}"]


def test_a_png_stays_before_a_jpeg_that_was_made_of_it(tmp_path):
    _, members, _ = searched(tmp_path, {"a/x.png": encoded(PICTURE, "PNG"), "b/x.jpg": jpeg(PICTURE, quality=97, qtables=None)})
    assert goes(members) == ["b/x.jpg"]


def test_what_people_gave_counts_before_the_format(tmp_path):
    made = Image.open(io.BytesIO(STILL)).convert("RGB")
    starred = encoded(made, "TIFF", tiffinfo={700: STARS.encode()})
    _, members, _ = searched(tmp_path, {"web/x.jpg": STILL, "saved/x.tif": starred})
    assert goes(members) == ["web/x.jpg"]


def flipped(data, at, count=1):
    rotten = bytearray(data)
    for i in range(count):
        rotten[at + i] ^= 0x10
    return bytes(rotten)


def test_two_files_that_were_one_are_told(tmp_path):
    picture = encoded(PICTURE, "BMP")
    _, members, _ = searched(tmp_path, {"a/x.bmp": picture, "b/x.bmp": flipped(picture, len(picture) // 2, 3)})
    assert goes(members) == [], "nobody can tell which of them is whole"
    assert any(f"3 of {len(picture):,} bytes" in m["why"] + m.get("warning", "") for m in members.values())
    # Neither stands for the other.
    assert not any(m.get("as_good") for m in members.values())
    out = millrace("dedupe", "compare", tmp_path / "pictures/a", tmp_path / "pictures/b", "--catalog", tmp_path / "c.sqlite", "--json", "-").stdout
    assert [f["in_the_other"] for f in json.loads(out)["folders"]] == [0, 0]


@pytest.mark.parametrize("change", ["a date", "another picture"])
def test_others_of_one_size_are_not(tmp_path, change):
    exif = Image.Exif()
    exif[0x132] = "2024:05:01 12:30:10"
    dated = jpeg(PICTURE, exif=exif)
    other = dated.replace(b"2024:05:01 12", b"2024:05:02 13")
    if change == "another picture":
        dated = encoded(PICTURE, "BMP")
        other = encoded(Image.open(io.BytesIO(STILL)).convert("RGB"), "BMP")
    assert len(dated) == len(other) and dated != other
    _, members, _ = searched(tmp_path, {"a/x.jpg": dated, "b/x.jpg": other})
    assert len(members) == 2 and not any("damaged" in m["why"] + m.get("warning", "") for m in members.values())
    assert len(goes(members)) == 1


def saved_again(data, quality):
    return encoded(Image.open(io.BytesIO(data)).convert("RGB"), "JPEG", quality=quality)


WEB = encoded(PICTURE, "JPEG", quality=75)


@pytest.mark.parametrize("quality", [95, 100])
def test_a_jpeg_stays_before_itself_saved_again_at_a_higher_quality(tmp_path, quality):
    again = saved_again(WEB, quality)
    assert len(again) > len(WEB)
    _, members, _ = searched(tmp_path, {"a/web.jpg": WEB, "b/web.jpg": again})
    assert goes(members) == ["b/web.jpg"]
    assert "a/web.jpg" in members["b/web.jpg"]["why"]


@pytest.mark.parametrize("quality", [70, 50])
def test_of_two_that_were_saved_of_a_third_the_better_one_stays(tmp_path, quality):
    better, worse = encoded(PICTURE, "JPEG", quality=95), encoded(PICTURE, "JPEG", quality=quality)
    assert goes(searched(tmp_path, {"a.jpg": better, "b.jpg": worse})[1]) == ["b.jpg"]
    (tmp_path / "made").mkdir()
    assert goes(searched(tmp_path / "made", {"a.jpg": better, "b.jpg": saved_again(better, quality)})[1]) == ["b.jpg"]
