"""What a wheel does where nothing but it and NumPy is installed: `./dev wheel` runs this in fresh environments."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path


def has_or_had_a_child():
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt > 0
    return True


handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
threads = len(os.listdir("/proc/self/task"))

import millrace

assert "numpy" not in sys.modules, "import millrace imports NumPy"
assert len(os.listdir("/proc/self/task")) == threads == 1, "import millrace starts a thread"
assert handlers == {number: signal.getsignal(number) for number in signal.valid_signals()}, "import millrace sets a signal handler"
assert not has_or_had_a_child(), "import millrace starts a process"
assert millrace.__version__ == version("millrace")

import numpy as np


def in_memory():
    ramp = np.tile(np.arange(0, 256, 4, dtype=np.uint8), (64, 1))
    assert millrace.hex_of(millrace.hash(ramp)) == "f" * 16
    assert millrace.join(np.array([0, 1, 255, 3], dtype=np.uint64), 1)["j"].tolist() == [1, 3]
    prices = np.cumsum(np.random.default_rng(1).standard_normal((3, 20)), axis=1) + 50
    charts = millrace.ChartDrawer(rows=20, width=64, height=48)(prices)
    assert charts.shape == (3, 48, 64) and charts.min() == 0 and charts.max() == 255
    latent = np.random.default_rng(1).standard_normal((4, 3, 16, 24)).astype(np.float16)
    assert 0.9 < millrace.latents.measure(latent).metrics["spatial.variance"] < 1.1


def over_files(folder):
    table = folder / "prices.csv"
    table.write_text("Close\n" + "".join(f"{50 + i % 7 + i / 10}\n" for i in range(60)))
    draw = {"columns": "close=Close", "window": 20}
    millrace.render(table, output=folder / "charts.h5", **draw)
    assert (folder / "charts.h5").read_bytes()[:8] == b"\x89HDF\r\n\x1a\n"
    # HDF5 is read by a helper, which is part of the wheel.
    millrace.render(f"{folder}/charts.h5:/sequences", output=folder / "again.h5")
    for store in ("png", "jpeg"):
        millrace.render(table, output=folder / store, store=store, **draw)
        hashed = millrace.hash_files(folder / store, kinds=["dhash", "pdq"])
        assert len(hashed) == 41 and not any(hashed.errors), hashed.errors
    millrace.render(table, output=folder / "sheet.png", sample=4, **draw)
    assert (folder / "sheet.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    # What a helper reads that is no part of it: the message says what to do.
    (folder / "rare.gif").write_bytes(bytes.fromhex("47494638376101000100800000000000ffffff2c00000000010001000002024401003b"))
    error = str(millrace.hash_files(folder / "rare.gif").errors[0])
    assert "MILLRACE_HELPERS" in error and "PATH" in error, error


def program(folder):
    command = shutil.which("millrace", path=Path(sys.executable).parent)
    assert command, "there is no command millrace beside " + sys.executable

    def run(*arguments):
        return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=True).stdout

    assert run("--version").strip().endswith(millrace.__version__)
    doctor = run("doctor")
    assert "MILLRACE_HELPERS" in doctor and "WRONG" not in doctor, doctor
    assert "sheet.png" in run("hash", folder / "sheet.png")


if __name__ == "__main__":
    os.environ.pop("MILLRACE_HELPERS", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        in_memory()
        over_files(folder)
        program(folder)
    print(f"wheel: tried with Python {sys.version.split()[0]} and NumPy {np.__version__} {' '.join(sys.argv[1:]) or 'alone'}: all is well")
