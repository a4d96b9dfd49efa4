"""The power goes while a run writes: what was not synced is gone, and the same command ends with the bytes of a run that was never
cut. The disk is a file of its own with ext4 in its harshest mode; one ioctl takes its power. MILLRACE_ROUNDS sets how many cuts a
job gets."""

import contextlib
import fcntl
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from outputs import codes_text  # noqa: E402
from program import PROGRAM, content_of  # noqa: E402
from segmenting import picture  # noqa: E402

ROUNDS = int(os.environ.get("MILLRACE_ROUNDS", 2))
OPTIONS = "loop,data=writeback,noauto_da_alloc,commit=300"
# include/uapi/linux/ext4.h: _IOR('X', 125, __u32), and the flag for a log that is not flushed either.
EXT4_IOC_SHUTDOWN, NOLOGFLUSH = 2 << 30 | 4 << 16 | ord("X") << 8 | 125, 2


class Disk:
    def __init__(self, folder):
        self.image, self.top = folder / "disk.img", folder / "disk"
        self.top.mkdir()
        with open(self.image, "wb") as file:
            file.truncate(96 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", self.image], check=True, capture_output=True)

    def mount(self):
        subprocess.run(["mount", "-o", OPTIONS, self.image, self.top], check=True, capture_output=True)

    def unmount(self):
        subprocess.run(["umount", self.top], check=True, capture_output=True)

    def cut(self):
        fd = os.open(self.top, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, struct.pack("I", NOLOGFLUSH))
        finally:
            os.close(fd)


@pytest.fixture
def disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    if not shutil.which("mkfs.ext4"):
        pytest.skip("mkfs.ext4 is not installed")
    disk = Disk(tmp_path)
    try:
        disk.mount()
        disk.cut()
        disk.unmount()
    except (subprocess.CalledProcessError, OSError) as error:
        with contextlib.suppress(subprocess.CalledProcessError):
            disk.unmount()
        pytest.skip(f"no disk of its own can be mounted and cut here: {error}")
    yield disk
    with contextlib.suppress(subprocess.CalledProcessError):
        disk.unmount()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    for k in range(24):
        picture(folder / "photos" / f"{k:02}.png", 200, 260, seed=k)
    (folder / "codes.npy").write_bytes(codes_text(6000))
    walk = 100 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.02, 3000)))
    (folder / "prices.csv").write_text("Close\n" + "\n".join(f"{price:.4f}" for price in walk) + "\n")
    return folder


def words_of(job, folder):
    render = ["render", folder / "prices.csv", "--window", "20", "--size", "90x60", "--shard", "300"]
    return {
        "hash": ["hash", folder / "photos", "--shard", "4"],
        "join": ["join", folder / "codes.npy", "--radius", "18", "--block", "1500"],
        "npy": [*render, "--store", "npy"],
        "zarr": [*render, "--store", "zarr"],
        "hdf5": [*render, "--store", "hdf5"],
        "webdataset": [*render, "--store", "webdataset"],
        "inventory": ["inventory", folder / "photos"],
    }[job]


def started(job, folder, output, home):
    env = dict(os.environ, HOME=str(home), XDG_DATA_HOME=str(home), XDG_CACHE_HOME=str(home))
    return subprocess.Popen([PROGRAM, *map(os.fspath, words_of(job, folder)), "-o", output, "--progress", "none", "--threads", "1"],
                            env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.mark.parametrize("job", ["hash", "join", "npy", "zarr", "hdf5", "webdataset", "inventory"])
def test_nothing_is_lost(job, disk, inputs, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    began = time.monotonic()
    whole = started(job, inputs, tmp_path / "whole", home)
    assert whole.wait() == 0, whole.stderr.read()
    seconds = time.monotonic() - began
    expected = content_of(tmp_path / "whole")
    chance = random.Random(job)
    for k in range(ROUNDS):
        output = disk.top / "out"
        disk.mount()
        run = started(job, inputs, output, home)
        time.sleep(chance.random() * seconds)
        disk.cut()
        run.kill()
        run.communicate()
        disk.unmount()
        disk.mount()
        # An output that has its name is whole.
        if output.exists():
            assert content_of(output) == expected, k
        again = started(job, inputs, output, home)
        words = again.communicate()[1]
        assert again.returncode == 0, words
        assert content_of(output) == expected, k
        left = sorted(path.name for path in disk.top.iterdir() if path.name not in ("out", "lost+found"))
        assert left == [], k
        shutil.rmtree(output) if output.is_dir() else output.unlink()
        disk.unmount()
