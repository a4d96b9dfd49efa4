"""render's bars, candles and price-trend images, pixel for pixel what a model of their rules says."""

import pathlib
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import DATA, millrace  # noqa: E402

HEIGHTS = {5: 32, 20: 64, 60: 96}


def prices(length, seed=1):
    """Rows of open, high, low, close, volume."""
    random = np.random.default_rng(seed)
    close = 100 * np.exp(np.cumsum(random.normal(0, 0.01, length)))
    opened = close * np.exp(random.normal(0, 0.004, length))
    high = np.maximum(opened, close) * np.exp(np.abs(random.normal(0, 0.004, length)))
    low = np.minimum(opened, close) * np.exp(-np.abs(random.normal(0, 0.004, length)))
    return np.stack([opened, high, low, close, random.integers(1, 10**6, length).astype(float)], 1)


def images_of(tmp_path, series, *options):
    np.save(tmp_path / "p.npy", series)
    output = tmp_path / "c.h5"
    output.unlink(missing_ok=True)
    millrace("render", tmp_path / "p.npy", "-o", output, *options)
    with h5py.File(output) as store:
        return store["images"][:], store["sequences"][:]


def trend_image(series, first, days, length, volume):
    """The image of days [first, first + days) by the rules of the paper, in NumPy's arithmetic."""
    height, width = HEIGHTS[days], 3 * days
    below = height // 5 if volume else 0
    above = height - below - 1 if volume else height
    image = np.zeros((height, width), np.uint8)
    window = series[first : first + days]
    average = []
    for day in range(first, first + days):
        history = series[day - length + 1 : day + 1, 3] if length > 0 and day - length + 1 >= 0 else []
        total = 0.0
        for close in history:
            total += close
        average.append(total / length if len(history) else np.nan)
    average = np.array(average)
    known = np.concatenate([window[:, :4].ravel(), average])
    low, high = np.nanmin(known), np.nanmax(known)

    def row(price):
        up = (price - low) * (above - 1) / (high - low) if high > low else 0.5 * (above - 1)
        return above - 1 - int(np.round(up))

    for day in range(days):
        if np.isnan(average[day]):
            continue
        image[row(average[day]), 3 * day + 1] = 255
        if day + 1 < days and not np.isnan(average[day + 1]):
            slope = (average[day + 1] - average[day]) / 3
            for k in (1, 2):
                image[row(slope * k + average[day]), 3 * day + 1 + k] = 255
    for day, (opened, top, bottom, close) in enumerate(window[:, :4]):
        if np.isnan([opened, top, bottom, close]).any():
            continue
        image[row(opened), 3 * day] = 255
        image[row(top) : row(bottom) + 1, 3 * day + 1] = 255
        image[row(close), 3 * day + 2] = 255
    if volume and np.nanmax(window[:, 4]) > 0:
        for day, v in enumerate(window[:, 4]):
            if not np.isnan(v):
                up = int(np.round(v * below / np.nanmax(window[:, 4])))
                image[height - up :, 3 * day + 1] = 255
    return image


@pytest.mark.parametrize("days", [5, 20, 60])
@pytest.mark.parametrize("options, length, volume", [([], None, True), (["--no-volume"], None, False), (["--ma", "0"], 0, True),
                                                     (["--ma", "7", "--no-volume"], 7, False)])
def test_price_trends(tmp_path, days, options, length, volume):
    series = prices(days + 70, days)
    # Prices that tie a rounding, and gaps.
    series[10:20, :4] = np.round(series[10:20, :4])
    series[days + 30, 2] = np.nan
    series[days + 31, 4] = np.nan
    images, sequences = images_of(tmp_path, series, "--style", "jkx", "--window", str(days), *options)
    assert images.shape == (71, HEIGHTS[days], 3 * days)
    for first in range(71):
        expected = trend_image(series, first, days, days if length is None else length, volume)
        np.testing.assert_array_equal(images[first], expected, err_msg=f"day {first}")
    columns = 5 if volume else 4
    np.testing.assert_array_equal(sequences[3], series[3 : 3 + days, :columns].astype(np.float32))


def test_price_trends_of_a_real_series(tmp_path):
    source = DATA / "prices" / "SPY_D.csv"
    if not source.exists():
        pytest.skip(f"{source} is not here")
    millrace("render", source, "-o", tmp_path / "c.h5", "--style", "jkx", "--stride", "7")
    series = np.genfromtxt(source, delimiter=",", skip_header=1, usecols=(2, 3, 4, 5, 6))
    with h5py.File(tmp_path / "c.h5") as store:
        images = store["images"][:]
    assert len(images) > 700
    for k, image in enumerate(images):
        np.testing.assert_array_equal(image, trend_image(series, 7 * k, 20, 20, True), err_msg=f"row {7 * k}")


def test_a_day_without_movement(tmp_path):
    series = np.full((20, 4), 5.0)
    images, _ = images_of(tmp_path, series, "--style", "jkx", "--no-volume")
    # The middle of 64 rows: 31.5 from the bottom, rounded to the even 32.
    assert (images[0][63 - 32] == 255).all() and (images[0] == 255).sum() == 60


@pytest.mark.parametrize("height", [1, 80, 500])
def test_bars(tmp_path, height):
    series = prices(60)[:, :4]
    series[25, 1] = np.nan
    images, sequences = images_of(tmp_path, series, "--style", "ohlc", "--window", "30", "--stride", "10", "--size", f"x{height}")
    assert images.shape == (4, height, 120) and sequences.shape == (4, 30, 4)
    for k, image in enumerate(images):
        window = series[10 * k : 10 * k + 30]
        expected = np.full((height, 120), 255, np.uint8)
        top = np.nanmax(window)
        extent = max(top - np.nanmin(window), 1e-8)
        for i, bar in enumerate(window):
            if np.isnan(bar).any():
                continue
            opened, high, low, close = np.trunc((top - bar) * (height - 1) / extent).astype(int)
            expected[opened, 4 * i] = 0
            expected[high : low + 1, 4 * i + 1] = 0
            expected[close, 4 * i + 2] = 0
        np.testing.assert_array_equal(image, expected)


def averages(close, first, rows, length):
    """Means of the last `length` closes, NaN without full history."""
    return [np.nan if r + 1 < length else sum(close[r + 1 - length : r + 1]) / length for r in range(first, first + rows)]


def volume_heights(volume, most):
    return [0 if np.isnan(v) else int(np.round(v * most / np.nanmax(volume))) for v in volume]


def test_bars_with_volume_and_average(tmp_path):
    series = prices(60)
    series[40, 4] = np.nan
    images, sequences = images_of(tmp_path, series, "--style", "ohlc", "--window", "30", "--stride", "10", "--size", "x83",
                                  "--volume", "--ma", "7")
    assert images.shape == (4, 83, 120) and sequences.shape == (4, 30, 5)
    most, high_part = 16, 66  # 83 / 5, and what is left above a free row
    for k, image in enumerate(images):
        window = series[10 * k : 10 * k + 30]
        mean = averages(series[:, 3], 10 * k, 30, 7)
        expected = np.full((83, 120), 255, np.uint8)
        top = max(window[:, :4].max(), np.nanmax(mean))
        extent = top - min(window[:, :4].min(), np.nanmin(mean))

        def row(v):
            return int((top - v) * (high_part - 1) / extent)

        for i, value in enumerate(mean):
            if np.isnan(value):
                continue
            expected[row(value), 4 * i + 1] = 0
            for step in range(1, 4 if i + 1 < 30 else 1):
                expected[row((mean[i + 1] - value) / 4 * step + value), 4 * i + 1 + step] = 0
        for i, (opened, high, low, close, _) in enumerate(window):
            expected[row(opened), 4 * i] = 0
            expected[row(high) : row(low) + 1, 4 * i + 1] = 0
            expected[row(close), 4 * i + 2] = 0
        for i, height in enumerate(volume_heights(window[:, 4], most)):
            expected[83 - height :, 4 * i : 4 * i + 3] = 127
        np.testing.assert_array_equal(image, expected)


def test_candles_with_volume_and_average(tmp_path):
    series = prices(40)
    options = ["--style", "candle", "--window", "20", "--stride", "20", "--size", "200x100"]
    images, _ = images_of(tmp_path, series, *options, "--volume", "--ma", "5")
    plain, _ = images_of(tmp_path, series[:, :4], *options[:-1], "200x79")
    for k, image in enumerate(images):
        window = series[20 * k : 20 * k + 20]
        for i, height in enumerate(volume_heights(window[:, 4], 20)):
            below = np.full((20, 10), 255)
            below[20 - height :, 1:9] = 127
            np.testing.assert_array_equal(image[80:, 10 * i : 10 * i + 10], below)
        assert (image[79] == 255).all()
        # The average lies between prices here, so the candles are where they are without it, and over it.
        assert (image[:79][plain[k] < 255] == plain[k][plain[k] < 255]).all()
        mean = averages(series[:, 3], 20 * k, 20, 5)
        for i, value in enumerate(mean):
            if not np.isnan(value):
                prices_ = window[:, :4]
                assert image[int((prices_.max() - value) * 78 / np.ptp(prices_)), 10 * i + 5] < 255


def test_lines_with_volume_and_average(tmp_path):
    series = prices(90)
    size = ["--size", "296x150", "--window", "60", "--stride", "30"]
    images, sequences = images_of(tmp_path, series, *size, "--volume", "--ma", "10")
    assert sequences.shape == (2, 60, 2)
    np.testing.assert_array_equal(sequences[1], series[30:90, 3:].astype(np.float32))
    plain, _ = images_of(tmp_path, series[:, :4], "--size", "296x119", *size[2:])
    for k, image in enumerate(images):
        close = series[30 * k : 30 * k + 60, 3]
        mean = np.array(averages(series[:, 3], 30 * k, 60, 10))
        # The union of two lines: nowhere lighter than the prices' own, and a pixel of ink more where the average runs.
        assert (image[:119] <= plain[k]).all() and (image[119] == 255).all()
        y = (1 - (mean - close.min()) / np.ptp(close)) * 118
        for i in np.flatnonzero(~np.isnan(mean)):
            middle = image[max(0, int(y[i]) - 1) : int(y[i]) + 3, 5 * i].astype(int)
            assert (255 - middle).sum() >= 200, (k, i)
        more = (plain[k].astype(int) - image[:119]).sum() / 255
        assert 100 < more < 400
        for i, height in enumerate(volume_heights(series[30 * k : 30 * k + 60, 4], 30)):
            bar = image[120:, 5 * i]
            assert (bar[30 - height :] == 127).all() and (bar[: 30 - height] == 255).all()


def test_candles(tmp_path):
    series = prices(20)[:, :4]
    (image,), _ = images_of(tmp_path, series, "--style", "candle", "--window", "20", "--size", "200x100")
    for i, (opened, high, low, close) in enumerate(series):
        row = [int((series.max() - p) * 99 / np.ptp(series)) for p in (opened, high, low, close)]
        slot = image[:, 10 * i : 10 * i + 10]
        body = slice(min(row[0], row[3]), max(row[0], row[3]) + 1)
        # A body of eight columns between free ones, 0.2 gray where the price rose.
        assert (slot[body, 1:9] == (51 if close >= opened else 0)).all()
        assert (slot[:, 0] == 255).all() and (slot[:, 9] == 255).all()
        wick = slot[:, 5].copy()
        wick[body] = 0
        assert (np.flatnonzero(wick == 0) == np.arange(row[1], row[2] + 1)).all()
    (narrow,), _ = images_of(tmp_path, series, "--style", "candle", "--window", "20", "--size", "10x50")
    assert (narrow < 255).any()


def test_colours_of_ink_and_paper(tmp_path):
    series = prices(20)
    (plain,), _ = images_of(tmp_path, series, "--style", "jkx")
    (turned,), _ = images_of(tmp_path, series, "--style", "jkx", "--ink", "0", "--paper", "255")
    np.testing.assert_array_equal(turned, 255 - plain)


def test_what_a_style_does_not_allow(tmp_path):
    np.save(tmp_path / "p.npy", prices(80))
    np.save(tmp_path / "close.npy", prices(80)[:, 3])
    np.save(tmp_path / "four.npy", prices(80)[:, :4])
    for source, options, code, words in [
        ("p", ["--style", "jkx", "--size", "100x100"], 2, b"fixed sizes"),
        ("p", ["--style", "jkx", "--window", "30"], 2, b"5, 20 and 60 rows"),
        ("p", ["--style", "ohlc", "--size", "300x100"], 2, b"the width itself: 400 pixels"),
        ("p", ["--size", "x100", "--style", "jkx"], 2, b"fixed sizes"),
        ("close", ["--style", "ohlc"], 1, b"no open"),
        ("four", ["--style", "jkx"], 1, b"--no-volume"),
    ]:
        done = millrace("render", tmp_path / f"{source}.npy", "-o", tmp_path / "c.h5", *options, check=False)
        assert done.returncode == code and words in done.stderr, (options, done.stderr)


def test_lines_are_those_of_matplotlib(tmp_path):
    """Windows of 100 prices at 800 x 500: within 0.1 of 255 on average. Where edges share a pixel, matplotlib adds up
    what they cover, so single pixels differ by more."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    width, height, n = 800, 500, 100
    windows = 100 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.01, 20 * n))).reshape(20, n)
    images, _ = images_of(tmp_path, windows)
    for window, image in zip(windows, images):
        figure = plt.figure(figsize=(width / 100, height / 100), dpi=100)
        axes = figure.add_axes([0, 0, 1, 1])
        y = (1 - (window - window.min()) / np.ptp(window)) * (height - 1)
        axes.plot(np.linspace(0, width - 1, n), y, color="black", linewidth=3 * 72 / 100, solid_joinstyle="round",
                  solid_capstyle="round", snap=False)
        # Pixel centres at whole numbers.
        axes.set_xlim(-0.5, width - 0.5)
        axes.set_ylim(height - 0.5, -0.5)
        axes.axis("off")
        figure.canvas.draw()
        theirs = np.asarray(figure.canvas.buffer_rgba())[..., 0].astype(int)
        plt.close(figure)
        error = np.abs(theirs - image)
        print(f"mean {error.mean():.4f}, worst {error.max()}")
        assert error.mean() < 0.1
