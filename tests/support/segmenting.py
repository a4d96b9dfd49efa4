"""Pictures and small networks for the tests of `segment`."""

import os
import tempfile

import numpy as np
import pytest
from PIL import Image

import onnx_model as onnx
from program import BUILD, millrace

RUNTIME = "libmillrace-openvino.so"
# Under sanitizers: what runs the networks of onnx_model.ramps() alone. Helpers are found beside it.
RAMPS = BUILD / "ramps" / RUNTIME
if RAMPS.exists():
    HELPERS = tempfile.TemporaryDirectory(prefix="millrace-helpers-")
    for helper in (RAMPS, BUILD / "millrace-decoder", BUILD / "millrace-hdf5", BUILD / "millrace-film"):
        os.symlink(helper, os.path.join(HELPERS.name, helper.name))


@pytest.fixture(scope="module", autouse=True)
def runtime():
    """For every test of a module that imports it: networks are run by what there is."""
    if not RAMPS.exists():
        yield
        return
    os.environ["MILLRACE_HELPERS"] = HELPERS.name
    yield
    del os.environ["MILLRACE_HELPERS"]


needs_openvino = pytest.mark.skipif(not (BUILD / RUNTIME).exists(), reason="built without OpenVINO, which runs models")
has_runtime = (BUILD / RUNTIME).exists() or RAMPS.exists()
needs_runtime = pytest.mark.skipif(not has_runtime, reason="built without what runs models")


def picture(path, height, width, seed=3, mode="RGB", **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    shape = (height, width, 3) if mode == "RGB" else (height, width)
    pixels = random.integers(0, 256, shape, dtype=np.uint8)
    Image.fromarray(pixels).save(path, **options)
    return pixels


def made_model(path, classes=1, height=24, width=32, **more):
    contents, network = onnx.ramps(classes, height, width, **more)
    path.write_bytes(contents)
    return network


def run(tmp_path, *more, out="out", check=True, **options):
    return millrace("segment", tmp_path / "photos", "--model", tmp_path / "m.onnx", "-o", tmp_path / out, "--write",
                    "mask,probability", *more, check=check, **options)
