"""render: what is stored is what was asked for, read by the libraries that people train with."""

import json
import pathlib
import sys

import h5py
import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import DATA, millrace  # noqa: E402
from series import days  # noqa: E402


def walk(length, seed=1):
    return 100 * np.exp(np.cumsum(np.random.default_rng(seed).normal(0, 0.01, length)))


def write_csv(path, close, extra=""):
    rows = [f"{day},{c}" for day, c in zip(days(len(close)), close)]
    path.write_text("Date,Close\n" + "\n".join(rows) + "\n" + extra)
    return path


def ink_columns(image):
    """For each column, the middle of its ink; NaN where there is none."""
    weight = 255.0 - image
    with np.errstate(invalid="ignore", divide="ignore"):
        return (weight * np.arange(len(image))[:, None]).sum(0) / weight.sum(0)


def test_a_store_holds_charts_and_what_they_were_drawn_from(tmp_path):
    close = walk(400)
    source = write_csv(tmp_path / "p.csv", close)
    millrace("render", source, "-o", tmp_path / "c.h5", "--window", "50", "--stride", "3", "--size", "160x100",
             "--labels", "5,20")
    with h5py.File(tmp_path / "c.h5") as store:
        count = (400 - 50) // 3 + 1
        assert store["images"].shape == (count, 100, 160) and store["images"].dtype == np.uint8
        assert store["images"].chunks == (1, 100, 160) and store["images"].compression == "gzip"
        rows = store["index"]["row"]
        assert rows.tolist() == [3 * i for i in range(count)]
        assert store["index"]["file"].tolist() == [0] * count
        assert store["index"]["date"][0] == b"2020-01-01" and store["index"]["date"][10] == b"2020-01-31"
        assert store["index"]["end_date"][0] == b"2020-02-19" and store["index"]["end_date"][10] == b"2020-03-20"
        assert store["index"]["end_time"].view("datetime64[ns]").astype("datetime64[D]").astype(str).tolist() == [
            date.decode() for date in store["index"]["end_date"]]
        windows = np.lib.stride_tricks.sliding_window_view(close, 50)[::3]
        np.testing.assert_array_equal(store["sequences"][:], windows.astype(np.float32))
        for column, horizon in enumerate([5, 20]):
            expected = [close[r + 49 + horizon] / close[r + 49] - 1 if r + 49 + horizon < 400 else np.nan for r in rows]
            np.testing.assert_array_equal(store["labels"][:, column], np.array(expected, np.float32))
        assert store["labels"].attrs["horizons"].tolist() == [5, 20]
        assert store.attrs["window"] == b"50" and store.attrs["size"] == b"160x100"
        assert json.loads(store.attrs["inputs"])[0]["bytes"] == source.stat().st_size


def test_the_line_runs_where_the_prices_are(tmp_path):
    # A slow wave: the middle of a column's ink is the price.
    close = 50 + 10 * np.sin(np.linspace(0, 6, 80))
    np.save(tmp_path / "p.npy", close)
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "80", "--size", "316x200")
    with h5py.File(tmp_path / "c.h5") as store:
        image = store["images"][0]
    x = np.linspace(0, 315, 80)
    expected = (1 - (close - close.min()) / np.ptp(close)) * 199
    middle = ink_columns(image)
    # Where the picture's edge cuts no part of the line off.
    inner = (np.arange(316) > 8) & (np.arange(316) < 307)
    inner &= np.abs(np.interp(np.arange(316), x, expected) - 99.5) < 96
    assert np.abs(middle - np.interp(np.arange(316), x, expected))[inner].max() < 0.6
    assert image.min() == 0 and image.max() == 255
    # About three pixels of ink across the line.
    across = (255.0 - image).sum(0) / 255
    slope = np.gradient(np.interp(np.arange(316), x, expected))
    assert np.abs(across / np.sqrt(1 + slope**2) - 3)[inner].max() < 0.5


@pytest.mark.parametrize("scale", ["window", "global", "log"])
def test_scales(tmp_path, scale):
    close = np.concatenate([np.linspace(10, 20, 40), np.linspace(20, 80, 40)])
    np.save(tmp_path / "p.npy", close)
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "40", "--stride", "40", "--size", "118x101",
             "--scale", scale)
    with h5py.File(tmp_path / "c.h5") as store:
        first, second = (ink_columns(image) for image in store["images"][:])
    values = np.log(close) if scale == "log" else close
    low, high = (values.min(), values.max()) if scale == "global" else (values[:40].min(), values[:40].max())
    expected = (1 - (values[:40] - low) / (high - low)) * 100
    assert np.abs(first[::3] - expected)[3:-3].max() < 0.7
    low, high = (values.min(), values.max()) if scale == "global" else (values[40:].min(), values[40:].max())
    expected = (1 - (values[40:] - low) / (high - low)) * 100
    assert np.abs(second[::3] - expected)[3:-3].max() < 0.7


def test_gaps_constant_prices_and_empty_windows(tmp_path):
    close = np.full(60, 7.0)
    close[25:30] = np.nan
    close[40:] = np.nan
    np.save(tmp_path / "p.npy", close)
    done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "20", "--stride", "20", "--size",
                    "96x51", "--json", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["gaps"] == 25
    assert b"25 rows lack a usable price" in done.stderr
    with h5py.File(tmp_path / "c.h5") as store:
        constant, broken, empty = store["images"][:]
    # Constant prices run in the middle.
    assert (constant[25] == 0).all() and (constant[22] == 255).all() and (constant[28] == 255).all()
    # Five missing rows of 20, five pixels apart: nothing between x = 20 and 50 but the round ends.
    assert (broken[25, :20] == 0).all() and (broken[:, 23:48] == 255).all() and (broken[25, 52:] == 0).all()
    assert (empty == 255).all()


def test_a_price_between_gaps_is_a_dot(tmp_path):
    np.save(tmp_path / "p.npy", np.array([1, np.nan, 3, np.nan, 2.0]))
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "5", "--size", "81x41")
    with h5py.File(tmp_path / "c.h5") as store:
        image = store["images"][0]
    # Circles of 3 pixels around (0, 40), (40, 0), (80, 20): the last one is cut in half by the edge, the others too.
    area = (255.0 - image.astype(float)) / 255
    assert area.sum() == pytest.approx(np.pi * 1.5**2 * 3, rel=0.5)
    assert image[0, 40] == 0 and image[20, 80] == 0 and image[40, 0] == 0
    assert (area > 0).sum() < 30


def test_short_series(tmp_path):
    for points in range(3):
        np.save(tmp_path / "p.npy", np.arange(points, dtype=np.float64))
        done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / f"{points}.h5", "--window", "2", "--size", "40x30",
                        check=False)
        if points < 2:
            assert done.returncode == 1
            assert f"2 rows of a window; the longest has {points}".encode() in done.stderr
            assert not (tmp_path / f"{points}.h5").exists()
        else:
            with h5py.File(tmp_path / "2.h5") as store:
                assert store["images"].shape == (1, 30, 40)
    np.save(tmp_path / "p.npy", np.array([5.0]))
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "one.h5", "--window", "1", "--size", "41x31")
    with h5py.File(tmp_path / "one.h5") as store:
        assert store["images"][0][15, 20] == 0


@pytest.mark.parametrize("shape", [(3, 20), (3, 20, 4), (60, 4), (60, 5)])
@pytest.mark.parametrize("kind", ["<f8", "<f4", "<i4", "<u2"])
def test_arrays(tmp_path, shape, kind):
    values = np.random.default_rng(5).integers(10, 1000, shape).astype(kind)
    np.save(tmp_path / "p.npy", values)
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "20", "--size", "57x40")
    close = values[..., 3] if shape[-1] in (4, 5) else values
    ready = len(shape) == 3 or shape[-1] == 20
    expected = close if ready else np.lib.stride_tricks.sliding_window_view(close, 20)
    with h5py.File(tmp_path / "c.h5") as store:
        np.testing.assert_array_equal(store["sequences"][:], expected.astype(np.float32))


def test_several_inputs_never_share_a_window(tmp_path):
    for name, length in [("a", 30), ("b", 10), ("c", 25)]:
        write_csv(tmp_path / f"{name}.csv", walk(length, length))
    (tmp_path / "d.csv").write_text("Date,Close\n2020-01-01,1\n2020-01-02,many\n")
    done = millrace("render", *(tmp_path / f"{n}.csv" for n in "abcd"), "-o", tmp_path / "c.h5", "--window", "20", "--size",
                    "60x40")
    assert done.returncode == 3 and b"line 3: column Close: 'many' is not a number" in done.stderr
    with h5py.File(tmp_path / "c.h5") as store:
        assert store["index"]["file"].tolist() == [0] * 11 + [2] * 6
        assert store["index"]["row"].tolist() == [*range(11), *range(6)]


def test_any_thread_count_shard_and_level_gives_the_same_file(tmp_path):
    np.save(tmp_path / "p.npy", walk(300))
    args = ["render", tmp_path / "p.npy", "--window", "60", "--size", "120x80"]
    millrace(*args, "-o", tmp_path / "whole.h5")
    expected = (tmp_path / "whole.h5").read_bytes()
    for number, (options, env) in enumerate([(["--threads", "1"], {}), (["--threads", "7"], {}), (["--shard", "50"], {}),
                                             (["--shard", "1"], {}), ([], {"MILLRACE_CPU": "baseline"})]):
        output = tmp_path / f"{number}.h5"
        millrace(*args, "-o", output, *options, env=env)
        assert output.read_bytes() == expected, options
        assert not pathlib.Path(f"{output}.shards").exists()


def test_a_finished_store_is_left_alone(tmp_path):
    np.save(tmp_path / "p.npy", walk(100))
    args = ["render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "60"]
    millrace(*args, "--size", "120x80")
    def state():
        now = (tmp_path / "c.h5").stat()
        return now.st_ino, now.st_mtime_ns, now.st_size

    before = state()
    done = millrace(*args, "--size", "120x80")
    assert b"nothing to do" in done.stderr and state() == before
    refused = millrace(*args, "--size", "60x40", check=False)
    assert refused.returncode == 1
    assert b"--size was '120x80', is '60x40'" in refused.stderr and state() == before
    np.save(tmp_path / "p.npy", walk(100, 2))
    refused = millrace(*args, "--size", "120x80", check=False)
    assert refused.returncode == 1 and b"inputs have changed" in refused.stderr
    (tmp_path / "letter.txt").write_text("dear all")
    refused = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "letter.txt", check=False)
    assert refused.returncode == 1 and b"not an output of this job" in refused.stderr
    assert (tmp_path / "letter.txt").read_text() == "dear all"


def test_a_sheet_shows_charts_of_all_parts(tmp_path):
    np.save(tmp_path / "p.npy", walk(500))
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "sheet.png", "--sample", "7", "--size", "120x80", "--window", "50")
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--size", "120x80", "--window", "50")
    with h5py.File(tmp_path / "c.h5") as store:
        np.testing.assert_array_equal(sheet[8:88, 8:128], store["images"][0])
        np.testing.assert_array_equal(sheet[8:88, 136:256], store["images"][1 * 451 // 7])


def test_usage(tmp_path):
    np.save(tmp_path / "p.npy", walk(100))
    for options, words in [
        (["--size", "800"], b"use WIDTHxHEIGHT"),
        (["--size", "0x5"], b"whole number from 1"),
        (["--line-width", "wide"], b"not a number"),
        (["--labels", "0"], b"whole number from 1"),
        (["--columns", "sugar=Close"], b"does not name a column"),
    ]:
        done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", *options, check=False)
        assert done.returncode == 2 and words in done.stderr, (options, done.stderr)
    assert millrace("render", tmp_path / "p.npy", check=False).returncode == 2
    assert millrace("render", "-o", tmp_path / "c.h5", check=False).returncode == 2
    write_csv(tmp_path / "p.csv", walk(100))
    done = millrace("render", tmp_path / "p.csv", "-o", tmp_path / "c.h5", "--columns", "close=Price", check=False)
    assert done.returncode == 2 and b"its columns are: Date, Close" in done.stderr


def test_a_sheet_replaces_no_store_and_no_series(tmp_path):
    np.save(tmp_path / "p.npy", walk(100))
    args = ["render", tmp_path / "p.npy", "--window", "60", "--size", "60x40"]
    millrace(*args, "-o", tmp_path / "c.h5")
    Image.new("L", (30, 20)).save(tmp_path / "photo.png")
    for name in ("c.h5", "p.npy", "photo.png"):
        before = (tmp_path / name).read_bytes()
        done = millrace(*args, "--sample", "4", "-o", tmp_path / name, check=False)
        reason = b"it is one of the inputs" if name == "p.npy" else b"expected a contact sheet, found"
        assert done.returncode == 1 and reason in done.stderr
        assert (tmp_path / name).read_bytes() == before
    done = millrace(*args, "--sample", "4", "--overwrite", "-o", tmp_path / "p.npy", check=False)
    assert done.returncode == 1 and np.load(tmp_path / "p.npy").shape == (100,)
    millrace(*args, "--sample", "4", "--overwrite", "-o", tmp_path / "photo.png")
    assert Image.open(tmp_path / "photo.png").size != (30, 20)
    for _ in range(2):  # a sheet is replaced
        millrace(*args, "--sample", "4", "-o", tmp_path / "sheet.png")


def test_what_the_store_says_of_itself_are_the_values_that_were_used(tmp_path):
    np.save(tmp_path / "p.npy", walk(130))
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5")
    with h5py.File(tmp_path / "c.h5") as store:
        said = {name: value.decode() for name, value in store.attrs.items()}
    assert said["window"] == "100" and said["size"] == "800x500" and said["ink"] == "0" and said["line-width"] == "3px"
    # The same in other words is the same.
    done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "100", "--line-width", "2.16pt")
    assert b"nothing to do" in done.stderr


def test_ready_windows_have_the_length_that_they_have(tmp_path):
    np.save(tmp_path / "p.npy", np.random.default_rng(1).normal(size=(5, 30)))
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--size", "60x40")
    with h5py.File(tmp_path / "c.h5") as store:
        assert store["images"].shape == (5, 40, 60) and store.attrs["window"] == b"30"
    done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "d.h5", "--window", "10", check=False)
    assert done.returncode == 2 and b"its windows have 30 rows, but 10 are to be drawn" in done.stderr


def test_rows_from_new_to_old_are_refused(tmp_path):
    rows = "".join(f"2020-01-{day:02d},{day}\n" for day in range(30, 0, -1))
    (tmp_path / "p.csv").write_text("Date,Close\n" + rows)
    done = millrace("render", tmp_path / "p.csv", "-o", tmp_path / "c.h5", "--window", "5", check=False)
    assert done.returncode == 1 and b"from new to old" in done.stderr


def test_labels_need_a_price_to_start_from(tmp_path):
    np.save(tmp_path / "p.npy", np.array([3.0, 0, 1, -1, 5, 6]))
    millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "1", "--labels", "1", "--size", "20x20")
    with h5py.File(tmp_path / "c.h5") as store:
        np.testing.assert_array_equal(store["labels"][:, 0], np.array([-1, np.nan, -2, np.nan, 0.2, np.nan], np.float32))


def test_a_column_whose_name_is_not_utf_8(tmp_path):
    (tmp_path / "p.csv").write_bytes(b"Schlu\xdf\n" + b"".join(b"%d\n" % i for i in range(30)))
    for _ in range(2):
        millrace("render", tmp_path / "p.csv", "-o", tmp_path / "c.h5", "--window", "5", "--size", "20x20",
                 "--columns", b"close=Schlu\xdf")


def test_outputs_that_cannot_be(tmp_path):
    np.save(tmp_path / "p.npy", walk(130))
    for output, words in [(f"{tmp_path}/out/", b"it names a folder"), (tmp_path / "no/such/c.h5", b"create the folder first")]:
        done = millrace("render", tmp_path / "p.npy", "-o", output, check=False)
        assert done.returncode != 0 and words in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["p.npy"]
    done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--line-width", "256pt", "--dpi", "10000", check=False)
    assert done.returncode == 2 and b"the limit is 1024" in done.stderr


def test_a_real_series(tmp_path):
    source = DATA / "prices" / "SPY_D.csv"
    if not source.exists():
        pytest.skip(f"{source} is not here")
    millrace("render", source, "-o", tmp_path / "c.h5", "--size", "200x125", "--stride", "50")
    with h5py.File(tmp_path / "c.h5") as store:
        assert store["images"].shape[0] == (5239 - 100) // 50 + 1 or store["images"].shape[0] > 100
        ink = (store["images"][:] < 128).mean(axis=(1, 2))
        assert 0.005 < ink.min() and ink.max() < 0.2
