"""Batches of columns in, the same rows with new columns out: for `map_batches` of Ray Data, and whatever else calls with batches.

    pictures = ray.data.read_binary_files("photos", include_paths=True)
    hashed = pictures.map_batches(millrace.ray.Hash, fn_constructor_kwargs={"kinds": ["phash"]}, concurrency=4, num_cpus=2)
    hashed.write_parquet("hashes")

An object is made once in an actor and works on as many threads as that has CPUs. A row that cannot be used ends nothing: its
`error` says why, which is None of all others. Only who runs under Ray needs Ray.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Any

from millrace._charts import ChartDrawer
from millrace._errors import Error, UsageError
from millrace._jobs import hash_files
from millrace._options import names, text, thread_count, truth
from millrace._segment import Segmenter
from millrace.latents import Measurer

__all__ = ["Charts", "Hash", "Latents", "Segment"]

#: Pictures that are decoded by one call: their bytes lie in memory once more meanwhile.
_PICTURES, _PICTURE_BYTES = 64, 256 << 20

_NUMBERS = {"width": "int32", "height": "int32", "quality": "int32"}


def _context():
    """Ray's word on the actor or task that this runs in; None outside of one."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return None
    context = ray.get_runtime_context()
    return context if context.get_task_id() or context.get_actor_id() else None


def _threads(threads):
    """What was said, or as many as there are CPUs for this actor; outside of Ray one."""
    if threads is not None:
        return thread_count(threads)
    context = _context()
    given = context.get_assigned_resources().get("CPU", 1) if context else 1
    return max(1, int(given))


def _device(device):
    """What was said, or the GPU that Ray has given this actor, which is the first that it sees; else the CPU."""
    if device is not None:
        return text(device, "device")
    context = _context()
    given = context.get_accelerator_ids().get("GPU", []) if context else []
    return "cuda:0" if given else "cpu"


class _Batches:
    """Takes a column, gives others. Of rows that fail together each is tried alone."""

    def __init__(self, column, keep):
        self.column = text(column, "column")
        self.keep = truth(keep, "keep")

    def __call__(self, batch: Any) -> Any:
        """A dict of arrays or a table of pandas; comes back as what it was."""
        table = hasattr(batch, "iloc")
        columns = {name: batch[name].to_numpy() for name in batch.columns} if table else dict(batch)
        if self.column not in columns:
            raise UsageError("usage", f"a batch has no such column, but {', '.join(map(str, columns)) or 'none'}", f"column, {self.column!r}", "")
        rows = columns[self.column]
        if not self.keep:
            del columns[self.column]
        made = self._columns(rows)
        for name in made:
            if name in columns:
                raise UsageError("usage", "a batch has a column of this name already", name, "rename that first")
        columns.update(made)
        if not table:
            return columns
        import pandas

        # What is an array a row is one object a cell there.
        return pandas.DataFrame({name: list(values) if getattr(values, "ndim", 1) > 1 else values for name, values in columns.items()}, index=batch.index)

    @staticmethod
    def _each(rows, make, one):
        """make(rows), a list; where that fails one(row) of each. And the errors."""
        made, errors = [None] * len(rows), [None] * len(rows)
        if len(rows) == 0:
            return made, errors
        with contextlib.suppress(Error):
            return make(rows), errors
        for i, row in enumerate(rows):
            try:
                made[i] = one(row)
            except Error as error:
                if error.code == "cancelled":
                    raise
                errors[i] = str(error)
        return made, errors


def _objects(values):
    """A column of what is no number."""
    import numpy

    out = numpy.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def _filled(made, blank):
    """Arrays of one shape as one; `blank` where there is none."""
    import numpy

    return numpy.stack([blank if one is None else one for one in made]) if made else numpy.empty((0, *blank.shape), blank.dtype)


class Hash(_Batches):
    """Perceptual hashes of encoded pictures, as `hash_files` has them of files with the same bytes.

    `column` holds what is in the files (`bytes`, as `ray.data.read_binary_files` names it), and is left out unless `keep`.
    New columns: each kind of `kinds`, uint8 `[bytes]`, zeros where there is an error; `width`, `height`, `quality`, `error`.
    `options` are those of `hash_files`: size, decode, orientation, max_pixels, sandbox, memory. `threads` None: the actor's
    CPUs; outside of Ray one. `device` None: the GPU that Ray has given, or the CPU.
    """

    def __init__(self, kinds: str | Iterable[str] = "dhash", *, column: str = "bytes", keep: bool = False, threads: int | None = None,
                 device: str | None = None, **options: Any) -> None:
        super().__init__(column, keep)
        self.kinds = names(kinds.split(",") if isinstance(kinds, str) else kinds, "kinds")
        self.options = {**options, "threads": _threads(threads), "device": _device(device)}
        self._files([])  # a wrong option fails here, and not in the first batch

    def _files(self, pictures):
        """Of pictures that have no name: each is a file in memory."""
        files = []
        try:
            for number, picture in enumerate(pictures):
                files.append(os.memfd_create(f"picture {number}"))
                view = memoryview(picture)
                while view:
                    view = view[os.write(files[-1], view):]
            paths = [f"/proc/self/fd/{file}" for file in files]
            # Nothing is no list of files; a name that is none shows wrong options all the same.
            found = hash_files(paths or ["/proc/self/fd/none"], self.kinds, **self.options)
            return found, {path: at for at, path in enumerate(found.paths)}, paths
        finally:
            for file in files:
                os.close(file)

    def _columns(self, rows):
        import numpy

        parts, at = [], 0
        rows = [self._bytes(row) for row in rows]
        while at < len(rows):
            end, size = at, 0
            while end < len(rows) and end - at < _PICTURES and (end == at or size + len(rows[end] or b"") <= _PICTURE_BYTES):
                size += len(rows[end] or b"")
                end += 1
            parts.append(self._some(rows[at:end]))
            at = end
        lengths = self._some([])
        return {name: numpy.concatenate([part[name] for part in parts]) if parts else lengths[name] for name in lengths}

    @staticmethod
    def _bytes(row):
        """Of a row of a column; None where it holds none."""
        if isinstance(row, (bytes, bytearray, memoryview)):
            return row
        return row.tobytes() if getattr(row, "dtype", None) == "uint8" else None

    def _some(self, rows):
        import numpy

        there = [i for i, row in enumerate(rows) if row is not None]
        found, places, paths = self._files([rows[i] for i in there])
        out = {kind: numpy.zeros((len(rows), codes.shape[1]), dtype=numpy.uint8) for kind, codes in found.codes.items()}
        out.update({name: numpy.zeros(len(rows), dtype=kind) for name, kind in _NUMBERS.items()})
        errors = ["it holds no bytes"] * len(rows)
        for i, path in zip(there, paths):
            place = places[path]
            errors[i] = found.errors[place]
            for kind, codes in found.codes.items():
                out[kind][i] = codes[place]
            for name in _NUMBERS:
                out[name][i] = getattr(found, name)[place]
        return {**out, "error": _objects(errors)}


class Charts(_Batches):
    """Charts of series, as `ChartDrawer` draws them.

    `column` holds float64 or float32 `[rows, columns]`, or `[rows]` of closes alone, and is left out unless `keep`. New
    columns: `image`, uint8 `[height, width]` or `[height, width, 3]`, zeros where there is an error; `error`. `options` are
    the drawer's.
    """

    def __init__(self, *, column: str = "prices", keep: bool = False, threads: int | None = None, device: str | None = None, **options: Any) -> None:
        super().__init__(column, keep)
        self._drawer = ChartDrawer(threads=_threads(threads), device=_device(device), **options)

    def _columns(self, rows):
        import numpy

        # Rows of one length may be an array already; others are drawn where they have as many as a chart.
        made, errors = self._each(rows, lambda some: list(self._drawer(_array(some))), lambda row: self._drawer(_array(row)))
        return {"image": _filled(made, numpy.zeros(self._drawer.image_shape, dtype=self._drawer.image_dtype)), "error": _objects(errors)}


def _array(rows):
    """A column of arrays of one shape as one array; numbers that lie in objects as numbers."""
    import numpy

    if getattr(rows, "dtype", object) != object:
        return rows
    with contextlib.suppress(ValueError, TypeError):
        array = numpy.array([numpy.asarray(row) for row in rows])
        if array.dtype != object:
            return array
    raise UsageError("usage", "it holds no numbers of one shape", "a row", "")


class Latents(_Batches):
    """What is measured of latents, as `millrace.latents.Measurer` has it.

    `column` holds float16, float32 or float64 `[channels, frames, height, width]` or `[channels, height, width]`, and is left
    out unless `keep`. New columns: each metric by its name, float64, NaN where it is not defined or there is an error;
    `not_finite`, int64; `error`.
    """

    def __init__(self, *, column: str = "latent", keep: bool = False, threads: int | None = None, device: str | None = None, **options: Any) -> None:
        import numpy

        super().__init__(column, keep)
        self._measurer = Measurer(threads=_threads(threads), device=_device(device), **options)
        self._names = list(self._measurer(numpy.zeros((1, 1, 2, 2), dtype=numpy.float32)).metrics)

    def _columns(self, rows):
        import numpy

        made, errors = self._each(rows, self._all, lambda row: self._measurer(_array(row)))
        out = {name: numpy.array([one.metrics.get(name, numpy.nan) if one else numpy.nan for one in made], dtype=numpy.float64) for name in self._names}
        out["not_finite"] = numpy.array([one.not_finite if one else 0 for one in made], dtype=numpy.int64)
        return {**out, "error": _objects(errors)}

    def _all(self, rows):
        array = _array(rows)
        return self._measurer.all(array[:, :, None] if array.ndim == 4 else array)


class Segment(_Batches):
    """What networks say of images, as `Segmenter` has it; on the CPU.

    `column` holds uint8 `[height, width]` or `[height, width, 3]`, and is left out unless `keep`. New columns: `mask`, uint8
    `[height, width]`, and with `probability` float32 `[classes, height, width]`, of networks of several outputs
    `NAME.mask` and so on, None where there is an error; `values`, a list of `output`, `name`, `value` of networks of classes
    and numbers, `points`, where there are any; `error`. `options` are the segmenter's.
    """

    def __init__(self, model: Any, *, column: str = "image", keep: bool = False, probability: bool = False, threads: int | None = None, **options: Any) -> None:
        super().__init__(column, keep)
        if _device(None) != "cpu":
            raise UsageError("usage", "networks run on the CPU", "num_gpus", "leave it out")
        self.probability = truth(probability, "probability")
        self._segmenter = Segmenter(model, threads=_threads(threads), **options)

    def _columns(self, rows):
        def segmented(images):
            return self._segmenter(images, probability=self.probability)

        made, errors = self._each(list(rows), segmented, segmented)
        out = {}
        for i, one in enumerate(made):
            for name, value in self._said(one) if one else ():
                out.setdefault(name, [None] * len(made))[i] = value
        return {**{name: _objects(values) for name, values in out.items()}, "error": _objects(errors)}

    def _said(self, one):
        for output in one.outputs.values():
            for what in ("mask", "probability") if self.probability else ("mask",):
                value = getattr(output, what)
                if value is not None:
                    yield (what if len(one.outputs) == 1 else f"{output.name}.{what}"), value
        for what in ("points", "values"):
            if getattr(one, what):
                yield what, [value._asdict() for value in getattr(one, what)]
