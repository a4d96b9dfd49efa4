"""`millrace dedupe compare`: how much of one folder is in another, before a person throws one of them away."""

import json
import os
import shutil
import sys
import pathlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402
from test_dedupe import exif, scene  # noqa: E402


def compare(tmp_path, a, b, *arguments):
    out = tmp_path / "compare.json"
    done = millrace("dedupe", "compare", a, b, "--catalog", tmp_path / "catalog.sqlite", "--json", out, *arguments,
                    check=False)
    done.words = (done.stdout + done.stderr).decode()
    return (json.loads(out.read_text()) if out.exists() else None), done


def held(result, folder):
    return {os.path.relpath(f["path"], folder): f["held"] for f in result["files"] if f["path"].startswith(str(folder))}


@pytest.fixture
def two(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    (a / "deep").mkdir(parents=True)
    b.mkdir()
    return a, b


def test_each_picture_is_told_as_the_other_folder_has_it(tmp_path, two):
    a, b = two
    for number in range(7):
        scene(900, 600, 600 + number).save(a / f"{number}.jpg", quality=93)
    shutil.copy(a / "0.jpg", b / "another name.jpg")
    # 1: re-encoded; 2: smaller; 3: a part; 4: altered; 5: elsewhere altogether; 6: the same, deep down and named alike.
    scene(900, 600, 601).save(b / "1.png")
    scene(900, 600, 602).resize((300, 200)).save(b / "2.jpg", quality=90)
    scene(900, 600, 603).crop((90, 60, 810, 540)).save(b / "3.jpg", quality=93)
    altered = scene(900, 600, 604)
    altered.paste((250, 30, 30), (300, 200, 380, 280))
    altered.save(b / "4.jpg", quality=93)
    scene(900, 600, 655).save(b / "5.jpg", quality=93)
    shutil.copy(a / "6.jpg", b / "6.jpg")
    (a / "6.jpg").rename(a / "deep" / "6.jpg")
    result, done = compare(tmp_path, a, b)
    assert done.returncode == 0
    assert held(result, a) == {"0.jpg": "bytes", "1.jpg": "as good", "2.jpg": "less", "3.jpg": "less", "4.jpg": "alike",
                               "5.jpg": "absent", "deep/6.jpg": "bytes"}
    assert held(result, b) == {"another name.jpg": "bytes", "1.png": "as good", "2.jpg": "as good", "3.jpg": "as good",
                               "4.jpg": "alike", "5.jpg": "absent", "6.jpg": "bytes"}
    assert [(f["pictures"], f["in_the_other"]) for f in result["folders"]] == [(7, 3), (7, 5)]
    # What would be lost is listed, and nothing else.
    missing = [line.split()[1].rstrip(":") for line in done.words.splitlines() if line.startswith("missing")]
    assert missing == [str(a / "5.jpg"), str(b / "5.jpg")]
    assert f"less      {a}/2.jpg: {b}/2.jpg" in done.words and f"{a}/0.jpg" not in done.words
    assert "3 of 7 pictures (42.8 %)" in done.words


def test_a_raw_a_film_or_a_voice_that_is_not_there_counts(tmp_path, two):
    a, b = two
    for folder in two:
        scene(640, 480, 700).save(folder / "IMG_1.jpg", quality=92, exif=exif("2024:05:01 12:00:00"))
        scene(640, 480, 701).save(folder / "IMG_2.jpg", quality=92, exif=exif("2024:05:02 12:00:00"))
    (a / "IMG_1.MOV").write_bytes(b"\0\0\0\x14ftypqt  " + bytes(range(200)))
    (a / "IMG_2.MOV").write_bytes(b"\0\0\0\x14ftypqt  " + bytes(range(100)))
    (b / "IMG_2.MOV").write_bytes(b"\0\0\0\x14ftypqt  " + bytes(range(100)))
    result, done = compare(tmp_path, a, b)
    assert held(result, a) == {"IMG_1.jpg": "less", "IMG_2.jpg": "bytes"}
    assert held(result, b) == {"IMG_1.jpg": "bytes", "IMG_2.jpg": "bytes"}
    assert "without IMG_1.MOV" in done.words
    assert "100 %" in done.words  # of b in a


def test_hard_links_are_in_both(tmp_path, two):
    a, b = two
    scene(640, 480, 710).save(a / "x.jpg", quality=92)
    os.link(a / "x.jpg", b / "y.jpg")
    result, _ = compare(tmp_path, a, b)
    assert held(result, a) == {"x.jpg": "bytes"} and held(result, b) == {"y.jpg": "bytes"}


def test_copies_within_one_folder_are_no_copies_in_the_other(tmp_path, two):
    a, b = two
    scene(640, 480, 720).save(a / "x.jpg", quality=92)
    shutil.copy(a / "x.jpg", a / "deep" / "x.jpg")
    scene(640, 480, 721).save(b / "z.jpg", quality=92)
    result, done = compare(tmp_path, a, b)
    assert set(held(result, a).values()) == {"absent"} and done.returncode == 0


def test_names_that_cannot_be_compared_are_refused(tmp_path, two):
    a, b = two
    scene(64, 64, 1).save(a / "x.jpg")
    for arguments in ((a, a), (a, a / "deep"), (a / "deep", a)):
        _, done = compare(tmp_path, *arguments)
        assert done.returncode == 2 and "other folder" in done.words
    done = millrace("dedupe", "compare", a, "--catalog", tmp_path / "c.sqlite", check=False)
    assert done.returncode == 2 and b"name two" in done.stderr
    _, done = compare(tmp_path, a, tmp_path / "nowhere")
    assert done.returncode == 2 and "nowhere" in done.words


def test_what_could_not_be_read_is_told(tmp_path, two):
    a, b = two
    scene(64, 64, 1).save(a / "x.jpg")
    shutil.copy(a / "x.jpg", b / "x.jpg")
    (a / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    _, done = compare(tmp_path, a, b)
    assert done.returncode == 3 and "broken.jpg" in done.words
