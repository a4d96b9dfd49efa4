"""Arguments that are no arrays are those of Python and of NumPy alike; and arrays are what holds numbers."""

import array
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from package import millrace  # noqa: E402

PRICES = 100 + np.random.default_rng(1).standard_normal((60, 5)).cumsum(0)
PRICES[:, 1], PRICES[:, 2], PRICES[:, 4] = PRICES[:, :4].max(1) + 1, PRICES[:, :4].min(1) - 1, 1 + np.arange(60)
CODES = np.array([0, 1, 255, 3], dtype=np.uint64)


def test_numbers_and_truths_may_be_numpys():
    for kind in (np.int8, np.int64, np.uint16):
        assert len(millrace.join(CODES, kind(1))) == 2
        assert millrace.ChartDrawer(rows=kind(60), width=kind(20), height=kind(10)).image_shape == (10, 20)
    assert millrace.ChartDrawer(rows=60, line_width=np.float32(2), volume=np.bool_(True), style="candle").columns == 5
    picture = np.arange(5000, dtype=np.uint8).reshape(50, 100)
    assert millrace.same_picture(picture, picture[:, ::-1].copy(), orientations=np.True_).turned == 2


@pytest.mark.parametrize("wrong", [True, np.True_, 1.5, "3", [3], np.array([3]), 2**31, -1])
@pytest.mark.parametrize("call", [
    lambda value: millrace.join(CODES, value), lambda value: millrace.join(CODES, 1, threads=value), lambda value: millrace.search(CODES, CODES, value),
    lambda value: millrace.hash(np.zeros((9, 9), np.uint8), size=value), lambda value: millrace.ChartDrawer(rows=value),
    lambda value: millrace.latents.Measurer(threads=value)])
def test_what_is_no_such_number_is_named(call, wrong):
    with pytest.raises(millrace.UsageError, match=r"it is (a whole number|from \d+ to \d+), not"):
        call(wrong)


@pytest.mark.parametrize("call, words", [
    (lambda: millrace.ChartDrawer(rows=60, line_width="thick"), "line_width: it is a number, not str"),
    (lambda: millrace.ChartDrawer(rows=60, line_width=True), "line_width: it is a number, not bool"),
    (lambda: millrace.ChartDrawer(rows=60, volume=1), "volume: it is True or False, not 1"),
    (lambda: millrace.ChartDrawer(rows=60, style=7), "style: it is text, not int"),
    (lambda: millrace.ChartDrawer(rows=60, ink=256), "ink: it is from 0 to 255, not 256"),
    (lambda: millrace.ChartDrawer(rows=60, ink=(1, 2, 3)), "ink: it is a whole number, not tuple"),
    (lambda: millrace.ChartDrawer(rows=60, device_memory=-1), "device_memory: it is from 0"),
    (lambda: millrace.join(CODES, 1, algorithm=b"brute"), "algorithm: it is text, not bytes"),
    (lambda: millrace.join(CODES, 1, memory=2**63), "memory: it is from 0"),
    (lambda: millrace.hash(np.zeros((9, 9), np.uint8), kinds=3), "kinds: it is a name or a list of names, not int"),
    (lambda: millrace.hash(np.zeros((9, 9), np.uint8), kinds=["dhash", 3]), "kinds: it is text, not int"),
    (lambda: millrace.same_picture(np.zeros((9, 9), np.uint8), np.zeros((9, 9), np.uint8), orientations="no"), "orientations: it is True or False"),
    (lambda: millrace.latents.compare([{"a": 1}, {"b": 2}]), "groups: it is a dict of groups by their names, not list"),
    (lambda: millrace.latents.compare({"a": [{"m": 1.0}] * 3, "b": [{"m": 2.0}] * 3}, seed=-1), "seed: it is from 0"),
    (lambda: millrace.run(3), "job: it is text, not int"),
    (lambda: millrace.dedupe(".", verify=3), "verify: it is True or False, not 3"),
])
def test_other_arguments_are_named(call, words):
    with pytest.raises(millrace.UsageError) as error:
        call()
    assert words in str(error.value)


def test_series_are_whatever_holds_numbers():
    drawer = millrace.ChartDrawer(rows=60, width=40, height=30)
    closes = np.ascontiguousarray(PRICES[:, 3])
    chart = drawer(closes)
    for same in (closes.tolist(), array.array("d", closes), memoryview(closes), tuple(closes)):
        assert np.array_equal(drawer(same), chart)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(PRICES, columns=["Open", "High", "Low", "Close", "Volume"])
    assert np.array_equal(drawer(table), chart) and np.array_equal(drawer(table["Close"]), chart)
    candles = millrace.ChartDrawer(style="candle", rows=60, width=400, height=300, volume=True)
    # By name, whatever the order and whatever lies between.
    table.insert(1, "Note", "x")
    assert np.array_equal(candles(table[table.columns[::-1]]), candles(PRICES))
    with pytest.raises(millrace.UsageError, match="low"):
        candles(table.drop(columns="Low"))
    masked = np.ma.masked_array(PRICES[:, :4], mask=False, shrink=False)
    masked[2] = np.ma.masked
    plain = millrace.ChartDrawer(style="candle", rows=60, width=400, height=300)
    expected = plain(masked)
    assert not np.array_equal(plain(PRICES[:, :4].copy()), expected)
    for same in ([*masked], (masked,), [[*masked]]):
        assert np.array_equal(np.squeeze(plain(same)), expected)
    with pytest.raises(millrace.UsageError, match="list of tables"):
        candles([table])
    with pytest.raises(millrace.UsageError, match="more than one column 'close'"):
        drawer(table.assign(close=1.0))
    for wrong in ("prices", {"Close": closes}, [[1.0, 2.0], [1.0]], None, closes.astype(object), closes.astype(str)):
        with pytest.raises(millrace.UsageError, match="series"):
            drawer(wrong)


def test_charts_are_drawn_into_memory_of_ones_own():
    drawer = millrace.ChartDrawer(rows=60, width=40, height=30)
    closes = np.ascontiguousarray(PRICES[None, :, 3])
    into = bytearray(1200)
    drawer(closes, out=memoryview(into).cast("B", (1, 30, 40)))
    assert into == drawer(closes).tobytes()
    for wrong in (bytes(1200), [0] * 1200, "x", memoryview(bytes(1200)).cast("B", (1, 30, 40))):
        with pytest.raises(millrace.UsageError, match="out"):
            drawer(closes, out=wrong)


def test_a_result_is_a_mapping(tmp_path):
    (tmp_path / "prices.csv").write_text("Close\n" + "\n".join(f"{price:.4f}" for price in PRICES[:, 3]) + "\n")
    result = millrace.render(tmp_path / "prices.csv", output=tmp_path / "charts", store="npy", columns="close=Close", window=20, size="30x20",
                             progress=None, overwrite=np.False_)
    assert dict(result) == result.fields == {name: result[name] for name in result} and "charts" in dict(result)


def test_none_leaves_an_option_as_it_is():
    assert millrace.ChartDrawer(rows=60, width=None, style=None).options == millrace.ChartDrawer(rows=60).options
    assert millrace.latents.Measurer(threads=None).options == millrace.latents.Measurer().options
