"""Pictures for the stages of `dedupe`, and what one run makes of them."""

import os
import pathlib
import re
import shutil

import pytest

from program import millrace

pytest.importorskip("PIL")
from variants import scene  # noqa: E402


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    top = tmp_path_factory.mktemp("stages") / "photos"
    (top / "in").mkdir(parents=True)
    for i in range(7):
        image = scene(480, 360, 70 + i)
        image.save(top / f"{i}.png")
        image.save(top / "in" / f"{i}.jpg", quality=82)
        if i < 4:
            image.crop((20, 15, 470, 350)).save(top / "in" / f"{i} cropped.jpg", quality=90)
        if i % 3 == 0:
            image.rotate(90, expand=True).save(top / f"{i} turned.png")
    shutil.copy(top / "1.png", top / "copy of 1.png")
    scene(300, 300, 99).save(top / "alone.png")
    (top / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    (top / "copy of broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    (top / "words.txt").write_text("no picture")
    os.rename(top / "2.png", os.fsencode(top) + b"/caf\xe9.png")
    return top


def search(photos, out, *more, check=True):
    """The result of a search with a new catalogue, and what it says."""
    done = millrace("dedupe", photos, "--catalog", f"{out}.sqlite", "--json", f"{out}.json", "--csv", f"{out}.csv", "--progress",
                    "none", *more, check=False)
    assert not check or done.returncode == 3, done.stderr
    return (pathlib.Path(f"{out}.json").read_bytes(), pathlib.Path(f"{out}.csv").read_bytes()) if check else None, done.stderr.decode()


def compared(said):
    """Of what a search says, how many pairs it has compared by their thumbnails."""
    found = re.search(r"([\d,]+) pairs compared by their thumbnails", said)
    return int(found[1].replace(",", "")) if found else 0


def stage(kind, photos, out, *more, **options):
    return millrace("dedupe", photos, "--stage", kind, "-o", out, "--shard", "3", "--progress", "none", *more, check=False, **options)


@pytest.fixture(scope="module")
def whole(photos, tmp_path_factory):
    """What a search finds, and what stages make that one run does."""
    top = tmp_path_factory.mktemp("whole")
    result, _ = search(photos, top / "one")
    assert stage("read", photos, top / "read").returncode == 3, "one cannot be used"
    for kind in ("compare", "look"):
        made = stage(kind, photos, top / kind, "--from", top / "read", "--catalog", top / f"{kind}.sqlite")
        assert made.returncode == 0, made.stderr
    return top, result
