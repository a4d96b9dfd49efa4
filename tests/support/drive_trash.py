"""Trashes at the top of a drive that is mounted for this process alone: run by tests/attacks/test_trash_drives.py.

drive_trash.py FOLDER UID KIND EXPECTED
"""

import os
import pathlib
import subprocess
import sys

import attacks


def theirs(path):
    os.chown(path, attacks.ATTACKER, attacks.ATTACKER, follow_symlinks=False)


def trash_of_somebody(top):
    for path in (top, top / "files", top / "info"):
        path.mkdir()
        path.chmod(0o777)
        theirs(path)


def plant(scene, drive, private, kind):
    """What somebody else has put where the trash of the drive would be."""
    own, shared = drive / f".Trash-{scene.uid}", drive / ".Trash"
    if kind == "a link":
        own.symlink_to(private)
        theirs(own)
    elif kind == "theirs":
        trash_of_somebody(own)
    elif kind == "files is a link":
        scene.folder(own, 0o777)
        (own / "files").symlink_to(private / "files")
        theirs(own / "files")
    elif kind == "shared, a link":
        shared.symlink_to(private)
        theirs(shared)
    elif kind.startswith("shared"):
        shared.mkdir()
        shared.chmod(0o777 if "not sticky" in kind else 0o1777)
        if kind == "shared, a link in it":
            (shared / str(scene.uid)).symlink_to(private)
            theirs(shared / str(scene.uid))
        elif kind != "shared, as it should be":
            trash_of_somebody(shared / str(scene.uid))


def main(top, uid, kind, expected):
    scene = attacks.Scene(pathlib.Path(top), int(uid))
    drive = scene.top / "drive"
    drive.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", drive]).returncode != 0:
        return print("no drive")
    photos = scene.folder(drive / "photos")
    first = scene.mine(attacks.picture(photos / "a.png", 1))
    scene.mine(attacks.copied(first, photos / "b.png"))
    private = scene.folder(scene.home / "private")
    for part in ("files", "info"):
        scene.folder(private / part)
    plant(scene, drive, private, kind)
    before = attacks.state(private)
    decisions = scene.decide(scene.search(photos))
    done = scene.apply(decisions, "trash", "--go").fine(0, 3)
    assert attacks.state(private) == before, "the private folder was used"
    left = sorted(path.name for path in photos.iterdir())
    if done.code == 3:
        assert expected in ("left", "either") and left == ["a.png", "b.png"], (left, done.words)
    else:
        assert expected in ("trashed", "either") and len(left) == 1, (left, done.words)
        (there,) = drive.glob(".Trash*/**/files/*")
        for folder in (there.parent, there.parent.parent):
            info = folder.lstat()
            assert info.st_uid == scene.uid and info.st_mode & 0o022 == 0, folder
        scene.undo(scene.journal(), "--go").fine()
        assert sorted(path.name for path in photos.iterdir()) == ["a.png", "b.png"]
    print("held")


main(*sys.argv[1:])
