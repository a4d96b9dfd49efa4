"""Whatever becomes of standard error changes neither an exit code nor a byte of what is made; standard output that cannot be
written is an error of its own."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import latent_files  # noqa: E402
import onnx_model  # noqa: E402
from films import made as made_film  # noqa: E402
from films import needs_ffmpeg  # noqa: E402
from job_inputs import photos, prices  # noqa: E402, F401
from outputs import codes_text  # noqa: E402
from program import OWN_DATA, PROGRAM, content_of  # noqa: E402
from segmenting import needs_runtime, runtime  # noqa: E402, F401

STANDARD_OUTPUT = 5
JOBS = ["hash", "dedupe", "render", "join", "inventory", "latents",
        pytest.param("segment", marks=needs_runtime), pytest.param("video", marks=[needs_runtime, needs_ffmpeg])]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory, photos, prices):  # noqa: F811
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "codes.npy").write_bytes(codes_text())
    latent_files.a_collection(folder / "latents")
    (folder / "m.onnx").write_bytes(onnx_model.ramps(1, 24, 32)[0])
    if shutil.which("ffmpeg"):
        made_film(folder / "film.mp4", "-c:v", "libx264", "-pix_fmt", "yuv420p")
    (folder / "nothing").mkdir()
    return {
        "hash": ["hash", photos],
        "dedupe": ["dedupe", photos, "--catalog", folder / "catalog.sqlite"],
        "render": ["render", prices, "--window", "20", "--size", "40x30"],
        "join": ["join", folder / "codes.npy", "--radius", "20"],
        "inventory": ["inventory", photos],
        "latents": ["latents", folder / "latents"],
        "segment": ["segment", photos, "--model", folder / "m.onnx", "--write", "mask"],
        "video": ["video", folder / "film.mp4", "--model", folder / "m.onnx", "--write", "blur"],
    }


OUTPUTS = {"hash": "out", "dedupe": "out.json", "render": "out.h5", "join": "out.npy", "inventory": "out.jsonl", "latents": "out",
           "segment": "out", "video": "out.mp4"}


def command_of(job, inputs, folder):
    option = "--json" if job == "dedupe" else "-o"
    return [PROGRAM, *map(os.fspath, inputs[job]), option, folder / OUTPUTS[job], "--progress", "bar", "--threads", "2"]


def environment():
    return dict(os.environ, XDG_DATA_HOME=OWN_DATA.name, XDG_CACHE_HOME=OWN_DATA.name)


def close(*descriptors):
    def before():
        for fd in descriptors:
            with contextlib.suppress(OSError):
                os.close(fd)
    return before


def run(words, stderr=None, before=None, stdout=subprocess.DEVNULL, seconds=120):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, preexec_fn=before, env=environment(),
                          timeout=seconds).returncode


@contextlib.contextmanager
def reader_gone():
    """A pipe whose reader ends after the first byte, as `2>&1 | head` does."""
    read, write = os.pipe()

    def take_one():
        os.read(read, 1)
        os.close(read)

    thread = threading.Thread(target=take_one)
    thread.start()
    try:
        yield write
    finally:
        os.close(write)
        thread.join()


def results(folder, job):
    """What was made, without what is measured."""
    made = content_of(folder / OUTPUTS[job])
    if isinstance(made, dict):
        made = {name: data for name, data in made.items() if "performance" not in name}
    return made


@pytest.mark.parametrize("job", JOBS)
def test_stderr_changes_nothing(job, inputs, tmp_path):
    def made(name, **how):
        folder = tmp_path / name
        folder.mkdir()
        code = run(command_of(job, inputs, folder), **how)
        return code, results(folder, job)

    expected = made("ordinary", stderr=subprocess.DEVNULL)
    assert expected[0] == 0
    with open("/dev/full", "wb") as full:
        assert made("full", stderr=full) == expected
    assert made("closed", before=close(2)) == expected
    with reader_gone() as pipe:
        assert made("gone", stderr=pipe) == expected
    # The number of pairs goes to standard output, which is closed here: that alone is told.
    assert made("all", before=close(0, 1, 2)) == (STANDARD_OUTPUT if job == "join" else 0, expected[1])


@pytest.mark.parametrize("how", ["full", "closed"])
@pytest.mark.parametrize("words, code", [(["hash", "there/is/none"], 3), (["hash", "--no-such-option"], 2), (["render"], 2)])
def test_an_error_keeps_its_code(how, words, code):
    with open("/dev/full", "wb") as full:
        got = run([PROGRAM, *words], stderr=full if how == "full" else None, before=close(2) if how == "closed" else None)
    assert got == code == run([PROGRAM, *words], stderr=subprocess.DEVNULL)


def test_a_terminal_that_is_closed_ends_nothing(inputs, tmp_path):
    """As `setsid` and `disown` start jobs: no hangup reaches the job, and its terminal is gone."""
    ours, theirs = os.openpty()
    out = tmp_path / "out.h5"
    words = command_of("render", inputs, tmp_path)
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(), start_new_session=True)
    os.close(theirs)
    os.close(ours)
    assert process.wait(timeout=120) == 0
    assert out.exists()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["hash", "--help"], ["render", "--print-config", "x.csv"], ["doctor", "--help"]])
def test_stdout_that_is_full_is_an_error_of_its_own(words):
    with open("/dev/full", "wb") as full:
        assert run([PROGRAM, *words], stdout=full, stderr=subprocess.DEVNULL) == STANDARD_OUTPUT
    assert run([PROGRAM, *words], stdout=None, before=close(1), stderr=subprocess.DEVNULL) == STANDARD_OUTPUT


@pytest.mark.parametrize("job", ["hash", "dedupe", "join"])
def test_data_that_is_lost_is_told(job, inputs, tmp_path):
    words = [PROGRAM, *map(os.fspath, inputs[job]), "--progress", "none"]
    if job == "dedupe":
        words += ["--json", "-"]
    with open("/dev/full", "wb") as full:
        assert run(words, stdout=full, stderr=subprocess.DEVNULL) == STANDARD_OUTPUT


def test_what_is_lost_costs_no_output_with_a_name(inputs, tmp_path):
    words = [PROGRAM, *map(os.fspath, inputs["join"]), "-o", tmp_path / "out.npy", "--json", tmp_path / "out.json"]
    with open("/dev/full", "wb") as full:
        assert run(words, stdout=full, stderr=subprocess.DEVNULL) == STANDARD_OUTPUT
    assert (tmp_path / "out.npy").stat().st_size > 0
    assert json.loads((tmp_path / "out.json").read_text())["millrace"] == "join"
