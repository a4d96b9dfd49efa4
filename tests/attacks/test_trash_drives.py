"""The trash at the top of a drive lies where all may write: it is the user's own, or the file stays."""

import pathlib
import subprocess
import sys

import attacks
import pytest

SCRIPT = pathlib.Path(attacks.__file__).with_name("drive_trash.py")


@pytest.mark.parametrize(
    "kind, expected",
    [
        ("none", "trashed"),
        ("a link", "left"),
        ("theirs", "left"),
        ("files is a link", "left"),
        ("shared, as it should be", "trashed"),
        ("shared, not sticky", "trashed"),
        ("shared, a link", "trashed"),
        ("shared, a link in it", "either"),
        ("shared, theirs", "either"),
    ],
)
@pytest.mark.parametrize("uid", [0, attacks.USER], ids=["root", "user"])
def test_a_drive_whose_trash_somebody_else_has_made(uid, kind, expected):
    attacks.needs_root("mount a drive")
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    with attacks.scratch() as top:
        run = ["unshare", "-m", sys.executable, SCRIPT, top, str(uid), kind, expected]
        done = subprocess.run(run, capture_output=True, timeout=2 * attacks.SECONDS)
    if done.stdout.endswith(b"no drive\n"):
        pytest.skip("nothing can be mounted here")
    assert done.stdout.endswith(b"held\n"), done.stderr.decode()
