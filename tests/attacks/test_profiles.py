"""Profiles of colours and lists of further pictures, made by an enemy: bounded in time and memory, and nothing goes for them."""

import io
import json
import os
import pathlib
import struct
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import run_and_watch  # noqa: E402
from program import PROGRAM  # noqa: E402

pytest.importorskip("PIL")
from holdings import ADOBE_RGB, STARS, box, jpeg, matrix_profile, segment, with_profile, with_xmp  # noqa: E402
from variants import scene  # noqa: E402

PICTURE = scene(320, 240, 3)
STILL = jpeg(PICTURE)
GOOD = matrix_profile(ADOBE_RGB)


def png_with(chunk):
    out = io.BytesIO()
    PICTURE.save(out, "PNG")
    data = out.getvalue()
    body = b"iCCP" + chunk
    return data[:33] + struct.pack(">I", len(chunk)) + body + struct.pack(">I", zlib.crc32(body)) + data[33:]


def tags(*entries):
    return GOOD[:128] + struct.pack(">I", len(entries)) + b"".join(tag + struct.pack(">II", at, size) for tag, at, size in entries) + bytes(200)


def many_pieces(profile, count):
    data = STILL
    for _ in range(count):
        data = segment(data, 0xE2, b"ICC_PROFILE\0\1\1" + profile)
    return data


def curve(kind, content):
    """The good one with other curves."""
    at = GOOD.index(b"curv")
    return GOOD[:at] + (kind + content).ljust(16, b"\xff")[:16] + GOOD[at + 16 :]


HOSTILE = {
    "a bomb": ("1.png", png_with(b"x\0\0" + zlib.compress(bytes(1 << 30), 9))),
    "cut": ("1.png", png_with(b"x\0\0" + zlib.compress(GOOD)[:-20])),
    "no name": ("1.png", png_with(b"x" * 200)),
    "no method": ("1.png", png_with(b"x\0\7" + zlib.compress(GOOD))),
    "sixty thousand tags": ("1.jpg", with_profile(STILL, bytes_of_it=GOOD[:128] + b"\xff\xff\xff\xff" + b"rXYZ" * 10_000)),
    "tags beyond the end": ("1.jpg", with_profile(STILL, bytes_of_it=tags((b"rTRC", 0xFFFFFFF0, 0x20), (b"rXYZ", 100, 0xFFFFFFFF)))),
    "a curve of billions": ("1.jpg", with_profile(STILL, bytes_of_it=curve(b"curv", b"\0\0\0\0\xff\xff\xff\xff"))),
    "a curve of a form that there is not": ("1.jpg", with_profile(STILL, bytes_of_it=curve(b"para", b"\0\0\0\0\xff\xff\0\0"))),
    "an exponent beyond measure": ("1.jpg", with_profile(STILL, bytes_of_it=curve(b"para", b"\0\0\0\0\0\0\0\0\x7f\xff\xff\xff"))),
    "thousands of pieces": ("1.jpg", many_pieces(b"p" * 60_000, 400)),
    "boxes in boxes": ("1.heic", box(b"ftyp", b"heic\0\0\0\0mif1") + box(b"meta", bytes(4) + box(b"iprp", box(b"ipco", box(b"colr", b"prof" + GOOD) * 20_000)))),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_it_is_bounded_and_takes_nothing_away(tmp_path, what):
    tmp_path.chmod(0o700)
    name, data = HOSTILE[what]
    for folder, file, content in (("evil", name, data), ("mine", "1.jpg", with_xmp(STILL, STARS)), ("other", "1.jpg", with_profile(STILL, bytes_of_it=GOOD))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_bytes(content)
    command = [PROGRAM, "dedupe", *(tmp_path / f for f in ("evil", "mine", "other")), "--catalog", tmp_path / "c.sqlite", "--json", tmp_path / "found.json", "-q"]
    done, peak = run_and_watch(command)
    assert done.returncode in (0, 3), done.stderr
    assert peak < 400 << 20, f"{peak >> 20} MiB"
    found = json.loads((tmp_path / "found.json").read_text())
    for group in found["groups"]:
        goes = {os.path.basename(os.path.dirname(m["path"])) for m in group["members"] if not m["keep"]}
        # Of the hostile file nobody knows what its numbers mean, and the third means other colours.
        assert not goes & {"evil", "other"} or group["kind"] == "identical", group
