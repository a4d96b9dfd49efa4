"""Charts of series in memory."""

from __future__ import annotations

import contextlib
from typing import Any

from millrace import _core
from millrace._arrays import array_of, array_to_fill, contiguous, is_table, wait_for_streams
from millrace._errors import Error, UsageError, in_keywords, named
from millrace._options import real, set_options, shown, text, thread_count, truth, whole

# What messages of the command call them.
_KEYWORDS = [("size", "width or height"), ("window", "rows"), ("ma", "average"), ("images", "out"), *((name.replace("_", "-"), name) for name in (
    "style", "line_width", "scale", "ink", "paper", "rising", "falling", "channels", "dtype", "volume"))]


@contextlib.contextmanager
def _said_of_charts():
    try:
        yield
    except Error as error:
        raise in_keywords(error, _KEYWORDS) from None


def _colour(value, name):
    """A gray, or text."""
    return value if isinstance(value, str) else str(whole(value, name, 0, 255))


#: By name what is meant where nothing is said, and what checks it.
OPTIONS = {
    "style": ("line", text),
    "rows": (0, whole),
    "width": (0, whole),
    "height": (0, whole),
    "line_width": (3.0, real),
    "scale": ("window", text),
    "ink": ("auto", _colour),
    "paper": ("auto", _colour),
    "rising": ("auto", _colour),
    "falling": ("auto", _colour),
    "channels": ("auto", text),
    "dtype": ("u8", text),
    "volume": (None, truth),
    "average": (-1, lambda value, name: whole(value, name, -1)),
    "threads": (0, thread_count),
    "device": ("auto", text),
    "verify_device": ("sample", text),
    "device_memory": (0, lambda value, name: whole(value, name, 0, 2**63 - 1)),
}


class ChartDrawer:
    """Draws charts of series in memory, the pixels of `millrace render`; docs/render.md explains each option.

    `style` line, ohlc, candle or jkx; `rows` of a series in a chart; `width` and `height` in pixels, 0 for the style's own;
    `line_width` in pixels; `scale` window or log; `ink`, `paper`, `rising`, `falling` grays from 0 to 255 or "#RRGGBB";
    `channels` gray or rgb; `dtype` u8, f32 (byte / 255) or bit (as numpy.packbits); `volume` below the prices; `average`
    closes in a moving average; `threads` 0 for one a core; `device` cpu, cuda[:N], opencl[:N] or auto; `verify_device` all,
    sample or none; `device_memory` in bytes.

    >>> import numpy as np
    >>> drawer = millrace.ChartDrawer(rows=5, width=40, height=30)
    >>> prices = np.array([[1, 3, 2, 5, 4], [4, 6, 5, 7, 8]], dtype=np.float64)
    >>> drawer(prices).shape
    (2, 30, 40)
    >>> int(drawer(prices[0]).min()), drawer(prices[0]).dtype
    (0, dtype('uint8'))
    """

    def __init__(self, **options: Any) -> None:
        made = _core.ChartOptions()
        self.options = set_options(made, OPTIONS, options, "millrace.ChartDrawer")
        with _said_of_charts():
            self._drawer = _core.Drawer(made)

    def __reduce__(self):
        return _drawer_of, (self.options,)

    def __repr__(self):
        return shown("millrace.ChartDrawer", self.options, OPTIONS)

    @property
    def rows(self) -> int:
        """Of a series in a chart."""
        return self._drawer.rows

    @property
    def columns(self) -> int:
        """Of a series: 1, the close; else open, high, low, close; with volume: and volume."""
        return self._drawer.columns

    @property
    def history(self) -> int:
        """Rows before a chart that its moving average looks back at."""
        return self._drawer.history

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Of one image: (height, width), (height, width, 3), or, of bits, (height, (width + 7) // 8)."""
        return tuple(self._drawer.image_shape)

    @property
    def image_dtype(self) -> str:
        """uint8, or float32 for f32."""
        return self._drawer.image_type

    @property
    def device_use(self) -> dict[str, Any]:
        """What a device did so far, in charts: device, drawn, compared, by_cpu, why."""
        return self._drawer.device_use

    @named
    def __call__(self, series: Any, out: Any = None) -> Any:
        """Charts of `series`: float64 or float32 `[count, rows, columns]`, or `[count, rows]` where there is one column; of
        one series, `[rows, columns]` or `[rows]`, or a pandas table with columns of these names, one chart. In the host's
        memory or a CUDA device's, read where it lies unless there are gaps between its numbers; rows above `rows` come first
        and lie before the chart, at most `history` of them. NaN is a gap.

        Returns uint8 (or float32) `[count, *image_shape]` as NumPy, or `out`, which is such an array, writable, anywhere.
        """
        if is_table(series):
            from millrace._windows import drawn

            series = drawn(series, self.columns, "series")
            series = series[:, 0] if self.columns == 1 else series
        elif isinstance(series, (list, tuple)) and any(map(is_table, series)):
            raise UsageError("usage", "it is a list of tables", "series", "draw them one by one, or stack their numbers")
        series = array_of(series, "series")
        one = len(series.shape) == (1 if self.columns == 1 else 2)
        if one:
            series = series[None]
        if out is None:
            import numpy

            made = numpy.empty((*series.shape[:1], *self.image_shape), dtype=self.image_dtype)
        else:
            made = array_to_fill(out, "out")
            made = made[None] if one else made
        series = contiguous(series, "series")
        wait_for_streams(series)
        wait_for_streams(made)
        with _said_of_charts():
            self._drawer.draw(series, made)
        return out if out is not None else (made[0] if one else made)


def _drawer_of(options):
    return ChartDrawer(**options)
