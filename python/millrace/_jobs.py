"""Whole jobs: what the program's commands do, with their options as keyword arguments."""

from __future__ import annotations

import base64
import collections.abc
import contextlib
import functools
import json
import keyword
import os
import sys
from typing import TYPE_CHECKING, Any

from millrace import _core
from millrace._errors import Error, UsageError, in_keywords, refuse_unknown
from millrace._options import is_truth, names, text, truth

if TYPE_CHECKING:
    import numpy
    import pandas

#: Of a job's result the list that is a table, and for dedupe the lists in each of it.
_TABLES = {"dedupe": ("groups", "members"), "segment": ("pictures", None), "fundus": ("photographs", None)}


@functools.lru_cache(maxsize=None)
def described():
    """Every job by its name, with its options."""
    return {job["name"]: job for job in _core.describe_jobs()}


@contextlib.contextmanager
def said_in_keywords(job):
    """Errors that name options of the command, or what it is called with, as a caller from Python says them."""
    try:
        yield
    except Error as error:
        # Those of other jobs too: a remedy may be there.
        names = [(option["name"], keyword_of(option["name"])) for one in described().values() for option in one["options"]]
        raise in_keywords(error, [*names, ("config", "config"), (described()[job]["argument_name"], "inputs")]) from None


def keyword_of(option):
    name = option.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def texts_of(name, value, option):
    """An option's values as the command line has them; None is as if it were not given."""
    if not option["value_name"]:
        return [b"true" if truth(value, name) else b"false"]
    if is_truth(value) or isinstance(value, type) or hasattr(value, "read"):
        raise UsageError("usage", f"it is a text, number or path ({option['value_name']}), not {value!r:.80}", name, "")
    if isinstance(value, (str, bytes, os.PathLike)):
        return [encoded(value, name)]
    if isinstance(value, dict):
        return [b",".join(_word(name, key, b",=") + b"=" + _word(name, one, b",") for key, one in value.items())]
    if hasattr(value, "__iter__") and getattr(value, "ndim", 1) > 0:
        if option["repeatable"]:
            return [_word(name, one) for one in value]
        return [b",".join(_word(name, one, b",") for one in value)]
    return [_word(name, value)]


def _word(name, value, but=b""):
    """One of an option's values, without what would part it from the next."""
    if isinstance(value, (str, bytes, os.PathLike)):
        word = encoded(value, name)
        for letter in but.decode():
            if letter.encode() in word:
                raise UsageError("usage", f"in a list or a dict {value!r:.80} would be two: it has a '{letter}'", name, "")
        return word
    if is_truth(value):
        return b"true" if value else b"false"
    if hasattr(value, "__index__"):
        return str(value.__index__()).encode()
    if hasattr(value, "__float__"):
        number = float(value)
        return (str(int(number)) if number.is_integer() else repr(number)).encode()
    raise UsageError("usage", f"{type(value).__name__} is no text, number or path", name, "")


def encoded(text, name):
    """Text or a path as the system has it."""
    try:
        out = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise UsageError("usage", f"it is no name that a file can have: {error.reason}", name, "") from None
    except TypeError:
        raise UsageError("usage", f"it is a path, not {text!r:.80}", name, "") from None
    if b"\0" in out:
        raise UsageError("usage", f"no name has a NUL in it, and {text!r:.80} has", name, "")
    return out


def _paths(inputs, what):
    if isinstance(inputs, (str, bytes, os.PathLike)):
        inputs = [inputs]
    if hasattr(inputs, "keys") or hasattr(inputs, "dtype") or hasattr(inputs, "read") or not hasattr(inputs, "__iter__"):
        raise UsageError("usage", f"it is a path or several, not {type(inputs).__name__}", what, "")
    return [encoded(one, what) for one in inputs]


class JobResult(collections.abc.Mapping[str, Any]):
    """What a job leaves: the fields of its --json as attributes, and by `[]`.

    `exit_code` is 0, or 3 where some inputs could not be used; `summary` are lines for a person; `warnings` what has to be
    known; `printed` what the program writes to stdout.
    """

    def __init__(self, job, left):
        self.job = job
        self.exit_code = left["exit_code"]
        self.summary = [line.decode("utf-8", "surrogateescape") for line in left["summary"]]
        self.warnings = [line.decode("utf-8", "surrogateescape") for line in left["warnings"]]
        self.printed = left["printed"].decode("utf-8", "surrogateescape")
        self.fields = json.loads(left["json"]) if left["json"] else {}

    def to_pandas(self) -> pandas.DataFrame:
        """Its table: of `dedupe` a row a picture that is in a group, of `segment` and `fundus` a row a photograph. Of other
        jobs the tables are files that they write, or there is none."""
        import pandas

        if self.job not in _TABLES or _TABLES[self.job][0] not in self.fields:
            raise UsageError("usage", f"a result of {self.job} is no table", "to_pandas", "its fields are " + ", ".join(self.fields))
        name, members = _TABLES[self.job]
        if members is None:
            return pandas.DataFrame(self.fields[name])
        rows = [{"group": one["id"], "kind": one["kind"], **member} for one in self.fields[name] for member in one[members]]
        first = ["group", "kind", "keep", "why", "path", "width", "height", "bytes"]
        return pandas.DataFrame(rows, columns=[*first, *dict.fromkeys(name for row in rows for name in row if name not in first)])

    def __getattr__(self, name: str) -> Any:
        if name != "fields" and name in self.__dict__.get("fields", {}):
            return self.fields[name]
        raise AttributeError(f"a result of {self.__dict__.get('job', 'a job')} has no '{name}'")

    def __getitem__(self, name):
        return self.fields[name]

    def __len__(self):
        return len(self.fields)

    def __iter__(self):
        return iter(self.fields)

    def __dir__(self):
        return [*super().__dir__(), *self.fields]

    def __repr__(self):
        return f"<millrace.{self.job}: {'; '.join(self.summary) or ('a plan' if 'plan' in self.fields else 'done')}>"


def _watcher(progress, job):
    """(what is called with stage, done, total and bytes, what is called in the end)"""
    if progress is None or progress is False:
        return None, None
    if callable(progress):
        return progress, None
    if progress is not True:
        raise UsageError("usage", f"it is True, or called with stage, done, total, bytes; not {progress!r}", "progress", "")
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None, None
    bars = {}

    def watch(stage, done, total, _bytes):
        if stage not in bars:
            for bar in bars.values():
                bar.close()
            bars[stage] = tqdm(desc=f"{job}: {stage}", total=total or None, file=sys.stderr)
        bar = bars[stage]
        bar.total = total or None
        bar.n = done
        bar.refresh()

    def end():
        for bar in bars.values():
            bar.close()

    return watch, end


def run(job: str, inputs: Any = (), *, config: Any = None, progress: Any = None, **options: Any) -> JobResult:
    """A job by the name of its command, as "render" or "dedupe apply".

    `inputs` is a path, or several; `options` are those of the command, with `_` for `-` (and `from_`); `config` is a YAML file of options.
    Numbers, text, paths, True and False, and lists of these are what they are on the command line; None leaves an option as
    it is. `progress` is called with (stage, done, total, bytes) about five times a second, in this thread, or is True for
    bars of tqdm where that is installed. Ctrl-C ends the job within a second, as it ends the program.

    Returns a JobResult; raises Error.
    """
    refuse_unknown([text(job, "job")], list(described()), "millrace.run", "job")
    if job == "dedupe review":  # what is printed is here only once it has ended
        raise UsageError("usage", "dedupe review prints where its page is while it runs", "job", "start millrace dedupe review in a terminal")
    table = {keyword_of(option["name"]): option for option in described()[job]["options"]}
    refuse_unknown(options, [*table, "config", "progress"], "millrace." + job.replace(" ", "."))
    given = []
    for name, value in options.items():
        if value is not None:
            given.append((table[name]["name"], texts_of(name, value, table[name])))
    config = None if config is None else encoded(config, "config")
    if config is not None and os.path.exists(config) and not os.path.isfile(config):
        raise UsageError("usage", f"{os.fsdecode(config)!r:.80} is no file", "config", "it is a YAML file of options")
    watch, end = _watcher(progress, job)
    try:
        with said_in_keywords(job):
            left = _core.run_job(job, _paths(inputs, "inputs"), given, config or b"", watch)
    finally:
        if end:
            end()
    return JobResult(job, left)


def _value_of(option):
    """What an option is where nobody gives it, for signatures."""
    if not option["value_name"]:
        return {"true": True, "false": False}.get(option["initial"])
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(option["initial"])
    return option["initial"] or None


def function_of(name, below=()):
    """The job as a function, with a signature and a docstring out of the table; `below` are those that stand below it."""
    import inspect

    job = described()[name]
    options = job["options"]

    def call(inputs=(), **options):
        return run(name, inputs, **options)

    call.__name__ = name.rpartition(" ")[2]
    call.__qualname__ = name.replace(" ", ".")
    call.__module__ = "millrace"
    lines = [f"{job['about'][:1].upper()}{job['about'][1:]}: what `millrace {name}` does.", "", f"inputs: {job['argument_help']}"]
    for option in options:
        value = f" = {option['initial']}" if option["initial"] else ""
        lines.append(f"{keyword_of(option['name'])}{value}: {option['help']}")
    lines += ["config: a YAML file of options", "progress: called with (stage, done, total, bytes); or True, for bars of tqdm", "",
              "Returns a JobResult, which has the fields of the command's --json; raises millrace.Error."]
    call.__doc__ = "\n".join(lines)
    kind = inspect.Parameter
    parameters = [kind("inputs", kind.POSITIONAL_OR_KEYWORD, default=kind.empty if job["argument_required"] else ())]
    parameters += [kind(keyword_of(option["name"]), kind.KEYWORD_ONLY, default=_value_of(option)) for option in options]
    parameters += [kind(word, kind.KEYWORD_ONLY, default=None) for word in ("config", "progress")]
    call.__signature__ = inspect.Signature(parameters)
    for one in below:
        setattr(call, one, function_of(f"{name} {one}"))
    return call


class FileHashes:
    """Hashes of files, by their rows: `paths`, `errors` (None, or why a file has none), and `codes`, by kind uint8
    `[files, bytes]` as millrace.hash() has them, zeros where there is an error: `codes["dhash"][usable]` are those that may be
    compared. `usable`, `width`, `height`, `bytes`, `quality`, `damage` (None, or what is wrong with a file that could be used
    all the same), and `exact`: any right decoder gives these pixels. `result` is the job's. Iterating gives a dict a file."""

    result: JobResult
    paths: list[str]
    errors: list[str | None]
    damage: list[Any]
    codes: dict[str, numpy.ndarray]
    usable: numpy.ndarray
    width: numpy.ndarray
    height: numpy.ndarray
    bytes: numpy.ndarray
    quality: numpy.ndarray
    exact: numpy.ndarray

    def __init__(self, kinds, size, result):
        import numpy

        # Lines end with this alone: JSON leaves others as they are.
        rows = [json.loads(line) for line in result.printed.split("\n") if line]
        self.result = result
        self.paths = [_path_of(row) for row in rows]
        self.errors = [row.get("error") for row in rows]
        self.usable = numpy.array([error is None for error in self.errors], dtype=bool)
        self.damage = [row.get("damaged") for row in rows]
        for name, kind in (("width", "int32"), ("height", "int32"), ("bytes", "int64"), ("quality", "int32"), ("exact", "bool")):
            setattr(self, name, numpy.array([row.get(name, 0) for row in rows], dtype=kind))
        self.codes = {}
        self._rows = rows
        for kind in kinds:
            digits = max((len(row[kind]) for row in rows if kind in row), default=0)
            length = (digits + 1) // 2 or _core.Hasher([kind], size, 1).bytes[0]
            text = "".join(row.get(kind, "").rjust(2 * length, "0") for row in rows)
            self.codes[kind] = numpy.frombuffer(bytearray.fromhex(text), dtype=numpy.uint8).reshape(len(rows), length)

    def __len__(self):
        return len(self.paths)

    def __iter__(self):
        for path, row in zip(self.paths, self._rows):
            yield {**row, "path": path}

    def __repr__(self):
        return f"<{self.usable.sum()} files hashed, {(~self.usable).sum()} could not be used>"

    def to_pandas(self) -> pandas.DataFrame:
        """A row a file; hashes as hexadecimal text."""
        import pandas

        columns = ["path", *self.codes, "width", "height", "bytes", "quality", "exact", "damaged", "error"]
        others = dict.fromkeys(name for row in self._rows for name in row if name not in (*columns, "path_base64"))
        return pandas.DataFrame(list(self), columns=[*columns, *others])


def _path_of(row):
    if "path_base64" in row:
        return os.fsdecode(base64.b64decode(row["path_base64"]))
    return row["path"]


def hash_files(paths: Any, kinds: str | collections.abc.Iterable[str] = "dhash", **options: Any) -> FileHashes:
    """Perceptual hashes of pictures: files, and all below folders, in the order of their paths; what `millrace hash` prints.
    One that cannot be read has an error and ends nothing. `kinds` is a kind or a list of them (millrace.hash() lists them);
    `options` are the command's (docs/dedupe.md explains them): size, decode, orientation, all_files, exclude, hidden,
    follow_symlinks, cross_file_systems, max_size, max_pixels, sandbox, device, gpu, device_order, device_fallback,
    device_memory, batch, verify_device, threads, memory, json, trace, overwrite; and config and progress, as whole jobs have
    them. Returns FileHashes."""
    own = {"format", "plan", "output", "shard", "part", "inventory"}  # of a command whose lines go elsewhere
    refuse_unknown(options, {*(keyword_of(o["name"]) for o in described()["hash"]["options"]), "config", "progress"} - own, "millrace.hash_files")
    listed = names(kinds.split(",") if isinstance(kinds, str) else kinds, "kinds")
    result = run("hash", paths, kinds=listed, format="jsonl", plan=False, **options)
    size = options.get("size")
    return FileHashes(listed, 8 if size is None else int(size), result)
