"""`dedupe` knows what a file holds besides the picture that it compares: what has no copy never goes."""

import json
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402
from searches import goes, searched  # noqa: E402

pytest.importorskip("PIL")
import numpy  # noqa: E402
from holdings import MAP, MOTION, PREVIEW, STARS, VIEW, film, jpeg, samsung, several, with_profile, with_xmp  # noqa: E402
from raw import dng  # noqa: E402
from variants import scene  # noqa: E402

STILL = jpeg(scene(640, 480, 3))
STARRED = with_xmp(STILL, STARS)
OTHER = jpeg(scene(640, 480, 8))
SMALL = jpeg(scene(160, 120, 3))
MOTION_PHOTO = with_xmp(STILL, MOTION) + film(1)
VOICE = b"#!AMR\n" + bytes(range(256)) * 8
NOTES = (b"MCC_Data", b"262"), (b"Image_UTC_Data", b"1714559410000")


def search(tmp_path, files, *options):
    """What is kept, what goes, and why, of files of one search."""
    _, told, _ = searched(tmp_path, files, "-q", *options)
    assert set(told) == set(files), "they are copies by what they show"
    return told


HOLDING = {
    "film": MOTION_PHOTO,
    "film that nothing announces": STILL + film(1),
    "film of Samsung's": samsung(STILL, *NOTES, (b"MotionPhoto_Data", film(1))),
    "voice of Samsung's": samsung(STILL, (b"SoundShot_000", VOICE)),
    "voice without a list": STILL + VOICE,
    "voice in a film's boxes": STILL + film(1, brand=b"M4A "),
    "two views": several(STILL, (VIEW, OTHER)),
    "map of brightness": several(STILL, (MAP, SMALL)),
    "map of brightness and a film": several(STILL, (MAP, SMALL)) + film(1),
    "second picture without an index": STILL + OTHER + b"\0",
    "what nobody knows": STILL + b"\1" * 200_000,
    "profile": with_profile(STILL, b"Adobe RGB (1998)"),
}


@pytest.mark.parametrize("options", [[], ["--prefer", "plain"], ["--keep", "given,shortest"], ["--look", "thumbnail"]], ids=str)
@pytest.mark.parametrize("what", HOLDING)
def test_what_has_no_copy_stays_and_its_plain_copy_may_go(tmp_path, what, options):
    told = search(tmp_path, {"phone/a long name.jpg": HOLDING[what], "plain/a.jpg": STARRED}, *options)
    assert "phone/a long name.jpg" not in goes(told)
    # A profile may mean the same colours, and what nobody knows may be nothing: neither makes a file the better one.
    if not options:
        assert goes(told) == ([] if what in ("profile", "what nobody knows") else ["plain/a.jpg"])


PLAIN = {
    "notes of Samsung's": samsung(STILL, *NOTES),
    "larger preview": several(STILL, (PREVIEW, jpeg(scene(640, 480, 3), quality=50))),
    "filling": STILL + b"\0" * 3000,
    "profile of sRGB": with_profile(STILL, b"sRGB IEC61966-2.1"),
}


@pytest.mark.parametrize("what", PLAIN)
def test_what_cameras_write_behind_every_picture_is_nothing(tmp_path, what):
    assert goes(search(tmp_path, {"phone/a.jpg": PLAIN[what], "plain/a.jpg": STARRED})) == ["phone/a.jpg"]


@pytest.mark.parametrize("one, other", [
    (MOTION_PHOTO, with_xmp(STILL, MOTION) + film(2)),
    (several(STILL, (VIEW, OTHER)), several(STILL, (VIEW, SMALL))),
    (several(STILL, (MAP, SMALL)), MOTION_PHOTO),
    (samsung(STILL, (b"SoundShot_000", VOICE)), samsung(STILL, (b"SoundShot_000", VOICE + b"more"))),
], ids=["films", "views", "a map and a film", "voices"])
def test_of_two_that_hold_something_else_neither_goes(tmp_path, one, other):
    assert goes(search(tmp_path, {"a/1.jpg": one, "b/1.jpg": other, "c/1.jpg": STARRED})) == ["c/1.jpg"]


def test_the_same_numbers_of_three_colour_spaces_stay(tmp_path):
    files = {"a/1.jpg": with_profile(STILL, b"Adobe RGB (1998)"), "b/1.jpg": with_profile(STILL, b"Display P3"), "c/1.jpg": STARRED}
    assert goes(search(tmp_path, files)) == []


def test_a_copy_of_all_that_it_holds_lets_it_go(tmp_path):
    """The same film, behind another list and another head."""
    files = {"a/1.jpg": with_xmp(STILL, MOTION) + film(1), "b/1.jpg": samsung(STARRED, *NOTES, (b"MotionPhoto_Data", film(1)))}
    assert goes(search(tmp_path, files)) == ["a/1.jpg"]


def test_it_holds_its_film_in_the_next_run_too(tmp_path):
    files = {"phone/1.jpg": MOTION_PHOTO, "plain/1.jpg": STARRED}
    first = search(tmp_path, files)
    again = search(tmp_path, files)
    assert goes(again) == goes(first) == ["plain/1.jpg"]
    assert again["plain/1.jpg"]["why"] == first["plain/1.jpg"]["why"]
    # Who keeps the plain one after all is not offered the other.
    assert "as_good" not in first["plain/1.jpg"]


def test_a_raw_goes_for_one_of_the_same_bytes_alone(tmp_path):
    pixels = numpy.asarray(scene(320, 240, 5))
    deep, flat = dng(pixels), dng(pixels, bits=12)
    rotten = bytearray(deep)
    rotten[-3000:-1000] = bytes(2000)
    told = search(tmp_path, {"a/1.dng": deep, "b/1.dng": flat, "c/1.dng": deep})
    assert goes(told) == ["c/1.dng"]
    (tmp_path / "rotten").mkdir()
    out = millrace("dedupe", tmp_path / "pictures/a", tmp_path / "rotten", "--catalog", tmp_path / "r.sqlite", "--json", "-").stdout
    assert json.loads(out)["groups"] == []
    (tmp_path / "rotten/1.dng").write_bytes(rotten)
    out = millrace("dedupe", tmp_path / "pictures/a", tmp_path / "rotten", "--catalog", tmp_path / "r.sqlite", "--json", "-").stdout
    assert all(m["keep"] for g in json.loads(out)["groups"] for m in g["members"])


def test_compare_tells_what_a_copy_lacks(tmp_path):
    for name, data in {"phone/1.jpg": MOTION_PHOTO, "backup/1.jpg": STARRED}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(data)
    done = millrace("dedupe", "compare", tmp_path / "phone", tmp_path / "backup", "--catalog", tmp_path / "c.sqlite", "--json", "-")
    rows = {os.path.relpath(row["path"], tmp_path): row for row in json.loads(done.stdout)["files"]}
    assert rows["phone/1.jpg"]["held"] == "less" and rows["phone/1.jpg"]["missing"] == "its video"
    assert rows["backup/1.jpg"]["held"] == "pixels"
