"""render's inputs cut short, growing, hostile or slow to read: an error that names them, and no harm to what is there."""

import pathlib
import signal
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM  # noqa: E402


def start(*arguments):
    return subprocess.Popen([str(PROGRAM), "render", *map(str, arguments), "--progress", "none"], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)


def test_an_array_that_is_cut_short_while_it_is_drawn(tmp_path):
    series = tmp_path / "p.npy"
    np.save(series, np.cumsum(np.random.default_rng(1).normal(0, 1, 40_000)))
    running = start(series, "-o", tmp_path / "c.h5", "--size", "200x125", "--shard", "1000")
    while running.poll() is None and not (tmp_path / "c.h5.shards/00000.h5").exists():
        time.sleep(0.001)
    with open(series, "r+b") as file:
        file.truncate(1000)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 1 and b"p.npy: it changed while it was read" in err, (running.returncode, err)
    assert not (tmp_path / "c.h5").exists()


def test_an_interrupt_while_one_large_table_is_read(tmp_path):
    table = tmp_path / "p.csv"
    rows = b"2020-01-01,100.25,101.5,99.125,100.5,123456\n" * (1 << 16)
    with open(table, "wb") as file:
        file.write(b"Date,Open,High,Low,Close,Volume\n")
        for _ in range(60):  # 173 MB
            file.write(rows)
    running = start(table, "-o", tmp_path / "c.h5")
    time.sleep(0.15)
    begin = time.monotonic()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130 and b"interrupted" in err, (running.returncode, err)
    assert time.monotonic() - begin < 0.5
    assert not (tmp_path / "c.h5").exists() and not (tmp_path / "c.h5.shards").exists()


def test_an_interrupt_while_one_large_array_is_read(tmp_path):
    array = np.lib.format.open_memmap(tmp_path / "p.npy", mode="w+", dtype="<f8", shape=(60_000_000,))
    del array  # 480 MB, most of it a hole
    running = start(tmp_path / "p.npy", "-o", tmp_path / "c.h5")
    time.sleep(0.1)
    begin = time.monotonic()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130 and b"interrupted" in err, (running.returncode, err)
    assert time.monotonic() - begin < 0.5
