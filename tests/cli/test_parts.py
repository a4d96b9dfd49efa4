"""render --part K/N and finish: several runs, one output, the same bytes as one run."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import end_held, hold_when  # noqa: E402
from program import PROGRAM, content_of, millrace  # noqa: E402

STORES = ["hdf5", "virtual", "zarr", "npy", "png", "jpeg", "webdataset", "dat"]


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    path = tmp_path_factory.mktemp("prices") / "p.csv"
    rows = (f"2020-01-{1 + i // 1440:02}T{i // 60 % 24:02}:{i % 60:02},{100 + i * 7919 % 97 / 10},{i}\n" for i in range(1500))
    path.write_text("date,close,volume\n" + "".join(rows))
    return path


def command(prices, store, output, *more):
    form = ["--virtual"] if store == "virtual" else ["--store", store]
    return ["render", prices, "-o", output, "--window", "20", "--size", "60x40", "--labels", "1,5", "--shard", "130",
            "--progress", "none", *form, *more]


def start(*args):
    return subprocess.Popen([os.fspath(PROGRAM), *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def names_in(folder):
    return [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names]


def everything(output):
    """Of a virtual store its shards are part."""
    shards = pathlib.Path(f"{output}.shards")
    whole = {".": output.read_bytes()} if output.is_file() else content_of(output)
    return whole, content_of(shards) if shards.exists() else None


@pytest.fixture(scope="module")
def one_run(prices, tmp_path_factory):
    made = {}

    def of(store):
        if store not in made:
            output = tmp_path_factory.mktemp(store) / "c.out"
            millrace(*command(prices, store, output))
            made[store] = everything(output)
        return made[store]

    return of


@pytest.mark.parametrize("store", STORES)
def test_runs_at_once_make_what_one_makes(prices, one_run, tmp_path, store):
    output = tmp_path / "c.out"
    for round_ in range(3):
        running = [start(*command(prices, store, output, "--part", f"{k}/4")) for k in (3, 1, 4, 2)]
        said = [process.communicate(timeout=120)[1] for process in running]
        assert [process.returncode for process in running] == [0] * 4, said
        assert everything(output) == one_run(store)
        assert sum(b"part " not in words for words in said) == 1, "one of them put it together"
        shutil.rmtree(output) if output.is_dir() else output.unlink()
        shutil.rmtree(f"{output}.shards", ignore_errors=True)


@pytest.mark.parametrize("store", ["hdf5", "zarr", "png", "npy"])
def test_one_is_killed(prices, one_run, tmp_path, store):
    output = tmp_path / "c.out"
    millrace(*command(prices, store, output, "--part", "1/3"))
    running = start(*command(prices, store, output, "--part", "2/3"))
    before = len(names_in(tmp_path / "c.out.shards"))
    assert hold_when(running, lambda: len(names_in(tmp_path / "c.out.shards")) > before)
    end_held(running, signal.SIGKILL)
    running.communicate()
    said = millrace(*command(prices, store, output, "--part", "3/3")).stderr
    assert not output.exists() and b"shards are missing" in said
    refused = millrace("finish", output, check=False)
    assert refused.returncode == 1 and b"shards are missing" in refused.stderr and not output.exists()
    millrace(*command(prices, store, output, "--part", "2/3"))
    assert everything(output) == one_run(store)


def test_a_run_without_parts_makes_what_is_missing(prices, one_run, tmp_path):
    output = tmp_path / "c.h5"
    millrace(*command(prices, "hdf5", output, "--part", "2/3"))
    said = millrace(*command(prices, "hdf5", output)).stderr
    assert b"520 charts were drawn by a previous run" in said
    assert everything(output) == one_run("hdf5")


def test_the_same_part_twice(prices, one_run, tmp_path):
    output = tmp_path / "c.h5"
    running = [start(*command(prices, "hdf5", output, "--part", "1/1")) for _ in range(3)]
    for process in running:
        _, said = process.communicate(timeout=120)
        # One that comes when all is drawn may meet the one that puts it together.
        assert process.returncode == 0 or b"another run" in said, said
    if not output.exists():
        millrace("finish", output)
    assert everything(output) == one_run("hdf5")
    said = millrace(*command(prices, "hdf5", output, "--part", "1/1")).stderr
    assert b"nothing to do" in said


def test_finish_takes_folders_of_other_disks(prices, one_run, tmp_path):
    for store in STORES:
        disks = [tmp_path / store / str(k) for k in (1, 2, 3)]
        for k, disk in enumerate(disks, 1):
            disk.mkdir(parents=True)
            millrace(*command(prices, store, disk / "c.out", "--part", f"{k}/3"))
        goal = tmp_path / store / "c.out"
        before = content_of(tmp_path / store)
        planned = millrace("finish", goal, "--from", disks[1] / "c.out.shards", "--plan", "--json", "-")
        plan = json.loads(planned.stdout)["plan"]
        assert plan["shards"] == 12 and plan["missing"] == [k for k in range(12) if k % 3 != 1]
        assert content_of(tmp_path / store) == before
        shards = [disk / "c.out.shards" for disk in disks]
        millrace("finish", goal, *(part for folder in shards for part in ("--from", folder)))
        whole, kept = one_run(store)
        if store == "virtual":  # which names its folder
            assert everything(goal)[1].keys() == kept.keys()
        else:
            assert everything(goal) == (whole, kept)
        assert all(folder.exists() for folder in shards), "what was brought stays where it was"


@pytest.mark.parametrize("store", [store for store in STORES if store != "hdf5"])
def test_a_shard_that_two_have_made_is_the_same_or_refused(prices, one_run, tmp_path, store):
    disks = {"a": "1", "b": "1", "c": "23"}
    for disk, parts in disks.items():
        (tmp_path / disk).mkdir()
        for k in parts:
            millrace(*command(prices, store, tmp_path / disk / "c.out", "--part", f"{k}/3"))
    shards = [part for disk in disks for part in ("--from", tmp_path / disk / "c.out.shards")]
    (tmp_path / "good").mkdir()
    millrace("finish", tmp_path / "good" / "c.out", *shards)
    if store != "virtual":  # which names its folder
        assert everything(tmp_path / "good" / "c.out") == one_run(store)
    # A picture that the second copy lacks; and a byte of its first shard.
    if store in ("png", "jpeg"):
        lost = sorted((tmp_path / "b").rglob(f"*.{store.replace('jpeg', 'jp*g')}"))[3]
        data = lost.read_bytes()
        lost.unlink()
        (tmp_path / "less").mkdir()
        refused = millrace("finish", tmp_path / "less" / "c.out", *shards, check=False)
        assert refused.returncode == 1 and b"checksum that run 1/3 recorded" in refused.stderr, refused.stderr
        lost.write_bytes(data)
    files = sorted(path for path in (tmp_path / "b").rglob("*") if path.is_file() and path.suffix not in (".json", ".lock") and path.stat().st_size > 400)
    data = bytearray(files[0].read_bytes())
    data[300] ^= 1
    files[0].write_bytes(data)
    (tmp_path / "bad").mkdir()
    refused = millrace("finish", tmp_path / "bad" / "c.out", *shards, check=False)
    assert refused.returncode == 1 and b"shard 0 (counted from 0) does not match" in refused.stderr, (files[0], refused.stderr)
    # The same, of a machine that computes otherwise.
    for record in (tmp_path / "b").rglob("*.made.json"):
        record.unlink()
    refused = millrace("finish", tmp_path / "bad" / "c.out", *shards, check=False)
    assert refused.returncode == 1 and b"shard 0 (counted from 0) differs" in refused.stderr, (files[0], refused.stderr)
    assert not (tmp_path / "bad" / "c.out").exists()


def of_shard(shards, k):
    """Its largest file."""
    own = [path for path in shards.rglob("*") if path.is_file() and not path.name.endswith(".json") and
           (path.name in (f"{k}.rows", f"{k}.h5") or f"/{k:05}" in str(path) or f"/c/{k}" in str(path))]
    return max(own, key=lambda path: path.stat().st_size)


@pytest.mark.parametrize("store", [store for store in STORES if store not in ("npy", "dat")])
def test_a_shard_that_lost_bytes_is_made_again(prices, one_run, tmp_path, store):
    output, shards = tmp_path / "c.out", tmp_path / "c.out.shards"
    millrace(*command(prices, store, output, "--part", "1/2"))
    said = json.loads((shards / "2.made.json").read_text())
    assert (said["shard"], said["part"], said["rows"]) == (2, "1/2", 130)
    lost = of_shard(shards, 2)
    if store in ("png", "jpeg"):
        lost.unlink()
    else:
        os.truncate(lost, lost.stat().st_size - 1)
    words = millrace(*command(prices, store, output, "--part", "2/2")).stderr
    assert b"1 of 12 shards are missing" in words
    refused = millrace("finish", output, check=False)
    assert refused.returncode == 1 and b"are missing: 2 (" in refused.stderr and b"--array=1)" in refused.stderr
    millrace(*command(prices, store, output, "--part", "1/2"))
    assert everything(output) == one_run(store)


@pytest.mark.parametrize("store", ["npy", "dat", "png"])
def test_rows_that_a_shared_file_lost_are_made_again(prices, one_run, tmp_path, store):
    """Whoever writes behind them leaves a hole, of the right size."""
    output, shards = tmp_path / "c.out", tmp_path / "c.out.shards"
    millrace(*command(prices, store, output, "--part", "1/2"))
    for path in (shards / "whole.part").iterdir():
        if path.suffix in (".npy", ".dat") and path.stat().st_size > 1000:
            os.truncate(path, path.stat().st_size // 3)
    told = json.loads(millrace("finish", output, "--plan", "--json", "-").stdout)["plan"]["missing"]
    assert 0 < len(set(told) - {1, 3, 5, 7, 9, 11}), told
    millrace(*command(prices, store, output, "--part", "2/2"))
    assert not output.exists()
    refused = millrace("finish", output, check=False)
    assert refused.returncode == 1 and b"--array=1)" in refused.stderr, refused.stderr
    millrace(*command(prices, store, output, "--part", "1/2"))
    assert everything(output) == one_run(store)


@pytest.mark.parametrize("store", ["zarr", "png", "webdataset", "npy"])
def test_of_two_shards_the_one_that_its_record_believes_counts(prices, one_run, tmp_path, store):
    for disk, k in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / disk).mkdir(exist_ok=True)
        millrace(*command(prices, store, tmp_path / disk / "c.out", "--part", f"{k}/2"))
    shards = tmp_path / "a/c.out.shards"
    hurt = of_shard(shards, 2) if store != "npy" else max((shards / "whole.part").iterdir(), key=lambda path: path.stat().st_size)
    data = bytearray(hurt.read_bytes())
    data[len(data) // 5] ^= 1
    hurt.write_bytes(data)
    millrace("finish", tmp_path / "a/c.out", "--from", tmp_path / "b/c.out.shards", "--from", tmp_path / "c/c.out.shards")
    assert everything(tmp_path / "a/c.out") == one_run(store)


@pytest.mark.parametrize("store", STORES)
def test_a_shard_that_was_damaged_on_its_way_is_refused(prices, one_run, tmp_path, store):
    for k in (1, 2):
        (tmp_path / str(k)).mkdir()
        millrace(*command(prices, store, tmp_path / f"{k}/c.out", "--part", f"{k}/2"))
    shards = tmp_path / "2/c.out.shards"
    hurt = of_shard(shards, 3) if store not in ("npy", "dat") else max((shards / "whole.part").iterdir(), key=lambda path: path.stat().st_size)
    good = hurt.read_bytes()
    hurt.write_bytes(good[:-9] + bytes([good[-9] ^ 1]) + good[-8:])
    goal = tmp_path / "1/c.out"
    refused = millrace("finish", goal, "--from", shards, check=False)
    assert refused.returncode == 1 and b"checksum that run 2/2 recorded" in refused.stderr, refused.stderr
    hurt.write_bytes(good)
    millrace("finish", goal, "--from", shards)
    assert everything(goal)[0] == one_run(store)[0] or store == "virtual"


def test_finish_refuses_what_it_should(prices, tmp_path):
    refused = millrace("finish", tmp_path / "c.h5", check=False)
    assert refused.returncode == 1 and b"no unfinished shards were found" in refused.stderr
    assert not list(tmp_path.iterdir())
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    millrace(*command(prices, "hdf5", tmp_path / "a/c.h5", "--part", "1/2"))
    millrace(*command(prices, "hdf5", tmp_path / "b/c.h5", "--part", "2/2", "--stride", "2"))
    before = content_of(tmp_path)
    refused = millrace("finish", tmp_path / "a/c.h5", "--from", tmp_path / "b/c.h5.shards", check=False)
    assert refused.returncode == 1 and b"--stride was '2', is '1'" in refused.stderr
    refused = millrace(*command(prices, "hdf5", tmp_path / "a/c.h5", "--part", "2/2", "--size", "70x40"), check=False)
    assert refused.returncode == 1 and b"--size was '60x40', is '70x40'" in refused.stderr
    assert content_of(tmp_path) == before
    for bad in ("0/2", "3/2", "2", "a/b"):
        refused = millrace(*command(prices, "hdf5", tmp_path / "x.h5", "--part", bad), check=False)
        assert refused.returncode == 2 and b"K/N" in refused.stderr


@pytest.mark.parametrize("store", ["hdf5", "npy", "zarr"])
def test_finish_of_what_is_finished(prices, one_run, tmp_path, store):
    output = tmp_path / "c.out"
    millrace(*command(prices, store, output))
    said = millrace("finish", output).stderr
    assert b"nothing to do" in said and everything(output) == one_run(store)
    (tmp_path / "mine.txt").write_text("notes")
    refused = millrace("finish", tmp_path / "mine.txt", check=False)
    assert refused.returncode == 1 and (tmp_path / "mine.txt").read_text() == "notes"


@pytest.mark.parametrize("store", ["npy", "png", "zarr"])
def test_a_run_that_was_killed_in_its_last_moments(prices, one_run, tmp_path, store):
    """All is put together and has not got its name; or has, and what was beside it is still there."""
    output, shards = tmp_path / "c.out", tmp_path / "c.out.shards"
    millrace(*command(prices, store, output, "--part", "1/2"))
    said = {name: (shards / name).read_bytes() for name in ("run.json", "parts.json")}
    millrace(*command(prices, store, output, "--part", "2/2"))
    for named, again in ((False, command(prices, store, output)), (False, ["finish", output]),
                         (True, command(prices, store, output)), (True, ["finish", output])):
        shards.mkdir()
        for name, text in said.items():
            (shards / name).write_bytes(text)
        if not named:
            output.rename(shards / "whole")
        words = millrace(*again).stderr
        assert everything(output) == one_run(store) and not shards.exists()
        assert (b"nothing to do" in words) == named


def test_other_files_are_no_output(prices, tmp_path):
    """What HDF5 files of others have at their root, and JSON that is nested as deep as it is long."""
    with h5py.File(tmp_path / "weights.h5", "w") as file:
        file.attrs["layer_names"] = np.array([b"one", b"two", b"a long one"] * 40)
        file.attrs["long"] = np.bytes_(b"x" * 60000)
    refused = millrace(*command(prices, "hdf5", tmp_path / "weights.h5"), check=False)
    assert refused.returncode == 1 and b"not an output of this job" in refused.stderr
    group = tmp_path / "group"
    group.mkdir()
    deep = "[" * 300_000 + "]" * 300_000
    (group / "zarr.json").write_text('{"attributes":{"drawing":"2","x":' + deep + "}}")
    refused = millrace(*command(prices, "zarr", group), check=False)
    assert refused.returncode == 1 and b"not an output of this job" in refused.stderr


@pytest.mark.parametrize("kind", ["outside", "link", "virtual"])
def test_a_shard_does_not_lead_elsewhere(prices, tmp_path, kind):
    for part in ("1/2", "2/2"):
        millrace(*command(prices, "virtual", tmp_path / "c.h5", "--part", part, "--shard", "800"))
        if part == "1/2":
            secret = tmp_path / "secret"
            secret.write_bytes(b"s" * (800 * 20 * 8))
            with h5py.File(tmp_path / "other.h5", "w") as other:
                other["sequences"] = np.full((800, 20), 7, "f4")
            with h5py.File(tmp_path / "c.h5.shards/0.h5", "r+") as file:
                shape = file["sequences"].shape
                del file["sequences"]
                if kind == "outside":
                    file.create_dataset("sequences", shape, "f4", external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
                elif kind == "link":
                    file["sequences"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "sequences")
                else:
                    layout = h5py.VirtualLayout(shape, "f4")
                    layout[...] = h5py.VirtualSource(str(tmp_path / "other.h5"), "sequences", shape)
                    file.create_virtual_dataset("sequences", layout)
            break
    # It is not what its record says; without one it is nobody's.
    for hidden in (False, True):
        if hidden:
            (tmp_path / "c.h5.shards/0.made.json").unlink(missing_ok=True)
        done = millrace(*command(prices, "virtual", tmp_path / "c.h5", "--part", "2/2", "--shard", "800"))
        assert b"are missing" in done.stderr and not (tmp_path / "c.h5").exists()
    millrace(*command(prices, "virtual", tmp_path / "c.h5", "--part", "1/2", "--shard", "800"))
    (tmp_path / "right").mkdir()
    millrace(*command(prices, "virtual", tmp_path / "right/c.h5", "--shard", "800"))
    assert everything(tmp_path / "c.h5") == everything(tmp_path / "right/c.h5")


def test_a_part_that_is_not_said(prices, tmp_path):
    refused = millrace(*command(prices, "hdf5", tmp_path / "c.h5", "--part", ""), check=False)
    assert refused.returncode == 2 and b"K/N" in refused.stderr and not list(tmp_path.iterdir())


def test_a_plan_says_what_a_part_is(prices, tmp_path):
    planned = millrace(*command(prices, "hdf5", tmp_path / "c.h5", "--part", "2/5", "--plan", "--json", "-"))
    plan = json.loads(planned.stdout)["plan"]
    assert plan["shards"] == 12 and plan["part_shards"] == 3 and plan["part_charts"] == 3 * 130 - 79
    refused = millrace("render", prices, "--part", "1/2", "--sample", "3", "-o", tmp_path / "s.png", check=False)
    assert refused.returncode == 2 and b"cannot be divided into shards" in refused.stderr
    assert not list(tmp_path.iterdir())


def test_finish_says_so_as_json(prices, tmp_path):
    output = tmp_path / "c.h5"
    first = millrace(*command(prices, "hdf5", output, "--part", "1/2", "--json", "-"))
    assert json.loads(first.stdout)["published"] is False
    (tmp_path / "away").mkdir()
    millrace(*command(prices, "hdf5", tmp_path / "away/c.h5", "--part", "2/2"))
    done = millrace("finish", output, "--from", tmp_path / "away/c.h5.shards", "--json", "-")
    assert json.loads(done.stdout) | {"bytes": 0} == {"millrace": "finish", "rows": 1481, "shards": 12, "imported": 6, "bytes": 0}
