"""render killed, interrupted or out of disk: never half a store, and the next run ends with the same bytes."""

import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import catches, end_held, hold_when, often  # noqa: E402
from program import PROGRAM, content_of, millrace  # noqa: E402

KILLS = often(50)
# Of each store, each time twice.
EACH = often(16)


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    path = tmp_path_factory.mktemp("series") / "p.npy"
    np.save(path, 100 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.01, 1600))))
    return path


def command(series, output):
    return ["render", series, "-o", output, "--size", "400x250", "--shard", "200", "--progress", "none"]


@pytest.fixture(scope="module")
def undisturbed(series, tmp_path_factory):
    output = tmp_path_factory.mktemp("undisturbed") / "c.h5"
    millrace(*command(series, output))
    return output.read_bytes()


def start(series, output, *more, **options):
    return subprocess.Popen([str(PROGRAM), *map(str, command(series, output)), *more], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, **options)


def bytes_in(folder):
    total = 0
    for parent, _, names in os.walk(folder):  # which passes over folders that have just been renamed
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                pass
    return total


def kill_when(running, folder, size):
    """Kills a run once so many bytes lie in a folder; true where it was still running."""
    while running.poll() is None and bytes_in(folder) < size:
        time.sleep(0.0005)
    running.send_signal(signal.SIGKILL)
    running.stderr.close()
    return running.wait() == -signal.SIGKILL


def test_killed_at_any_moment_it_ends_the_same(series, undisturbed, tmp_path):
    expected = undisturbed
    random.seed(4)
    killed = 0
    for attempt in range(KILLS):
        output = tmp_path / f"{attempt}.h5"
        running = start(series, output)
        killed += kill_when(running, tmp_path, random.uniform(0, 0.9) * len(expected))
        assert not output.exists() or output.read_bytes() == expected, "half a store under its name"
        millrace(*command(series, output))
        assert output.read_bytes() == expected, f"kill {attempt}"
        assert [p.name for p in tmp_path.iterdir()] == [output.name], "something is left"
        output.unlink()
    assert killed >= KILLS // 3


OTHERS = [["--virtual"], *(["--store", store] for store in ("zarr", "npy", "png", "jpeg", "webdataset", "dat"))]


@pytest.mark.parametrize("store", OTHERS, ids=lambda o: o[-1])
def test_kills_in_every_store(series, tmp_path, store):
    (tmp_path / "whole").mkdir()
    millrace(*command(series, tmp_path / "whole/c"), *store)
    expected = content_of(tmp_path / "whole")
    size = sum(map(len, expected.values()))
    random.seed(5)
    killed = 0
    for attempt in range(EACH):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        for _ in range(2):
            running = start(series, folder / "c", *store)
            killed += kill_when(running, folder, random.uniform(0, 0.9) * size)
            if (folder / "c").exists() and store[0] == "--store":
                assert content_of(folder / "c") == {name[2:]: text for name, text in expected.items()
                                                    if name.startswith("c/")}, "half a store under its name"
        millrace(*command(series, folder / "c"), *store)
        assert content_of(folder) == expected, f"kill {attempt}"
    assert killed >= EACH // 2


@pytest.mark.parametrize("store", OTHERS, ids=lambda o: o[-1])
def test_a_full_disk_in_every_store(series, tmp_path, store):
    (tmp_path / "whole").mkdir()
    millrace(*command(series, tmp_path / "whole/c"), *store)
    expected = content_of(tmp_path / "whole")
    largest = max(map(len, expected.values()))
    for limit in (largest // 3, largest - 1):
        folder = tmp_path / str(limit)
        folder.mkdir()
        running = start(series, folder / "c", *store,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        _, err = running.communicate(timeout=60)
        assert running.returncode == 1 and not (folder / "c").exists()
        assert b"/c" in err and b"File too large" in err, err
        millrace(*command(series, folder / "c"), *store)
        assert content_of(folder) == expected


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
def test_finished_shards_are_not_drawn_again(series, undisturbed, tmp_path, end):
    expected = undisturbed
    output = tmp_path / "c.h5"
    running = start(series, output)
    shards = pathlib.Path(f"{output}.shards")
    assert hold_when(running, lambda: len(list(shards.glob("*.log"))) >= 2)
    end_held(running, end)
    running.communicate()
    done = len(list(shards.glob("*.log")))
    assert running.returncode == (-signal.SIGKILL if end == signal.SIGKILL else 130)
    said = millrace(*command(series, output)).stderr.decode()
    assert f"{200 * done} charts were drawn by a previous run" in said.replace(",", "") and output.read_bytes() == expected


def test_a_damaged_or_foreign_shard_is_drawn_again(series, undisturbed, tmp_path):
    expected = undisturbed
    for damage in ("cut", "empty", "foreign", "temporary"):
        output = tmp_path / f"{damage}.h5"
        shards = pathlib.Path(f"{output}.shards")
        running = start(series, output)
        assert hold_when(running, lambda: len(list(shards.glob("*.log"))) >= 2)
        end_held(running, signal.SIGKILL)
        running.wait()
        running.stderr.close()
        first, second = shards / "0.log", shards / "1.log"
        if damage == "temporary":  # killed while run.json was written
            for file in shards.iterdir():
                file.unlink()
            (shards / ".millrace-partial-123-0").write_text("{")
        else:
            second.write_bytes({"cut": second.read_bytes()[:3000], "empty": b"", "foreign": first.read_bytes()}[damage])
        millrace(*command(series, output))
        assert output.read_bytes() == expected, damage


def test_a_series_that_changes_while_it_is_drawn(tmp_path):
    series = tmp_path / "p.npy"
    np.save(series, np.cumsum(np.random.default_rng(1).normal(0, 1, 12000)))
    running = start(series, tmp_path / "c.h5")
    while running.poll() is None and not (tmp_path / "c.h5.shards/0.log").exists():
        time.sleep(0.001)
    with open(series, "r+b") as file:
        file.seek(-8, 2)
        file.write(np.float64(5).tobytes())
    _, err = running.communicate(timeout=60)
    assert running.returncode == 1 and b"it changed while it was read" in err
    assert not (tmp_path / "c.h5").exists()


def test_interrupt_says_so_and_resumes(series, undisturbed, tmp_path):
    expected = undisturbed
    output = tmp_path / "c.h5"
    running = start(series, output)
    assert hold_when(running, lambda: pathlib.Path(f"{output}.shards").exists() and catches(running, signal.SIGINT))
    end_held(running, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130 and b"interrupted" in err and b"same command" in err and not output.exists(), err
    millrace(*command(series, output))
    assert output.read_bytes() == expected


@pytest.mark.parametrize("limit", [100, 10_000, 300_000, 2_000_000])
def test_a_full_disk(series, undisturbed, tmp_path, limit):
    expected = undisturbed
    output = tmp_path / "c.h5"
    running = start(series, output, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    _, err = running.communicate(timeout=60)
    assert running.returncode == 1 and not output.exists()
    # The file is named, and the system's words for it are said.
    assert b"c.h5" in err and b"File too large" in err, err
    millrace(*command(series, output))
    assert output.read_bytes() == expected


@pytest.mark.parametrize("store", ["hdf5", "npy"])
def test_what_appears_meanwhile_is_not_replaced(tmp_path, store):
    # Long enough that the file is there long before the end, and so that the end is seen to look.
    np.save(tmp_path / "p.npy", np.cumsum(np.random.default_rng(1).normal(0, 1, 9000)))
    output = tmp_path / "c"
    running = start(tmp_path / "p.npy", output, "--store", store)
    shard = pathlib.Path(f"{output}.shards") / {"hdf5": "0.log", "npy": "whole.part/00000.done"}[store]
    while running.poll() is None and not shard.exists():
        time.sleep(0.001)
    assert running.poll() is None
    output.write_text("dear all")
    _, err = running.communicate(timeout=60)
    assert running.returncode == 1 and b"created or replaced it during this run" in err, err
    assert output.read_text() == "dear all"
    output.unlink()
    millrace(*command(tmp_path / "p.npy", output), "--store", store)
    assert output.exists() and not pathlib.Path(f"{output}.shards").exists()


def test_two_runs_at_once(series, undisturbed, tmp_path):
    expected = undisturbed
    output = tmp_path / "c.h5"
    both = [start(series, output) for _ in range(2)]
    codes = []
    for process in both:
        _, err = process.communicate(timeout=120)
        codes.append(process.returncode)
        assert process.returncode == 0 or b"another run is making the same output" in err, err
    assert 0 in codes and output.read_bytes() == expected
