"""Files of several people: no link or copy gives one's files to another, and no copy can do more than the original."""

import json
import os
import pathlib
import shutil
import tempfile

import pytest
from attacks import ATTACKER, ROOT, access_list, copied, needs_root, picture, state


def by_owner(scene, path):
    needs_root("give a file to somebody else")
    os.chown(path, ATTACKER, scene.uid)


def by_group(scene, path):
    needs_root("give a file to another group")
    os.chown(path, scene.uid, ATTACKER)


def by_mode(scene, path):
    path.chmod(0o666)


def by_set_user_id(scene, path):
    path.chmod(0o4644)


def by_access_list(scene, path):
    try:
        os.setxattr(path, "system.posix_acl_access", access_list(6))
        os.chmod(path, 0o664)
    except OSError:
        pytest.skip("this file system has no access lists")


DIFFERENT = [by_owner, by_group, by_mode, by_set_user_id, by_access_list]


@pytest.mark.parametrize("how", DIFFERENT, ids=lambda how: how.__name__)
@pytest.mark.parametrize("which", ["the one that stays", "the one that goes"])
def test_files_with_other_access_are_not_made_one(scene, how, which):
    first = scene.mine(picture(scene.photos / "a.png", 1))
    second = scene.mine(copied(first, scene.photos / "b.png"))
    decisions = scene.decide(scene.search())
    how(scene, first if which == "the one that stays" else second)
    before = state(scene.photos)
    done = scene.apply(decisions, "hardlink", "--go").fine(3)
    assert b"--ignore-access" in done.out
    assert state(scene.photos) == before
    if how is by_owner and scene.uid != 0:
        return  # the system itself lets no user link to another's file
    # Told to, it does; so nothing else held it back.
    scene.apply(decisions, "hardlink", "--go", "--ignore-access").fine()
    assert os.path.samefile(first, second)


def test_files_with_the_same_access_are_made_one_and_taken_apart(scene):
    first = scene.mine(picture(scene.photos / "a.png", 1))
    second = scene.mine(copied(first, scene.photos / "b.png"))
    for path in (first, second):
        path.chmod(0o640)
    journal = scene.applied("hardlink")
    assert os.path.samefile(first, second)
    scene.undo(journal, "--go").fine()
    assert not os.path.samefile(first, second)
    for path in (first, second):
        info = path.stat()
        assert (info.st_mode & 0o7777, info.st_uid) == (0o640, scene.uid)


def test_undo_gives_nobody_else_a_file(scene):
    """What is taken apart has the owner and mode of the file that lies there, not those that were written down."""
    first = scene.mine(picture(scene.photos / "a.png", 1))
    second = scene.mine(copied(first, scene.photos / "b.png"))
    journal = scene.applied("hardlink")
    first.chmod(0o600)
    text = journal.read_text()
    for key, value in (("owner", ATTACKER), ("group_id", ATTACKER), ("mode", 0o6777)):
        text = text.replace(f'"{key}":', f'"{key}":{value},"was_{key}":')
    journal.write_text(text)
    scene.undo(journal, "--go").fine()
    info = second.stat()
    assert (info.st_mode & 0o7777, info.st_uid, info.st_gid) == (0o600, scene.uid, first.stat().st_gid)


@pytest.fixture
def other_drive(scene):
    """A folder of who runs the program, on another file system."""
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == scene.top.stat().st_dev:
        pytest.skip("there is no second file system to write to")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="millrace-attacks-", dir="/dev/shm"))
    folder.chmod(0o755)
    yield scene.mine(folder)
    shutil.rmtree(folder)


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o6777, 0o640])
def test_a_copy_to_another_file_system_gains_no_rights(scene, other_drive, mode):
    for name in ("a.png", "b.png"):
        scene.mine(picture(scene.photos / name, 1))
    decisions = scene.decide(scene.search())
    for path in scene.photos.iterdir():
        path.chmod(mode)
    scene.apply(decisions, f"move={other_drive / 'moved'}", "--go").fine()
    (there,) = (other_drive / "moved").iterdir()
    assert there.stat().st_mode & 0o7777 == mode & 0o777 and there.stat().st_uid == scene.uid
    scene.undo(scene.journal(), "--go").fine()
    assert sorted(p.name for p in scene.photos.iterdir()) == ["a.png", "b.png"]
    assert all(p.stat().st_mode & 0o7777 in (mode, mode & 0o777) for p in scene.photos.iterdir())


@pytest.mark.parametrize("name", [".millrace-partial-{}-1", ".millrace-link-{}-1"])
def test_a_name_in_between_that_somebody_put_there(scene, other_drive, name):
    """The name can be worked out before the run: a link or file that lies there is not written through."""
    action = "hardlink" if "link" in name else f"move={other_drive / 'moved'}"
    for each in ("a.png", "b.png"):
        scene.mine(picture(scene.photos / each, 1))
    decisions = scene.decide(scene.search())
    dry = scene.home / "dry.json"
    scene.apply(decisions, action, "--json", dry).fine()
    planted = name.format(json.loads(dry.read_text())["id"])
    folder = scene.photos if "link" in name else scene.folder(other_drive / "moved")
    (folder / planted).symlink_to(scene.precious)
    if ROOT:
        os.chown(folder / planted, ATTACKER, ATTACKER, follow_symlinks=False)
    before = state(scene.precious)
    scene.apply(decisions, action, "--go").fine(0, 3)
    assert state(scene.precious) == before
    pictures = [
        p for p in [*scene.photos.iterdir(), *other_drive.rglob("*")] if p.suffix == ".png" and not p.is_symlink()
    ]
    assert len(pictures) == 2 and len({p.read_bytes() for p in pictures}) == 1


@pytest.mark.parametrize("mask", [0o022, 0o002, 0o000])
def test_what_is_kept_and_written_is_its_owners_alone(scene, mask):
    scene.library()
    out = scene.folder(scene.home / "out")
    names = {option: out / option.strip("-") for option in ("--json", "--csv", "--report")}
    words = [word for pair in names.items() for word in pair]
    scene.dedupe(scene.photos, *words, umask=mask).fine()
    scene.dedupe(scene.photos, *words, "--catalog", scene.home / "deep" / "er" / "c.sqlite", umask=mask).fine()
    decisions = scene.decide(scene.search())
    for number, more in enumerate(([], ["--journal", scene.home / "kept" / "j.jsonl"])):
        result = out / f"done{number}.json"
        scene.apply(decisions, "delete", "--go", "--json", result, *more, umask=mask).fine(0, 3)
        names[result] = result
    for path in [
        *names.values(),
        scene.data / "millrace",
        *(scene.data / "millrace").rglob("*"),
        scene.home / "deep" / "er",
        *(scene.home / "deep" / "er").iterdir(),
        scene.home / "kept",
        scene.home / "kept" / "j.jsonl",
    ]:
        assert path.stat().st_mode & 0o077 == 0, (path, oct(path.stat().st_mode))
    aside = next(scene.photos.glob(".millrace-removed-*"))
    assert aside.stat().st_mode & 0o077 == 0


def test_an_output_that_was_open_to_others_is_closed(scene):
    scene.library()
    out = scene.home / "found.json"
    scene.dedupe(scene.photos, "--json", out).fine()
    out.chmod(0o666)
    scene.dedupe(scene.photos, "--json", out).fine()
    assert out.stat().st_mode & 0o077 == 0
