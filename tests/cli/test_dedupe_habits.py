"""What people tell `millrace dedupe` of how they keep their pictures: what they prefer, which folders belong together."""

import os
import shutil

import pytest

from test_dedupe import dedupe, groups, kept, scene


@pytest.fixture
def albums(tmp_path):
    """Two albums and what lies beside them: a picture twice in one, once more in the other and once outside."""
    root = tmp_path / "pictures"
    for name in ("a", "b"):
        (root / name).mkdir(parents=True)
    image = scene(900, 600, 500)
    image.save(root / "a" / "one.jpg", quality=92)
    image.resize((450, 300)).save(root / "a" / "one small.jpg", quality=92)
    shutil.copy(root / "a" / "one.jpg", root / "b" / "one.jpg")
    image.resize((600, 400)).save(root / "top.jpg", quality=92)
    scene(800, 600, 501).save(root / "b" / "two.jpg", quality=92)
    shutil.copy(root / "b" / "two.jpg", root / "b" / "two again.jpg")
    return root


def paths(result, root):
    return sorted(sorted(os.path.relpath(m["path"], root) for m in g["members"]) for g in result["groups"] + result["related"])


def gone(result, root):
    return sorted(os.path.relpath(m["path"], root) for g in result["groups"] for m in g["members"] if not m["keep"])


def test_pairs_within_folders(tmp_path, albums):
    result, _ = dedupe(tmp_path, albums, "--pairs", "within")
    assert paths(result, albums) == [["a/one small.jpg", "a/one.jpg"], ["b/two again.jpg", "b/two.jpg"]]
    assert gone(result, albums) in (["a/one small.jpg", "b/two again.jpg"], ["a/one small.jpg", "b/two.jpg"])


def test_pairs_across_folders(tmp_path, albums):
    result, _ = dedupe(tmp_path, albums, "--pairs", "across")
    assert paths(result, albums) == [["a/one small.jpg", "a/one.jpg", "b/one.jpg", "top.jpg"]]
    # The one of a or of b stays; what lies beside it is no pair of it.
    (group,) = result["groups"]
    (first,) = [m for m in group["members"] if m["path"] == group["members"][0]["path"]]
    album = os.path.dirname(first["path"])
    for member in group["members"][1:]:
        assert member["keep"] == (os.path.dirname(member["path"]) == album), member
        if member["keep"]:
            assert "on the same side of --pairs across as" in member["why"]


def test_named_folders_are_the_albums_where_there_are_several(tmp_path, albums):
    (albums / "a" / "inner").mkdir()
    shutil.copy(albums / "a" / "one.jpg", albums / "a" / "inner" / "again.jpg")
    result, _ = dedupe(tmp_path, albums / "a", albums / "b", "--pairs", "across")
    assert paths(result, albums) == [["a/inner/again.jpg", "a/one small.jpg", "a/one.jpg", "b/one.jpg"]]
    assert gone(result, albums) in (["b/one.jpg"], ["a/inner/again.jpg", "a/one small.jpg", "a/one.jpg"])
    result, _ = dedupe(tmp_path, albums / "a", albums / "b", "--pairs", "within")
    assert paths(result, albums) == [["a/inner/again.jpg", "a/one small.jpg", "a/one.jpg"],
                                     ["b/two again.jpg", "b/two.jpg"]]


def test_albums_do_not_hang_on_threads_or_on_what_was_found_before(tmp_path, albums):
    once, _ = dedupe(tmp_path, albums, "--pairs", "within", "--threads", "1")
    dedupe(tmp_path, albums)
    again, _ = dedupe(tmp_path, albums, "--pairs", "within", "--threads", "3")
    assert again == once


def test_what_is_preferred_stays(tmp_path, albums):
    result, _ = dedupe(tmp_path, albums, "--prefer", albums / "b")
    group = next(g for g in result["groups"] if len(g["members"]) == 4)
    assert kept(group) == ["one.jpg"] and group["members"][0]["path"].endswith("/b/one.jpg")
    assert group["members"][0]["why"] == "preferred"
    # The first pattern counts most.
    result, _ = dedupe(tmp_path, albums, "--prefer", "two again.jpg", "--prefer", "pictures/b", "--prefer", "a")
    assert sorted(os.path.basename(p) for p in gone(result, albums)) == ["one small.jpg", "one.jpg", "top.jpg", "two.jpg"]
    assert not any(p.startswith("b/one") for p in gone(result, albums))


def test_a_preference_costs_no_detail(tmp_path, albums):
    """Of a larger picture a preferred small one never takes the place."""
    result, _ = dedupe(tmp_path, albums / "a", "--prefer", "*small*")
    assert "one.jpg" not in [os.path.basename(p) for p in gone(result, albums)]


def test_a_reference_comes_before_a_preference(tmp_path, albums):
    result, _ = dedupe(tmp_path, albums / "b", "--reference", albums / "a", "--prefer", "b")
    group = next(g for g in result["groups"] if any("/a/" in m["path"] for m in g["members"]))
    assert all(m["keep"] == ("/a/" in m["path"]) for m in group["members"])


def test_keep_may_name_the_place_of_a_preference(tmp_path, albums):
    result, _ = dedupe(tmp_path, albums, "--prefer", "b", "--keep", "shortest,preferred")
    group = next(g for g in result["groups"] if len(g["members"]) == 4)
    assert group["members"][0]["path"].endswith(("top.jpg", "/a/one.jpg", "/b/one.jpg"))
    assert len(groups(result)) == 2
