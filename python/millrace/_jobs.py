"""Whole jobs: what the program's commands do, with their options as keyword arguments."""

import base64
import functools
import json
import keyword
import os
import sys

from millrace import _core
from millrace._errors import UsageError, refuse_unknown
from millrace._options import is_truth, names, text, truth

# What a terminal is told; here a caller has the result.
_OF_A_TERMINAL = {"progress", "log-level", "quiet", "verbose"}


@functools.lru_cache(maxsize=None)
def described():
    """Every job by its name, with its options."""
    return {job["name"]: job for job in _core.describe_jobs()}


def keyword_of(option):
    name = option.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def texts_of(name, value, option):
    """An option's values as the command line has them; None is as if it were not given."""
    if is_truth(value) or not option["value_name"]:
        return [b"true" if truth(value, name) else b"false"]
    if isinstance(value, (str, bytes, os.PathLike)):
        return [encoded(value, name)]
    if isinstance(value, dict):
        return [b",".join(_word(name, key) + b"=" + _word(name, one) for key, one in value.items())]
    if hasattr(value, "__iter__") and getattr(value, "ndim", 1) > 0:
        values = [_word(name, one) for one in value]
        return values if option["repeatable"] else [b",".join(values)]
    return [_word(name, value)]


def _word(name, value):
    if isinstance(value, (str, bytes, os.PathLike)):
        return encoded(value, name)
    if is_truth(value):
        return b"true" if value else b"false"
    if hasattr(value, "__index__"):
        return str(value.__index__()).encode()
    if hasattr(value, "__float__"):
        return repr(float(value)).encode()
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
    try:
        return [encoded(one, what) for one in iter(inputs)]
    except TypeError:
        raise UsageError("usage", f"it is a path or several, not {inputs!r}", what, "") from None


class JobResult:
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

    def __getattr__(self, name):
        if name != "fields" and name in self.__dict__.get("fields", {}):
            return self.fields[name]
        raise AttributeError(f"a result of {self.__dict__.get('job', 'a job')} has no '{name}'")

    def __getitem__(self, name):
        return self.fields[name]

    def __contains__(self, name):
        return name in self.fields

    def keys(self):
        """Names of the fields: dict(result) is all of them."""
        return self.fields.keys()

    def __iter__(self):
        return iter(self.fields)

    def __dir__(self):
        return [*super().__dir__(), *self.fields]

    def __repr__(self):
        return f"<millrace.{self.job}: {'; '.join(self.summary) or 'done'}>"


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


def run(job, inputs=(), *, config=None, progress=None, **options):
    """A job by the name of its command, as "render" or "dedupe apply".

    `inputs` is a path, or several; `options` are those of the command, with `_` for `-` (and `from_`); `config` is a YAML file of options.
    Numbers, text, paths, True and False, and lists of these are what they are on the command line; None leaves an option as
    it is. `progress` is called with (stage, done, total, bytes) about five times a second, in this thread, or is True for
    bars of tqdm where that is installed. Ctrl-C ends the job within a second, as it ends the program.

    Returns a JobResult; raises Error.
    """
    if text(job, "job") not in described():
        refuse_unknown([job], list(described()), "millrace.run")
    table = {keyword_of(option["name"]): option for option in described()[job]["options"] if option["name"] not in _OF_A_TERMINAL}
    refuse_unknown(options, table, "millrace." + job.replace(" ", "."))
    given = []
    for name, value in options.items():
        if value is not None:
            given.append((table[name]["name"], texts_of(name, value, table[name])))
    watch, end = _watcher(progress, job)
    try:
        left = _core.run_job(job, _paths(inputs, "inputs"), given, encoded(config, "config") if config is not None else b"", watch)
    finally:
        if end:
            end()
    return JobResult(job, left)


def _value_of(option):
    """What an option is where nobody gives it, for signatures."""
    if not option["value_name"]:
        return {"true": True, "false": False}.get(option["initial"])
    return option["initial"] or None


def function_of(name, below=()):
    """The job as a function, with a signature and a docstring out of the table; `below` are those that stand below it."""
    import inspect

    job = described()[name]
    options = [option for option in job["options"] if option["name"] not in _OF_A_TERMINAL]

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
    `[files, bytes]` as millrace.hash() has them, zeros where there is an error. `width`, `height`, `bytes`, `quality`, and
    `exact`: any right decoder gives these pixels. Iterating gives a dict a file."""

    def __init__(self, kinds, result):
        import numpy

        # Lines end with this alone: JSON leaves others as they are.
        rows = [json.loads(line) for line in result.printed.split("\n") if line]
        self.result = result
        self.paths = [_path_of(row) for row in rows]
        self.errors = [row.get("error") for row in rows]
        self.damage = [row.get("damaged") for row in rows]
        for name, kind in (("width", "int32"), ("height", "int32"), ("bytes", "int64"), ("quality", "int32"), ("exact", "bool")):
            setattr(self, name, numpy.array([row.get(name, 0) for row in rows], dtype=kind))
        self.codes = {}
        self._rows = rows
        for kind in kinds:
            digits = max((len(row[kind]) for row in rows if kind in row), default=0)
            length = (digits + 1) // 2
            text = "".join(row.get(kind, "").rjust(2 * length, "0") for row in rows)
            self.codes[kind] = numpy.frombuffer(bytearray.fromhex(text), dtype=numpy.uint8).reshape(len(rows), length)

    def __len__(self):
        return len(self.paths)

    def __iter__(self):
        for path, row in zip(self.paths, self._rows):
            yield {**row, "path": path}

    def __repr__(self):
        return f"<{len(self)} files hashed, {sum(error is not None for error in self.errors)} could not be used>"

    def to_pandas(self):
        """A row a file; hashes as hexadecimal text."""
        import pandas

        return pandas.DataFrame(list(self))


def _path_of(row):
    if "path_base64" in row:
        return os.fsdecode(base64.b64decode(row["path_base64"]))
    return row["path"]


def hash_files(paths, kinds="dhash", **options):
    """Perceptual hashes of pictures: files, and all below folders, in the order of their paths; what `millrace hash` prints.
    One that cannot be read has an error and ends nothing. `kinds` is a kind or a list of them (millrace.hash() lists them);
    `options` are the command's: size, decode, orientation, all_files, threads, memory, ... Returns FileHashes."""
    refuse_unknown(options, {*(keyword_of(o["name"]) for o in described()["hash"]["options"]), "config", "progress"} - {"format", "plan"}, "millrace.hash_files")
    listed = names(kinds.split(",") if isinstance(kinds, str) else kinds, "kinds")
    return FileHashes(listed, run("hash", paths, kinds=listed, format="jsonl", **options))
