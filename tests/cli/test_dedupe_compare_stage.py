"""dedupe --stage compare: what it leaves, whom that serves, and lines that no run writes."""

import json
import os
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from stages import compared, photos, search, stage, whole  # noqa: E402, F401
from variants import scene  # noqa: E402


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Nearly the same picture, hundreds of times: not every two are compared."""
    top = tmp_path_factory.mktemp("crowd") / "photos"
    top.mkdir()
    image = scene(96, 72, 11)
    for i in range(700):
        one = image.copy()
        one.putpixel((i % 96, i // 96 * 7), (i % 251, 255 - i % 199, i % 83))
        one.save(top / f"{i}.png")
    for i in range(9):
        scene(96, 72, 400 + i).save(top / f"other {i}.png")
        scene(96, 72, 400 + i).save(top / f"other {i}.jpg", quality=80)
    return top


def test_crowds_are_compared_in_parts(crowd, tmp_path):
    result, said = search(crowd, tmp_path / "one", check=False)
    by_itself = compared(said)
    assert by_itself > 5000
    stage("read", crowd, tmp_path / "read", "--shard", "200")
    for k in (1, 2, 3):
        done = stage("compare", crowd, tmp_path / "compare", "--shard", "90", "--part", f"{k}/3", "--from", tmp_path / "read", "--catalog",
                     tmp_path / f"{k}.sqlite")
        assert done.returncode == 0, done.stderr
    assert '"scores"' in (tmp_path / "compare/compared.jsonl").read_text()
    _, said = search(crowd, tmp_path / "two", "--from", tmp_path / "read", "--from", tmp_path / "compare", check=False)
    for name in ("json", "csv"):
        assert (tmp_path / f"two.{name}").read_bytes() == (tmp_path / f"one.{name}").read_bytes()
    # What a grouping asks for on top is its own.
    assert compared(said) * 5 < by_itself, said


def test_pictures_that_came_since_are_compared_with_all(photos, whole, tmp_path):
    top, _ = whole
    mine = tmp_path / "mine"
    shutil.copytree(photos, mine)
    for kind, more in (("read", []), ("compare", ["--from", tmp_path / "read", "--catalog", tmp_path / "c.sqlite"])):
        stage(kind, mine, tmp_path / kind, *more)
    scene(480, 360, 73).save(mine / "3 again.jpg", quality=60)
    again, said = search(mine, tmp_path / "a", "--from", tmp_path / "read", "--from", tmp_path / "compare")
    assert "1 decoded" in said and again == search(mine, tmp_path / "b")[0]
    assert 0 < compared(said) < compared(search(mine, tmp_path / "d")[1])


def test_what_a_catalogue_compared_is_not_mixed_with_what_others_have(photos, whole, tmp_path):
    """Of pictures that it has compared and a list that it has not, each meets each."""
    top, result = whole
    other = tmp_path / "other"
    other.mkdir()
    for i in range(20):
        scene(90, 70, 900 + i).save(other / f"{i}.png")
    scene(480, 360, 71).save(other / "like 1.png")
    search(other, tmp_path / "r", check=False)
    again, _ = search(photos, tmp_path / "r", "--from", top / "read", "--from", top / "compare", "--from", top / "look")
    assert again == result
    both, said = search(photos, tmp_path / "r", "--reference", other)
    assert both == search(photos, tmp_path / "fresh", "--reference", other)[0]


@pytest.mark.parametrize("order", [("read", "compare"), ("compare", "read")])
def test_what_was_compared_of_files_that_are_gone_hides_nothing_that_comes(photos, tmp_path, order):
    """A picture that the catalogue has not read cannot be compared with one that comes, and must be when it is back."""
    mine, away = tmp_path / "mine", tmp_path / "away.png"
    mine.mkdir()
    for name in ("1.png", "3.png", "in/4.jpg"):
        shutil.copy2(photos / name, mine / os.path.basename(name))
    for kind, more in (("read", []), ("compare", ["--from", tmp_path / "read", "--catalog", tmp_path / "c.sqlite"])):
        stage(kind, mine, tmp_path / kind, *more)
    os.rename(mine / "1.png", away)
    shutil.copy2(photos / "in/1.jpg", mine / "new.jpg")
    search(mine, tmp_path / "r", *[word for kind in order for word in ("--from", tmp_path / kind)], check=False)
    os.rename(away, mine / "1.png")
    again, _ = search(mine, tmp_path / "r", check=False)
    assert (tmp_path / "r.json").read_bytes() == (search(mine, tmp_path / "f", check=False), (tmp_path / "f.json").read_bytes())[1]
    assert len(json.loads((tmp_path / "r.json").read_text())["groups"]) == 1


@pytest.mark.parametrize("edit", [
    lambda lines: [line.replace('"end":[', '"end":[1') for line in lines],
    lambda lines: [line.replace('"links":"', '"links":"AAAA') for line in lines],
    lambda lines: [line.replace('"rule":"', '"rule":"x') for line in lines],
    lambda lines: lines[::-1],
    lambda lines: [line for line in lines if '"end"' not in line],
    lambda lines: [line for line in lines if '"joined"' not in line],
    lambda lines: lines + lines,
    lambda lines: lines[:-1],
    lambda lines: lines[: next(i for i, line in enumerate(lines) if '"shard"' in line) + 1],
    lambda lines: ["[]"] + lines,
    lambda lines: [line[:-2] for line in lines],
    lambda lines: [line.replace('"joined":"', '"joined" :"') for line in lines],
    lambda lines: [line.replace('"shard":0', '"shard":0.0') for line in lines],
    lambda lines: lines[: next(i for i, line in enumerate(lines) if '"shard"' in line)] + lines,
])
def test_lines_of_a_comparison_that_no_run_writes_are_refused(photos, whole, tmp_path, edit):
    top, result = whole
    shutil.copytree(top / "compare", tmp_path / "compare")
    path = tmp_path / "compare/compared.jsonl"
    path.write_text("".join(line + "\n" for line in edit(path.read_text().splitlines())))
    _, said = search(photos, tmp_path / "r", "--from", top / "read", "--from", tmp_path / "compare", check=False)
    assert ("compared.jsonl has an invalid line" in said or "shards" in said) and not (tmp_path / "r.json").exists(), said
    # Nothing of it decides what is found later.
    again, _ = search(photos, tmp_path / "r", "--from", top / "read")
    assert again == result


def test_a_comparison_of_another_rule_is_not_used(photos, whole, tmp_path):
    top, _ = whole
    done = stage("compare", photos, tmp_path / "compare", "--from", top / "read", "--catalog", tmp_path / "c.sqlite", "--match", "dhash<=1", "--no-parts")
    assert done.returncode == 0, done.stderr
    again, _ = search(photos, tmp_path / "r", "--from", top / "read", "--from", tmp_path / "compare")
    assert again == whole[1]
