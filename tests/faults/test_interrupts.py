"""One Ctrl-C ends a run, whatever somebody's file keeps it busy with."""

import gzip
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_model  # noqa: E402
from processes import interrupt  # noqa: E402
from program import OWN_DATA, PROGRAM  # noqa: E402
from segmenting import needs_openvino, picture  # noqa: E402

INTERRUPTED = 130


def ends_by_one_signal(words, busy, seconds=20):
    """`busy` waits until the run is where it does not end by itself."""
    env = dict(os.environ, XDG_DATA_HOME=OWN_DATA.name, XDG_CACHE_HOME=OWN_DATA.name)
    process = subprocess.Popen([PROGRAM, *map(os.fspath, words), "--progress", "none"], env=env, stderr=subprocess.DEVNULL)
    try:
        busy(process)
        assert process.poll() is None
        interrupt(process)
        assert process.wait(timeout=seconds) == INTERRUPTED
    finally:
        process.kill()
        process.wait()


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def worked_for(seconds):
    def busy(process):
        while process.poll() is None and cpu_seconds(process) < seconds:
            time.sleep(0.02)
    return busy


def test_a_small_file_that_holds_gigabytes(tmp_path):
    """Its end, where a .pt has its directory, is found by inflating all of it."""
    piece = gzip.compress(bytes(64 << 20), 9)
    folder = tmp_path / "latents/prompt_0/vid_0"
    folder.mkdir(parents=True)
    with open(folder / "step_000.pt.gz", "wb") as file:
        for _ in range(4000):  # 256 GB
            file.write(piece)
    ends_by_one_signal(["latents", tmp_path / "latents", "-o", tmp_path / "out"], worked_for(1))


@needs_openvino
def test_a_network_that_never_ends(tmp_path):
    picture(tmp_path / "photos/a.png", 24, 32)
    (tmp_path / "m.onnx").write_bytes(onnx_model.endless(24, 32))
    ends_by_one_signal(["segment", tmp_path / "photos", "--model", tmp_path / "m.onnx", "-o", tmp_path / "out", "--write", "mask"], worked_for(2))
