"""What goes wrong, in the library's own terms."""

import difflib


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


def refuse_unknown(given, known, function):
    """UsageError for a name that is none of `known`, with the nearest that is."""
    for name in given:
        if name in known:
            continue
        near = difflib.get_close_matches(name, known, 1, 0.5)
        remedy = f"did you mean '{near[0]}'?" if near else f"help({function}) lists them"
        raise UsageError("usage", f"there is no option '{name}'", function, remedy)
