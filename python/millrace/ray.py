"""Batches of columns in, the same rows with new columns out: for `map_batches` of Ray Data, and whatever else calls with batches.

    pictures = ray.data.read_binary_files("photos", include_paths=True)
    hashed = pictures.map_batches(millrace.ray.Hash, fn_constructor_kwargs={"kinds": ["phash"]}, concurrency=4, num_cpus=2)
    hashed.write_parquet("hashes")

An object is made once in an actor and works on as many threads as that has CPUs. A row that cannot be used ends nothing: its
`error` says why, which is None of all others. Only who runs under Ray needs Ray.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable
from typing import Any

from millrace._arrays import is_one_image, is_table, unmasked
from millrace._charts import ChartDrawer
from millrace._errors import Error, UsageError, refuse_unknown
from millrace._jobs import hash_files
from millrace._options import names, text, thread_count, truth
from millrace._segment import Segmenter
from millrace.latents import Measurer

__all__ = ["Charts", "Hash", "Latents", "Segment"]

#: Pictures that are decoded by one call: their bytes lie in memory once more meanwhile, a descriptor each.
_PICTURES, _PICTURE_BYTES = 64, 256 << 20

_NUMBERS = {"width": "int32", "height": "int32", "quality": "int32"}

#: What is wrong with a row; all else is wrong with the process, which Ray may start again.
_OF_ROWS = ("usage", "bad_data", "unsupported", "too_large", "not_found", "conflict")

_PICTURE_OPTIONS = ("size", "decode", "orientation", "max_pixels", "sandbox", "memory")


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


def _gpus():
    """That Ray has given this actor."""
    context = _context()
    return context.get_accelerator_ids().get("GPU", []) if context else []


def _device(device):
    """What was said, or the GPU that Ray has given this actor, else the CPU. Ray lets an actor see its own GPUs alone, unless
    it was told not to."""
    if device is not None:
        return text(device, "device")
    given = _gpus()
    return "cpu" if not given else "cuda:0" if "CUDA_VISIBLE_DEVICES" in os.environ else f"cuda:{given[0]}"


def _refuse_gpus(what):
    if _gpus():
        raise UsageError("usage", f"{what} on the CPU", "num_gpus", "leave it out")


def _objects(values):
    """A column of what is no number."""
    import numpy

    out = numpy.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


class _Batches:
    """Takes a column, gives others: always the same ones, of the same types, whatever the rows are."""

    def __init__(self, column, keep):
        self.column = text(column, "column")
        self.keep = truth(keep, "keep")
        self._in_ray = _context() is not None

    def _check_names(self):
        """Once an empty batch can be made."""
        self._made = list(self._columns([]))
        if self.keep and self.column in self._made:
            raise UsageError("usage", "a new column has this name", f"column, {self.column!r}", "rename it, or do not keep it")

    def __call__(self, batch: Any) -> Any:
        """A dict of arrays or a table of pandas; comes back as what it was."""
        table = is_table(batch)
        if not table and not hasattr(batch, "keys"):
            raise UsageError("usage", f"it is {type(batch).__name__}", "batch", "ask map_batches for batch_format='numpy' or 'pandas'")
        there = list(batch.columns) if table else list(batch)
        if there.count(self.column) != 1:
            raise UsageError("usage", f"a batch has no such column, but {', '.join(map(str, there)) or 'none'}", f"column, {self.column!r}", "")
        for name in self._made:
            if name in there and (name != self.column or self.keep):
                raise UsageError("usage", "a batch has a column of this name already", name, "rename that first")
        rows = batch[self.column]
        made = self._columns(rows.to_numpy() if table else rows)
        if not table:
            rest = {name: values for name, values in batch.items() if self.keep or name != self.column}
            return {**rest, **{name: self._for_ray(name, values) for name, values in made.items()}}
        rest = batch if self.keep else batch.drop(columns=self.column)
        return rest.assign(**{name: self._for_pandas(name, values) for name, values in made.items()})

    def _for_ray(self, name, values):
        """Texts of one type, where there are none too: Parquet has one of its own for nothing."""
        if name != "error" or not self._in_ray:
            return values
        import pyarrow

        return pyarrow.array(list(values), pyarrow.string())

    def _for_pandas(self, name, values):
        if name == "error" and self._in_ray:
            import pandas
            import pyarrow

            return pandas.array(list(values), dtype=pandas.ArrowDtype(pyarrow.string()))
        # What is an array a row is one object a cell there.
        return _objects(list(values)) if getattr(values, "ndim", 1) > 1 else values

    @staticmethod
    def _each(rows, make, one):
        """make(rows), a list; where that fails, or they are not alike, one(row) of each. And why a row failed."""
        made, errors = [None] * len(rows), [None] * len(rows)
        if len(rows) == 0:
            return made, errors
        try:
            together = _stacked(rows)
            if together is not None:
                return make(together), errors
        except Error as error:
            if error.code not in _OF_ROWS:
                raise
        for i, row in enumerate(rows):
            try:
                made[i] = one(_row(row))
            except Error as error:
                if error.code not in _OF_ROWS:
                    raise
                errors[i] = str(error)
        return made, errors


def _row(row):
    """As an array of numbers."""
    import numpy

    try:
        array = unmasked(row if hasattr(row, "dtype") else numpy.asarray(row))
    except Error:
        raise
    except Exception as error:  # what a row is is anybody's
        raise UsageError("usage", f"it cannot be read as an array: {error}", "a row", "") from None
    if array.dtype == object or array.dtype.kind not in "fiub":
        raise UsageError("usage", f"it holds no numbers of one shape, but {type(row).__name__}", "a row", "")
    return array


def _stacked(rows):
    """Rows of one type and shape as one array; None where they are not."""
    import numpy

    if getattr(rows, "dtype", object) != object:
        return rows if rows.dtype.kind in "fiub" else None
    try:
        arrays = [_row(row) for row in rows]
    except Error:
        return None
    if any(one.dtype != arrays[0].dtype or one.shape != arrays[0].shape for one in arrays):
        return None
    return numpy.stack(arrays)


def _filled(made, blank):
    """Arrays of one shape as one; `blank` where there is none."""
    import numpy

    return numpy.stack([blank if one is None else one for one in made]) if made else numpy.empty((0, *blank.shape), blank.dtype)


class Hash(_Batches):
    """Perceptual hashes of encoded pictures, as `hash_files` has them of files with the same bytes; on the CPU.

    `column` holds what is in the files (`bytes`, as `ray.data.read_binary_files` names it), and is left out unless `keep`.
    New columns: each kind of `kinds`, uint8 `[bytes]`, zeros where there is an error; `width`, `height`, `quality`, `error`.
    `options` are those of `hash_files`: size, decode, orientation, max_pixels, sandbox, memory. `threads` None: the actor's
    CPUs; outside of Ray one.
    """

    def __init__(self, kinds: str | Iterable[str] = "dhash", *, column: str = "bytes", keep: bool = False, threads: int | None = None,
                 **options: Any) -> None:
        super().__init__(column, keep)
        _refuse_gpus("pictures are hashed")
        refuse_unknown(options, _PICTURE_OPTIONS, "millrace.ray.Hash")
        self.kinds = names(kinds.split(",") if isinstance(kinds, str) else kinds, "kinds")
        self.options = {**options, "threads": _threads(threads), "device": "cpu"}
        self._none = self._some([])  # a wrong option fails here, and not in the first batch
        self._check_names()

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

        rows = [self._bytes(row) for row in rows]
        parts, at = [self._none], 0
        while at < len(rows):
            end, size = at, 0
            while end < len(rows) and end - at < _PICTURES and (end == at or size + len(rows[end] or b"") <= _PICTURE_BYTES):
                size += len(rows[end] or b"")
                end += 1
            parts.append(self._some(rows[at:end]))
            at = end
        return {name: numpy.concatenate([part[name] for part in parts]) for name in parts[0]}

    @staticmethod
    def _bytes(row):
        """Of a row of a column; None where it holds none. NumPy's own texts of bytes have lost the zeros at their end."""
        if isinstance(row, bytes) and type(row) is bytes:
            return row
        if hasattr(row, "dtype") and row.dtype != "uint8":
            return None
        try:
            view = memoryview(row)
            return view.cast("B") if view.c_contiguous else view.tobytes()
        except (TypeError, ValueError, BufferError):
            return None

    def _some(self, rows):
        import numpy

        there = [i for i, row in enumerate(rows) if row is not None]
        try:
            found, places, paths = self._files([rows[i] for i in there])
        except OSError as error:
            if error.errno != errno.EMFILE or len(rows) < 2:
                raise
            halves = [self._some(rows[: len(rows) // 2]), self._some(rows[len(rows) // 2:])]
            return {name: numpy.concatenate([half[name] for half in halves]) for name in halves[0]}
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
    the drawer's. `threads` and `device` None: the actor's CPUs, and the GPU that Ray has given or the CPU.
    """

    def __init__(self, *, column: str = "prices", keep: bool = False, threads: int | None = None, device: str | None = None, **options: Any) -> None:
        super().__init__(column, keep)
        self._drawer = ChartDrawer(threads=_threads(threads), device=_device(device), **options)
        self._check_names()

    def _columns(self, rows):
        import numpy

        made, errors = self._each(rows, self._all, self._one)
        return {"image": _filled(made, numpy.zeros(self._drawer.image_shape, dtype=self._drawer.image_dtype)), "error": _objects(errors)}

    def _all(self, series):
        return [self._one(one) for one in series] if series.ndim != self._axes() + 1 else list(self._drawer(series))

    def _axes(self):
        return 1 if self._drawer.columns == 1 else 2

    def _one(self, series):
        if series.ndim != self._axes():
            wanted = "[rows]" if self._axes() == 1 else f"[rows, {self._drawer.columns}]"
            raise UsageError("usage", f"it is {list(series.shape)}, and a series is {wanted}", "a row", "")
        return self._drawer(series)


class Latents(_Batches):
    """What is measured of latents, as `millrace.latents.Measurer` has it.

    `column` holds float16, float32 or float64 `[channels, frames, height, width]` or `[channels, height, width]`, and is left
    out unless `keep`. New columns: each metric by its name, float64, NaN where it is not defined or there is an error;
    `not_finite`, int64; `error`. `threads` and `device` as of Charts.
    """

    def __init__(self, *, column: str = "latent", keep: bool = False, threads: int | None = None, device: str | None = None, **options: Any) -> None:
        import numpy

        super().__init__(column, keep)
        self._measurer = Measurer(threads=_threads(threads), device=_device(device), **options)
        self._names = list(self._measurer(numpy.zeros((1, 1, 2, 2), dtype=numpy.float32)).metrics)
        self._check_names()

    def _columns(self, rows):
        import numpy

        made, errors = self._each(rows, self._all, self._measurer)
        out = {name: numpy.array([one.metrics.get(name, numpy.nan) if one else numpy.nan for one in made], dtype=numpy.float64) for name in self._names}
        out["not_finite"] = numpy.array([one.not_finite if one else 0 for one in made], dtype=numpy.int64)
        return {**out, "error": _objects(errors)}

    def _all(self, latents):
        return self._measurer.all(latents[:, :, None] if latents.ndim == 4 else latents)


class Segment(_Batches):
    """What networks say of images, as `Segmenter` has it; on the CPU.

    `column` holds uint8 `[height, width]` or `[height, width, 3]`, and is left out unless `keep`. New columns: `mask`, uint8
    `[height, width]`, and with `probability` float32 `[classes, height, width]`, of networks of several outputs
    `NAME.mask` and so on, without rows where there is an error; of networks for classes, numbers and points `values` and
    `points`, lists of dicts; `error`. `options` are the segmenter's. `threads` None: the actor's CPUs; outside of Ray one.
    """

    def __init__(self, model: Any, *, column: str = "image", keep: bool = False, probability: bool = False, threads: int | None = None, **options: Any) -> None:
        super().__init__(column, keep)
        _refuse_gpus("networks run")
        self.probability = truth(probability, "probability")
        self._segmenter = Segmenter(model, threads=_threads(threads), **options)
        # What there is of any image is there of one: a disc, in which a photograph of a fundus is found as well.
        self._blanks = {name: value[..., :0, :0] if hasattr(value, "shape") else [] for name, value in self._said(self._one(_disc(self._segmenter.window)))}
        self._check_names()

    def _columns(self, rows):
        made, errors = self._each(list(rows), lambda images: self._segmenter(list(images), probability=self.probability), self._one)
        said = [dict(self._said(one)) if one else {} for one in made]
        out = {name: _objects([each.get(name, blank) for each in said]) for name, blank in self._blanks.items()}
        return {**out, "error": _objects(errors)}

    def _one(self, image):
        if image.dtype != "uint8" or not is_one_image(image):
            raise UsageError("usage", f"found {image.dtype} {list(image.shape)}; expected uint8 [height, width] or [height, width, 1] (gray) or "
                             "[height, width, 3] (RGB), in host memory, with sides from 1 to 65,535", "a row", "")
        return self._segmenter(image, probability=self.probability)

    def _said(self, one):
        tasks = {output.task for output in one.outputs.values()}
        for output in one.outputs.values():
            for what in ("mask", "probability") if self.probability else ("mask",):
                value = getattr(output, what)
                if value is not None:
                    yield (what if len(one.outputs) == 1 else f"{output.name}.{what}"), value
        if "keypoints" in tasks:
            yield "points", [value._asdict() for value in one.points]
        if tasks & {"classification", "regression"}:
            yield "values", [value._asdict() for value in one.values]


def _disc(window):
    import numpy

    height, width = (max(side, 256) for side in window)
    y, x = numpy.ogrid[:height, :width]
    inside = (y - height / 2) ** 2 + (x - width / 2) ** 2 < (0.45 * min(height, width)) ** 2
    return numpy.repeat(numpy.where(inside, 150, 0).astype(numpy.uint8)[:, :, None], 3, axis=2)
