"""--log-level: what a run is made of, on stderr, when it is asked for."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402

pytest.importorskip("PIL")
from PIL import Image  # noqa: E402


def test_levels(tmp_path):
    Image.new("RGB", (64, 64), "red").save(tmp_path / "a\x1b[1m.png")
    (tmp_path / "b.png").write_bytes(b"broken")

    def said(*options):
        done = millrace("hash", tmp_path, "-q", *options)
        assert len(done.stdout.splitlines()) == 2
        return done.stderr.decode()

    assert said() == "" == said("--log-level", "off")
    info = said("--log-level", "info", "--memory", "1G")
    assert "limit 1.0 GiB (--memory)" in info and "limited by" in info and "b.png" not in info
    debug = said("--log-level", "debug", "--memory", "1G")
    assert "--memory is 1G" in debug or "--memory is 1.0 GiB" in debug or "--memory is 1" in debug
    assert "b.png: " in debug and "\x1b" not in debug
