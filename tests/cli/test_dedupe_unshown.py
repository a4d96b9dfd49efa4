"""What a decoder meets and its rows of 8 bits, of one page, do not show: a file that holds it never goes for one that does not."""

import io
import os
import sqlite3
import sys
import zlib

import numpy
import pytest
import tifffile
from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from holdings import STARS, jpeg, with_xmp  # noqa: E402
from searches import goes, searched  # noqa: E402
from variants import scene  # noqa: E402

PICTURE, OTHER, THIRD = (scene(640, 480, seed) for seed in (1, 2, 3))


def saved(image, kind, **more):
    out = io.BytesIO()
    image.save(out, kind, **more)
    return out.getvalue()


def deep(image, seed=0, compression=None):
    """16 bits a sample, of which the low ones are a scanner's."""
    noise = numpy.random.default_rng(seed).integers(0, 256, (image.height, image.width, 3), dtype=numpy.uint16)
    out = io.BytesIO()
    tifffile.imwrite(out, numpy.asarray(image).astype(numpy.uint16) * 256 + noise, photometric="rgb", compression=compression)
    return out.getvalue()


SMALLER = jpeg(PICTURE, quality=90)
MASTER = deep(PICTURE)
PAGES = saved(PICTURE, "TIFF", save_all=True, append_images=[OTHER])


@pytest.mark.parametrize("copy", [SMALLER, with_xmp(SMALLER, STARS), saved(PICTURE, "PNG"), saved(PICTURE, "TIFF")],
                         ids=["jpeg", "jpeg with stars", "png", "tiff"])
@pytest.mark.parametrize("master, held", [(MASTER, "depth"), (PAGES, "pages")], ids=["16 bits", "pages"])
def test_a_plain_copy_may_go_and_the_master_never(tmp_path, master, held, copy):
    found, members, done = searched(tmp_path, {"master/a.tif": master, "web/a.x.jpg": copy})
    assert members["master/a.tif"]["holds"] == [held] and "holds" not in members["web/a.x.jpg"]
    assert "master/a.tif" not in goes(members) and done.returncode == 0
    if copy is SMALLER:
        assert goes(members) == ["web/a.x.jpg"] and found["groups"][0]["kind"] == "similar"
    # The first one of a group may go for one that is as good.
    assert "as_good" not in members["web/a.x.jpg"]


def test_what_prefers_the_copy_lets_no_master_go(tmp_path):
    for options in (["--keep", "bytes,preferred", "--prefer", "web"], ["--keep", "shortest"]):
        _, members, _ = searched(tmp_path, {"masters of 2024/a.tif": MASTER, "web/a.jpg": SMALLER}, *options)
        assert "masters of 2024/a.tif" not in goes(members), options


@pytest.mark.parametrize("files", [
    {"a.tif": MASTER, "b.tif": deep(PICTURE, 1)},
    {"a.tif": PAGES, "b.tif": saved(PICTURE, "TIFF", save_all=True, append_images=[THIRD])},
    {"a.tif": MASTER, "b.tif": PAGES},
    {"a.gif": saved(PICTURE, "GIF", save_all=True, append_images=[OTHER], duration=100), "b.png": saved(PICTURE, "PNG")},
    {"a.webp": saved(PICTURE, "WEBP", save_all=True, append_images=[OTHER], lossless=True), "b.png": saved(PICTURE, "PNG")},
    {"a.png": saved(PICTURE, "PNG", save_all=True, append_images=[OTHER], duration=100), "b.jpg": SMALLER},
], ids=["two of 16 bits", "other pages", "pages and 16 bits", "gif", "webp", "animated png"])
def test_where_nobody_knows_both_stay(tmp_path, files):
    _, members, _ = searched(tmp_path, files)
    assert goes(members) == []


def test_a_cut_out_is_another_picture_than_what_it_was_cut_of(tmp_path):
    mask = Image.new("L", PICTURE.size, 0)
    mask.paste(255, (100, 80, 500, 400))
    cut = PICTURE.convert("RGBA")
    cut.putalpha(mask)
    _, members, _ = searched(tmp_path, {"cut.png": saved(cut, "PNG"), "whole.jpg": SMALLER, "whole.png": saved(PICTURE, "PNG")})
    assert "cut.png" not in goes(members) and len(goes(members)) == 1


def test_a_catalogue_of_before_is_asked_only_what_it_lacks(tmp_path):
    """As one of schema 4: it does not say what decoders met, and two that hold more were not compared."""
    files = {"master/a.tif": MASTER, "web/a.jpg": SMALLER, "x.jpg": jpeg(OTHER), "y.png": saved(OTHER, "PNG")}
    _, first, _ = searched(tmp_path, files)
    with sqlite3.connect(tmp_path / "catalog.sqlite") as catalog:
        catalog.execute("ALTER TABLE pictures DROP COLUMN unshown")
        catalog.execute("PRAGMA user_version = 4")
    _, again, done = searched(tmp_path, files)
    assert b" 0 decoded" in done.stderr
    assert goes(again) == goes(first) == ["web/a.jpg", "x.jpg"]
    assert again["master/a.tif"]["holds"] == ["depth"]
    with sqlite3.connect(tmp_path / "catalog.sqlite") as catalog:
        told = dict(catalog.execute("SELECT format, unshown FROM pictures"))
    assert told[6] == 4 and told[2] == 0, "TIFF has more bits, PNG nothing"


def test_pictures_behind_each_other_and_a_key_of_16_bits(tmp_path):
    def pnm(image):
        return b"P6\n%d %d\n255\n" % image.size + image.tobytes()

    options = ["--keep", "preferred,shortest", "--prefer", "*b.*"]
    for number, copy in enumerate([pnm(PICTURE), saved(PICTURE, "PNG"), SMALLER]):
        _, members, _ = searched(tmp_path, {f"{number}/a.ppm": pnm(PICTURE) + b"\n" + pnm(OTHER), f"{number}/b.x.ppm": copy}, *options)
        assert members[f"{number}/a.ppm"]["holds"] == ["pages"] and f"{number}/a.ppm" not in goes(members)
    # Gray of 16 bits, of which one shade is transparent.
    gray = numpy.asarray(PICTURE.convert("L")).astype(numpy.uint16) * 257
    gray[:200] = 7
    plain = io.BytesIO()
    Image.fromarray(gray).save(plain, "PNG")
    data = plain.getvalue()
    chunk = b"tRNS" + (7).to_bytes(2, "big")
    keyed = data[:33] + (2).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big") + data[33:]
    _, members, _ = searched(tmp_path, {"key/a.png": keyed, "key/b.png": saved(Image.fromarray((gray >> 8).astype("u1")), "PNG")})
    assert [name for name in goes(members) if name.startswith("key/")] == []


def test_what_only_a_close_look_meets_is_kept(tmp_path):
    """Single transparent pixels vanish where a search reads a WebP smaller: the next run looks at nothing again."""
    large = scene(3000, 2000, 9)
    cut = large.convert("RGBA")
    for at in range(0, 2000, 200):
        cut.putpixel((at, at), (*cut.getpixel((at, at))[:3], 200))
    files = {"a.webp": saved(cut, "WEBP", lossless=True, method=0, exact=True), "b.jpg": saved(large, "JPEG", quality=95)}
    looks = [searched(tmp_path, files)[2].stderr for _ in range(3)]
    assert b"1 checked in detail" in looks[0] and b"checked in detail" not in looks[2]
