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
    assert pickle.loads(pickle.dumps(millrace.render)) is millrace.render


def test_whole_jobs_have_words_for_help():
    import pydoc

    text = pydoc.plain(pydoc.render_doc(millrace.render))
    assert "line_width" in text and "Price series to charts" in text and "render(inputs" in text


def test_the_version_is_the_programs():
    assert program("--version").stdout.decode().split() == ["millrace", millrace.__version__]
