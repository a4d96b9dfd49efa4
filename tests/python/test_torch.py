"""millrace.torch: the charts of stores and of ChartDrawer as a dataset, and what is wrong with them in words."""

import copy
import json
import os
import pathlib
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from chart_datasets import DRAWING, HEIGHT, HORIZONS, ROWS, SERIES, STORES, STRIDE, WIDTH, drawn, files, joined, same, stores  # noqa: E402, F401
from package import millrace  # noqa: E402
from program import millrace as program  # noqa: E402

import torch  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

import millrace.torch  # noqa: E402
from millrace.torch import Chart, Charts  # noqa: E402


# ---- what a chart is


def test_charts_are_those_of_the_drawer(drawn):
    close = SERIES["A"][:, 3]
    drawer = millrace.ChartDrawer(**DRAWING)
    assert len(drawn) == sum(max(0, (len(rows) - ROWS) // STRIDE + 1) for rows in SERIES.values())
    for number in (0, 1, 5):
        image, labels = drawn[number]
        first = number * STRIDE
        assert image.shape == (1, HEIGHT, WIDTH) and image.dtype == torch.uint8 and type(image) is torch.Tensor
        np.testing.assert_array_equal(image[0].numpy(), drawer(close[first : first + ROWS].copy()))
        last = first + ROWS - 1
        expected = [close[last + h] / close[last] - 1 if close[last] > 0 else np.nan for h in HORIZONS]
        np.testing.assert_array_equal(labels.numpy(), np.array(expected, np.float32))
    assert same(drawn[-1], drawn[len(drawn) - 1]) and same(drawn[np.int64(3)], drawn[torch.tensor(3)])
    assert drawn[torch.tensor([3])].image.shape == drawn[np.array([3])].image.shape == (1, 1, HEIGHT, WIDTH)
    assert sum(1 for _ in drawn) == len(drawn)
    assert list(drawn.index["symbol"][[0, -1]]) == ["A", "C"] and drawn.index["row"][1] == STRIDE
    assert drawn.labels.shape == (len(drawn), 2) and drawn.labels.dtype == np.float32


def test_what_picks_charts(drawn):
    whole = drawn[:]
    assert whole.image.shape == (len(drawn), 1, HEIGHT, WIDTH) and whole.labels.shape == (len(drawn), 2)
    for key in ([3, 1, 3], np.array([3, 1, 3]), torch.tensor([3, 1, 3]), (3, 1, 3), [-len(drawn) + 3, 1, 3]):
        assert same(drawn[key], Chart(whole.image[[3, 1, 3]], whole.labels[[3, 1, 3]]))
    mask = drawn.index["symbol"] == "B"
    assert same(drawn[mask], Chart(whole.image[mask], whole.labels[mask]))
    only = drawn.only(mask)
    assert len(only) == mask.sum() > 0 and same(only[:], drawn[mask]) and set(only.index["symbol"]) == {"B"}
    assert same(only.only([1])[0], only[1]) and len(drawn[[]].image) == 0
    np.testing.assert_array_equal(only.labels, drawn.labels[mask])
    for wrong in (len(drawn), -len(drawn) - 1, [0, len(drawn)]):
        with pytest.raises(IndexError, match=f"there are {len(drawn)} charts") as error:
            drawn[wrong]
        assert isinstance(error.value, millrace.Error) and error.value.code == "usage"
    for wrong in ("close", 1.5, [[1, 2]], [True, False]):
        with pytest.raises(millrace.UsageError, match="are picked by"):
            drawn[wrong]


@pytest.mark.parametrize("style", [
    {"style": "candle", **DRAWING}, {"style": "candle", "volume": True, "average": 6, **DRAWING}, {"volume": True, **DRAWING},
    {"style": "ohlc", "rows": ROWS, "height": 40}, {"style": "jkx", "rows": 20}, {"ink": "#c00020", **DRAWING},
    {"scale": "log", **DRAWING}, {"average": 9, **DRAWING}])
def test_every_style_is_that_of_render(style, stores):
    options, size = [], ("--size", f"{style['width']}x{HEIGHT}") if "width" in style else ()
    size = ("--size", f"x{HEIGHT}") if style.get("style") == "ohlc" else size
    for name, value in style.items():
        flag = {"average": "--ma", "rows": "--window"}.get(name, f"--{name}")
        if name not in ("width", "height", "rows"):
            options += [flag] if value is True else [flag, str(value)]
    stored = Charts(stores("hdf5", *options, size=size))
    assert same(Charts(SERIES, stride=STRIDE, labels=HORIZONS, **style)[:], stored[:])


@pytest.mark.parametrize("dtype", ["u8", "f32", "bit"])
@pytest.mark.parametrize("kind", STORES)
def test_every_store_gives_the_same(kind, dtype, stores, drawn):
    if dtype == "f32" and kind in ("png", "jpeg", "webdataset") or dtype == "bit" and kind == "jpeg":
        pytest.skip("render writes no such store")
    path = stores(kind, "--dtype", dtype)
    whole = drawn[:].image
    expected = torch.where(whole >= 128, 255, 0).to(torch.uint8) if dtype == "bit" else whole
    charts = Charts(path)
    assert charts.horizons == HORIZONS and charts.image_shape == (1, HEIGHT, WIDTH) and len(charts) == len(drawn)
    for read in (charts, pickle.loads(pickle.dumps(charts)), copy.deepcopy(charts)):
        got = read[:]
        if kind == "jpeg":
            assert (got.image.int() - expected.int()).abs().float().mean() < 1
        else:
            assert torch.equal(got.image, expected)
        np.testing.assert_array_equal(got.labels.numpy(), drawn.labels)
        np.testing.assert_array_equal(read.labels, drawn.labels)
    if kind != "jpeg":
        floats = Charts(path, dtype=torch.float32)[[4, 2]].image
        assert torch.equal(floats, expected[[4, 2]].float() / 255)
    assert torch.equal(charts[[9, 2, 9]].image, charts[:].image[[9, 2, 9]])
    index = charts.index
    np.testing.assert_array_equal(index["row"], drawn.index["row"])
    assert set(index["file"]) == {0, 1, 3}
    one = Charts(path, labels=20)
    np.testing.assert_array_equal(one[:].labels[:, 0].numpy(), drawn.labels[:, 1])
    assert isinstance(Charts(path, labels=())[0], torch.Tensor)


def test_the_index_of_every_store_is_the_same(tmp_path):
    (tmp_path / "p.csv").write_text("date,symbol,close\n" + "".join(f"2021-01-{d:02},{'AB'[d % 2]}é,{100 + d * d % 7}\n" for d in range(1, 31)))
    expected = None
    for kind in STORES:
        program("render", tmp_path / "p.csv", "-o", tmp_path / kind, "--store", kind, "--window", "5", "--size", "20x10", "--shard", "7", "--by", "symbol")
        charts = Charts(tmp_path / kind)
        index = {name: (column.dtype.kind, column.tolist()) for name, column in charts.index.items()}
        expected = expected or index
        assert index == expected and charts.labels is None and isinstance(charts[0], torch.Tensor), kind
    assert list(charts.index) == ["file", "row", "symbol", "date", "end_date", "end_time"]
    assert charts.index["end_time"][0] == np.datetime64("2021-01-10") and charts.index["symbol"][0] == "Aé"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64, "f32"])
def test_floats_are_bytes_by_255(dtype, drawn):
    charts = Charts(SERIES, stride=STRIDE, dtype=dtype, **DRAWING)
    expected = (drawn[:].image.float() / 255).to(torch.float32 if dtype == "f32" else dtype)
    assert torch.equal(charts[:], expected) and torch.equal(charts[5], expected[5])


def test_colours_are_channels(stores):
    colours = {"ink": "#c00020", "paper": "#fff0d0"}
    charts = Charts(SERIES, stride=STRIDE, **colours, **DRAWING)
    assert charts.image_shape == (3, HEIGHT, WIDTH)
    batch = charts[:4]
    assert batch.shape == (4, 3, HEIGHT, WIDTH) and batch.is_contiguous(memory_format=torch.channels_last)
    plain = millrace.ChartDrawer(**colours, **DRAWING)(SERIES["A"][:ROWS, 3].copy())
    np.testing.assert_array_equal(batch[0].permute(1, 2, 0).numpy(), plain)
    assert torch.equal(joined(DataLoader(charts, batch_size=7, num_workers=2)), charts[:])
    for kind in ("npy", "dat", "png", "webdataset"):
        stored = Charts(stores(kind, *(text for name, value in colours.items() for text in (f"--{name}", value))), labels=())
        assert torch.equal(stored[:], charts[:])


def test_series_of_every_form():
    close = SERIES["A"][:, 3]
    expected = Charts(close, **DRAWING)[:]
    tables = [close.tolist(), close[:, None], SERIES["A"], SERIES["A"][:, :4], torch.from_numpy(close), [close], {"A": close}]
    pandas = pytest.importorskip("pandas")
    tables += [pandas.Series(close), pandas.DataFrame({"volume": 1.0, "Close": close}), {"A": pandas.DataFrame(SERIES["A"], columns=["open", "high", "low", "close", "volume"])}]
    for source in tables:
        assert torch.equal(Charts(source, **DRAWING)[:], expected)
    assert torch.equal(Charts(close.astype(np.float32), **DRAWING)[:], Charts(close.astype(np.float32).astype(float), **DRAWING)[:])
    assert len(Charts(np.arange(30), **DRAWING)) == 11


# ---- what is wrong is said


@pytest.mark.parametrize("options, words", [
    ({"row": 5}, "row"), ({"dtype": "bit"}, "dtype"), ({"dtype": torch.int32}, "dtype"), ({"labels": (0,)}, "labels"), ({"labels": "5"}, "labels"),
    ({"labels": (5, 5)}, "labels"), ({"stride": 0}, "stride"), ({"rows": 10_000}, "no series has"), ({"style": "pie"}, "style"),
    ({"width": "wide"}, "width"), ({"style": "candle"}, "1 columns"), ({"volume": True}, "1 columns")])
def test_wrong_options(options, words):
    with pytest.raises(millrace.Error, match=words) as error:
        Charts(SERIES["A"][:, 3], **{**DRAWING, **options})
    assert error.value.code in ("usage", "bad_data")


def test_wrong_series():
    for source, words in ((np.zeros((40, 3)), "3 columns"), (np.zeros((2, 40, 4)), "3 axes"), (["a", "b"] * 20, "not an array of numbers"), ({}, "no series"),
                          ([], "no series"), (None, "0 axes"), ({"bad": np.zeros((40, 3))}, "bad")):
        with pytest.raises(millrace.UsageError, match=words):
            Charts(source, **DRAWING)


def test_wrong_stores(stores, tmp_path):
    with pytest.raises(millrace.Error) as error:
        Charts(tmp_path / "nowhere.h5")
    assert error.value.code == "not_found" and error.value.subject.endswith("nowhere.h5")
    (tmp_path / "text.h5").write_text("prices")
    for path in (tmp_path, tmp_path / "text.h5"):
        with pytest.raises(millrace.UsageError, match="no store of charts"):
            Charts(path)
    with pytest.raises(millrace.UsageError, match="drawn already"):
        Charts(stores("npy"), width=30)
    with pytest.raises(millrace.UsageError, match="it has 5, 20"):
        Charts(stores("npy"), labels=(7,))
    # Made by an enemy: a size below zero, numbers without a picture, another format under a picture's name.
    ustar = lambda name, size: name.ljust(124, b"\0") + size.rjust(12, b"0") + bytes(121) + b"ustar" + bytes(250)  # noqa: E731
    forged = {"minus": ustar(b"0.png", b"-0000001000"), "alone": ustar(b"0.json", b"0") + bytes(512), "long": ustar(b"0.png", b"77777777777")}
    for name, tar in forged.items():
        subprocess.run(["cp", "-r", stores("webdataset"), tmp_path / name], check=True)
        (tmp_path / name / "00001.tar").write_bytes(tar)
        with pytest.raises(millrace.Error) as error:
            Charts(tmp_path / name)[:]
        assert error.value.code == "bad_data"
    subprocess.run(["cp", "-r", stores("png"), tmp_path / "eps"], check=True)
    picture = sorted((tmp_path / "eps").rglob("*.png"))[0]
    Image = pytest.importorskip("PIL.Image")
    for other in ("EPS", "BMP", "PNG"):
        Image.new("L", (3, 3)).save(picture, format=other)
        with pytest.raises(millrace.Error) as error:
            Charts(tmp_path / "eps")[:]
        assert error.value.code == "bad_data" and "Ghostscript" not in str(error.value)
    # Sizes that the pictures do not have: memory is not taken by them.
    for kind in ("npy", "dat", "zarr", "png", "webdataset", "hdf5"):
        for told in ({"size": "100000x100000"}, {"dtype": "f32"}, {"channels": "rgb"}, {"size": f"{WIDTH}x-40"}):
            if kind in ("png", "webdataset") and "size" not in told:
                continue
            forged = tmp_path / f"{kind}-of-another-size"
            subprocess.run(["rm", "-rf", forged], check=True)
            subprocess.run(["cp", "-r", stores(kind, "--dtype", "bit"), forged], check=True)
            if kind == "hdf5":
                h5py = pytest.importorskip("h5py")
                with h5py.File(forged, "r+") as file:
                    for name, value in told.items():
                        file.attrs[name] = value
            elif kind == "zarr":
                about = json.loads((forged / "zarr.json").read_text())
                about["attributes"].update(told)
                (forged / "zarr.json").write_text(json.dumps(about))
            else:
                (forged / "run.json").write_text(json.dumps({**json.loads((forged / "run.json").read_text()), **told}))
            with pytest.raises(millrace.Error) as error:
                Charts(forged)
            assert error.value.code == "bad_data" and str(forged) in error.value.subject
    subprocess.run(["cp", "-r", stores("zarr"), tmp_path / "zarr-in-part"], check=True)
    sorted((tmp_path / "zarr-in-part/images/c").iterdir())[-1].rename(tmp_path / "elsewhere")
    with pytest.raises(millrace.Error, match="are not there") as error:
        Charts(tmp_path / "zarr-in-part")
    assert error.value.code == "bad_data", "what a Zarr array lacks is zero, which is black"
    os.mkfifo(tmp_path / "pipe.h5")
    with pytest.raises(millrace.UsageError, match="no store of charts"):
        Charts(tmp_path / "pipe.h5")
    for damage, kind in (("00001.tar", "webdataset"), ("images.npy", "npy"), ("sequences.npy", "png"), ("run.json", "npy")):
        broken = tmp_path / f"{kind}-{damage}"
        subprocess.run(["cp", "-r", stores(kind), broken], check=True)
        (broken / damage).write_bytes((broken / damage).read_bytes()[:100])
        with pytest.raises(millrace.Error) as error:
            Charts(broken)[:]
        assert error.value.code == "bad_data" and str(broken) in error.value.subject
    os.remove(tmp_path / "webdataset-00001.tar" / "00000.tar")
    with pytest.raises(millrace.Error, match="is missing"):
        Charts(tmp_path / "webdataset-00001.tar")


def test_threads_share_a_store(stores, monkeypatch):
    """Each its own charts, also where files are closed meanwhile that others read."""
    monkeypatch.setattr("millrace._stores._OPEN", 1)
    for kind in STORES:
        charts = Charts(stores(kind))
        whole = Charts(stores(kind))[:]

        def read(seed, charts=charts, whole=whole):
            for row in np.random.default_rng(seed).integers(0, len(charts), 60).tolist():
                assert same(charts[row], Chart(whole.image[row], whole.labels[row]))
            return True

        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(read, range(8)))


def test_labels_that_do_not_fit_are_never_given(stores, tmp_path):
    subprocess.run(["cp", "-r", stores("npy"), tmp_path / "npy"], check=True)
    np.save(tmp_path / "npy/labels.npy", np.load(tmp_path / "npy/labels.npy")[:-1])
    charts = Charts(tmp_path / "npy")
    for _ in range(2):
        for ask in (lambda: charts.labels, lambda: charts[0], lambda: charts[:]):
            with pytest.raises(millrace.Error, match="labels are") as error:
                ask()
            assert error.value.code == "bad_data"


def test_a_missing_shard_is_an_error(files, tmp_path):
    program("render", *files, "-o", tmp_path / "v.h5", "--virtual", "--shard", "16", "--window", "20", "--size", "30x20")
    whole = len(Charts(tmp_path / "v.h5"))
    (tmp_path / "v.h5.shards/1.h5").unlink()
    with pytest.raises(millrace.Error, match="a shard is missing") as error:
        Charts(tmp_path / "v.h5")
    assert error.value.code == "bad_data" and error.value.remedy and whole > 16


@pytest.mark.parametrize("form", ["map", "stream"])
def test_an_error_in_a_worker_keeps_its_fields(form, stores, tmp_path):
    broken = tmp_path / "png"
    subprocess.run(["cp", "-r", stores("png"), broken], check=True)
    charts = Charts(broken)
    (broken / "00000/00000003.png").unlink()
    batches = iter(DataLoader(charts, num_workers=2, batch_size=2) if form == "map" else DataLoader(charts.stream(batch=2), num_workers=2, batch_size=None))
    said = None
    try:
        for _ in batches:
            pass
    except millrace.Error as error:
        said = error.code, error.what, error.subject, str(error), error.traceback
    del batches
    code, what, subject, text, traceback = said
    assert code == "not_found" and what == "there is no such file or folder" and subject.endswith("00000003.png")
    assert "millrace.Error" not in text and "Traceback" in traceback


def test_what_the_docstring_shows_is_so():
    import doctest

    done = doctest.testmod(millrace.torch, extraglobs={"millrace": millrace})
    assert done.attempted > 0 and done.failed == 0
