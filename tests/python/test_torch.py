"""millrace.torch: the charts of stores and of ChartDrawer, each once an epoch, in workers that are forked and spawned."""

import copy
import gc
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import torch_here  # noqa: E402, F401
from package import ENVIRONMENT, millrace  # noqa: E402
from program import millrace as program  # noqa: E402

import torch  # noqa: E402
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, Subset, default_collate  # noqa: E402

import millrace.torch  # noqa: E402
from millrace.torch import Chart, Charts  # noqa: E402

ROWS, WIDTH, HEIGHT, STRIDE, HORIZONS = 20, 61, 40, 3, (5, 20)
DRAWING = {"rows": ROWS, "width": WIDTH, "height": HEIGHT}
STORES = ["hdf5", "zarr", "npy", "dat", "png", "jpeg", "webdataset"]


def bars(seed, rows):
    rng = np.random.default_rng(seed)
    close = 100 * np.exp(np.cumsum(rng.normal(0, 0.02, rows)))
    made = np.stack([close * 0.99, close * 1.02, close * 0.97, close, rng.integers(1, 900, rows)], axis=1)
    made[7, 3], made[rows - 4, 3], made[rows // 2, 3] = np.nan, np.nan, -1.0
    return made


SERIES = {"A": bars(1, 90), "B": bars(2, 25), "short": bars(3, ROWS - 1), "C": bars(4, 61)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series")
    paths = []
    for name, rows in SERIES.items():
        paths.append(folder / f"{name}.csv")
        text = "\n".join(",".join("" if value != value else repr(float(value)) for value in row) for row in rows)
        paths[-1].write_text("open,high,low,close,volume\n" + text + "\n")
    return paths


@pytest.fixture(scope="module")
def stores(files, tmp_path_factory):
    """Made when they are asked for: a store by its kind and options."""
    folder, made = tmp_path_factory.mktemp("stores"), {}

    def store(kind, *options, size=("--size", f"{WIDTH}x{HEIGHT}")):
        key = (kind, options, size)
        if key not in made:
            made[key] = folder / str(len(made))
            program("render", *files, "-o", made[key], "--store", kind, "--window", str(ROWS), "--stride", str(STRIDE), *size,
                    "--labels", "5,20", "--shard", "16", *options)
        return made[key]

    return store


@pytest.fixture(scope="module")
def drawn():
    return Charts(SERIES, stride=STRIDE, labels=HORIZONS, **DRAWING)


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, Chart):
        return torch.equal(one.image, other.image) and torch.equal(one.labels.nan_to_num(9), other.labels.nan_to_num(9))
    return torch.equal(one, other)


def joined(batches):
    batches = list(batches)
    if isinstance(batches[0], Chart):
        return Chart(torch.cat([batch.image for batch in batches]), torch.cat([batch.labels for batch in batches]))
    return torch.cat(batches)


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
    for source, words in ((np.zeros((40, 3)), "3 columns"), (np.zeros((2, 40, 4)), "3 axes"), (["a", "b"] * 20, "no array of numbers"), ({}, "no series"),
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
        assert error.value.code in ("bad_data", "io") and "Ghostscript" not in str(error.value)
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


# ---- loaders


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gives_what_the_dataset_gives(workers, drawn):
    whole = drawn[:]
    unlabelled = Charts(SERIES, stride=STRIDE, **DRAWING)
    assert type(unlabelled[3]) is type(unlabelled[[3]]) is torch.Tensor and torch.equal(unlabelled[3], whole.image[3])
    assert same(joined(DataLoader(drawn, batch_size=7, num_workers=workers)), whole)
    batches = list(DataLoader(unlabelled, batch_size=7, num_workers=workers))
    assert torch.equal(joined(batches), whole.image) and all(type(batch) is torch.Tensor for batch in batches)
    # Numbers as a sampler gives them, without torch's collating; part of the dataset; a shuffled one.
    lists = DataLoader(drawn, sampler=BatchSampler(range(len(drawn)), 7, False), batch_size=None, num_workers=workers)
    assert same(joined(lists), whole)
    part = list(range(20, 3, -2))
    assert same(joined(DataLoader(Subset(drawn, part), batch_size=4, num_workers=workers)), drawn[part])
    orders = [joined(DataLoader(drawn, batch_size=5, num_workers=workers, sampler=RandomSampler(drawn, generator=torch.Generator().manual_seed(3)))) for _ in range(2)]
    assert same(*orders) and not same(orders[0], whole)
    assert sorted(image.numpy().tobytes() for image in orders[0].image) == sorted(image.numpy().tobytes() for image in whole.image)


def negative(image):
    assert type(image) in (torch.Tensor, millrace.torch._lending.Lent) and image.shape == (1, HEIGHT, WIDTH)
    return 1 - image.float() / 255


def rises(labels):
    return (labels[0] > 0).long()


@pytest.mark.parametrize("workers", [0, 2])
def test_transforms(workers, drawn):
    charts = Charts(SERIES, stride=STRIDE, labels=HORIZONS, transform=negative, target_transform=rises, **DRAWING)
    whole = drawn[:]
    got = joined(DataLoader(charts, batch_size=6, num_workers=workers))
    assert torch.equal(got.image, 1 - whole.image.float() / 255) and torch.equal(got.labels, (whole.labels[:, 0] > 0).long())
    image, label = charts[4]
    assert torch.equal(image, got.image[4]) and label == got.labels[4]
    images = joined(DataLoader(Charts(SERIES, stride=STRIDE, transform=negative, **DRAWING), batch_size=6, num_workers=workers))
    assert torch.equal(images, got.image)


def own_collate(batch):
    images, labels = default_collate(batch)
    return images.float(), labels[:, 0], len(batch), [sample.image.sum() for sample in batch][0], batch[1].image


def test_a_collate_function_of_ones_own(drawn):
    begin = 0
    for images, first, count, ink, second in DataLoader(drawn, batch_size=6, num_workers=2, collate_fn=own_collate):
        expected = drawn[begin : begin + count]
        assert torch.equal(images, expected.image.float()) and torch.equal(first.nan_to_num(9), expected.labels[:, 0].nan_to_num(9))
        assert ink == expected.image[0].sum() and torch.equal(second, expected.image[1])
        begin += count
    assert begin == len(drawn)


def many_of_one(batch):
    whole = default_collate(batch)
    again = pickle.loads(pickle.dumps(whole))
    return [whole, copy.deepcopy(whole), again, Chart(whole.image, whole.labels), whole.image[1:], whole.image.permute(0, 1, 3, 2)]


def test_what_is_sent_more_than_once_stays_as_it_is(drawn):
    for workers in (0, 2):
        kept = list(DataLoader(drawn, batch_size=3, num_workers=workers, collate_fn=many_of_one))
        for number, (*charts, part, turned) in enumerate(kept):
            expected = drawn[3 * number : 3 * number + 3]
            assert all(same(one, expected) for one in charts) and torch.equal(part, expected.image[1:]) and torch.equal(turned, expected.image.mT)


class Keeping(torch.utils.data.Dataset):
    """Gives the same batch again and again."""

    def __init__(self, charts):
        self.charts, self.batch = charts, None

    def __len__(self):
        return 40

    def __getitem__(self, number):
        self.batch = self.batch if self.batch is not None and number % 10 else self.charts[[number % 30, 1, 2]]
        return self.batch


def test_a_batch_that_a_worker_keeps_and_sends_again(drawn):
    for number, got in enumerate(DataLoader(Keeping(drawn), batch_size=None, num_workers=1)):
        if number % 3 == 0:
            kept = got
        assert same(got, drawn[[number // 10 * 10 % 30, 1, 2]]) and same(kept, drawn[[number // 3 * 3 // 10 * 10 % 30, 1, 2]])


def test_batches_that_are_kept_stay_as_they_are():
    """Memory that a worker uses again is nowhere shown any more."""
    charts = Charts(bars(9, 2000), labels=1, **DRAWING)
    whole, random = charts[:], np.random.default_rng(1)
    kept, begin = [], 0
    for images, labels in DataLoader(charts, batch_size=8, num_workers=2, prefetch_factor=4):
        assert type(images) is torch.Tensor and images.is_contiguous()
        numbers, begin = slice(begin, begin + len(images)), begin + len(images)
        # Some whole, some a part of them, some by NumPy alone; most are let go.
        kept.append((numbers, [(images, labels), (images[2:], None), (images.numpy(), None), (None, labels), (None, None)][random.integers(5)]))
        if random.random() < 0.5:
            kept.pop(random.integers(len(kept)))
    assert begin == len(charts) and len(kept) > 30
    del images, labels
    for numbers, (images, labels) in kept:
        if images is not None:
            np.testing.assert_array_equal(np.asarray(images), whole.image[numbers].numpy()[-len(images) :])
        if labels is not None:
            np.testing.assert_array_equal(labels.numpy(), whole.labels[numbers].numpy())
    everything = list(DataLoader(charts, batch_size=8, num_workers=2))
    assert same(joined(everything), whole)


def test_memory_that_workers_lent_goes_with_them(drawn):
    list(DataLoader(drawn, batch_size=4, num_workers=2))
    gc.collect()
    assert not millrace.torch._lending._known


# ---- the iterable form


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("batch", [None, 7])
def test_a_stream_gives_each_chart_once_an_epoch(batch, drawn):
    stream = drawn.stream(seed=5, batch=batch)
    whole = sorted(image.numpy().tobytes() for image in drawn[:].image)
    options = {"batch_size": None} if batch else {"batch_size": 4}
    seen = {}
    for epoch in (0, 1):
        stream.set_epoch(epoch)
        for workers in (0, 1, 2, 3):
            loader = DataLoader(stream, num_workers=workers, **options)
            got, again = joined(loader), joined(loader)
            assert same(got, again)
            assert sorted(image.numpy().tobytes() for image in got.image) == whole
            seen[epoch, workers] = got
        assert not same(seen[epoch, 0], drawn[:])
    assert not any(same(seen[0, workers], seen[1, workers]) for workers in (0, 1, 2, 3))
    if batch:
        # Whole batches go round the workers: the order is that of one process.
        assert all(same(seen[0, workers], seen[0, 0]) for workers in (1, 2, 3))
        assert len(stream) == -(-len(drawn) // 7) and len(drawn.stream(batch=7, drop_last=True)) == len(drawn) // 7
        assert same(seen[1, 0], drawn[stream.order()])
    else:
        assert len(stream) == len(drawn)
    other = drawn.stream(seed=6, batch=batch)
    other.set_epoch(1)
    assert not same(joined(DataLoader(other, **options)), seen[1, 0])
    plain = drawn.stream(shuffle=False, batch=batch)
    assert same(joined(DataLoader(plain, **options)), drawn[:])


def test_workers_that_live_on_see_the_next_epoch(drawn):
    stream = drawn.stream(batch=8)
    loader = DataLoader(stream, batch_size=None, num_workers=2, persistent_workers=True)
    orders = []
    for epoch in (0, 1, 0):
        stream.set_epoch(epoch)
        orders.append(joined(loader))
        assert same(orders[-1], drawn[stream.order()])
    assert same(orders[0], orders[2]) and not same(orders[0], orders[1])
    assert pickle.loads(pickle.dumps(stream)).epoch == 0 and len(drawn.stream(batch=8, drop_last=True)) == len(list(drawn.stream(batch=8, drop_last=True)))


def test_wrong_streams(drawn):
    for options in ({"batch": 0}, {"batch": 2.5}, {"drop_last": True}, {"seed": -1}, {"seed": None}):
        with pytest.raises(millrace.UsageError, match=list(options)[0]):
            drawn.stream(**options)


# ---- processes

SPAWNED = """
import json, sys
import torch
from torch.utils.data import DataLoader
from millrace.torch import Charts
import numpy as np

if __name__ == "__main__":
    series = np.load(sys.argv[1])
    for charts in (Charts(series, rows=20, width=61, height=40, labels=5), *map(Charts, sys.argv[2:])):
        first = charts[0]
        got = [batch.image for batch in DataLoader(charts, batch_size=16, num_workers=2, multiprocessing_context="spawn")]
        assert torch.equal(torch.cat(got), charts[:].image) and torch.equal(charts[0].image, first.image)
    stream = charts.stream(batch=16)
    loader = DataLoader(stream, batch_size=None, num_workers=1, multiprocessing_context="spawn", persistent_workers=True)
    for epoch in (0, 1):
        stream.set_epoch(epoch)
        assert torch.equal(torch.cat([batch.image for batch in loader]), charts[stream.order()].image)
    print("same")
"""


def test_workers_that_are_spawned(stores, tmp_path):
    np.save(tmp_path / "series.npy", SERIES["A"])
    (tmp_path / "spawned.py").write_text(SPAWNED)
    environment = dict(ENVIRONMENT, PYTHONPATH=os.pathsep.join([ENVIRONMENT["PYTHONPATH"], *sys.path[1:]]))
    done = subprocess.run([sys.executable, tmp_path / "spawned.py", tmp_path / "series.npy", stores("zarr"), stores("hdf5")], env=environment,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "same\n" and "leaked" not in done.stderr, done.stderr


@pytest.mark.parametrize("kind", STORES)
def test_forked_workers_open_their_own_files(kind, stores):
    charts = Charts(stores(kind))
    whole = charts[:]  # which opens them here
    loader = DataLoader(charts, batch_size=5, num_workers=2, multiprocessing_context="fork")
    iterators = [iter(loader), iter(loader)]
    for begin in range(0, len(charts), 5):
        here = charts[begin : begin + 5]
        for iterator in iterators:
            assert same(next(iterator), here)
    assert same(charts[:], whole)


def test_nothing_open_is_pickled(stores, drawn):
    for copied in (pickle.loads(pickle.dumps(drawn)), copy.deepcopy(drawn), pickle.loads(pickle.dumps(drawn.stream())).charts):
        assert same(copied[:], drawn[:])
    for kind in STORES:
        charts = Charts(stores(kind))
        size = len(pickle.dumps(charts))
        assert charts[:] is not None and charts.labels is not None
        assert len(pickle.dumps(charts)) == size < 2000
        assert str(charts._source.path) == str(stores(kind))


def test_files_stay_open_and_labels_are_read_once(stores, monkeypatch):
    for kind in STORES:
        charts = Charts(stores(kind))
        charts[0], charts.labels
        for name in ("_open", "_read_labels"):
            monkeypatch.setattr(type(charts._source), name, lambda self: pytest.fail("again"))
        charts[3], charts[[1, 2]], charts.labels
        monkeypatch.undo()


def test_the_loaders_that_the_documentation_shows(stores, drawn):
    import re

    import h5py  # noqa: F401
    import numpy
    import PIL.Image
    import zarr

    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/render.md").read_text()
    hdf5, others = (block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "h5py" in block or "memmap" in block)
    names = {}
    exec(hdf5, names)
    charts = names["Charts"](stores("hdf5"))
    images, labels = (torch.cat(part) for part in zip(*DataLoader(charts, batch_size=9, num_workers=2)))
    assert torch.equal(images, drawn[:].image.float() / 255)
    np.testing.assert_array_equal(labels.numpy(), drawn.labels)
    kept = charts[0] and charts.images
    assert charts[1] and charts.images is kept
    for line in others.splitlines():
        code, _, kind = line.partition("  #")
        kind = kind.strip().split(",")[0]
        if kind in ("zarr", "npy", "dat", "png"):
            known = {"zarr": zarr, "numpy": numpy, "PIL": PIL, "path": str(stores(kind)), "height": HEIGHT, "width": WIDTH, "shard": 16, "i": 17}
            if kind == "png":
                image = np.asarray(eval(code, known))
            else:
                exec(code, known)
                image = known["images"][17]
            np.testing.assert_array_equal(image, drawn[17].image[0].numpy())


def test_a_worker_draws_on_one_thread(drawn, monkeypatch):
    assert drawn._drawer().options["threads"] == 0
    monkeypatch.setattr(millrace.torch, "get_worker_info", lambda: True)
    assert drawn._drawer().options["threads"] == 1
    assert Charts(SERIES, threads=3, **DRAWING)._drawer().options["threads"] == 3


def test_millrace_alone_imports_none_of_it():
    code = "import sys, millrace; millrace.ChartDrawer; print(sorted({'torch', 'h5py', 'zarr', 'PIL', 'pandas', 'millrace.torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever who runs the tests has inherited
import sys
import numpy as np
from torch.utils.data import DataLoader
from millrace.torch import Charts

charts = Charts(np.random.default_rng(1).normal(100, 1, 3_000_000), rows=60, width=224, height=224, labels=5)
print("ready", flush=True)
for batch in (DataLoader(charts, batch_size=64, num_workers=int(sys.argv[1])) if sys.argv[1] != "all" else [charts[:200_000]]):
    pass
"""


@pytest.mark.parametrize("workers", ["0", "2", "all"])
def test_ctrl_c_ends_it(workers, tmp_path):
    (tmp_path / "loop.py").write_text(INTERRUPTED)
    environment = dict(ENVIRONMENT, PYTHONPATH=os.pathsep.join([ENVIRONMENT["PYTHONPATH"], *sys.path[1:]]))
    # As a terminal does: to the workers as well.
    with subprocess.Popen([sys.executable, tmp_path / "loop.py", workers], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        assert run.stdout.readline() == "ready\n"
        time.sleep(1.0)
        begin = time.monotonic()
        os.killpg(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=60)
        assert run.returncode == -signal.SIGINT and "KeyboardInterrupt" in said and time.monotonic() - begin < 20
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)


def test_what_the_docstring_shows_is_so():
    import doctest

    done = doctest.testmod(millrace.torch, extraglobs={"millrace": millrace})
    assert done.attempted > 0 and done.failed == 0
