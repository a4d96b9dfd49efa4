"""render: every store holds the charts that HDF5 holds, read by the libraries that people train with."""

import csv
import io
import json
import pathlib
import sys
import tarfile

import h5py
import numpy as np
import pytest
import zarr
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import content_of, millrace  # noqa: E402
from series import days  # noqa: E402

CHARTS, WINDOW, WIDTH, HEIGHT, SHARD = 71, 30, 93, 40, 20
STORES = ["hdf5", "zarr", "npy", "png", "jpeg", "webdataset", "dat"]
COLOURS = ["--ink", "#c00020", "--paper", "#fff0d0"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("series") / "p.csv"
    close = 100 * np.exp(np.cumsum(np.random.default_rng(3).normal(0, 0.01, CHARTS + WINDOW - 1)))
    # A comma in every date, and a quote in the symbol.
    dates = [f"{day:%B %d, %Y}" for day in days(len(close))]
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["Date", "Close", "Symbol"], *zip(dates, close, ['BRK"B'] * len(close))])
    return path


def draw(source, output, *options):
    millrace("render", source, "-o", output, "--window", str(WINDOW), "--size", f"{WIDTH}x{HEIGHT}", "--labels", "5,20",
             *([] if "--shard" in options else ["--shard", str(SHARD)]), *options)
    return output


@pytest.fixture(scope="module")
def truth(source, tmp_path_factory):
    """Grays, colours and numbers, from the one store that other tests compare with models."""
    folder = tmp_path_factory.mktemp("truth")
    with h5py.File(draw(source, folder / "gray.h5")) as gray, h5py.File(draw(source, folder / "rgb.h5", *COLOURS)) as rgb:
        assert gray["images"].shape == (CHARTS, HEIGHT, WIDTH) and rgb["images"].shape == (CHARTS, HEIGHT, WIDTH, 3)
        return {"gray": gray["images"][:], "rgb": rgb["images"][:], "sequences": gray["sequences"][:],
                "labels": gray["labels"][:],
                "index": [(int(r["file"]), int(r["row"]), *(r[name].decode() for name in ("symbol", "date", "end_date")),
                           int(r["end_time"])) for r in gray["index"]]}


def test_the_index_tells_where_and_when_a_window_is(truth):
    all_days = days(CHARTS + WINDOW - 1)
    for i, (file, row, symbol, date, end_date, end_time) in enumerate(truth["index"]):
        first, last = all_days[i], all_days[i + WINDOW - 1]
        assert (file, row, symbol) == (0, i, 'BRK"B')
        assert (date, end_date) == (f"{first:%B %d, %Y}", f"{last:%B %d, %Y}")
        assert np.datetime64(end_time, "ns") == np.datetime64(last)


def pictures(folder, extension):
    files = sorted(folder.glob(f"*/*.{extension}"))
    assert [f.stem for f in files] == [f"{i:08d}" for i in range(CHARTS)]
    assert sorted({f.parent.name for f in files}) == [f"{i:05d}" for i in range(-(-CHARTS // SHARD))]
    return [Image.open(f) for f in files]


def stored_images(store, output):
    if store == "hdf5":
        with h5py.File(output) as file:
            return file["images"][:]
    if store == "zarr":
        return zarr.open(output, mode="r")["images"][:]
    if store == "npy":
        return np.load(output / "images.npy")
    if store == "dat":
        return np.fromfile(output / "images.dat", np.uint8)
    if store == "webdataset":
        members = [m for m in samples(output) if m[0].endswith(".png")]
        return np.stack([np.asarray(Image.open(io.BytesIO(data))) for _, data in members])
    return np.stack([np.asarray(p) for p in pictures(output, "jpg" if store == "jpeg" else "png")])


def samples(output):
    out = []
    for archive in sorted(output.glob("*.tar")):
        with tarfile.open(archive) as file:
            for member in file:
                assert member.isreg() and member.mtime == 0 and member.mode == 0o644
                out.append((member.name, file.extractfile(member).read()))
    return out


@pytest.mark.parametrize("colours", ["gray", "rgb"])
@pytest.mark.parametrize("dtype", ["u8", "f32", "bit"])
@pytest.mark.parametrize("store", STORES)
def test_every_store_holds_the_same_charts(source, truth, tmp_path, store, dtype, colours):
    options = ["--store", store, "--dtype", dtype, *(COLOURS if colours == "rgb" else [])]
    impossible = (store == "jpeg" and dtype != "u8") or (store in ("png", "webdataset") and dtype == "f32")
    if impossible or (dtype == "bit" and colours == "rgb"):
        done = millrace("render", source, "-o", tmp_path / "c", *options, check=False)
        assert done.returncode == 2 and b"--dtype" in done.stderr and not (tmp_path / "c").exists()
        return
    images = stored_images(store, draw(source, tmp_path / "c", *options))
    expected = truth[colours]
    if dtype == "f32":
        expected = (expected.astype(np.float32) / np.float32(255)).astype(np.float32)
    elif dtype == "bit" and store in ("png", "webdataset"):
        expected = expected >= 128
    elif dtype == "bit":
        expected = np.packbits(expected >= 128, axis=2)
    if store == "dat":
        images = images.view(expected.dtype).reshape(expected.shape)
    assert images.shape == expected.shape and (images.dtype == expected.dtype)
    if store == "jpeg":
        error = np.abs(images.astype(int) - expected)
        # At the default quality; docs/render.md states it.
        assert error.mean() < (1 if colours == "gray" else 2) and error.max() <= 32, (error.mean(), error.max())
    else:
        np.testing.assert_array_equal(images, expected)


@pytest.mark.parametrize("store", ["npy", "dat", "png", "jpeg"])
def test_tables_beside_the_charts(source, truth, tmp_path, store):
    output = draw(source, tmp_path / "c", "--store", store)
    np.testing.assert_array_equal(np.load(output / "sequences.npy"), truth["sequences"])
    np.testing.assert_array_equal(np.load(output / "labels.npy"), truth["labels"])
    with open(output / "index.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(r["chart"]) for r in rows] == list(range(CHARTS))
    assert [(int(r["file"]), int(r["row"]), r["symbol"], r["date"], r["end_date"], int(r["end_time"])) for r in rows] == truth["index"]
    for column, horizon in enumerate(["label_5", "label_20"]):
        labels = np.array([float(r[horizon] or "nan") for r in rows], np.float32)
        np.testing.assert_array_equal(labels, truth["labels"][:, column])
    about = json.loads((output / "run.json").read_text())
    assert about["window"] == str(WINDOW) and about["store"] == store
    extra = {"npy": {"images.npy"}, "dat": {"images.dat"}}.get(store, {f"{i:05d}" for i in range(4)})
    assert {p.name for p in output.iterdir()} == {"sequences.npy", "labels.npy", "index.csv", "run.json"} | extra


@pytest.mark.filterwarnings("error")
def test_zarr_holds_the_numbers_too(source, truth, tmp_path):
    group = zarr.open(draw(source, tmp_path / "c.zarr", "--store", "zarr"), mode="r")
    assert sorted(name for name, _ in group.members()) == ["images", "index", "labels", "sequences"]
    assert group["images"].chunks == (1, HEIGHT, WIDTH) and group["images"].shards == (SHARD, HEIGHT, WIDTH)
    np.testing.assert_array_equal(group["sequences"][:], truth["sequences"])
    np.testing.assert_array_equal(group["labels"][:], truth["labels"])
    assert group["labels"].attrs["horizons"] == [5, 20] and group.attrs["window"] == str(WINDOW)
    assert group["index/row"][:].tolist() == list(range(CHARTS)) and not group["index/file"][:].any()
    columns = [group[f"index/{name}"][:].tolist() for name in ("file", "row", "symbol", "date", "end_date", "end_time")]
    assert list(zip(*columns)) == truth["index"]


def test_webdataset_samples_are_whole(source, truth, tmp_path):
    output = draw(source, tmp_path / "c", "--store", "webdataset")
    members = samples(output)
    assert len(members) == 3 * CHARTS
    for i in range(CHARTS):
        (png, _), (sequence, values), (about, text) = members[3 * i : 3 * i + 3]
        assert [png, sequence, about] == [f"{i:09d}.{e}" for e in ("png", "sequence.npy", "json")]
        np.testing.assert_array_equal(np.load(io.BytesIO(values)), truth["sequences"][i])
        told = json.loads(text)
        assert told["chart"] == i
        assert tuple(told[name] for name in ("file", "row", "symbol", "date", "end_date", "end_time")) == truth["index"][i]
        labels = [told["labels"][h] for h in ("5", "20")]
        np.testing.assert_array_equal(np.array([np.nan if v is None else v for v in labels], np.float32), truth["labels"][i])


@pytest.mark.parametrize("store", STORES)
def test_any_threads_shards_and_level_give_the_same_store(source, tmp_path, store):
    expected = content_of(draw(source, tmp_path / "whole", "--store", store))
    for number, (options, env) in enumerate([(["--threads", "1"], {}), (["--threads", "5"], {}), ([], {"MILLRACE_CPU": "baseline"})]):
        output = tmp_path / str(number)
        millrace("render", source, "-o", output, "--window", str(WINDOW), "--size", f"{WIDTH}x{HEIGHT}", "--labels", "5,20",
                 "--shard", str(SHARD), "--store", store, *options, env=env)
        assert content_of(output) == expected, options
    sharded = draw(source, tmp_path / "sharded", "--store", store, "--shard", "7")
    # Shards divide charts among files; what is in a chart does not change.
    if store == "hdf5":
        assert content_of(sharded) == expected
    elif store in ("npy", "dat"):
        assert content_of(sharded) | {"run.json": b""} == expected | {"run.json": b""}
    elif store == "webdataset":
        assert samples(sharded) == samples(tmp_path / "whole")
    elif store == "zarr":
        one, other = zarr.open(sharded, mode="r"), zarr.open(tmp_path / "whole", mode="r")
        for name in ("images", "sequences", "labels", "index/file", "index/row", "index/symbol", "index/date", "index/end_date", "index/end_time"):
            np.testing.assert_array_equal(one[name][:], other[name][:])
    else:
        one, other = ({p.name: p.read_bytes() for p in folder.rglob("*") if p.name != "run.json" and p.is_file()}
                      for folder in (sharded, tmp_path / "whole"))
        assert one == other and len(one) == CHARTS + 3


@pytest.mark.parametrize("store", STORES[1:])
def test_a_finished_store_is_left_alone(source, tmp_path, store):
    output = draw(source, tmp_path / "c", "--store", store)
    before = content_of(output)
    for name in (output, f"{output}/"):
        done = millrace("render", source, "-o", name, "--window", str(WINDOW), "--size", f"{WIDTH}x{HEIGHT}", "--labels",
                        "5,20", "--shard", str(SHARD), "--store", store)
        assert b"nothing to do" in done.stderr
    refused = millrace("render", source, "-o", output, "--store", store, check=False)
    assert refused.returncode == 1 and b"was '30', is '100'" in refused.stderr
    for other in STORES:
        if other != store:
            assert millrace("render", source, "-o", output, "--store", other, check=False).returncode == 1
    assert content_of(output) == before and [p.name for p in tmp_path.iterdir()] == ["c"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear all")
    refused = millrace("render", source, "-o", tmp_path / "mine", "--store", store, check=False)
    assert refused.returncode == 1 and b"not an output of this job" in refused.stderr
    assert content_of(tmp_path / "mine") == {"letter.txt": b"dear all"}


@pytest.mark.parametrize("charts", [CHARTS, 3 * SHARD, SHARD, 5, SHARD + 1])
def test_a_virtual_dataset(source, truth, tmp_path, charts):
    (tmp_path / "a%b").mkdir()  # HDF5 counts files where it finds %b
    output = draw(source, tmp_path / "a%b/c.h5", "--virtual", "--limit", str(charts))
    with h5py.File(output) as store:
        assert store["images"].is_virtual and store["images"].shape == (charts, HEIGHT, WIDTH)
        np.testing.assert_array_equal(store["images"][:], truth["gray"][:charts])
        np.testing.assert_array_equal(store["images"][charts - 1], truth["gray"][charts - 1])
        np.testing.assert_array_equal(store["sequences"][:], truth["sequences"][:charts])
    # Names are relative: the folder may move.
    (tmp_path / "a%b").rename(tmp_path / "moved")
    output, shards = tmp_path / "moved/c.h5", tmp_path / "moved/c.h5.shards"
    with h5py.File(output) as store:
        np.testing.assert_array_equal(store["images"][:], truth["gray"][:charts])
    # Where a shard is missing, the charts end, and what comes after is an error, not black.
    for k in range(len(list(shards.glob("*.h5")))):
        (shards / f"{k}.h5").rename(tmp_path / "away")
        with h5py.File(output) as store:
            assert store["images"].shape[0] == k * SHARD
            for chart in (k * SHARD, charts - 1):
                with pytest.raises((IndexError, ValueError)):
                    store["images"][chart]
        (tmp_path / "away").rename(shards / f"{k}.h5")


def test_a_virtual_dataset_is_mended(source, truth, tmp_path):
    output = draw(source, tmp_path / "c.h5", "--virtual")
    before = content_of(tmp_path)
    assert b"nothing to do" in millrace("render", source, "-o", output, "--window", str(WINDOW), "--size",
                                        f"{WIDTH}x{HEIGHT}", "--labels", "5,20", "--shard", str(SHARD), "--virtual").stderr
    (tmp_path / "c.h5.shards/1.h5").unlink()
    draw(source, output, "--virtual")
    assert content_of(tmp_path) == before


def test_colours(tmp_path):
    np.save(tmp_path / "p.npy", np.array([[2.0, 4, 1, 3], [3, 3.5, 1.5, 2], [2, 2.5, 1.8, 2]]))
    args = ["render", tmp_path / "p.npy", "--style", "candle", "--window", "3", "--size", "30x61"]
    millrace(*args, "-o", tmp_path / "c.h5", "--rising", "#00a040", "--falling", "#d02020", "--paper", "#101018", "--ink",
             "#c0c0c0")
    millrace(*args, "-o", tmp_path / "gray.h5")
    with h5py.File(tmp_path / "c.h5") as store, h5py.File(tmp_path / "gray.h5") as gray:
        image, plain = store["images"][0], gray["images"][0]
    look = {(0x10, 0x10, 0x18), (0x00, 0xA0, 0x40), (0xD0, 0x20, 0x20), (0xC0, 0xC0, 0xC0)}
    assert {tuple(int(v) for v in p) for p in image.reshape(-1, 3)} == look
    assert set(np.unique(plain)) == {0, 51, 255}
    np.testing.assert_array_equal((image == (0x10, 0x10, 0x18)).all(-1), plain == 255)
    np.testing.assert_array_equal((image == (0x00, 0xA0, 0x40)).all(-1), plain == 51)
    for options, words in [(["--ink", "#12345"], b"is not a colour"), (["--ink", "blue"], b"whole number"),
                           (["--channels", "gray", "--ink", "#ff0000"], b"does not support the given colours")]:
        done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "d.h5", "--window", "3", *options, check=False)
        assert done.returncode == 2 and words in done.stderr, done.stderr
    done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "d.h5", "--window", "3", "--rising", "5", check=False)
    assert done.returncode == 2 and b"has one colour" in done.stderr
    # A sheet has the same colours.
    millrace(*args, "-o", tmp_path / "s.png", "--sample", "1", "--rising", "#00a040", "--paper", "#101018")
    assert np.asarray(Image.open(tmp_path / "s.png")).shape == (61 + 16, 30 + 16, 3)


def test_a_virtual_store_is_no_other(source, tmp_path):
    output = draw(source, tmp_path / "v.h5", "--virtual")
    before = content_of(tmp_path)
    args = ["render", source, "-o", output, "--window", str(WINDOW), "--size", f"{WIDTH}x{HEIGHT}", "--labels", "5,20"]
    refused = millrace(*args, check=False)
    assert refused.returncode == 1 and b"--virtual was 'true', is 'false'" in refused.stderr
    assert content_of(tmp_path) == before
    # Its shards alone are not taken over either.
    output.rename(tmp_path / "away")
    refused = millrace(*args, "--shard", str(SHARD), check=False)
    assert refused.returncode == 1 and b"--virtual was 'true'" in refused.stderr
    (tmp_path / "away").rename(output)
    assert content_of(tmp_path) == before


def test_what_others_have_beside_an_output_stays(source, tmp_path):
    draw(source, tmp_path / "c.h5")
    draw(source, tmp_path / "c.h5.shards", "--store", "npy")
    before = content_of(tmp_path)
    assert b"nothing to do" in millrace("render", source, "-o", tmp_path / "c.h5", "--window", str(WINDOW), "--size",
                                        f"{WIDTH}x{HEIGHT}", "--labels", "5,20").stderr
    assert content_of(tmp_path) == before
    group = tmp_path / "group"
    group.mkdir()
    (group / "zarr.json").write_text('{"zarr_format":3,"node_type":"group","attributes":{"title":"mine"}}')
    (group / "run.json").write_text("notes")
    refused = millrace("render", source, "-o", group, "--store", "zarr", check=False)
    assert refused.returncode == 1 and b"not an output of this job" in refused.stderr
    assert (group / "run.json").read_text() == "notes"
    (tmp_path / "link").symlink_to("nowhere")
    refused = millrace("render", source, "-o", tmp_path / "link", check=False)
    assert refused.returncode == 1 and b"symbolic link to a missing file" in refused.stderr
    refused = millrace("render", source, "-o", tmp_path / "no/such/c.h5", check=False)
    assert refused.returncode == 1 and b"create the folder first" in refused.stderr


@pytest.mark.parametrize("store", STORES)
def test_a_folder_that_is_reached_through_a_link(tmp_path, store):
    (tmp_path / "p.csv").write_bytes(b"close\n" + b"".join(b"%d\n" % (100 + i % 7) for i in range(40)))
    (tmp_path / "disk").mkdir()
    (tmp_path / "way").symlink_to("disk")
    command = ("render", tmp_path / "p.csv", "-o", tmp_path / "way" / "c", "--window", "5", "--size", "20x10", "--store", store)
    millrace(*command)
    assert [p.name for p in (tmp_path / "disk").iterdir()] == ["c"]
    assert b"nothing to do" in millrace(*command).stderr


@pytest.mark.parametrize("store", STORES)
def test_dates_that_are_not_utf_8(tmp_path, store):
    (tmp_path / "p.csv").write_bytes(b"date,close\n" + b"".join(b"%d f\xe9vrier,%d\n" % (i, 100 + i % 7) for i in range(12)))
    output = tmp_path / "c"
    millrace("render", tmp_path / "p.csv", "-o", output, "--window", "10", "--size", "40x30", "--store", store)
    if store == "hdf5":
        with h5py.File(output) as file:
            dates = [date.decode() for date in file["index"]["date"]]
    elif store == "zarr":
        dates = list(zarr.open(output, mode="r")["index/date"][:])
    elif store == "webdataset":
        dates = [json.loads(text)["date"] for name, text in samples(output) if name.endswith(".json")]
    else:
        with open(output / "index.csv", newline="", encoding="utf-8") as file:
            dates = [row["date"] for row in csv.DictReader(file)]
    assert len(dates) == 3 and all(date.startswith(f"{i} f") and "vrier" in date for i, date in enumerate(dates))


def test_prices_beyond_all_bounds_are_gaps(tmp_path):
    values = np.array([1e308, 5, -1e308, 6, np.inf, 7, 8, 9])
    np.save(tmp_path / "p.npy", values)
    done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "8", "--size", "80x40")
    assert b"3 rows lack a usable price" in done.stderr
    np.save(tmp_path / "q.npy", np.where(np.abs(values) < 1e300, values, np.nan))
    millrace("render", tmp_path / "q.npy", "-o", tmp_path / "d.h5", "--window", "8", "--size", "80x40")
    with h5py.File(tmp_path / "c.h5") as c, h5py.File(tmp_path / "d.h5") as d:
        np.testing.assert_array_equal(c["images"][:], d["images"][:])


def test_a_sheet_is_paid_for(tmp_path):
    np.save(tmp_path / "p.npy", np.arange(300.0))
    done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "s.png", "--sample", "60", "--size", "4000x3000", "--memory",
                    "512M", check=False)
    assert done.returncode == 1 and b"the sheet" in done.stderr and not (tmp_path / "s.png").exists()
