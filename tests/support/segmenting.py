"""Pictures and small networks for the tests of `segment`."""

import os
import sys

import numpy as np
import pytest
from PIL import Image

import onnx_model as onnx
from program import BUILD

needs_runtime = pytest.mark.skipif(not (BUILD / "libmillrace-openvino.so").exists(),
                                   reason="built without what runs models")


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
