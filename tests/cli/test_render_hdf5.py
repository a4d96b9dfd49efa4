"""render: HDF5 as an input, of any layout that h5py writes."""

import json
import os
import pathlib
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402


def draw(source, output, *options, **how):
    return millrace("render", source, "-o", output, "--size", "57x40", *options, **how)


def sequences(path):
    with h5py.File(path) as store:
        return store["sequences"][:]


def refused(source, tmp_path, *words, options=("--window", "20")):
    done = draw(source, tmp_path / "refused.h5", *options, check=False)
    assert done.returncode == 1, done.stderr
    for word in words:
        assert word in done.stderr.decode(errors="replace"), done.stderr
    assert not (tmp_path / "refused.h5").exists() and not (tmp_path / "refused.h5.shards").exists()


LAYOUTS = {
    "contiguous": {},
    "chunked": {"chunks": True},
    "gzip": {"compression": "gzip", "shuffle": True, "fletcher32": True},
    "growing": {"maxshape": True, "compression": "gzip"},
}


def same_as_npy(tmp_path, values, layout, *options):
    how = dict(LAYOUTS[layout])
    if how.get("maxshape"):
        how["maxshape"] = tuple(None for _ in values.shape)
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file.create_dataset("group/prices", data=values, **how)
    draw(f"{tmp_path}/p.h5:/group/prices", tmp_path / "c.h5", "--window", "20", *options)
    np.save(tmp_path / "p.npy", values.astype("<f8"))
    draw(tmp_path / "p.npy", tmp_path / "n.h5", "--window", "20", *options)
    with h5py.File(tmp_path / "c.h5") as one, h5py.File(tmp_path / "n.h5") as other:
        assert len(one["images"]) > 0
        for name in ("images", "sequences", "index"):
            np.testing.assert_array_equal(one[name][:], other[name][:])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(3, 20), (3, 20, 4), (60,), (60, 4), (60, 5)])
def test_shapes_and_layouts(tmp_path, shape, layout):
    same_as_npy(tmp_path, np.random.default_rng(5).normal(100, 9, shape).astype("<f4"), layout)


@pytest.mark.parametrize("kind", ["<f8", "<f2", ">f8", ">f4", "<i4", ">u2", "|i1", "|u1", "<u8", ">i8"])
def test_types(tmp_path, kind):
    same_as_npy(tmp_path, np.random.default_rng(5).integers(10, 120, (60,)).astype(kind), "gzip")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(30_000, 5), (1500, 20), (700, 20, 4)])
def test_more_rows_than_are_read_at_once(tmp_path, shape, layout):
    same_as_npy(tmp_path, np.random.default_rng(5).normal(100, 9, shape), layout, "--stride", "97")


def test_windows_longer_than_what_is_read_at_once(tmp_path):
    values = np.random.default_rng(5).normal(100, 9, (3, 20_000))
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(2, 777), compression="gzip")
    draw(tmp_path / "p.h5", tmp_path / "c.h5")
    np.testing.assert_array_equal(sequences(tmp_path / "c.h5"), values.astype(np.float32))


def test_other_styles_take_their_columns(tmp_path):
    rng = np.random.default_rng(3)
    rows = np.sort(rng.uniform(10, 20, (100, 4)), axis=1)[:, [1, 3, 0, 2]]
    rows = np.ascontiguousarray(np.column_stack([rows, rng.uniform(1, 9, 100)]))
    with h5py.File(tmp_path / "p.hdf5", "w") as file:
        file.create_dataset("bars", data=rows, chunks=(7, 2), compression="gzip")
    np.save(tmp_path / "p.npy", rows)
    for source, output in [(f"{tmp_path}/p.hdf5:bars", "c.h5"), (tmp_path / "p.npy", "n.h5")]:
        millrace("render", source, "-o", tmp_path / output, "--style", "jkx")
    with h5py.File(tmp_path / "c.h5") as one, h5py.File(tmp_path / "n.h5") as other:
        np.testing.assert_array_equal(one["images"][:], other["images"][:])


def test_a_store_of_charts_is_drawn_again(tmp_path):
    np.save(tmp_path / "p.npy", 100 + np.cumsum(np.random.default_rng(1).normal(0, 1, 300)))
    draw(tmp_path / "p.npy", tmp_path / "c.h5", "--window", "20", "--labels", "5")
    draw(f"{tmp_path}/c.h5:/sequences", tmp_path / "again.h5")
    np.testing.assert_array_equal(sequences(tmp_path / "again.h5"), sequences(tmp_path / "c.h5"))
    with h5py.File(tmp_path / "again.h5") as store:
        (said,) = json.loads(store.attrs["inputs"])
        assert said["dataset"] == "/sequences" and said["bytes"] == (tmp_path / "c.h5").stat().st_size
    # Two sets of numbers: it must be said which.
    refused(tmp_path / "c.h5", tmp_path, "2 datasets that can be drawn", "/labels, float32 [281, 1]",
            "/sequences, float32 [281, 20]", "/images, uint8 [281, 40, 57], which is not a series", "c.h5:/labels")


def test_the_only_dataset_needs_no_name(tmp_path):
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file["a/close"] = np.arange(40.0)
        file["a/names"] = np.array([b"x", b"y"])
        file["table"] = np.zeros(9, [("a", "f8")])
        file["cube"] = np.zeros((2, 3, 5))
    draw(tmp_path / "p.h5", tmp_path / "c.h5", "--window", "20")
    assert len(sequences(tmp_path / "c.h5")) == 21
    # Named or not, it is the same input.
    assert b"nothing to do" in draw(f"{tmp_path}/p.h5:/a/close", tmp_path / "c.h5", "--window", "20").stderr
    with h5py.File(tmp_path / "p.h5", "a") as file:
        file["other"] = np.arange(40.0)
    done = draw(f"{tmp_path}/p.h5:/a/close", tmp_path / "c.h5", "--window", "20", check=False)
    assert done.returncode == 1 and b"inputs have changed" in done.stderr
    draw(f"{tmp_path}/p.h5:/a/close", tmp_path / "d.h5", "--window", "20")
    done = draw(f"{tmp_path}/p.h5:/other", tmp_path / "d.h5", "--window", "20", check=False)
    assert done.returncode == 1 and b"inputs have changed" in done.stderr


def test_names_with_colons(tmp_path):
    with h5py.File(tmp_path / "a:b.h5", "w") as file:
        file["c:d"] = np.arange(40.0)
    for number, name in enumerate(["a:b.h5", "a:b.h5:/c:d", "./a:b.h5:c:d"]):
        draw(name, f"{number}.h5", "--window", "20", cwd=tmp_path)
    (tmp_path / "p.h5:x").write_text("close\n" + "".join(f"{i}\n" for i in range(30)))
    draw("p.h5:x", "csv.h5", "--window", "20", cwd=tmp_path)
    assert len(sequences(tmp_path / "csv.h5")) == 11
    # What h5py wrote is known by its first bytes, whatever it is called.
    (tmp_path / "prices.data").write_bytes((tmp_path / "a:b.h5").read_bytes())
    draw("prices.data", "data.h5", "--window", "20", cwd=tmp_path)


def test_what_cannot_be_drawn_says_why(tmp_path):
    path = tmp_path / "p.h5"
    with h5py.File(path, "w") as file:
        file["text"] = np.array([b"abc", b"d"])
        file["words"] = ["abc", "d"]
        file["table"] = np.zeros(9, [("open", "f8"), ("close", "f8")])
        file["flags"] = np.zeros(30, bool)
        file["complex"] = np.zeros(30, complex)
        file["one"] = 5.0
        file["nothing"] = h5py.Empty("f8")
        file["four"] = np.zeros((2, 3, 4, 4))
        file["none"] = np.zeros((0,))
        file["cube"] = np.zeros((5, 4, 3))
        file.create_dataset("unwritten", (1000,), "f8")
        part = file.create_dataset("partly", (1000,), "f8", chunks=(100,))
        part[:250] = 1
        file["elsewhere"] = h5py.ExternalLink("q.h5", "/x")
        file["through"] = h5py.ExternalLink("q.h5", "/")
        file["soft_elsewhere"] = h5py.SoftLink("/elsewhere")
        file["itself"] = h5py.ExternalLink("p.h5", "/cube")
        file["soft"] = h5py.SoftLink("/partly")
        file["dangling"] = h5py.SoftLink("/gone")
        file.create_dataset("raw", (30,), "f8", external=[(str(tmp_path / "raw.bin"), 0, 240)])[:] = np.arange(30.0)
        layout = h5py.VirtualLayout((30,), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "q.h5"), "x", (30,))
        file.create_virtual_dataset("virtual", layout)
        # Its length is that of the other file's.
        layout = h5py.VirtualLayout((1,), "f8", maxshape=(None,))
        there = h5py.VirtualSource("q.h5", "grows", (1,), maxshape=(None,))
        layout[: h5py.h5s.UNLIMITED] = there[: h5py.h5s.UNLIMITED]
        file.create_virtual_dataset("grows", layout)
        layout = h5py.VirtualLayout((2, 15), "f8")
        layout[0], layout[1] = h5py.VirtualSource("q.h5", "half", (15,)), h5py.VirtualSource("r.h5", "half", (15,))
        file.create_virtual_dataset("halves", layout)
        layout = h5py.VirtualLayout((5, 4, 3), "f8")
        layout[:] = h5py.VirtualSource(".", "cube", (5, 4, 3))
        file.create_virtual_dataset("own", layout)
    with h5py.File(tmp_path / "q.h5", "w") as file:
        file["x"] = np.arange(30.0)
        file.create_dataset("grows", data=np.arange(40.0), maxshape=(None,), chunks=(10,))
    for name, words in [
        ("text", "text, not numbers"), ("words", "not numbers"), ("table", "compound values"), ("flags", "an enumeration"),
        ("complex", "compound values"), ("one", "a single number"), ("nothing", "no values"),
        ("four", "4 dimensions"), ("none", "it is empty: float64 [0]"), ("cube", "float64 [5, 4, 3], which is not supported"),
        ("unwritten", "never written"), ("partly", "7 of its 10 chunks were never written"), ("soft", "never written"),
        ("elsewhere", "p.h5:/elsewhere: it is a link into another file, q.h5:/x; give that file"),
        ("through/x", "it is a link into another file, q.h5:/"), ("soft_elsewhere", "it is a link into another file, q.h5:/x"),
        ("itself", "it is a link into another file, p.h5:/cube"),
        ("dangling", "it cannot be opened"), ("gone", "it cannot be opened"),
        ("raw", f"other files: {tmp_path}/raw.bin"),
        ("virtual", f"other files: {tmp_path}/q.h5; give those files"),
        ("grows", "other files: q.h5"),
        ("halves", "other files: q.h5, the first of 2"), ("own", "other datasets"),
    ]:
        refused(f"{path}:/{name}", tmp_path, "p.h5:/" + name, words)
    refused(path, tmp_path, "no datasets that can be drawn", "/cube, float64 [5, 4, 3], which is not a series")
    refused(f"{tmp_path}/none.h5:/x", tmp_path, "none.h5")
    with h5py.File(tmp_path / "e.h5", "w"):
        pass
    refused(tmp_path / "e.h5", tmp_path, "no dataset")
    for name, content in [("empty", b""), ("text", b"close\n1\n2\n"), ("zeros", bytes(5000))]:
        (tmp_path / f"{name}.h5").write_bytes(content)
        refused(tmp_path / f"{name}.h5", tmp_path, "not an HDF5 file")


def test_a_filter_that_is_not_here(tmp_path):
    # h5py brings it; the library has none.
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file.create_dataset("x", data=np.arange(100.0), chunks=(50,), compression="lzf")
    refused(f"{tmp_path}/p.h5:/x", tmp_path, "the filter 32000 (lzf)", "h5repack")


def test_one_that_cannot_be_used_stops_no_other(tmp_path):
    np.save(tmp_path / "p.npy", np.arange(30.0))
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file["x"] = np.arange(40.0)
        file["y"] = np.arange(10)
        file["z"] = np.zeros((2, 2, 2, 2))
    done = millrace("render", tmp_path / "p.npy", f"{tmp_path}/p.h5:/z", f"{tmp_path}/p.h5:/x", f"{tmp_path}/p.h5:/y", "-o",
                    tmp_path / "c.h5", "--window", "20", "--size", "40x30")
    assert done.returncode == 3 and b"p.h5:/z: it has 4 dimensions" in done.stderr
    with h5py.File(tmp_path / "c.h5") as store:
        assert store["index"]["file"].tolist() == [0] * 11 + [1] * 21
        assert [entry.get("dataset") for entry in json.loads(store.attrs["inputs"])] == [None, "/x", "/y"]


def test_a_file_that_is_being_written(tmp_path):
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file["x"] = np.arange(40.0)
        file.flush()
        refused(tmp_path / "p.h5", tmp_path, "p.h5: another program has it open for writing")
        draw(tmp_path / "p.h5", tmp_path / "b.h5", "--window", "20", env={"HDF5_USE_FILE_LOCKING": "FALSE"})
    draw(tmp_path / "p.h5", tmp_path / "c.h5", "--window", "20")
    np.testing.assert_array_equal(sequences(tmp_path / "b.h5"), sequences(tmp_path / "c.h5"))
    # One whose file says so itself, wherever it is read.
    with h5py.File(tmp_path / "q.h5", "w", libver="latest", locking=False) as file:
        file["x"] = np.arange(40.0)
        file.flush()
        refused(tmp_path / "q.h5", tmp_path, "q.h5: it cannot be opened: file is already open for write")


def test_links_to_a_file_are_as_links_to_a_table(tmp_path):
    (tmp_path / "p.csv").write_text("close\n" + "".join(f"{i}\n" for i in range(40)))
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file["x"] = np.arange(40.0)
    (tmp_path / "folder").mkdir()
    for name in ("p.csv", "p.h5"):
        (tmp_path / "folder" / name).symlink_to(f"../{name}")
        draw(tmp_path / "folder" / name, tmp_path / f"from_{name}.h5", "--window", "20")
        (tmp_path / f"dangling_{name}").symlink_to("gone")
        refused(tmp_path / f"dangling_{name}", tmp_path, f"dangling_{name}: cannot be opened: No such file or directory")
    np.testing.assert_array_equal(sequences(tmp_path / "from_p.csv.h5"), sequences(tmp_path / "from_p.h5.h5"))
    os.mkfifo(tmp_path / "pipe.h5")
    refused(tmp_path / "pipe.h5", tmp_path, "pipe.h5: not a regular file")
    refused("/dev/zero:/x", tmp_path, "/dev/zero")
    (tmp_path / "dir.h5").mkdir()
    refused(f"{tmp_path}/dir.h5:/x", tmp_path, "dir.h5: not a regular file")


def test_chunks_that_do_not_fit_say_so(tmp_path):
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file.create_dataset("x", data=np.random.default_rng(1).normal(size=4_000_000), chunks=(4_000_000,), compression="gzip",
                            compression_opts=1)
    refused(f"{tmp_path}/p.h5:/x", tmp_path, "p.h5:/x: reading HDF5 by chunks needs 10", "--memory", options=("--memory", "64M"))
    draw(f"{tmp_path}/p.h5:/x", tmp_path / "c.h5", "--limit", "10", "--memory", "256M")
