"""What goes wrong, in the library's own terms."""

import difflib
import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar, cast


def printable(text):
    """For a terminal, whatever names stand in it."""
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Error(Exception):
    """A failure of a whole call or job.

    `code` is one of usage, io, not_found, bad_data, unsupported, too_large, out_of_memory, crashed, unavailable, conflict,
    cancelled, internal, timed_out; `what` happened, `subject` is what it happened to, `remedy` what to do about it; the last
    two may be empty.
    """

    def __init__(self, code, what, subject="", remedy=""):
        super().__init__(code, what, subject, remedy)
        self.code = code
        self.what = what
        self.subject = subject
        self.remedy = remedy

    def __str__(self):
        text = f"{self.subject}: {self.what}" if self.subject else self.what
        return printable(f"{text}; {self.remedy}" if self.remedy else text)


class UsageError(Error, ValueError, TypeError):
    """An argument that cannot be used: a `ValueError`, and, where its name or type is wrong, what Python calls a `TypeError`."""


def error_of(code, what, subject, remedy):
    return (UsageError if code == "usage" else Error)(code, what, subject, remedy)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def named(function: _Function) -> _Function:
    """A function whose keyword arguments are refused as options are, with the nearest name."""
    code = function.__code__
    known = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name != "self"]
    names = frozenset(known)

    @functools.wraps(function)
    def call(*arguments, **options):
        if not options.keys() <= names:
            refuse_unknown(options, known, f"{function.__module__.replace('._hashes', '')}.{function.__qualname__}")
        return function(*arguments, **options)

    return cast(_Function, call)


def in_keywords(error, names):
    """The same error where it speaks of a command's options, of which `names` has (option, keyword): as keywords."""
    keywords = dict(names)

    def word(match):
        no, name = match.groups()
        return match.group() if name not in keywords else f"{keywords[name]}=False" if no else keywords[name]

    def given(match):
        name, value = match.groups()
        return match.group() if not keywords.get(name, "").isidentifier() else f"{keywords[name]}={value if value.isdigit() else repr(value)}"

    def said(text):
        text = re.sub(r"`?\bmillrace ([a-z]+(?: [a-z]+)?) --help`?", lambda match: f"help(millrace.{match[1].replace(' ', '.')})", text)
        text = re.sub(r"(?<![\w-])-o ([\w./-]+)", r"output='\1'", text)
        text = re.sub(r"(?<![\w-])-o\b", "output", text)
        text = re.sub(r"(?<![\w-])--([a-z][a-z0-9-]*[a-z0-9]) ([\w/-]*[.:\d][\w./:-]*\b)", given, text)
        return re.sub(r"(?<![\w-])--(no-)?([a-z][a-z0-9-]*[a-z0-9])", word, text)

    def unquoted(text):
        # What stands between quotes is the caller's own.
        return "".join(part if number % 2 else said(part) for number, part in enumerate(re.split(r"('[^']*')", text)))

    subject = "output" if error.subject == "-o" else error.subject.removeprefix("--")
    return type(error)(error.code, unquoted(error.what), keywords.get(subject, error.subject), unquoted(error.remedy))


def refuse_unknown(given, known, function, kind="option"):
    """UsageError for a name that is none of `known`, with the nearest that is."""
    for name in given:
        if name in known:
            continue
        near = difflib.get_close_matches(name, known, 1, 0.55)
        remedy = f"did you mean '{near[0]}'?" if near else f"help({function}) lists them" if kind == "option" else "there are " + ", ".join(known)
        raise UsageError("usage", f"there is no {kind} '{name}'", function, remedy)
