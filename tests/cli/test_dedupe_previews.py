"""What pictures the report page of `millrace dedupe` shows, and how large."""

import base64
import contextlib
import io
import json
import os
import re
import sqlite3

import pytest

from test_dedupe import dedupe, scene

Image = pytest.importorskip("PIL.Image")


def thumbs(page):
    """(width, height) of every thumbnail in the page."""
    out = []
    for text in re.findall(r'<script type="application/json" class="thumbs">(.*?)</script>', page):
        for one in json.loads(text):
            out.append(Image.open(io.BytesIO(base64.b64decode(one))).size if isinstance(one, str) else one)
    return out


@pytest.fixture
def folder(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    image = scene(900, 600, 900)
    image.save(pictures / "a.jpg", quality=93)
    image.resize((450, 300)).save(pictures / "b.jpg", quality=93)
    image.resize((120, 80)).save(pictures / "c.jpg", quality=93)
    return pictures


def report(tmp_path, folder, *arguments):
    page = tmp_path / "page.html"
    dedupe(tmp_path, folder, "--report", page, "--overwrite", *arguments)
    return page.read_text(encoding="utf-8")


def test_few_pictures_are_shown_large(tmp_path, folder):
    page = report(tmp_path, folder)
    assert sorted(thumbs(page)) == [(120, 80), (256, 171), (256, 171)]
    assert report(tmp_path, folder, "--threads", "1") == page
    # What the catalogue has is not made again, and what cannot be made any more is shown as it was.
    with contextlib.closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
        assert catalog.execute("SELECT count(*) FROM previews").fetchone() == (2,)
    assert os.path.getsize(tmp_path / "page.html") < 64 << 20


def test_previews_that_somebody_changed_are_bytes_of_a_picture_and_nothing_else(tmp_path, folder):
    report(tmp_path, folder)
    with contextlib.closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
        catalog.execute("UPDATE previews SET jpeg = CAST('</script><script>alert(1)</script>' AS BLOB)")
        catalog.commit()
    assert "alert(1)" not in report(tmp_path, folder)
