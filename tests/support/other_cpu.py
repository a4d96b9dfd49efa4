"""A program that runs on a CPU of another name, as /proc/cpuinfo tells it."""

import pathlib
import subprocess

import pytest

NAME = "Another CPU"


def on_another_cpu(folder):
    """What stands before a command. The test is skipped where nothing can be mounted for one process alone."""
    told = pathlib.Path(folder) / "cpuinfo"
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    told.write_text("\n".join(f"model name : {NAME}" if line.startswith("model name") else line for line in lines) + "\n")
    before = ["unshare", "-rm", "sh", "-c", f'mount --bind "{told}" /proc/cpuinfo && exec "$@"', "sh"]
    try:
        shown = subprocess.run([*before, "cat", "/proc/cpuinfo"], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no unshare")
    if NAME not in shown.stdout:
        pytest.skip(f"nothing can be mounted for one process alone: {shown.stderr.strip()}")
    return before
