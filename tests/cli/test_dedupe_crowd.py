"""dedupe: hundreds of pictures that differ in noise alone take neither quadratic time nor memory, and what is made of them
hangs on the pictures only."""

import json
import pathlib
import re
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402

numpy = pytest.importorskip("numpy")
pytest.importorskip("PIL")
from PIL import Image  # noqa: E402
from variants import scene  # noqa: E402

COUNT = 500


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """Of one wall, as a camera on a tripod takes them; one of them, and a picture of something else, as two versions."""
    folder = tmp_path_factory.mktemp("frames")
    random = numpy.random.default_rng(3)
    base = numpy.asarray(scene(128, 96, 31), dtype=float)
    for i in range(COUNT):
        noisy = numpy.clip(base + random.normal(0, 6, base.shape), 0, 255).astype(numpy.uint8)
        Image.fromarray(noisy).save(folder / f"{i:04}.jpg", quality=85)
    Image.open(folder / "0123.jpg").save(folder / "0123-again.png")
    for i in range(0, 60, 5):
        base = numpy.asarray(Image.open(folder / f"{i:04}.jpg")).copy()
        base[40:56, 30 + i // 5:54 + i // 5] = [250, 40, 30]
        Image.fromarray(base).save(folder / f"{i:04}-marked.png")
    other = scene(640, 480, 77)
    other.save(folder / "other.jpg", quality=90)
    other.resize((320, 240)).save(folder / "other-small.jpg", quality=90)
    return folder


def run(folder, catalog, out, *options):
    done = millrace("dedupe", folder, "--catalog", catalog, "--json", out, "--overwrite", *options)
    result = json.loads(out.read_text())
    compared = re.search(r"([\d,]+) pairs? compared", done.stderr.decode())
    said = int(compared[1].replace(",", "")) if compared else 0
    groups = [[(pathlib.Path(m["path"]).name, m["keep"]) for m in g["members"]] for g in result["groups"]]
    return groups, result, said


def test_a_crowd_is_grouped_and_nothing_else_with_it(tmp_path, frames):
    groups, _, compared = run(frames, tmp_path / "c.sqlite", tmp_path / "out.json")
    names = [{name for name, _ in group} for group in groups]
    assert {"other.jpg", "other-small.jpg"} in names
    crowd = max(names, key=len)
    assert len(crowd) > COUNT * 9 // 10 and not crowd & {"other.jpg", "other-small.jpg"}
    together = [group for group in names if "0123.jpg" in group]
    assert together and "0123-again.png" in together[0]
    assert COUNT < compared < 60 * COUNT, "of 125,000 pairs"


def test_a_mark_in_a_crowd_is_never_given_up_nor_kept_for_all(tmp_path, frames):
    groups, _, _ = run(frames, tmp_path / "c.sqlite", tmp_path / "out.json")
    seen = 0
    for group in groups:
        for i, (name, keep) in enumerate(group):
            if keep:
                stays = name
            elif "marked" in name or "marked" in stays:
                seen += 1
                assert "marked" in name and "marked" in stays, (name, stays)
    whole = sum(name.endswith(".jpg") and not keep for group in groups for name, keep in group)
    assert whole > COUNT // 2, "and the rest is still suggested"


def test_the_pictures_alone_decide(tmp_path, frames):
    first, whole, _ = run(frames, tmp_path / "whole.sqlite", tmp_path / "whole.json")
    # Again: all is known.
    again, _, compared = run(frames, tmp_path / "whole.sqlite", tmp_path / "again.json")
    assert again == first and compared == 0
    # One thread, and little memory.
    for options in (["--threads", "1"], ["--memory", "224M"]):
        other, _, _ = run(frames, tmp_path / f"{options[1]}.sqlite", tmp_path / "other.json", *options)
        assert other == first, options
    # In a catalogue that grew, and in one that knew more.
    grown = tmp_path / "grown"
    grown.mkdir()
    for i, path in enumerate(sorted(frames.iterdir())):
        if i % 3 == 0:
            shutil.copy2(path, grown / path.name)
    part, _, _ = run(grown, tmp_path / "part.sqlite", tmp_path / "part.json")
    from_more, _, _ = run(grown, tmp_path / "whole.sqlite", tmp_path / "part.json")
    assert from_more == part and part != first
    for path in frames.iterdir():
        shutil.copy2(path, grown / path.name)
    after, _, _ = run(grown, tmp_path / "part.sqlite", tmp_path / "after.json")
    assert after == first


@pytest.mark.parametrize("options", [["--group", "connected"], ["--no-verify"],
                                     ["--no-verify", "--group", "connected"]])
def test_every_way_to_group_takes_a_crowd(tmp_path, frames, options):
    groups, _, _ = run(frames, tmp_path / "c.sqlite", tmp_path / "out.json", *options)
    crowd = max((({name for name, _ in group}) for group in groups), key=len)
    assert len(crowd) > COUNT // 2 and not crowd & {"other.jpg", "other-small.jpg"}
