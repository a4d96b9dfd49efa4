"""render's inputs cut short, growing, hostile or slow to read: an error that names them, and no harm to what is there."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import bytes_read_by, end_held, helpers_of, hold_when, kill_helpers  # noqa: E402
from program import PROGRAM, millrace  # noqa: E402


def start(*arguments):
    return subprocess.Popen([str(PROGRAM), "render", *map(str, arguments), "--progress", "none"], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)


def drawing(folder):
    """Whether some charts are written, whatever they are called until all are."""
    try:
        return any(file.stat().st_size > 50_000 for file in (folder / "c.h5.shards").glob("*"))
    except FileNotFoundError:  # it just got another name
        return False


def test_an_array_that_is_cut_short_while_it_is_drawn(tmp_path):
    series = tmp_path / "p.npy"
    np.save(series, np.cumsum(np.random.default_rng(1).normal(0, 1, 40_000)))
    running = start(series, "-o", tmp_path / "c.h5", "--size", "200x125", "--shard", "1000")
    while running.poll() is None and not drawing(tmp_path):
        time.sleep(0.001)
    with open(series, "r+b") as file:
        file.truncate(1000)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 1 and b"p.npy: it changed while it was read" in err, (running.returncode, err)
    assert not (tmp_path / "c.h5").exists()


def interrupted_while_reading(source, tmp_path):
    """Interrupts a run that has begun to read, and asserts that it does not read to the end first."""
    running = start(source, "-o", tmp_path / "c.h5")
    assert hold_when(running, lambda: bytes_read_by(running.pid) > 10_000_000), "it never read"
    end_held(running, signal.SIGINT)
    os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)
    assert bytes_read_by(running.pid) < source.stat().st_size
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130 and b"interrupted" in err, (running.returncode, err)
    assert not (tmp_path / "c.h5").exists() and not (tmp_path / "c.h5.shards").exists()


def test_an_interrupt_while_one_large_table_is_read(tmp_path):
    table = tmp_path / "p.csv"
    rows = b"2020-01-01,100.25,101.5,99.125,100.5,123456\n" * (1 << 16)
    with open(table, "wb") as file:
        file.write(b"Date,Open,High,Low,Close,Volume\n")
        for _ in range(60):  # 173 MB
            file.write(rows)
    interrupted_while_reading(table, tmp_path)


def test_an_interrupt_while_one_large_array_is_read(tmp_path):
    array = np.lib.format.open_memmap(tmp_path / "p.npy", mode="w+", dtype="<f8", shape=(60_000_000,))
    del array  # 480 MB, most of it a hole
    interrupted_while_reading(tmp_path / "p.npy", tmp_path)


DAMAGED = 40  # of each layout
LAYOUTS = {
    "contiguous": {},
    "gzip": {"chunks": (64,), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "growing": {"chunks": (64,), "maxshape": (None,)},
    "scaled": {"chunks": (64,), "scaleoffset": 3},
}


@pytest.mark.parametrize("version", ["earliest", "v110"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_damaged_hdf5(tmp_path, layout, version):
    """Some of these make the HDF5 library crash, divide by zero or loop; the run says so and goes on with the others."""
    chance = random.Random(f"{layout} {version}")
    with h5py.File(tmp_path / "whole.h5", "w", libver=(version, "v110")) as file:
        file.create_dataset("group/prices", data=100 + np.cumsum(np.random.default_rng(1).normal(0, 1, 600)), **LAYOUTS[layout])
        file["group"].attrs["of"] = "somewhere"
    whole = (tmp_path / "whole.h5").read_bytes()
    np.save(tmp_path / "good.npy", np.arange(60.0))
    args = ["--window", "50", "--limit", "20", "--size", "20x20", "--progress", "none"]
    output = tmp_path / "c.h5"
    millrace("render", tmp_path / "good.npy", "-o", output, *args)
    before = output.read_bytes()
    codes = []
    for number in range(DAMAGED):
        damaged = bytearray(whole)
        if number % 4 == 0:
            del damaged[chance.randrange(len(whole)):]
        else:
            for _ in range((1, 4, 30)[number % 4 - 1]):
                at = chance.randrange(len(whole) if chance.random() < 0.5 else min(4096, len(whole)))
                damaged[at] = chance.randrange(256) if chance.random() < 0.5 else damaged[at] ^ 1 << chance.randrange(8)
        (tmp_path / "damaged.h5").write_bytes(damaged)
        source = f"{tmp_path}/damaged.h5" + chance.choice(["", ":/group/prices"])
        done = millrace("render", source, "-o", output, *args, check=False)
        # Another input: whatever becomes of it, the store that is there stays.
        assert done.returncode == 1 and b"millrace: " in done.stderr, (number, done)
        assert output.read_bytes() == before, number
        other = tmp_path / "d.h5"
        done = millrace("render", source, tmp_path / "good.npy", "-o", other, *args, check=False)
        assert done.returncode in (0, 3), (number, done)
        codes.append(done.returncode)
        with h5py.File(other) as store:
            assert len(store["images"]) in (11, 20)
        other.unlink()
    assert codes.count(3) > DAMAGED // 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.h5", "damaged.h5", "good.npy", "whole.h5"]


@pytest.fixture
def packed(tmp_path):
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file.create_dataset("x", data=np.cumsum(np.random.default_rng(1).normal(0, 1, 300_000)), chunks=(5000,),
                            compression="gzip")
    return tmp_path / "p.h5"


def test_a_helper_that_is_killed_while_charts_are_drawn(packed, tmp_path):
    args = [packed, "-o", tmp_path / "c.h5", "--size", "100x60", "--stride", "50", "--shard", "500"]
    running = start(*args)
    assert hold_when(running, lambda: drawing(tmp_path) and helpers_of(running.pid))
    assert kill_helpers(running.pid) == 1
    end_held(running, signal.SIGCONT)
    _, err = running.communicate()
    # A new one goes on where it was, unless it was in the middle of an answer.
    assert running.returncode == 0 or (running.returncode == 1 and b"p.h5: its reader was killed" in err), err
    millrace("render", *args)
    millrace("render", *args[:2], tmp_path / "d.h5", *args[3:])
    assert (tmp_path / "c.h5").read_bytes() == (tmp_path / "d.h5").read_bytes()


def test_a_helper_ends_with_the_program(packed, tmp_path):
    running = start(packed, "-o", tmp_path / "c.h5")
    helpers = []
    while not helpers and running.poll() is None:
        helpers = helpers_of(running.pid)
    running.kill()
    running.wait()
    running.stderr.close()
    assert helpers
    for _ in range(500):
        if not pathlib.Path(f"/proc/{helpers[0]}").exists():
            break
        time.sleep(0.01)
    else:
        raise AssertionError("the helper lives on")


def test_an_hdf5_file_that_is_cut_short_while_it_is_drawn(packed, tmp_path):
    running = start(packed, "-o", tmp_path / "c.h5", "--size", "100x60", "--shard", "1000")
    while running.poll() is None and not drawing(tmp_path):
        time.sleep(0.001)
    with open(packed, "r+b") as file:
        file.truncate(100_000)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 1 and b"p.h5" in err, (running.returncode, err)
    assert not (tmp_path / "c.h5").exists()


@pytest.mark.parametrize("inputs", [1, 2])
def test_an_hdf5_file_that_is_replaced_while_it_is_drawn(packed, tmp_path, inputs):
    """Whether the helper has it open or must be given it again: no number of the new one is taken for one of the old."""
    with h5py.File(tmp_path / "new.h5", "w") as file:
        file["x"] = np.zeros(300_000)
    sources = [packed, tmp_path / "q.h5"][:inputs]
    (tmp_path / "q.h5").write_bytes(packed.read_bytes())
    running = start(*sources, "-o", tmp_path / "c.h5", "--size", "100x60", "--stride", "20", "--shard", "1000")
    while running.poll() is None and not drawing(tmp_path):
        time.sleep(0.001)
    (tmp_path / "new.h5").rename(sources[-1])
    _, err = running.communicate(timeout=120)
    assert running.returncode == 1 and sources[-1].name.encode() + b": it changed while it was read" in err, (running.returncode, err)
    assert not (tmp_path / "c.h5").exists()
