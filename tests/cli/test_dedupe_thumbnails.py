"""Thumbnails on the page show what is transparent as it looks over gray."""

import base64
import io
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from searches import searched  # noqa: E402

pytest.importorskip("PIL")
import numpy  # noqa: E402
from PIL import Image, ImageDraw  # noqa: E402


def line_art(side, colour):
    """Lines on nothing, which is of the lines' own colour."""
    image = Image.new("RGBA", (side, side), (*colour, 0))
    ImageDraw.Draw(image).ellipse((side // 5, side // 5, side * 4 // 5, side * 4 // 5), outline=(*colour, 255), width=max(3, side // 20))
    return image


def saved(image, kind):
    out = io.BytesIO()
    image.save(out, kind, **({"lossless": True, "exact": True} if kind == "WEBP" else {}))
    return out.getvalue()


def thumbnails(page):
    found = re.findall(r"data:image/jpeg;base64,([A-Za-z0-9+/=]+)", page) or re.findall(r'"(/9j/[A-Za-z0-9+/=]+)"', page)
    return [numpy.asarray(Image.open(io.BytesIO(base64.b64decode(text))).convert("L")).astype(int) for text in found]


@pytest.mark.parametrize("side", [96, 600])
@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255)], ids=["black", "white"])
@pytest.mark.parametrize("kind", ["PNG", "WEBP", "GIF", "TIFF"])
def test_lines_on_nothing_are_seen(tmp_path, kind, colour, side):
    data = saved(line_art(side, colour), kind)
    page = tmp_path / "page.html"
    searched(tmp_path, {f"a.{kind.lower()}": data, f"b.{kind.lower()}": data}, "--report", page)
    shown = thumbnails(page.read_text())
    assert shown
    for picture in shown:
        assert abs(int(numpy.median(picture)) - 128) < 6 and abs(int(abs(picture - 128).max()) - 128) < 30


def test_colours_below_are_what_is_compared(tmp_path):
    """Thumbnails for the eye change no group: two pictures of one shape over other colours stay."""
    files = {f"{name}.png": saved(line_art(400, colour), "PNG") for name, colour in (("black", (0, 0, 0)), ("white", (255, 255, 255)))}
    _, members, _ = searched(tmp_path, files)
    assert all(member["keep"] for member in members.values())
