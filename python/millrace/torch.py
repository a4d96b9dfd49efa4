"""Charts as a dataset for PyTorch: drawn when they are asked for, or read from a store that `render` wrote.

    charts = millrace.torch.Charts(prices, rows=60, width=224, height=224, labels=(5, 20))
    for images, returns in torch.utils.data.DataLoader(charts, batch_size=64, shuffle=True, num_workers=2):
        ...  # uint8 [64, 1, 224, 224] and float32 [64, 2]

Only this module needs torch (2.0 or later).
"""

import contextlib
import copy
import json
import operator
import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy
import torch
from torch.utils.data import Dataset, IterableDataset, default_collate, get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from millrace import _lending
from millrace._charts import OPTIONS, ChartDrawer
from millrace._errors import Error, UsageError, named, refuse_unknown
from millrace._options import truth, whole
from millrace._stores import open_store
from millrace._windows import Windows

__all__ = ["Chart", "ChartImage", "ChartStream", "Charts", "NoSuchChart", "WorkerError"]

#: Charts that a stream of samples has drawn at once.
_AT_ONCE = 64


class Chart(NamedTuple):
    """A sample with labels, or a batch of them."""

    image: torch.Tensor  #: [channels, height, width], or of a batch [charts, channels, height, width]
    labels: torch.Tensor  #: float32 [horizons], or [charts, horizons]; NaN where the future is not known


class ChartImage(torch.Tensor):
    """An image of a batch that a DataLoader asked for; what is made of it is a plain tensor."""

    __torch_function__ = torch._C._disabled_torch_function_impl


class _Batch(Sequence):
    """Samples that lie in one tensor each. Collated they are these tensors, as they are."""

    def __init__(self, whole):
        self.whole = whole

    def __len__(self):
        return len(self.whole.image if isinstance(self.whole, Chart) else self.whole)

    def __getitem__(self, place):
        if isinstance(place, slice):
            return list(self)[place]
        if isinstance(self.whole, Chart):
            return Chart(self.whole.image[place], self.whole.labels[place])
        return self.whole[place].as_subclass(ChartImage)

    def __iter__(self):
        if isinstance(self.whole, Chart):
            return map(Chart, self.whole.image.unbind(0), self.whole.labels.unbind(0))
        return (image.as_subclass(ChartImage) for image in self.whole.unbind(0))


def _collate_charts(batch, *, collate_fn_map=None):
    if isinstance(batch, _Batch):
        return batch.whole
    return Chart(*(default_collate(list(part)) for part in zip(*batch)))


def _collate_images(batch, *, collate_fn_map=None):
    if isinstance(batch, _Batch):
        return batch.whole
    return default_collate([image.as_subclass(torch.Tensor) for image in batch])


# How torch.utils.data.default_collate says that it is extended by a type.
default_collate_fn_map.update({Chart: _collate_charts, ChartImage: _collate_images})


class WorkerError(Error):
    """An Error that a worker of a DataLoader met. torch hands on no more than its type and text, so the text that a worker
    gives carries the fields; `traceback` is the worker's."""

    _MARK = "millrace.Error: "
    traceback = ""

    def __init__(self, what, *fields):
        if fields:
            super().__init__(what, *fields)
            return
        told = what.rpartition(self._MARK)[2].splitlines()
        super().__init__(*(json.loads(told[0]) if self._MARK in what else ("internal", what)))
        self.traceback = what

    def __str__(self):
        text = super().__str__()
        if get_worker_info() is None:
            return text
        return f"{text}\n{self._MARK}{json.dumps([self.code, self.what, self.subject, self.remedy])}"


@contextlib.contextmanager
def _handed_on():
    """Errors in a form that reaches the main process."""
    try:
        yield
    except Error as error:
        if get_worker_info() is None or isinstance(error, WorkerError):
            raise
        raise WorkerError(error.code, error.what, error.subject, error.remedy) from error


class NoSuchChart(UsageError, IndexError):
    """A number beyond the last chart's, which ends a loop over a dataset as for every sequence."""


def _type_of(dtype):
    dtype = {"u8": torch.uint8, "f32": torch.float32}.get(dtype, dtype)
    if not isinstance(dtype, torch.dtype) or not (dtype == torch.uint8 or dtype.is_floating_point):
        raise UsageError("usage", f"it is torch.uint8, for 0 to 255, or a type of floats, for 0 to 1; not {dtype!r}", "dtype", "")
    return dtype


def _horizons_of(labels):
    try:
        horizons = tuple(whole(one, "labels", 1) for one in ((labels,) if hasattr(labels, "__index__") else labels))
    except TypeError:
        horizons = None
    if horizons is None or len(set(horizons)) < len(horizons):
        raise UsageError("usage", f"it is numbers of rows ahead, each 1 or more and none twice, not {labels!r}", "labels", "as (5, 20)")
    return horizons


def _empty(*kinds):
    """Tensors of (shape, dtype) each whose elements are not set; in a worker where the main process will read them."""
    lent = _lending.tensors(kinds) if get_worker_info() is not None else None
    return lent or [torch.empty(shape, dtype=dtype) for shape, dtype in kinds]


class Charts(Dataset):
    """Charts, by their numbers, in the order in which `millrace render` writes them.

    `source` is what they are drawn from: a series, `[rows]` of closes or `[rows, 4 or 5]` of open, high, low, close and
    volume, as NumPy or a pandas table with such columns; a list of series; a dict of them by symbol. `drawing` are the
    options of millrace.ChartDrawer (style, rows, width, height, volume, ...); every `stride` rows a chart begins, and none
    crosses from one series to another. `threads` are those that draw: in a worker one, elsewhere one a core, where it is 0.

    Or `source` is the path of a store that `render` wrote, of any kind: HDF5, Zarr, NPY, DAT, PNG, JPEG or WebDataset. How it
    was drawn is known there, so there is no `stride` and no `drawing`.

    `labels` are horizons h in rows: float32 close[t + h] / close[t] - 1, t being a chart's last row, NaN where the future is
    missing or close[t] is not above 0. None takes those of a store, () none.

    charts[i] is Chart(image, labels), which unpacks as a pair; without labels it is the image alone. An image is `[channels,
    height, width]`, one channel or three: uint8 from 0 to 255, or with a `dtype` of floats from 0 to 1 (byte / 255), whatever a
    store holds of these two; of a store of bits both ends. charts[several], of a list, slice or mask, is a batch `[charts,
    channels, height, width]`, drawn by one call. So are the batches of a DataLoader, which come out of it uncopied (where
    `collate_fn` is torch's own). Three channels lie pixel by pixel (torch.channels_last).

    `transform` and `target_transform` are called with each image and each chart's labels, before they become a batch.

    Nothing is random here: order is the sampler's, or that of stream(). Pickled, as for workers that are spawned, are the
    settings and the series; files are opened in the process that reads them, and stay open there.

    >>> import numpy as np
    >>> prices = 100 + np.random.default_rng(1).standard_normal(300).cumsum()
    >>> charts = millrace.torch.Charts(prices, rows=60, width=32, height=24, labels=(5, 20))
    >>> len(charts), charts[7].image.shape, charts[7].labels.shape
    (241, torch.Size([1, 24, 32]), torch.Size([2]))
    >>> images, returns = charts[[0, 40, 80]]
    >>> images.shape, images.dtype
    (torch.Size([3, 1, 24, 32]), torch.uint8)
    """

    def __init__(self, source, *, labels=None, stride=None, dtype=torch.uint8, transform=None, target_transform=None, **drawing):
        super().__init__()
        refuse_unknown(drawing, [name for name in OPTIONS if name != "dtype"], "millrace.torch.Charts")
        for name, function in (("transform", transform), ("target_transform", target_transform)):
            if function is not None and not callable(function):
                raise UsageError("usage", f"it is a function, not {function!r:.80}", name, "")
        self.dtype, self.transform, self.target_transform = _type_of(dtype), transform, target_transform
        horizons = None if labels is None else _horizons_of(labels)
        self._drawers, self._chosen, self._prices = {}, None, None
        if isinstance(source, (str, bytes, os.PathLike)):
            given = [*drawing, *(["stride"] if stride is not None else [])]
            if given:
                raise UsageError("usage", "a store's charts are drawn already", given[0], "render has that option")
            self._source, self._drawing = open_store(source), None
            missing = [one for one in horizons or () if one not in self._source.horizons]
            if missing:
                raise UsageError("usage", f"{self._source.path} has no labels of {missing[0]} rows ahead", "labels",
                                 f"it has {', '.join(map(str, self._source.horizons)) or 'none'}")
            self.horizons = self._source.horizons if horizons is None else horizons
            shape = self._source.shape
            if self._source.dtype == "bit":
                shape = (shape[0], self._source.width)
        else:
            self.horizons = horizons or ()
            # A byte a pixel, or byte / 255.
            self._drawing = {**drawing, "dtype": "f32" if self.dtype == torch.float32 else "u8"}
            drawer = ChartDrawer(**self._drawing)
            self._source = Windows(source, drawer, 1 if stride is None else stride, self.horizons)
            # As a tensor torch hands them to workers in memory that all of them share.
            self._prices = torch.from_numpy(self._source.prices)
            shape = drawer.image_shape
        self._columns = [self._source.horizons.index(one) for one in self.horizons]
        #: Of one image: (channels, height, width).
        self.image_shape = (3, *shape[:2]) if len(shape) == 3 else (1, *shape)

    def __getstate__(self):
        state = {**self.__dict__, "_drawers": {}}
        if self._prices is not None:
            state["_source"] = copy.copy(self._source)
            state["_source"].prices = None
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self._prices is not None:
            self._source.prices = self._prices.numpy()

    def __repr__(self):
        return f"<millrace.torch.Charts: {len(self)} of {' x '.join(map(str, self.image_shape))}, labels {self.horizons}>"

    def __len__(self):
        return self._source.count if self._chosen is None else len(self._chosen)

    def __getitem__(self, key):
        with _handed_on():
            if hasattr(key, "__index__") and getattr(key, "ndim", 0) == 0:
                samples = self._samples(self._numbers([operator.index(key)]))
                return samples.whole[0] if isinstance(samples, _Batch) and not self.horizons else samples[0]
            samples = self._samples(self._numbers(key))
            return samples.whole if isinstance(samples, _Batch) else default_collate(samples)

    def __getitems__(self, numbers):
        """A batch for a DataLoader: samples, which are parts of one tensor."""
        with _handed_on():
            return self._samples(self._numbers(numbers))

    def only(self, numbers):
        """These charts alone, in this order: numbers or a mask, as charts.only(charts.index["row"] < 1000). What was read or
        copied for the others is shared."""
        out = copy.copy(self)
        out._chosen = self._rows(self._numbers(numbers))
        return out

    @property
    def labels(self):
        """float32 `[charts, horizons]` of all, as NumPy; None without horizons. Read once."""
        with _handed_on():
            if not self.horizons:
                return None
            return self._source.labels()[:, self._columns] if self._chosen is None else self._source.labels()[self._chosen][:, self._columns]

    @property
    def index(self):
        """Where the charts are: arrays `[charts]` by name, as a store's `index` has them. file, the number of the input or
        series; row, the first of it; where they are known symbol, date, end_date and end_time (datetime64[ns])."""
        with _handed_on():
            return {name: column if self._chosen is None else column[self._chosen] for name, column in self._source.index().items()}

    @named
    def stream(self, *, shuffle=True, seed=0, batch=None, drop_last=False):
        """The same charts in the iterable form: a ChartStream."""
        return ChartStream(self, shuffle=shuffle, seed=seed, batch=batch, drop_last=drop_last)

    def _numbers(self, key):
        """int64 numbers from 0 of what picks charts."""
        if isinstance(key, slice):
            return numpy.arange(*key.indices(len(self)))
        numbers = numpy.asarray(key)
        if numbers.dtype == bool and numbers.shape == (len(self),):
            return numpy.flatnonzero(numbers)
        if numbers.size == 0:
            return numpy.zeros(0, dtype=numpy.int64)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise UsageError("usage", f"charts are picked by numbers, a slice or a mask of all, not by {numbers.dtype} {list(numbers.shape)}", "charts", "")
        # Small types have no room for what is added; large ones lose what is over int64, which is no chart's number.
        numbers = numpy.minimum(numbers, numpy.iinfo(numpy.int64).max).astype(numpy.int64) if numbers.dtype == numpy.uint64 else numbers.astype(numpy.int64)
        numbers = numpy.where(numbers < 0, numbers + len(self), numbers)
        if numbers.min() < 0 or numbers.max() >= len(self):
            raise NoSuchChart("usage", f"there are {len(self)} charts, from 0 on, and none of number {key!r:.80}", "charts", "")
        return numbers

    def _rows(self, numbers):
        return numbers if self._chosen is None else self._chosen[numbers]

    def _samples(self, numbers):
        """A _Batch, or a list of samples that were transformed."""
        rows = self._rows(numbers)
        drawn = self._drawing is not None
        shape = (len(rows), *(self._drawer().image_shape if drawn else self._source.shape))
        floats = self.dtype == torch.float32 if drawn else self._source.dtype == "f32"
        kinds = [(shape, torch.float32 if floats else torch.uint8)]
        if self.horizons:
            kinds.append(((len(rows), len(self.horizons)), torch.float32))
        images, *labels = _empty(*kinds)
        if drawn:
            self._drawer()(self._source.series(rows), out=images.numpy())
        else:
            self._source.read(rows, images.numpy())
        images = self._as_wanted(images)
        if labels:
            labels[0].numpy()[...] = self._source.labels(rows)[:, self._columns]
        if self.transform is None and (self.target_transform is None or not labels):
            return _Batch(Chart(images, *labels) if labels else images)
        samples = [self.transform(image) if self.transform is not None else image for image in images]
        if not labels:
            return samples
        return [Chart(image, self.target_transform(one) if self.target_transform is not None else one) for image, one in zip(samples, labels[0])]

    def _as_wanted(self, images):
        """`[charts, channels, height, width]` of self.dtype."""
        if self._drawing is None and self._source.dtype == "bit":
            images = torch.from_numpy(numpy.unpackbits(images.numpy(), axis=2, count=self._source.width)).mul_(255)
        if images.dtype != self.dtype:
            if self.dtype == torch.uint8:
                images = images.mul(255).round_().to(torch.uint8)
            else:
                images = (images.to(torch.float32).div_(255) if images.dtype == torch.uint8 else images).to(self.dtype)
        return _lending.seen(images, images.permute(0, 3, 1, 2) if self.image_shape[0] == 3 else images.unsqueeze(1))

    def _drawer(self):
        """Of this process; workers are as many as there are cores to use, and draw on one thread each."""
        threads = self._drawing.get("threads", 0) or (1 if get_worker_info() is not None else 0)
        if threads not in self._drawers:
            self._drawers[threads] = ChartDrawer(**{**self._drawing, "threads": threads})
        return self._drawers[threads]


class ChartStream(IterableDataset):
    """Each chart once an epoch, for any number of a DataLoader's workers, which share them.

    With `batch` it gives batches of so many, for `DataLoader(stream, batch_size=None)`: drawn by one call each and never
    copied, in an order that does not depend on the number of workers; the last is smaller, or left out by `drop_last`.
    Without, it gives samples for a DataLoader that makes batches of them; their order is that of the workers.

    `shuffle` draws an order from `seed` and the epoch. set_epoch() before an epoch, as for torch's DistributedSampler, also
    where workers are persistent; who never calls it has the same order each time.
    """

    def __init__(self, charts, *, shuffle=True, seed=0, batch=None, drop_last=False):
        super().__init__()
        batch = None if batch is None else whole(batch, "batch", 1)
        if batch is None and drop_last:
            raise UsageError("usage", "of samples none is a last batch", "drop_last", "the DataLoader has that option")
        seed = whole(seed, "seed", 0, 2**63 - 1)
        shuffle, drop_last = truth(shuffle, "shuffle"), truth(drop_last, "drop_last")
        self.charts, self.shuffle, self.seed, self.batch, self.drop_last = charts, shuffle, seed, batch, drop_last
        # In memory that workers share: those that live on see the next epoch.
        self._epoch = torch.zeros(1, dtype=torch.int64).share_memory_()

    @property
    def epoch(self):
        return int(self._epoch)

    def set_epoch(self, epoch):
        """Of the iterators that are made from now on."""
        self._epoch[0] = whole(epoch, "epoch", 0, 2**63 - 1)

    def __len__(self):
        """Batches, or samples."""
        if self.batch is None:
            return len(self.charts)
        return (len(self.charts) + (0 if self.drop_last else self.batch - 1)) // self.batch

    def order(self):
        """int64 numbers of all charts, in this epoch's order."""
        if not self.shuffle:
            return numpy.arange(len(self.charts))
        return numpy.random.default_rng([self.seed, self.epoch]).permutation(len(self.charts))

    def __iter__(self):
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info is not None else (0, 1)
        order = self.order()
        if self.batch is not None:
            for number in range(worker, len(self), workers):
                yield self.charts[order[number * self.batch : (number + 1) * self.batch]]
            return
        own = order[worker::workers]
        for begin in range(0, len(own), _AT_ONCE):
            yield from self.charts.__getitems__(own[begin : begin + _AT_ONCE])
