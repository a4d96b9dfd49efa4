"""What `segment` makes of models and cards: those that do not fit, those that are damaged, and what is kept of one that is compiled."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import onnx_model as onnx
from program import PROGRAM, millrace
from segmenting import made_model, needs_openvino, needs_runtime, picture, run, runtime

pytestmark = needs_runtime


def models():
    wide = [onnx.value_info("x", [1, 3, None, None])]
    out = [onnx.value_info("y", [1, 3, None, None])]
    relu = onnx.node("Relu", "only", ["x"], "y")
    return {
        "a text": (b"not a model\n", "not an ONNX model"),
        "cut": (onnx.ramps(1, 24, 32)[0][:300], "not an ONNX model"),
        "two inputs": (onnx.model([onnx.node("Add", "sum", ["x", "z"], "y")], [], wide + [onnx.value_info("z", [1])], out),
                       "2 inputs"),
        "two outputs": (onnx.model([relu, onnx.node("Neg", "other", ["x"], "z")], [], wide,
                                   out + [onnx.value_info("z", [1, 3, None, None])]), "2 outputs"),
        "five channels": (onnx.ramps(1, 24, 32, channels=5)[0], "has 5 channels, but rgb has 3"),
        "a batch": (onnx.model([relu], [], [onnx.value_info("x", [4, 3, 24, 24])], [onnx.value_info("y", [4, 3, 24, 24])]),
                    "not [1, channels, height, width]"),
        "whole numbers": (onnx.model([relu], [], [onnx.value_info("x", [1, 3, 24, 24], 6)],
                                     [onnx.value_info("y", [1, 3, 24, 24], 6)]), "int32, is not supported"),
        "no edges": (onnx.model([onnx.node("MaxPool", "shrink", ["x"], "y", onnx.integers("kernel_shape", [3, 3]))],
                                [], wide, out), "its window, 512 x 512"),
        "an own operator": (onnx.model([onnx.node("Blur", "soft", ["x"], "y") + onnx.field(7, "com.example")], [], wide,
                                       out), "'soft'"),
        "numbers elsewhere": (onnx.external("../../etc/hostname"), "outside the model's folder"),
    }


@pytest.mark.parametrize("kind", models())
@needs_openvino
def test_a_model_that_does_not_fit_is_named_before_the_first_window(tmp_path, kind):
    contents, words = models()[kind]
    picture(tmp_path / "photos" / "a.png", 40, 50)
    (tmp_path / "m.onnx").write_bytes(contents)
    done = run(tmp_path, check=False)
    said = done.stderr.decode()
    assert done.returncode == 1 and words in said and "m.onnx" in said, said
    assert ".cpp" not in said and "Traceback" not in said
    assert not (tmp_path / "out").exists()


@needs_openvino
def test_two_hundred_broken_models_are_no_crash(tmp_path):
    picture(tmp_path / "photos" / "a.png", 30, 40)
    whole, _ = onnx.ramps(1, 24, 32)
    random = np.random.default_rng(8)
    front = len(whole) - 24 * 32 * 4  # what is not the ramp's numbers
    for k in range(200):
        broken = bytearray(whole)
        for at in random.integers(0, front, 1 + k % 4):
            broken[at] ^= 1 << random.integers(0, 8)
        (tmp_path / "m.onnx").write_bytes(broken)
        done = run(tmp_path, out=f"out{k}", check=False)
        # 3: it runs, and gives NaN.
        assert done.returncode in (0, 1, 3), (k, done.returncode, done.stderr)
        if done.returncode == 1:
            assert b"m.onnx" in done.stderr


@pytest.mark.parametrize("card, words", [
    ('{"treshold": 0.5}', "did you mean 'threshold'"), ("[1]", "not a model card"), ('{"mean": [1]}', "'mean' has 1 numbers"),
    ('{"classes": [{"name": "a"}, {"name": "b"}]}', "1 classes, but the model card names 2"),
    ('{"window": 99}', "a window of 99 does not fit")])
def test_a_card_that_does_not_fit_is_named(tmp_path, card, words):
    picture(tmp_path / "photos" / "a.png", 40, 50)
    made_model(tmp_path / "m.onnx")
    (tmp_path / "m.json").write_text(card)
    done = run(tmp_path, check=False)
    assert done.returncode == 1 and words in done.stderr.decode()


def test_a_first_card_is_one(tmp_path):
    made_model(tmp_path / "m.onnx", classes=3)
    card = millrace("segment", "--describe", "--model", tmp_path / "m.onnx").stdout
    assert millrace("segment", "--describe", tmp_path / "m.onnx").stdout == card
    assert len(json.loads(card)["classes"]) == 3
    # As it is, without a change.
    (tmp_path / "m.json").write_bytes(card)
    picture(tmp_path / "photos" / "a.png", 40, 50)
    run(tmp_path)


@needs_openvino
def test_runs_that_begin_at_once_share_what_is_compiled(tmp_path):
    """The first to come compiles; none reads what another is still writing."""
    picture(tmp_path / "photos" / "a.png", 60, 80)
    made_model(tmp_path / "m.onnx")
    expected = None
    for attempt in range(4):
        cache = tmp_path / f"cache{attempt}"
        cache.mkdir(mode=0o700)
        environment = dict(os.environ, XDG_CACHE_HOME=str(cache))
        runs = [subprocess.Popen([PROGRAM, "segment", tmp_path / "photos", "--model", tmp_path / "m.onnx", "-o", tmp_path / f"{attempt}-{k}", "-q"],
                                 env=environment, stderr=subprocess.PIPE) for k in range(8)]
        said = [run.communicate(timeout=300)[1] for run in runs]
        assert [run.returncode for run in runs] == [0] * 8 and said == [b""] * 8, said
        for k in range(8):
            made = (tmp_path / f"{attempt}-{k}" / "a.png.mask.png").read_bytes()
            expected = expected or made
            assert made == expected
