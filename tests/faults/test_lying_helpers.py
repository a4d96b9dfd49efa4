"""A helper that a hostile file has taken over may say anything: the program ends with an outcome, within its bounds, and is not taken
over too."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import onnx_model  # noqa: E402
from films import made as made_film  # noqa: E402
from films import needs_ffmpeg  # noqa: E402
from program import BUILD, OWN_DATA, PROGRAM  # noqa: E402
from segmenting import RAMPS, needs_runtime, runtime  # noqa: E402, F401

h5py = pytest.importorskip("h5py")
Image = pytest.importorskip("PIL.Image")
SEEDS = range(int(os.environ.get("MILLRACE_ROUNDS", 8)))
HELPERS = {"hash": "millrace-decoder", "render": "millrace-hdf5", "finish": "millrace-hdf5", "video": "millrace-film"}
OUTCOMES = {0, 1, 3}
SECONDS = 120


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    random = np.random.default_rng(1)
    (folder / "photos").mkdir()
    for k in range(3):
        Image.fromarray(random.integers(0, 255, (60, 80, 3), dtype=np.uint8)).save(folder / "photos" / f"{k}.webp")
    with h5py.File(folder / "prices.h5", "w") as file:
        file["close"] = 100 * np.exp(np.cumsum(random.normal(0, 0.02, 400)))
    (folder / "m.onnx").write_bytes(onnx_model.ramps(1, 24, 32)[0])
    if shutil.which("ffmpeg"):
        made_film(folder / "film.mp4", "-c:v", "libx264", "-pix_fmt", "yuv420p", seconds=1)
    subprocess.run([PROGRAM, "render", folder / "prices.h5", "--window", "20", "--size", "40x30", "-o", folder / "charts.h5"], check=True,
                   capture_output=True)
    return folder


def words_of(job, inputs, output):
    return {
        "hash": ["hash", inputs / "photos"],
        "render": ["render", inputs / "prices.h5", "--window", "20", "--size", "40x30", "-o", output],
        "finish": ["finish", inputs / "charts.h5"],
        "video": ["video", inputs / "film.mp4", "--model", inputs / "m.onnx", "--write", "blur", "-o", output],
    }[job]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("job", ["hash", "render", "finish", pytest.param("video", marks=[needs_runtime, needs_ffmpeg])])
def test_nothing_that_it_says_is_believed(job, seed, inputs, tmp_path):
    helpers = tmp_path / "helpers"
    helpers.mkdir()
    for name in ("millrace-decoder", "millrace-hdf5", "millrace-film"):
        (helpers / name).symlink_to(BUILD / name)
    backend = RAMPS if RAMPS.exists() else BUILD / RAMPS.name
    if backend.exists():
        (helpers / backend.name).symlink_to(backend)
    lying = helpers / HELPERS[job]
    lying.unlink()
    shutil.copy(ROOT / "tests/support/lying_helper.py", lying)
    (helpers / "real").write_text(str(BUILD))
    (helpers / "seed").write_text(str(seed))
    env = dict(os.environ, XDG_DATA_HOME=OWN_DATA.name, XDG_CACHE_HOME=OWN_DATA.name, MILLRACE_HELPERS=str(helpers))
    output = tmp_path / {"render": "out.h5", "video": "out.mp4"}.get(job, "out")
    done = subprocess.run([PROGRAM, *map(os.fspath, words_of(job, inputs, output)), "--progress", "none"], env=env, capture_output=True,
                          timeout=SECONDS)
    assert done.returncode in OUTCOMES, (done.returncode, done.stderr.decode(errors="replace"))
