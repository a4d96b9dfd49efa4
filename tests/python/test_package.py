"""The package as a thing of Python's: its stub, its names, its types."""

import pathlib
import pickle
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from package import ENVIRONMENT, millrace  # noqa: E402
from program import ROOT  # noqa: E402
from program import millrace as program  # noqa: E402


def test_the_stub_is_what_the_options_are():
    done = subprocess.run([sys.executable, ROOT / "tools/python_stub.py", "--check"], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_all_that_it_lists_is_there():
    for name in millrace.__all__:
        assert getattr(millrace, name) is not None
        assert name in dir(millrace)
    stub = (ROOT / "python/millrace/__init__.pyi").read_text()
    assert not [name for name in millrace.__all__ if f" {name}\n" not in stub and f"def {name}(" not in stub and f"{name}: _" not in stub]
    with pytest.raises(AttributeError, match="dedup"):
        millrace.dedup  # noqa: B018
    for job in (millrace.render, millrace.latents):
        assert pickle.loads(pickle.dumps(job)) is job


def test_whole_jobs_have_words_for_help():
    import pydoc

    text = pydoc.plain(pydoc.render_doc(millrace.render))
    assert "line_width" in text and "price series" in text and "render(inputs" in text


def test_the_version_is_the_programs():
    assert program("--version").stdout.decode().split() == ["millrace", millrace.__version__]


TYPED = """
import numpy as np
import millrace

codes: np.ndarray = millrace.hash(np.zeros((9, 9), np.uint8))
both: dict[str, np.ndarray] = millrace.hash([], ["dhash"])
millrace.dedupe("photos", prefer=["sorted"], progress=print).to_pandas().groupby("kind")
millrace.dedupe.apply("decisions.json", action="trash")
millrace.latents("folder", output="results").fields["latents"]
share: float = millrace.latents.measure(np.zeros((4, 3, 8, 8))).metrics["spatial.mean"]
millrace.latents.compare({"a": [], "b": []}, shuffles=10).to_pandas()
mask = millrace.Segmenter("m.onnx", overlap=0.5)(codes).mask
pairs: np.ndarray = millrace.join(codes, 3)
wide: np.ndarray = millrace.hash_files(["photos"]).width
"""
WRONG = ["one: int = millrace.hash(codes)", "millrace.dedupe('photos', no_such=1)", "millrace.dedupe.apply(['a', 'b'])", "millrace.latents('folder', seed={1})",
         "millrace.join(codes, 'near')", "millrace.same_picture(codes, codes).likeness"]


def test_a_type_checker_knows_it(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "typed.py").write_text(TYPED)
    (tmp_path / "wrong.py").write_text(TYPED + "\n".join(WRONG) + "\n")
    import os

    def checked(*files):
        done = subprocess.run([sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports", "--cache-dir", tmp_path / "cache",
                               "--no-error-summary", *files], env=dict(os.environ, MYPYPATH=str(ROOT / "python")), capture_output=True, text=True)
        return done.stdout.splitlines()

    assert checked(tmp_path / "typed.py", *(ROOT / "examples").glob("*.py")) == []
    first = len(TYPED.splitlines()) + 1
    assert [int(line.split(":")[1]) for line in checked(tmp_path / "wrong.py") if ": error:" in line] == list(range(first, first + len(WRONG)))
