"""Millrace: fast, exact jobs over big collections of pictures, charts, latents and film.

Whole jobs do what the program's commands do, with their options as keyword arguments::

    found = millrace.dedupe(["photos"], report="duplicates.html")
    millrace.render("prices.csv", columns="close=Close", window=60, output="charts.h5")

In memory, arrays go in and come out, and no file is touched::

    codes = millrace.hash(images, kinds="phash")
    pairs = millrace.join(codes, radius=5)
    charts = millrace.ChartDrawer(rows=60, width=224, height=224)(prices)
    measured = millrace.latents.measure(tensor)
    mask = millrace.Segmenter("vessels.onnx", tta="hw")(photograph).mask

Failures are `millrace.Error`, which says what happened, to what, and what to do about it.
"""

from millrace import _core, latents
from millrace._charts import ChartDrawer
from millrace._errors import Error, UsageError
from millrace._hashes import Comparison, hash, hex_of, join, same_picture, search
from millrace._jobs import FileHashes, JobResult, hash_files, run
from millrace._segment import Segmented, Segmenter

__version__ = _core.version

__all__ = [
    "ChartDrawer",
    "Comparison",
    "Error",
    "FileHashes",
    "JobResult",
    "Segmented",
    "Segmenter",
    "UsageError",
    "dedupe",
    "finish",
    "fundus",
    "hash",
    "hash_files",
    "hex_of",
    "join",
    "latents",
    "render",
    "run",
    "same_picture",
    "search",
    "segment",
    "video",
]

# Made when somebody asks for one: their signatures and docstrings come out of the table of options.
_JOBS = {"dedupe": ("compare", "apply", "undo", "purge"), "finish": (), "fundus": (), "render": (), "segment": (), "video": ()}


def __getattr__(name):
    if name not in _JOBS:
        raise AttributeError(f"module 'millrace' has no attribute '{name}'")
    from millrace import _jobs

    globals()[name] = _jobs.function_of(name, _JOBS[name])
    return globals()[name]


def __dir__():
    return sorted({*globals(), *__all__})
