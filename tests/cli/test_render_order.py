"""render: rows go from old to new, one series at a time, or the run says so."""

import datetime
import json
import pathlib
import random
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402
from series import days  # noqa: E402

NOTATIONS = {
    "ISO": "{:%Y-%m-%d}",
    "ISO with time and zone": "{:%Y-%m-%d 00:00:00+00:00}",
    "slashes, year first": "{:%Y/%m/%d}",
    "dots, year first": "{:%Y.%m.%d}",
    "compact": "{:%Y%m%d}",
    "American": "{:%m/%d/%Y}",
    "British": "{:%d/%m/%Y}",
    "German": "{:%d.%m.%Y}",
    "month's name": "{:%d-%b-%Y}",
    "month's name first": '"{:%B %d, %Y}"',
    "epoch in seconds": "{:%s}",
    "epoch in milliseconds": "{:%s}000",
    "epoch in microseconds": "{:%s}000000",
    "epoch in nanoseconds": "{:%s}000000000",
}


def dates_as(notation, count=120):
    # %s of a date is local time; the tests run in UTC.
    return [notation.replace("%s", str(int(datetime.datetime(d.year, d.month, d.day, tzinfo=datetime.timezone.utc).timestamp()))).format(d)
            for d in days(count)]


def table(path, header, rows):
    path.write_text(header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def draw(source, *options, check=True):
    output = source.parent / f"{source.stem}.h5"
    output.unlink(missing_ok=True)
    done = millrace("render", source, "-o", output, "--size", "20x10", "--window", "10", *options, "--json",
                    source.parent / "out.json", "--overwrite", check=check)
    if done.returncode:
        assert not output.exists()
        return done.stderr.decode(), None
    with h5py.File(output) as store:
        kept = {"sequences": store["sequences"][:], "index": store["index"][:], "labels": store["labels"][:] if "labels" in store else None}
    return done.stderr.decode(), kept


def told(folder):
    return json.loads((folder / "out.json").read_text())


@pytest.mark.parametrize("notation", NOTATIONS.values(), ids=NOTATIONS.keys())
def test_every_notation_of_dates_is_understood(tmp_path, notation):
    dates = dates_as(notation)
    close = np.arange(100.0, 220.0)
    _, kept = draw(table(tmp_path / "p.csv", "Date,Close", zip(dates, close)))
    assert told(tmp_path)["series_undated"] == 0
    ends = kept["index"]["end_time"].view("datetime64[ns]").astype("datetime64[D]").astype(str).tolist()
    assert ends == [str(day) for day in days(120)[9:]]
    # From new to old: refused with its line, whatever the notation.
    error, _ = draw(table(tmp_path / "back.csv", "Date,Close", zip(dates[::-1], close[::-1])), "--labels", "5", check=False)
    assert "line 3: its rows go from new to old" in error and "--sort date" in error
    # Two neighbours exchanged.
    order = list(range(120))
    order[70], order[71] = 71, 70
    swapped = table(tmp_path / "swapped.csv", "Date,Close", [(dates[i], close[i]) for i in order])
    error, _ = draw(swapped, check=False)
    assert "line 73: its rows go back in time" in error
    # Sorted, it is the series that it should be.
    for source in ("back", "swapped"):
        said, again = draw(tmp_path / f"{source}.csv", "--sort", "date")
        assert "1 of 1 series were sorted by date" in said and told(tmp_path)["series_sorted"] == 1
        np.testing.assert_array_equal(again["sequences"], kept["sequences"])
        np.testing.assert_array_equal(again["index"], kept["index"])


def test_an_export_as_people_download_it(tmp_path):
    # Quoted, with a byte order mark, month first, newest first.
    dates, close = dates_as("{:%m/%d/%Y}"), np.arange(100.0, 220.0)
    rows = "".join(f'"{d}","{c}"\r\n' for d, c in zip(dates[::-1], close[::-1]))
    (tmp_path / "p.csv").write_bytes(("\ufeff" + '"Date","Price"\r\n' + rows).encode())
    error, _ = draw(tmp_path / "p.csv", "--columns", "close=Price", "--labels", "5", check=False)
    assert "line 3: its rows go from new to old: 04/28/2020 comes after 04/29/2020" in error
    _, kept = draw(tmp_path / "p.csv", "--columns", "close=Price", "--labels", "5", "--sort", "date")
    np.testing.assert_array_equal(kept["labels"][0], np.float32([114 / 109 - 1]))


def test_two_downloads_that_overlap(tmp_path):
    dates = dates_as("{:%Y-%m-%d}")
    rows = list(zip(dates, range(120)))
    error, _ = draw(table(tmp_path / "p.csv", "date,close", rows[:80] + [(d, c + 0.5) for d, c in rows[60:]]), check=False)
    assert "line 82: its rows go back in time: 2020-03-01 comes after 2020-03-20" in error
    # Sorted, times come twice: that is not decided here.
    error, _ = draw(tmp_path / "p.csv", "--sort", "date", check=False)
    assert "lines 62 and 82 have the same time, 2020-03-01" in error and "--duplicates" in error
    for which, values in {"first": [c for _, c in rows[:80]] + [c + 0.5 for _, c in rows[80:]],
                          "last": [c for _, c in rows[:60]] + [c + 0.5 for _, c in rows[60:]]}.items():
        said, kept = draw(tmp_path / "p.csv", "--sort", "date", "--duplicates", which)
        assert "20 rows were dropped" in said and told(tmp_path)["repeats_left_out"] == 20
        np.testing.assert_array_equal(kept["sequences"], np.lib.stride_tricks.sliding_window_view(np.float32(values), 10))


def test_times_that_come_twice(tmp_path):
    # Trades: several in one moment, all of them wanted.
    rows = [(f"2020-01-01 10:00:{k // 3:02}", k) for k in range(60)]
    source = table(tmp_path / "p.csv", "time,close", rows)
    error, _ = draw(source, check=False)
    assert "lines 2 and 3 have the same time" in error
    _, kept = draw(source, "--duplicates", "keep")
    assert len(kept["sequences"]) == 51 and told(tmp_path)["repeats_left_out"] == 0
    _, kept = draw(source, "--duplicates", "last")
    np.testing.assert_array_equal(kept["sequences"][0], np.float32(range(2, 32, 3)))
    # One moment in another zone is the same.
    rows = [(f"2020-01-01 {10 + h}:00:00+0{h}:00", h) for h in range(9)] + [("2020-01-01 10:00:01+00:00", 9)]
    error, _ = draw(table(tmp_path / "p.csv", "time,close", rows), check=False)
    assert "lines 2 and 3 have the same time" in error


def test_a_date_and_a_time_in_columns_of_their_own(tmp_path):
    rows = [(f"2020.01.{1 + k // 60:02}", f"10:{k % 60:02}", k) for k in range(120)]
    for header, options in [("<DATE>,<TIME>,<CLOSE>", ("--columns", "close=<CLOSE>")), ("Date,Time,Close", ()),
                            ("Day,Clock,Close", ("--columns", "date=Day,time=Clock"))]:
        _, kept = draw(table(tmp_path / "p.csv", header, rows), *options)
        assert kept["index"]["end_date"][70] == b"2020.01.02 10:19"
        assert kept["index"]["end_time"].view("datetime64[ns]")[70] == np.datetime64("2020-01-02T10:19")
    # Seconds since 1970 beside a time of day: they say it themselves.
    rows = [(1_577_872_800 + 60 * k, f"10:{k:02}", k) for k in range(60)]
    _, kept = draw(table(tmp_path / "p.csv", "timestamp,time,close", rows))
    assert kept["index"]["end_time"].view("datetime64[ns]")[0] == np.datetime64("2020-01-01T10:09")
    # A column named time that says something else beside a date that has it all.
    rows = [(f"2020-01-01 10:{k:02}", "late", k) for k in range(60)]
    _, kept = draw(table(tmp_path / "p.csv", "date,time,close", rows))
    assert kept["index"]["end_date"][0] == b"2020-01-01 10:09"


def test_day_or_month_first_is_asked_where_nothing_tells(tmp_path):
    # The first of every month is a day of January too, and both go from old to new.
    rows = [(f"01/{1 + k % 12:02}/{2010 + k // 12}", k) for k in range(36)]
    source = table(tmp_path / "p.csv", "Date,Close", rows)
    error, _ = draw(source, check=False)
    assert "line 3: column Date: '01/02/2010' can be day/month/year or month/day/year" in error and "--date-order" in error
    for order, end in {"dmy": "2010-10-01", "mdy": "2010-01-10"}.items():
        _, kept = draw(source, "--date-order", order)
        assert str(kept["index"]["end_time"].view("datetime64[ns]")[0]).startswith(end)
    # Where only one of them goes forward, it is that one: 1 February to 12 February, month last, then 1 March.
    rows = [(f"{1 + k % 12:02}/{2 + k // 12:02}/2010", k) for k in range(24)]
    _, kept = draw(table(tmp_path / "p.csv", "Date,Close", rows))
    assert str(kept["index"]["end_time"].view("datetime64[ns]")[0]).startswith("2010-02-10")


def test_one_date_among_many_that_is_none(tmp_path):
    rows = list(zip(dates_as("{:%Y-%m-%d}"), range(120)))
    rows[50] = ("n/a", 50)
    error, _ = draw(table(tmp_path / "p.csv", "Date,Close", rows), check=False)
    assert "line 52: column Date: 'n/a' is not a date in the format of the others" in error
    # Blank lines and comments count.
    (tmp_path / "q.csv").write_text("# words\n\n" + (tmp_path / "p.csv").read_text())
    error, _ = draw(tmp_path / "q.csv", check=False)
    assert "line 54: column Date" in error


def symbols_table(path, name="symbol", by_date=False, extra=()):
    rows = [(d, s, base + k) for base, s in [(100, "MSFT"), (500, "AAPL"), (900, "GOOG")] for k, d in enumerate(dates_as("{:%Y-%m-%d}", 40))]
    if by_date:
        rows.sort(key=lambda row: row[0])
    return table(path, f"date,{name},close", [*rows, *extra])


@pytest.mark.parametrize("by_date", [False, True])
@pytest.mark.parametrize("name", ["symbol", "Ticker", "PERMNO", "<TICKER>", "Name"])
def test_a_column_of_symbols_is_not_one_series(tmp_path, name, by_date):
    source = symbols_table(tmp_path / "p.csv", name, by_date)
    error, _ = draw(source, check=False)
    assert f"column {name} has" in error and f"--by {name}" in error
    _, kept = draw(source, "--by", name, "--labels", "5")
    expected = np.concatenate([np.lib.stride_tricks.sliding_window_view(np.arange(base, base + 40.0), 10) for base in (500, 900, 100)])
    np.testing.assert_array_equal(kept["sequences"], expected)
    assert kept["index"]["symbol"].tolist() == [b"AAPL"] * 31 + [b"GOOG"] * 31 + [b"MSFT"] * 31
    assert kept["index"]["row"].tolist() == list(range(31)) * 3 and not kept["index"]["file"].any()
    assert kept["index"]["end_date"][30] == b"2020-02-09"
    # Labels end where the series does.
    assert np.isnan(kept["labels"][:, 0]).reshape(3, 31)[:, -5:].all() and np.isfinite(kept["labels"][:, 0]).reshape(3, 31)[:, :-5].all()


def test_rows_of_one_symbol_in_any_order(tmp_path):
    source = symbols_table(tmp_path / "p.csv")
    _, whole = draw(source, "--by", "symbol")
    lines = source.read_text().splitlines(keepends=True)
    shuffled = lines[1:]
    random.Random(1).shuffle(shuffled)
    (tmp_path / "q.csv").write_text(lines[0] + "".join(shuffled))
    error, _ = draw(tmp_path / "q.csv", "--by", "symbol", check=False)
    assert "its rows go" in error
    _, kept = draw(tmp_path / "q.csv", "--by", "symbol", "--sort", "date")
    np.testing.assert_array_equal(kept["sequences"], whole["sequences"])
    np.testing.assert_array_equal(kept["index"], whole["index"])


def test_symbols_that_are_short_empty_or_the_same(tmp_path):
    said, kept = draw(symbols_table(tmp_path / "p.csv", extra=[("2020-01-01", "TINY", 1)]), "--by", "symbol")
    assert "1 of 4 series were skipped" in said and told(tmp_path)["series_short"] == 1
    assert b"TINY" not in kept["index"]["symbol"].tolist()
    error, _ = draw(symbols_table(tmp_path / "p.csv", extra=[("2020-01-01", "", 1)]), "--by", "symbol", check=False)
    assert "line 122: column symbol is empty" in error
    # One symbol alone needs no word, and is in the index.
    _, kept = draw(table(tmp_path / "p.csv", "date,symbol,close", [(d, "SPY", k) for k, d in enumerate(dates_as("{:%Y-%m-%d}"))]))
    assert set(kept["index"]["symbol"].tolist()) == {b"SPY"}
    # A share that changes its name is one series, if it is told.
    rows = [(d, "FB" if k < 60 else "META", k) for k, d in enumerate(dates_as("{:%Y-%m-%d}"))]
    error, _ = draw(table(tmp_path / "p.csv", "date,ticker,close", rows), check=False)
    assert "line 62: column ticker has 'META' after 'FB'" in error and "--by none" in error
    _, kept = draw(tmp_path / "p.csv", "--by", "none")
    assert len(kept["sequences"]) == 111 and "symbol" not in kept["index"].dtype.names


def test_what_only_a_table_has(tmp_path):
    np.save(tmp_path / "p.npy", np.arange(30.0))
    for option in (("--by", "symbol"), ("--sort", "date")):
        done = millrace("render", tmp_path / "p.npy", "-o", tmp_path / "c.h5", "--window", "10", *option, check=False)
        assert done.returncode == 2 and b"arrays have no column names" in done.stderr
    source = table(tmp_path / "p.csv", "date,close", [(f"t{k}", k) for k in range(30)])
    error, _ = draw(source, "--sort", "date", check=False)
    assert "it has no readable dates" in error
    error, _ = draw(source, "--by", "symbol", check=False)
    assert "it has no column 'symbol'; its columns are: date, close" in error
    said, _ = draw(source)
    assert "1 of 1 series have no readable dates" in said and told(tmp_path)["series_undated"] == 1


def test_several_files_keep_their_places(tmp_path):
    symbols_table(tmp_path / "a.csv")
    table(tmp_path / "b.csv", "date,symbol,close", [(d, "ZZZ", k) for k, d in enumerate(dates_as("{:%Y-%m-%d}", 20))])
    (tmp_path / "bad.csv").write_text("nothing\nhere\n")
    done = millrace("render", tmp_path / "a.csv", tmp_path / "bad.csv", tmp_path / "b.csv", "-o", tmp_path / "c.h5", "--window", "10",
                    "--size", "20x10", "--by", "symbol", check=False)
    assert done.returncode == 2, done.stderr  # --by names a column that bad.csv lacks
    done = millrace("render", tmp_path / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "c.h5", "--window", "10", "--size", "20x10",
                    "--by", "symbol")
    with h5py.File(tmp_path / "c.h5") as store:
        inputs = json.loads(store.attrs["inputs"])
        assert [pathlib.Path(entry["path"]).name for entry in inputs] == ["a.csv", "b.csv"]
        index = store["index"][:]
    assert sorted({(int(row["file"]), row["symbol"]) for row in index}) == [(0, b"AAPL"), (0, b"GOOG"), (0, b"MSFT"), (1, b"ZZZ")]


def test_rows_that_are_right_as_they_are(tmp_path):
    # The clocks are put back: an hour comes twice, and no zone says so.
    rows = [(f"2020-10-25 {hour:02}:{minute:02}", k) for k, (hour, minute) in enumerate(
        [(h, m) for h in (0, 1, 2) for m in (0, 30)] + [(h, m) for h in (2, 3, 4, 5) for m in (0, 30)])]
    source = table(tmp_path / "p.csv", "Time,Close", rows)
    error, _ = draw(source, check=False)
    assert "--columns date=none" in error
    said, kept = draw(source, "--columns", "date=none")
    np.testing.assert_array_equal(kept["sequences"][0], np.arange(10))
    assert "1 of 1 series have no readable dates" in said and "date" not in kept["index"].dtype.names


def test_a_first_row_that_is_data_is_not_lost(tmp_path):
    rows = [(f"2020.01.01,{10 + k // 60}:{k % 60:02}", 1 + k) for k in range(30)]
    source = table(tmp_path / "p.csv", f"2020.01.01,09:59,{0.5}", rows)
    for options in ((), ("--columns", "close=0.5,date=2020.01.01,time=09:59")):
        error, _ = draw(source, *options, check=False)
        assert "its first line contains numbers" in error
    # What pandas writes of a series without a name: names that are numbers, and one that is nothing.
    source = table(tmp_path / "q.csv", ",0", list(zip(dates_as("{:%Y-%m-%d}"), range(120))))
    _, kept = draw(source, "--columns", "close=0")
    assert kept["index"]["end_date"][0] == b"2020-01-10"


def test_what_the_order_cannot_decide(tmp_path):
    # Newest first, and nothing but the order tells day from month: asked, also by whoever sorts.
    rows = [("05/03/2020", 1), ("06/02/2020", 2), ("07/01/2020", 3)] * 1
    error, _ = draw(table(tmp_path / "p.csv", "date,close", rows), "--sort", "date", "--window", "3", check=False)
    assert "--date-order" in error
    # Repeats cannot be found without dates.
    error, _ = draw(table(tmp_path / "q.csv", "date,close", [(f"t{k}", k) for k in range(30)]), "--duplicates", "first", check=False)
    assert "no readable dates" in error
    # Two columns of a name that nobody asked for are no reason to refuse.
    rows = [(d, "a", "b", k) for k, d in enumerate(dates_as("{:%Y-%m-%d}"))]
    _, kept = draw(table(tmp_path / "r.csv", "date,Name,name,close", rows))
    assert len(kept["sequences"]) == 111
