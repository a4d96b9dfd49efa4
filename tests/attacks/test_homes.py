"""Homes without a name: nothing is kept where nobody looks for it."""

import os
import pwd

import pytest
from attacks import needs_root, state


def own_home_is_known(uid):
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


@pytest.mark.parametrize(
    "env",
    [
        {"HOME": None, "XDG_DATA_HOME": None},
        {"HOME": "", "XDG_DATA_HOME": ""},
        {"HOME": "", "XDG_DATA_HOME": None},
        {"HOME": "home", "XDG_DATA_HOME": "data"},
        {"HOME": "./x", "XDG_DATA_HOME": None},
    ],
    ids=["unset", "empty", "empty home", "relative", "relative home"],
)
def test_a_home_that_has_no_name_is_nowhere(scene, env):
    scene.library()
    top = set(os.listdir("/"))
    before = state(scene.home)
    named = ["--catalog", scene.home / "kept" / "c.sqlite"]
    scene.dedupe(scene.photos, *named, env=env).fine()
    if not own_home_is_known(scene.uid):
        done = scene.dedupe(scene.photos, env=env).refused("HOME", "--catalog")
        assert b"XDG_DATA_HOME" in done.err
        scene.undo("0123456789abcdef", env=env).refused()
    after = state(scene.home)
    assert {p for p in after if not p.startswith("kept")} == set(before)
    assert set(os.listdir("/")) == top


def test_a_relative_data_folder_is_passed_over(scene):
    scene.library()
    scene.dedupe(scene.photos, env={"XDG_DATA_HOME": "data"}).fine()
    assert (scene.home / ".local" / "share" / "millrace" / "catalog.sqlite").exists()
    assert not (scene.home / "data").exists()


def test_nothing_is_left_in_the_home_of_somebody_else(scene):
    """As after sudo, which may keep the name of the caller's home: what root makes there locks its owner out."""
    needs_root("be in somebody else's home")
    scene.library()
    home = scene.shared / "foe"
    home.mkdir()
    home.chmod(0o777)
    scene.theirs(home)
    before = state(home)
    scene.dedupe(scene.photos, env={"HOME": str(home), "XDG_DATA_HOME": None}).refused("foe")
    assert state(home) == before
    scene.dedupe(scene.photos).fine()
