"""Trashes that somebody else has filled, or put where ours would be."""

import os
import urllib.parse

import pytest
from attacks import ATTACKER, ROOT, copied, needs_root, picture, state


def note(path):
    return f"[Trash Info]\nPath={urllib.parse.quote(str(path))}\nDeletionDate=2020-01-01T00:00:00\n"


def library(scene):
    """One picture in the trash, of which the other stays, in a folder of somebody's shared folder."""
    folder = scene.folder(scene.shared / "photos", 0o777)
    first = scene.mine(picture(folder / "a.png", 1))
    second = scene.mine(copied(first, folder / "b.png"))
    journal = scene.applied("trash", folder=folder)
    gone = next(path for path in (first, second) if not path.exists())
    return journal, gone, gone.with_name("a.png" if gone.name == "b.png" else "b.png").read_bytes()


def plant(scene, kind, name="b.png"):
    """Trashes of every form at every level above the pictures; what is in them is somebody else's."""
    made = []
    for top in (scene.shared / "photos", scene.shared):
        shared = top / ".Trash"
        shared.mkdir()
        shared.chmod(0o1777)
        for trash in (top / f".Trash-{scene.uid}", shared / str(scene.uid)):
            (trash / "files").mkdir(parents=True)
            (trash / "info").mkdir()
            about = trash / "info" / f"{name}.trashinfo"
            (trash / "files" / name).write_bytes(b"forged")
            if kind == "pipe":
                os.mkfifo(about)
            elif kind == "/dev/zero":
                about.symlink_to("/dev/zero")
            elif kind == "pipe behind a link":
                os.mkfifo(trash / "pipe")
                about.symlink_to(trash / "pipe")
            elif kind == "huge":
                with open(about, "wb") as file:
                    file.truncate(1 << 40)
            made.append((trash, about))
    return made


KINDS = ["pipe", "/dev/zero", "pipe behind a link", "huge", "forged"]


@pytest.mark.parametrize("whose", ["theirs", "open to all"])
@pytest.mark.parametrize("kind", KINDS)
def test_undo_believes_no_trash_of_somebody_else(scene, kind, whose):
    if whose == "theirs":
        needs_root("be attacked by somebody else")
    journal, gone, bytes_of = library(scene)
    before = next((scene.data / "Trash" / "files").iterdir()).stat()
    for trash, about in plant(scene, kind):
        forged = trash / "files" / gone.name
        if not forged.exists():
            (trash / "files" / "b.png").rename(forged)
        forged.write_bytes(b"x" * before.st_size)
        os.utime(forged, ns=(before.st_mtime_ns, before.st_mtime_ns))
        if kind == "forged":
            about.with_name(f"{gone.name}.trashinfo").write_text(note(gone))
        if whose == "open to all":
            for path in (trash, trash / "files", trash / "info"):
                scene.mine(path)
                path.chmod(0o777)
        if ROOT:
            for path in [*trash.glob("*/*"), *([trash, *trash.iterdir()] if whose == "theirs" else [])]:
                os.chown(path, ATTACKER, ATTACKER, follow_symlinks=False)
    scene.undo(journal, seconds=10, memory=256 << 20).fine()
    scene.undo(journal, "--go", seconds=10, memory=256 << 20).fine()
    assert gone.read_bytes() == bytes_of and gone.stat().st_uid == scene.uid


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_somebody_emptied_from_the_trash_is_lost_not_forged(scene, kind):
    """A forged file is not brought back in its place, and nobody says that nothing is lost."""
    needs_root("be attacked by somebody else")
    journal, gone, bytes_of = library(scene)
    real = next((scene.data / "Trash" / "files").iterdir())
    before = real.stat()
    for trash, about in plant(scene, kind, gone.name):
        forged = trash / "files" / gone.name
        forged.write_bytes(b"x" * before.st_size)
        os.utime(forged, ns=(before.st_mtime_ns, before.st_mtime_ns))
        if kind == "forged":
            about.write_text(note(gone))
        scene.theirs(trash)
    real.unlink()
    done = scene.undo(journal, "--go", seconds=10, memory=256 << 20).fine(3)
    assert not gone.exists() and b"lost" in done.out and b"nothing is lost" not in done.words


def test_the_home_trash_of_a_user_is_made_for_that_user_alone(scene):
    scene.library()
    scene.applied("trash", folder=scene.photos)
    trash = scene.data / "Trash"
    for path in (trash, trash / "files", trash / "info"):
        assert path.stat().st_mode & 0o077 == 0 and path.stat().st_uid == scene.uid, path
    assert all(p.stat().st_mode & 0o077 == 0 for p in (trash / "info").iterdir())


@pytest.mark.parametrize("part", ["", "files", "info"])
def test_a_home_trash_that_is_a_link_takes_nothing_elsewhere(scene, part):
    scene.library()
    private = scene.folder(scene.home / "private")
    scene.data.mkdir(mode=0o700, exist_ok=True)
    scene.mine(scene.data)
    if part:
        scene.folder(scene.data / "Trash", 0o700)
    (scene.data / "Trash" / part).symlink_to(private)
    decisions = scene.decide(scene.search())
    before = state(scene.photos)
    scene.apply(decisions, "trash", "--go").fine(3)
    assert not list(private.iterdir()) and state(scene.photos) == before


def test_a_note_that_is_there_already_is_not_written_over(scene):
    """Neither the note nor the file of something that was thrown away before, nor through a link."""
    scene.library(pictures=1)
    trash = scene.data / "Trash"
    for path in (scene.data, trash, trash / "files", trash / "info"):
        path.mkdir(mode=0o700, exist_ok=True)
        scene.mine(path)
    for name in ("1 copy 1.png", "1.png"):
        (trash / "info" / f"{name}.trashinfo").symlink_to(scene.precious)
        scene.file(trash / "files" / name.replace(".png", ".2.png"), "thrown away before")
    scene.mine(trash)
    journal = scene.applied("trash")
    assert scene.precious.read_text() == "the only copy\n"
    assert {p.read_bytes() for p in trash.glob("files/*.2.png")} == {b"thrown away before"}
    scene.undo(journal, "--go").fine()
    assert len(list(scene.photos.iterdir())) == 2
