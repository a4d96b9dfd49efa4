"""Latents of video-diffusion models: what is measured of them, and how groups of them differ.

`millrace.latents(...)` is the whole job over files; the functions here take arrays.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from millrace import _charts, _core
from millrace._arrays import aligned, is_table, wait_for_streams
from millrace._errors import UsageError, refuse_unknown
from millrace._options import real, set_options, shown, whole

OPTIONS = {name: _charts.OPTIONS[name] for name in ("threads", "device", "verify_device", "device_memory")}

if TYPE_CHECKING:
    import numpy
    import pandas


class Measured(NamedTuple):
    """What was measured of one latent; docs/latents.md defines each."""

    metrics: dict[str, float]  #: a number by its name; NaN where the shape or the content does not define it
    distributions: dict[str, numpy.ndarray]  #: what they are means of: arrays by their names
    not_finite: int  #: elements that are NaN or infinite; where there are any nothing else is measured


class Measurer:
    """Measures latents; keeps memory for the last shape. `threads` 0 for one a core; `device` cpu, cuda[:N], opencl[:N] or
    auto; `verify_device` all, sample or none; `device_memory` in bytes."""

    def __init__(self, **options: Any) -> None:
        made = _core.LatentOptions()
        self.options = set_options(made, OPTIONS, options, "millrace.latents.Measurer")
        self._measurer = _core.Measurer(made)

    def __reduce__(self):
        return _measurer_of, (self.options,)

    def __call__(self, latent: Any) -> Measured:
        """`latent` is `[channels, frames, height, width]`, or `[channels, height, width]` of an image model, with one more axis
        of 1 in front or not; float16, bfloat16, float32 or float64, with any strides, read where it lies."""
        wait_for_streams(latent)
        return Measured(**self._measurer.measure(aligned(latent, "latent")))

    def all(self, latents: Any) -> list[Measured]:
        """The same of each of `[latents, channels, frames, height, width]`, on all threads; a list."""
        if len(getattr(latents, "shape", ())) not in (0, 5):
            raise UsageError("usage", f"it is {list(latents.shape)}, and many latents are [latents, channels, frames, height, width]", "latents",
                             "of images frames is 1; one latent is measure()'s")
        wait_for_streams(latents)
        return [Measured(**one) for one in self._measurer.measure_all(aligned(latents, "latents"))]

    def __repr__(self):
        return shown("millrace.latents.Measurer", self.options, OPTIONS)

    @property
    def device_use(self) -> dict[str, Any]:
        """What devices did so far, in latents: device, measured, compared, by_cpu and why."""
        return self._measurer.device_use


def _measurer_of(options):
    return Measurer(**options)


def measure(latent: Any, **options: Any) -> Measured:
    """What `millrace latents` measures of one latent; Measurer has the shapes, types and options.

    >>> import numpy as np
    >>> latent = np.random.default_rng(1).standard_normal((4, 3, 16, 24)).astype(np.float16)
    >>> measured = millrace.latents.measure(latent)
    >>> 0.9 < measured.metrics["spatial.variance"] < 1.1
    True
    """
    return Measurer(**options)(latent)


class Differences(list):
    """By pair of groups, then by metric: a dict each."""

    def to_pandas(self) -> pandas.DataFrame:
        """A table of them, a row a pair and metric."""
        import pandas

        return pandas.DataFrame(list(self))


def compare(groups: Mapping[str, Any], *, seed: int = 0, shuffles: int = 10_000, replicates: int = 10_000, **measuring: Any) -> Differences:
    """How groups of latents differ in each metric, and how probable that is where nothing does.

    `groups` is a dict: by name the group's latents, a list of arrays as measure() takes them or one array of all of them; or
    a list of what measure() gave, of dicts of metrics, or a table of them, where they were measured before. A latent is one
    row of the tests: of several steps of one video hand in one, or their means. `measuring` are the options of Measurer.

    Returns a list of dicts, by pair of groups, then by metric: first, second, metric, count, mean, deviation, Welch's t,
    degrees_of_freedom, p and interval, cohens_d, hedges_g, u and p_mann_whitney, p_permutation, p corrected for all of them
    (p_familywise, p_holm, p_benjamini_hochberg), bootstrap_interval; `reason` where there is too little to say.

    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> quiet = [random.standard_normal((4, 3, 8, 8), dtype=np.float32) for _ in range(6)]
    >>> loud = [2 * random.standard_normal((4, 3, 8, 8), dtype=np.float32) for _ in range(6)]
    >>> found = millrace.latents.compare({"quiet": quiet, "loud": loud}, shuffles=500, replicates=500)
    >>> min(found, key=lambda one: one["p_familywise"])["p_familywise"] < 0.05
    True
    """
    import numpy

    if not hasattr(groups, "keys"):
        raise UsageError("usage", f"it is a dict of groups by their names, not {type(groups).__name__}", "groups", "")
    if len(groups) < 2:
        raise UsageError("usage", f"there are {len(groups)} groups, and two are compared", "groups", "")
    refuse_unknown(measuring, [*OPTIONS, "seed", "shuffles", "replicates"], "millrace.latents.compare")
    measurer = Measurer(**measuring)
    rows, numbers, names = [], [], list(groups)
    for number, name in enumerate(names):
        latents = groups[name]
        if is_table(latents):
            measured = latents.to_dict("records")
        elif hasattr(latents, "shape"):
            measured = [one.metrics for one in measurer.all(latents)]
        elif not hasattr(latents, "__iter__") or isinstance(latents, (str, bytes, dict, Measured)):
            raise UsageError("usage", f"it is a list of latents or of their metrics, not {type(latents).__name__}", f"groups[{name!r}]", "")
        else:
            measured = [one if isinstance(one, dict) else (one if isinstance(one, Measured) else measurer(one)).metrics for one in latents]
        if not measured:
            raise UsageError("usage", "it is empty", f"groups[{name!r}]", "leave it out")
        rows += measured
        numbers += [number] * len(measured)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    values = numpy.array([[real(numpy.nan if row.get(column) is None else row[column], str(column)) for column in columns] for row in rows], dtype=numpy.float64)
    found = _core.compare(values.reshape(len(rows), len(columns)), numbers, whole(seed, "seed", 0, 2**64 - 1), whole(shuffles, "shuffles", 0, 2**32 - 1),
                          whole(replicates, "replicates", 0, 2**32 - 1), measurer.options["threads"])
    out = Differences()
    for one in found:
        column = one.pop("column")
        one["first"], one["second"] = names[one["first"]], names[one["second"]]
        out.append({"first": one.pop("first"), "second": one.pop("second"), "metric": columns[column], **one})
    return out


class _Job(types.ModuleType):
    """This module, which is the job `latents` as well."""

    def __reduce__(self):
        return _module, ()

    def _function(self):
        from millrace import _jobs

        return _jobs.function_of("latents")

    @property
    def __doc__(self):
        return f"{vars(self)['__doc__']}\n\nlatents(inputs, **options)\n\n{self._function().__doc__}"

    @property
    def __signature__(self):
        import inspect

        return inspect.signature(self._function())

    def __call__(self, *inputs, **options):
        return self._function()(*inputs, **options)


def _module():
    return sys.modules[__name__]


sys.modules[__name__].__class__ = _Job
