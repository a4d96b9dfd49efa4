"""millrace.ray under Ray: from files to Parquet with a worker killed in flight, the same rows as one process."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from package import ENVIRONMENT, millrace  # noqa: E402
from program import ROOT  # noqa: E402
from segmenting import has_runtime, made_model, runtime  # noqa: E402, F401

Image = pytest.importorskip("PIL.Image")
PYTHON = ROOT / ".venv-ray/bin/python"
pytestmark = [
    pytest.mark.skipif("MILLRACE_ALL" not in os.environ, reason="only with ./dev test --all: Ray's processes are started"),
    pytest.mark.skipif(not PYTHON.exists(), reason="there is no Ray here: packages/ray.txt"),
]


def test_a_pipeline_is_one_process(tmp_path, runtime):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    rng = np.random.default_rng(6)
    for i in range(400):
        Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)).save(pictures / f"{i:03}.{('png', 'jpg')[i % 2]}")
    (pictures / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    model = tmp_path / "m.onnx"
    made_model(model)
    done = subprocess.run([PYTHON, pathlib.Path(__file__).with_name("ray_pipeline.py"), pictures, tmp_path, *([model] if has_runtime else [])], env=dict(ENVIRONMENT, RAY_DEDUP_LOGS="0"),
                          capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    masks = said.pop("masks", None)
    assert masks is None or {row for row, right in masks.items() if right is not True} == {"5"} and len(masks) == 12, masks
    assert said == {"charts": True, "read only": True, "latents": True, "two cpus": [2, "cpu"]}
    killed = int((tmp_path / "killed").read_text())
    read = subprocess.run([PYTHON, "-c", "import sys, json, pandas; print(pandas.read_parquet(sys.argv[1]).sort_values('path').to_json(orient='records'))",
                           tmp_path / "hashes"], capture_output=True, text=True, check=True)
    rows = json.loads(read.stdout)
    files = millrace.hash_files(pictures, kinds=["phash", "dhash"])
    assert [row["path"] for row in rows] == files.paths
    for i, row in enumerate(rows):
        assert row["phash"] == files.codes["phash"][i].tolist() and row["dhash"] == files.codes["dhash"][i].tolist()
        assert (row["error"] is None) == files.usable[i] and row["threads"] == 1 and row["device"] == "cpu"
    assert {row["process"] for row in rows} != {killed}
