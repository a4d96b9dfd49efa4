"""Each attack is made against root and against an ordinary user."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import attacks  # noqa: E402
from program import PROGRAM  # noqa: E402


def user_of(name):
    if name == "root":
        attacks.needs_root("run the program as root")
        return 0
    if not attacks.ROOT:
        return os.geteuid()
    try:
        subprocess.run([PROGRAM, "--version"], capture_output=True, **attacks.as_user(attacks.USER))
    except PermissionError:
        pytest.skip("the program lies where an ordinary user may not run it")
    return attacks.USER


@pytest.fixture(params=["root", "user"])
def scene(request):
    """A scratch folder, and in it what belongs to who runs the program."""
    uid = user_of(request.param)
    with attacks.scratch() as top:
        yield attacks.Scene(top, uid)
