"""What the tests of the program share: where it is, and running it."""

import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MILLRACE_BUILD", ROOT / "build" / "release"))
PROGRAM = BUILD / "millrace"
DATA = ROOT.parent / "shared" / "data"
# A test that names no catalogue has this one, never that of the person who runs it. It goes when the tests end.
OWN_DATA = tempfile.TemporaryDirectory(prefix="millrace-tests-")


def millrace(*arguments, check=True, env=None, program=PROGRAM, **options):
    """Runs the program; with `check`, exit codes other than 0 and 3 fail the test with what it printed. One that hangs is ended."""
    environment = dict(os.environ, XDG_DATA_HOME=OWN_DATA.name, XDG_CACHE_HOME=OWN_DATA.name) | (env or {})
    options = {"timeout": 400} | options
    done = subprocess.run([program, *map(os.fspath, arguments)], capture_output=True, env=environment, **options)
    if check and done.returncode not in (0, 3):
        raise AssertionError(f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done


def lines_of(done):
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def content_of(path):
    """What a file holds, or every file of a folder by its name."""
    path = pathlib.Path(path)
    if path.is_file():
        return path.read_bytes()
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
