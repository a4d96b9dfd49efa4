"""render: what is read, what is refused, and what counts as the same input."""

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
    return millrace("render", source, "-o", output, "--size", "40x30", *options, **how)


def sequences(path):
    with h5py.File(path) as store:
        return store["sequences"][:]


def refused(source, tmp_path, *words, code=1, options=("--window", "5")):
    done = draw(source, tmp_path / "refused.h5", *options, check=False)
    assert done.returncode == code, done.stderr
    for word in words:
        assert word in done.stderr.decode(errors="replace"), done.stderr
    assert not (tmp_path / "refused.h5").exists() and not (tmp_path / "refused.h5.shards").exists()
    return done


def test_a_single_column_without_a_name_loses_nothing(tmp_path):
    for name, first in [("number", "100.5\n"), ("quoted", '"100.5"\n'), ("after words", "# prices\n100.5\n")]:
        (tmp_path / "p.csv").write_text(first + "".join(f"{i}\n" for i in range(9)))
        draw(tmp_path / "p.csv", tmp_path / f"{name}.h5", "--window", "10")
        np.testing.assert_array_equal(sequences(tmp_path / f"{name}.h5"), [[100.5, *range(9)]])
    # A first price that is missing, as of a series of returns.
    (tmp_path / "p.csv").write_text('""\n' + "".join(f"{i}\n" for i in range(9)))
    draw(tmp_path / "p.csv", tmp_path / "gap.h5", "--window", "10")
    assert np.isnan(sequences(tmp_path / "gap.h5")[0, 0])
    # A name that is a number, when it is asked for.
    (tmp_path / "p.csv").write_text("2020\n" + "".join(f"{i}\n" for i in range(10)))
    draw(tmp_path / "p.csv", tmp_path / "named.h5", "--window", "10", "--columns", "close=2020")
    np.testing.assert_array_equal(sequences(tmp_path / "named.h5"), [range(10)])


def test_columns_without_names_are_told_from_others(tmp_path):
    (tmp_path / "p.csv").write_text("1,2\n" * 10)
    refused(tmp_path / "p.csv", tmp_path, "its first line contains numbers")


def test_a_name_that_two_columns_have(tmp_path):
    rows = "".join(f"{i},{2 * i},{3 * i}\n" for i in range(10))
    (tmp_path / "p.csv").write_text("close,n,Close\n" + rows)
    refused(tmp_path / "p.csv", tmp_path, "columns 1 and 3 are both named 'close'", "rename one")
    # Asked for to the letter, it is one.
    draw(tmp_path / "p.csv", tmp_path / "exact.h5", "--window", "10", "--columns", "close=Close")
    np.testing.assert_array_equal(sequences(tmp_path / "exact.h5"), [3.0 * np.arange(10)])
    # A name that is not used may be there twice.
    (tmp_path / "p.csv").write_text("n,close,n\n" + rows)
    draw(tmp_path / "p.csv", tmp_path / "unused.h5", "--window", "10")
    np.testing.assert_array_equal(sequences(tmp_path / "unused.h5"), [2.0 * np.arange(10)])


def test_a_date_that_is_none(tmp_path):
    rows = [f"2020-01-{1 + i:02d},{i}" for i in range(20)]
    rows[7] = "x" * 100_000 + ",7"
    (tmp_path / "p.csv").write_text("Date,Close\n" + "\n".join(rows))
    done = refused(tmp_path / "p.csv", tmp_path, "line 9", "column Date", "the limit of a date is 64 bytes", "--columns date=NAME")
    assert len(done.stderr) < 1000
    rows[7] = "x" * 64 + ",7"
    (tmp_path / "p.csv").write_text("Date,Close\n" + "\n".join(rows))
    refused(tmp_path / "p.csv", tmp_path, "line 9", "column Date", "not a date in the format of the others", "--columns date=NAME")
    # Where none is a date, each is kept as it is, and the run says that nothing told the order.
    rows = ["x" * (64 - i) + f",{i}" for i in range(20)]
    (tmp_path / "p.csv").write_text("Date,Close\n" + "\n".join(rows))
    done = draw(tmp_path / "p.csv", tmp_path / "c.h5", "--window", "5")
    assert b"1 of 1 series have no readable dates" in done.stderr
    with h5py.File(tmp_path / "c.h5") as store:
        assert store["index"]["date"][0] == b"x" * 64 and store["index"]["date"][8] == b"x" * 56
        assert np.isnat(store["index"]["end_time"].view("datetime64[ns]")).all()


def test_with_logarithms_what_is_not_above_zero_is_a_gap(tmp_path):
    np.save(tmp_path / "p.npy", np.array([1, 2, 0, 3, -1, 4, np.nan, 5, 6, 7.0]))
    for scale, gaps in [("log", 3), ("window", 1)]:
        draw(tmp_path / "p.npy", tmp_path / f"{scale}.h5", "--window", "5", "--scale", scale, "--json", tmp_path / "out.json")
        assert json.loads((tmp_path / "out.json").read_text())["gaps"] == gaps


def test_a_file_has_many_names(tmp_path):
    np.save(tmp_path / "p.npy", np.arange(30.0))
    draw("p.npy", "c.h5", "--window", "5", cwd=tmp_path)
    for name in (tmp_path / "p.npy", f"{tmp_path}/./p.npy"):
        assert b"nothing to do" in draw(name, tmp_path / "c.h5", "--window", "5").stderr
    os.rename(tmp_path / "p.npy", tmp_path / "q.npy")
    assert b"nothing to do" in draw(tmp_path / "q.npy", tmp_path / "c.h5", "--window", "5").stderr
    np.save(tmp_path / "q.npy", np.arange(1, 31.0))
    done = draw(tmp_path / "q.npy", tmp_path / "c.h5", "--window", "5", check=False)
    assert done.returncode == 1 and b"inputs have changed" in done.stderr


def test_a_long_table_is_read_as_a_short_one(tmp_path):
    # More rows than are held in one piece, dates of several lengths.
    close = np.round(100 + np.cumsum(np.random.default_rng(1).normal(0, 1, 50_000)), 3)
    dates = [f"{i:05d}" + "x" * (i % 23 if i > 20_000 else 0) for i in range(len(close))]
    (tmp_path / "p.csv").write_text("Date,Close\n" + "".join(f"{d},{c}\n" for d, c in zip(dates, close)))
    draw(tmp_path / "p.csv", tmp_path / "c.h5", "--window", "20", "--stride", "7")
    windows = np.lib.stride_tricks.sliding_window_view(close, 20)[::7]
    np.testing.assert_array_equal(sequences(tmp_path / "c.h5"), windows.astype(np.float32))
    with h5py.File(tmp_path / "c.h5") as store:
        assert [d.decode() for d in store["index"]["date"]] == dates[: len(windows) * 7 : 7]


def test_windows_of_a_long_array_are_where_they_should_be(tmp_path):
    # More rows than a block of the file has, in five columns of an odd width.
    rows = np.random.default_rng(2).integers(1, 60_000, (30_000, 5)).astype("<u2")
    np.save(tmp_path / "p.npy", rows)
    draw(tmp_path / "p.npy", tmp_path / "c.h5", "--window", "33", "--stride", "11", "--labels", "1,500")
    close = rows[:, 3].astype(float)
    windows = np.lib.stride_tricks.sliding_window_view(close, 33)[::11]
    np.testing.assert_array_equal(sequences(tmp_path / "c.h5"), windows.astype(np.float32))
    last = 32 + 11 * np.arange(len(windows))
    with h5py.File(tmp_path / "c.h5") as store:
        for column, horizon in enumerate([1, 500]):
            there = last + horizon < len(close)
            np.testing.assert_array_equal(store["labels"][there, column],
                                          (close[last[there] + horizon] / close[last[there]] - 1).astype(np.float32))
            assert np.isnan(store["labels"][~there, column]).all()
