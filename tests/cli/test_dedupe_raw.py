"""RAW files: the preview is compared, and the sensor's data must be whole where a RAW file stays."""

import io
import json
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402
from searches import placed, searched  # noqa: E402

pytest.importorskip("PIL")
import numpy  # noqa: E402
from raw import dng  # noqa: E402
from variants import scene  # noqa: E402

PICTURE = scene(2000, 1500, 5)


def preview(quality=90):
    out = io.BytesIO()
    PICTURE.resize((1400, 1050)).save(out, "JPEG", quality=quality)
    return 1400, 1050, out.getvalue()


RAW = dng(numpy.asarray(PICTURE), preview=preview())
CUT = RAW[: len(RAW) * 2 // 3]
JPEG = preview(60)[2]


def search(tmp_path, files, *options):
    found, members, _ = searched(tmp_path, files, *options)
    return members, {os.path.relpath(f["path"], tmp_path / "pictures"): f["reason"] for f in found["damaged"]}


def test_the_preview_of_a_raw_file_is_what_is_compared(tmp_path):
    members, damaged = search(tmp_path, {"card/1.dng": RAW, "export/x.jpg": JPEG})
    assert {name: m["keep"] for name, m in members.items()} == {"card/1.dng": True, "export/x.jpg": False} and damaged == {}


@pytest.mark.parametrize("options", [[], ["--prefer", "card"], ["--keep", "bytes,raw"]], ids=str)
def test_nothing_goes_for_a_raw_file_whose_data_is_cut(tmp_path, options):
    for _ in range(2):  # the catalogue knows it afterwards
        members, damaged = search(tmp_path, {"card/1.dng": CUT, "export/x.jpg": JPEG}, *options)
        assert members["export/x.jpg"]["keep"] and list(damaged) == ["card/1.dng"]
        assert members["card/1.dng"]["damaged"]


def test_the_whole_raw_file_stays_beside_the_cut_one(tmp_path):
    members, damaged = search(tmp_path, {"disk1/1.dng": CUT, "disk2/1.dng": RAW, "disk3/x.jpg": JPEG}, "--prefer", "disk1")
    assert {name: m["keep"] for name, m in members.items()} == {"disk1/1.dng": True, "disk2/1.dng": True, "disk3/x.jpg": False}
    assert list(damaged) == ["disk1/1.dng"]


def test_a_raw_file_in_no_group_is_not_unpacked(tmp_path):
    members, damaged = search(tmp_path, {"card/1.dng": CUT})
    assert members == {} and damaged == {}


def compare(tmp_path, *options):
    done = millrace("dedupe", "compare", tmp_path / "disk2", tmp_path / "disk1", "--catalog", tmp_path / "c.sqlite", "--json", "-",
                    *options, check=False)
    told = json.loads(done.stdout)
    return done.returncode, told, {os.path.relpath(f["path"], tmp_path): f for f in told["files"]}


def test_a_backup_is_not_in_a_rotten_disk(tmp_path):
    placed(tmp_path, {"disk1/1.dng": CUT, "disk2/1.dng": RAW})
    code, told, files = compare(tmp_path)
    assert code == 0 and files["disk2/1.dng"]["held"] == "less" and files["disk2/1.dng"]["by_preview"]
    assert [f["in_the_other"] for f in told["folders"]] == [0, 0] and told["folders"][0]["by_preview"] == 1


def test_a_jpeg_is_not_in_a_rotten_raw_file(tmp_path):
    placed(tmp_path, {"disk1/1.dng": CUT, "disk2/x.jpg": JPEG})
    _, told, files = compare(tmp_path)
    assert files["disk2/x.jpg"]["held"] == "less" and files["disk2/x.jpg"]["missing"]
    (tmp_path / "disk1/1.dng").write_bytes(RAW)
    _, told, files = compare(tmp_path)
    assert files["disk2/x.jpg"]["held"] == "as good" and files["disk2/x.jpg"]["by_preview"]


def test_only_equal_bytes_when_asked(tmp_path):
    placed(tmp_path, {"disk1/1.dng": RAW, "disk2/1.dng": RAW, "disk1/x.jpg": JPEG, "disk2/x.jpg": preview(50)[2]})
    _, told, files = compare(tmp_path)
    assert told["folders"][0]["in_the_other"] == 2
    _, told, files = compare(tmp_path, "--bytes")
    assert told["folders"][0]["in_the_other"] == 1 and files["disk2/x.jpg"]["held"] == "as good"


def test_what_was_not_compared_is_told(tmp_path):
    placed(tmp_path, {"disk1/x.jpg": JPEG, "disk2/x.jpg": JPEG, "disk2/a.psd": b"8BPS", "disk2/film.mov": b"a film", "disk1/Thumbs.db": b"x"})
    code, told, _ = compare(tmp_path)
    assert code == 3 and told["not_compared"] == []
    assert told["not_read"] == [{"kind": ".mov", "files": 1}, {"kind": ".psd", "files": 1}]
    (tmp_path / "disk2/a.psd").unlink()
    (tmp_path / "disk2/film.mov").unlink()
    assert compare(tmp_path)[0] == 0
