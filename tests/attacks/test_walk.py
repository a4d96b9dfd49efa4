"""What lies in a searched folder and is no picture, or leads out of it."""

import os
import pathlib
import shutil
import socket
import tempfile

import pytest
from attacks import picture


@pytest.fixture
def other_drive(scene):
    """A folder of pictures on another file system."""
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == scene.top.stat().st_dev:
        pytest.skip("there is no second file system to write to")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="millrace-attacks-", dir="/dev/shm"))
    folder.chmod(0o755)
    for seed in (7, 8):
        picture(folder / f"{seed}.png", seed)
    yield scene.mine(folder)
    shutil.rmtree(folder)


def count(scene, *options):
    """Pictures that a search and the hashes find."""
    found = scene.search(options=options)
    lines = scene.run("hash", scene.photos, *options, "--format", "jsonl", seconds=10).fine(0, 3).out.splitlines()
    assert len(lines) >= found["totals"]["files"]
    return found["totals"]["files"]


@pytest.mark.parametrize(
    "target", ["/proc", "/sys", "/proc/self", "/proc/self/task", "/proc/self/fd", "/sys/class", "/dev/fd"]
)
@pytest.mark.parametrize("options", [[], ["--cross-file-systems"]], ids=["", "cross"])
def test_a_link_into_the_systems_own_state_is_not_followed(scene, target, options):
    scene.library()
    (scene.photos / "link").symlink_to(target)
    done = scene.dedupe(scene.photos, "--follow-symlinks", *options, seconds=15, memory=256 << 20).fine(3)
    assert b"4 pictures" in done.err
    assert b"4 pictures" in scene.run("hash", scene.photos, "--follow-symlinks", *options, seconds=15).fine(3).err


def test_a_link_to_another_file_system_is_followed_only_when_told(scene, other_drive):
    scene.library()
    (scene.photos / "drive").symlink_to(other_drive)
    (scene.photos / "one.png").symlink_to(other_drive / "7.png")
    assert count(scene) == 4
    done = scene.dedupe(scene.photos, "--follow-symlinks").fine(3)
    assert b"4 pictures" in done.err
    assert count(scene, "--follow-symlinks", "--cross-file-systems") == 6
    # From there on, too: a link in what a link leads to.
    (other_drive / "proc").symlink_to("/proc")
    assert count(scene, "--follow-symlinks", "--cross-file-systems") == 6


def test_a_link_on_another_file_system_leads_back_no_further(scene, other_drive):
    scene.library()
    private = scene.folder(scene.home / "private")
    scene.mine(picture(private / "p.png", 99))
    (scene.photos / "drive").symlink_to(other_drive)
    (other_drive / "home").symlink_to(private)
    assert count(scene, "--follow-symlinks") == 4


def test_links_in_a_circle_end(scene):
    scene.library()
    (scene.photos / "self").symlink_to(scene.photos)
    (scene.photos / "up").symlink_to("..")
    for k in range(20):
        scene.folder(scene.photos / f"d{k}")
        (scene.photos / f"d{k}" / "all").symlink_to(scene.photos)
        (scene.photos / f"d{k}" / "next").symlink_to(f"../d{(k + 1) % 20}")
    (scene.photos / "loop").symlink_to("loop")
    (scene.photos / "nothing.png").symlink_to("none")
    assert count(scene, "--follow-symlinks") == 4


def test_what_is_no_file_is_not_read(scene):
    scene.library()
    os.mkfifo(scene.photos / "pipe.png")
    os.mkfifo(scene.home / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(scene.photos / "socket.png"))
    for name, target in (
        ("zero", "/dev/zero"),
        ("random", "/dev/urandom"),
        ("far pipe", scene.home / "pipe"),
        ("tty", "/dev/tty"),
        ("in", "/dev/stdin"),
        ("full", "/dev/full"),
    ):
        (scene.photos / f"{name}.png").symlink_to(target)
    scene.folder(scene.photos / "folder.png")
    for options in ([], ["--follow-symlinks"], ["--follow-symlinks", "--cross-file-systems"]):
        done = scene.dedupe(scene.photos, *options, seconds=10, memory=256 << 20).fine(0, 3)
        assert b"4 pictures" in done.err
        scene.run("hash", scene.photos, *options, seconds=10, memory=256 << 20).fine(0, 3)
    for name in ("pipe.png", "socket.png", "far pipe.png", "zero.png"):
        done = scene.run("hash", scene.photos / name, seconds=10, memory=256 << 20)
        assert done.code in (1, 2, 3), (name, done.words)
        done = scene.dedupe(scene.photos / name, seconds=10, memory=256 << 20)
        assert done.code in (0, 1, 2, 3), (name, done.words)
    server.close()


def test_folders_that_may_not_be_read_are_told(scene):
    if scene.uid == 0:
        pytest.skip("root may read everything")
    scene.library()
    closed = scene.folder(scene.photos / "closed", 0)
    done = scene.dedupe(scene.photos).fine(3)
    assert b"4 pictures" in done.err
    closed.chmod(0o755)
