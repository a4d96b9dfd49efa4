"""Writes python/millrace/__init__.pyi: the package as a type checker sees it, its jobs out of the one table of options.

  PYTHONPATH=build/release/python python3 tools/python_stub.py [--check]
"""

import pathlib
import sys

from millrace import _JOBS
from millrace._jobs import described, keyword_of

STUB = pathlib.Path(__file__).resolve().parents[1] / "python/millrace/__init__.pyi"
BEGINNING = '''# Written by tools/python_stub.py out of the table of options; `./dev docs` writes it anew.
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from millrace._charts import ChartDrawer as ChartDrawer
from millrace._errors import Error as Error
from millrace._errors import UsageError as UsageError
from millrace._hashes import Comparison as Comparison
from millrace._hashes import hash as hash
from millrace._hashes import hex_of as hex_of
from millrace._hashes import join as join
from millrace._hashes import same_picture as same_picture
from millrace._hashes import search as search
from millrace._jobs import FileHashes as FileHashes
from millrace._jobs import JobResult as JobResult
from millrace._jobs import hash_files as hash_files
from millrace._jobs import run as run
from millrace._segment import Segmented as Segmented
from millrace._segment import Segmenter as Segmenter
from millrace.latents import Differences as _Differences
from millrace.latents import Measured as _Measured
from millrace.latents import Measurer as _Measurer

__version__: str

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Value = _Path | int | float | Sequence[Any] | Mapping[Any, Any]
_Progress = bool | Callable[[str, int, int, int], object]
'''
# A module that is called.
LATENTS = '''    Differences: type[_Differences]
    Measured: type[_Measured]
    Measurer: type[_Measurer]
    @staticmethod
    def measure(latent: Any, **options: Any) -> _Measured: ...
    @staticmethod
    def compare(
        groups: Mapping[str, Any], *, seed: int = ..., shuffles: int = ..., replicates: int = ..., **measuring: Any
    ) -> _Differences: ...

latents: _Latents
'''


def parameters_of(job, indent):
    kind = "_Path | Iterable[_Path]" if job["many_arguments"] else "_Path"
    lines = [f"{indent}inputs: {kind}{'' if job['argument_required'] else ' = ...'},", f"{indent}*,"]
    for option in job["options"]:
        lines.append(f"{indent}{keyword_of(option['name'])}: {'_Value' if option['value_name'] else 'bool'} | None = ...,")
    return lines + [f"{indent}config: _Path | None = ...,", f"{indent}progress: _Progress | None = ...,"]


def stub():
    jobs, lines = described(), [BEGINNING]
    for name, below in _JOBS.items():
        if not below:
            lines += [f"def {name}(", *parameters_of(jobs[name], "    "), ") -> JobResult: ...", ""]
            continue
        lines += [f"class _{name.title()}(Protocol):", "    def __call__(", "        self,", *parameters_of(jobs[name], "        "), "    ) -> JobResult: ..."]
        for one in below:
            lines += ["    @staticmethod", f"    def {one}(", *parameters_of(jobs[f"{name} {one}"], "        "), "    ) -> JobResult: ..."]
        lines += ["", f"{name}: _{name.title()}", ""]
    lines += ["class _Latents(Protocol):", "    def __call__(", "        self,", *parameters_of(jobs["latents"], "        "), "    ) -> JobResult: ...", LATENTS]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        if STUB.read_text() != stub():
            sys.exit(f"{STUB.name} is not what the options are now: run ./dev docs")
    else:
        STUB.write_text(stub())
