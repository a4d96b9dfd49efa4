"""Windows of series in memory: which charts there are, the rows each is drawn from, and what came after it."""

import numpy

from millrace._arrays import is_table, unmasked
from millrace._errors import UsageError
from millrace._options import whole

#: Beyond it a price is a gap, as for `render`.
_LARGEST = 1e300
_COLUMNS = ("open", "high", "low", "close", "volume")


def _roles(columns):
    """What the columns are that a drawer of so many draws: for a line the close, else all four; and the volume."""
    prices = _COLUMNS[:4] if columns >= 4 else ("close",)
    return prices + (("volume",) if columns in (2, 5) else ())


def _series_of(source):
    """(names, or None; arrays) of one series, several, or several by name."""
    if hasattr(source, "items") and not hasattr(source, "dtypes") and not hasattr(source, "dtype"):
        return [str(name) for name in source], list(source.values())
    if is_table(source):
        for column in source.columns:
            if str(column).lower() in ("symbol", "ticker") and source[column].nunique() > 1:
                raise UsageError("usage", f"its column {column!r} has {source[column].nunique()} of them, and a table is one series", "series",
                                 f"dict(list(table.groupby({column!r}))) is one of each")
    if isinstance(source, (list, tuple)) and len(source) > 0 and numpy.ndim(source[0]) > 0:
        return None, list(source)
    return None, [source]


def drawn(values, columns, what):
    """Of `[rows]` or `[rows, 4 or 5]`, or of a pandas table by its columns' names, what is drawn: `[rows, columns]`."""
    roles = _roles(columns)
    if is_table(values):
        names = {str(name).lower(): place for place, name in enumerate(values.columns)}
        twice = [role for role in roles if sum(str(name).lower() == role for name in values.columns) > 1]
        if twice:
            raise UsageError("usage", f"it has more than one column {twice[0]!r}", what, "whether letters are large or small does not matter")
        missing = [role for role in roles if role not in names]
        if missing:
            raise UsageError("usage", f"it has no column {missing[0]!r}", what, f"its columns are {', '.join(map(str, values.columns))}")
        values = values.iloc[:, [names[role] for role in roles]]
    try:
        array = numpy.asarray(unmasked(values))
        if array.dtype.kind == "c":
            raise TypeError("complex numbers are no prices")
        array = array if array.dtype in ("float32", "float64") else array.astype(numpy.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError("usage", f"it is not an array of numbers: {error}", what, "") from None
    if array.ndim not in (1, 2):
        raise UsageError("usage", f"it has {array.ndim} axes", what, "a series is [rows] or [rows, columns]; several are a list or a dict")
    if array.ndim == 1:
        array = array[:, None]
    if array.shape[1] != columns:
        if array.shape[1] not in (4, 5) or any(role == "volume" for role in roles) and array.shape[1] < 5:
            raise UsageError("usage", f"it has {array.shape[1]} columns, and {', '.join(roles)} are drawn", what,
                             "columns are open, high, low, close and volume, in this order")
        array = array[:, [_COLUMNS.index(role) for role in roles]]
    return array


class Windows:
    """Every `stride` rows a chart, none across two series; in the order of the series, then of their rows.

    Rows are drawn as they are: what a chart looks back at lies before it, gaps where its series begins.
    """

    def __init__(self, source, drawer, stride, horizons):
        stride = whole(stride, "stride", 1)
        self.names, series = _series_of(source)
        self.rows, self.history, self.stride, self.horizons = drawer.rows, drawer.history, stride, horizons
        self.close = _roles(drawer.columns).index("close")
        names = self.names or ([f"series {number}" for number in range(len(series))] if len(series) > 1 else ["series"])
        arrays = [drawn(values, drawer.columns, name) for name, values in zip(names, series)]
        lengths = numpy.array([len(array) for array in arrays], dtype=numpy.int64)
        charts = numpy.maximum((lengths - self.rows) // stride + 1, 0)
        self.ends = numpy.cumsum(charts)
        self.count = int(charts.sum())
        if self.count == 0:
            raise UsageError("usage", f"no series has the {self.rows} rows of a chart", "source", "")
        # Before each series the gaps that a moving average finds there.
        kind = numpy.result_type(*{array.dtype for array in arrays})
        self.prices = numpy.full((int(lengths.sum()) + self.history * len(arrays), drawer.columns), numpy.nan, dtype=kind)
        self.begins = numpy.concatenate([[0], numpy.cumsum(lengths + self.history)])
        for begin, array in zip(self.begins + self.history, arrays):
            self.prices[begin : begin + len(array)] = array

    def _places(self, rows):
        """(number of the series, first row of it) of charts."""
        series = numpy.searchsorted(self.ends, rows, side="right")
        before = numpy.where(series > 0, self.ends[series - 1], 0)
        return series, (rows - before) * self.stride

    def series(self, rows):
        """`[charts, history + rows, columns]`, or without the last axis where there is one column: what a drawer takes."""
        series, first = self._places(numpy.asarray(rows))
        at = (self.begins[series] + first)[:, None] + numpy.arange(self.history + self.rows)
        taken = self.prices[at]
        return taken[:, :, 0] if taken.shape[2] == 1 else taken

    def labels(self, rows=None):
        """float32 `[charts, horizons]`: close[t + h] / close[t] - 1, t being a chart's last row; NaN where that is not known."""
        series, first = self._places(numpy.arange(self.count) if rows is None else numpy.asarray(rows))
        last = self.begins[series] + self.history + first + self.rows - 1
        close = self.prices[:, self.close]
        out = numpy.full((len(last), len(self.horizons)), numpy.nan, dtype=numpy.float32)
        now = close[last].astype(numpy.float64)
        for column, horizon in enumerate(self.horizons):
            then = last + horizon
            known = (then < self.begins[series + 1]) & (now > 0) & (now <= _LARGEST)
            later = close[then[known]].astype(numpy.float64)
            later[~(numpy.abs(later) <= _LARGEST)] = numpy.nan
            out[known, column] = later / now[known] - 1
        return out

    def index(self):
        series, first = self._places(numpy.arange(self.count))
        out = {"file": series, "row": first}
        if self.names is not None:
            out["symbol"] = numpy.array(self.names)[series]
        return out
