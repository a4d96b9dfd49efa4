"""What examples/ says that it does, it does: each is run as a person would run it."""

import csv
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from package import ENVIRONMENT  # noqa: E402
from program import BUILD, ROOT  # noqa: E402

EXAMPLES = ROOT / "examples"


def example(name, *arguments, code=0, timeout=300):
    """What it printed. With the packages that are here, which tests may have added to."""
    environment = dict(ENVIRONMENT, PYTHONPATH=os.pathsep.join([ENVIRONMENT["PYTHONPATH"], *sys.path[1:]]))
    done = subprocess.run([sys.executable, EXAMPLES / name, *map(os.fspath, arguments)], env=environment, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_each_says_what_it_takes(path):
    """Of one whose packages are not here its words alone."""
    text = path.read_text()
    assert "argparse" in text and f"python examples/{path.name}" in text
    compile(text, path, "exec")
    if path.name != "train_charts.py":
        pytest.importorskip("pandas")
        assert "--help" in example(path.name, "--help")


def test_duplicates_to_pandas(tmp_path):
    pytest.importorskip("pandas")
    images = pytest.importorskip("PIL.Image")
    for seed in range(3):
        pixels = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
        picture = images.fromarray(pixels).resize((320, 240), images.BICUBIC)
        picture.save(tmp_path / f"{seed}.jpg", quality=95)
        if seed < 2:
            picture.resize((160, 120)).save(tmp_path / f"{seed}-small.jpg", quality=90)
    printed = example("duplicates_to_pandas.py", tmp_path, "--csv", tmp_path / "table.csv")
    assert "0-small.jpg" in printed and "similar" in printed
    with open(tmp_path / "table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 and {pathlib.Path(row["path"]).name for row in rows if row["keep"] == "False"} == {"0-small.jpg", "1-small.jpg"}
    (tmp_path / "empty").mkdir()
    assert "0-small" not in example("duplicates_to_pandas.py", tmp_path / "empty", "--csv", tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text().startswith("group,kind,keep,why,path")
    example("duplicates_to_pandas.py", tmp_path / "none", code=1)


def test_latents_of_two_groups(tmp_path):
    pytest.importorskip("pandas")
    random = np.random.default_rng(1)
    for group, scale in (("real", 1.0), ("generated", 1.7), ("more", 1.0)):
        (tmp_path / group).mkdir()
        for number in range(8):
            np.save(tmp_path / group / f"{number}.npy", (scale * random.standard_normal((4, 3, 16, 16))).astype(np.float16))
    printed = example("latents_of_two_groups.py", tmp_path / "real", tmp_path / "generated")
    assert "spatial.variance" in printed and not printed.startswith("0 of")
    assert example("latents_of_two_groups.py", tmp_path / "real", tmp_path / "more").startswith("0 of")
    (tmp_path / "none").mkdir()
    example("latents_of_two_groups.py", tmp_path / "real", tmp_path / "none", code=1)


def test_vessels(tmp_path):
    if not (BUILD / "libmillrace-openvino.so").exists():
        pytest.skip("this build has no OpenVINO")
    images = pytest.importorskip("PIL.Image")
    subprocess.run([sys.executable, ROOT / "bench/recipes/vessel_filter.py", tmp_path / "vessels.onnx"], check=True)
    (tmp_path / "eyes").mkdir()
    subprocess.run([sys.executable, ROOT / "bench/recipes/make_fundus.py", tmp_path / "eyes", "1", "7"], check=True)
    printed = example("vessels.py", tmp_path / "eyes", "--model", tmp_path / "vessels.onnx", "-o", tmp_path / "masks", "--size", "512")
    masks = list((tmp_path / "masks").glob("*.mask.png"))
    assert printed and len(masks) == 1 and list((tmp_path / "masks").glob("*.overlay.png"))
    mask = np.asarray(images.open(masks[0]))
    assert mask.shape[::-1] == images.open(next((tmp_path / "eyes").glob("*.png"))).size and 0 < (mask > 0).mean() < 0.5
    assert "% of the pixels" in printed
    example("vessels.py", tmp_path / "eyes", "--model", tmp_path / "none.onnx", "-o", tmp_path / "other", code=1)


def test_train_charts():
    import torch_here  # noqa: F401

    printed = example("train_charts.py", "--epochs", "2", "--blocks", "60", timeout=600)
    assert "held out: 0." in printed
    # With next to nothing learnt it says so.
    assert "held out" in example("train_charts.py", "--epochs", "0", "--blocks", "10", code=1)
