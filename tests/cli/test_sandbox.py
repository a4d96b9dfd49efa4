"""--sandbox all: JPEG and PNG go through the helper, and nothing that is said of them changes."""

import json
import pathlib
import struct
import subprocess
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM, millrace  # noqa: E402

pytest.importorskip("PIL")
from PIL import Image  # noqa: E402
from variants import scene  # noqa: E402


def exif(orientation):
    block = Image.Exif()
    block[0x0112] = orientation
    block[0x0132] = "2024:05:01 12:30:10"
    return block.tobytes()


def with_exif_last(path):
    """A PNG whose EXIF comes after its pixels."""
    scene(300, 200, 9).save(path)
    data = path.read_bytes()
    chunk = b"eXIf" + exif(6)[6:]
    at = data.rindex(b"IEND") - 4
    path.write_bytes(data[:at] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[at:])


@pytest.fixture
def folder(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    scene(900, 600, 1).save(pictures / "a.jpg", quality=90, exif=exif(6))
    scene(900, 600, 1).save(pictures / "progressive.jpg", quality=90, progressive=True, subsampling=0)
    scene(301, 199, 2).convert("L").save(pictures / "gray.jpg")
    scene(300, 200, 3).convert("CMYK").save(pictures / "cmyk.jpg")
    scene(900, 600, 4).save(pictures / "a.png")
    scene(901, 603, 4).convert("RGBA").save(pictures / "alpha.png")
    scene(300, 200, 5).convert("P").save(pictures / "palette.png")
    scene(3000, 70, 5).convert("L").save(pictures / "wide.png")
    with_exif_last(pictures / "late.png")
    scene(4000, 3000, 6).save(pictures / "large.jpg", quality=60)
    for name in ("a.jpg", "a.png", "progressive.jpg"):
        data = (pictures / name).read_bytes()
        (pictures / f"cut-{name}").write_bytes(data[: len(data) * 2 // 3])
        (pictures / f"head-{name}").write_bytes(data[:40])
        for at in range(len(data) // 3, len(data) // 3 + 40):
            data = data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1 :]
        (pictures / f"bent-{name}").write_bytes(data)
    (pictures / "empty.png").touch()
    return pictures


@pytest.mark.parametrize("options", [[], ["--decode", "fast", "--kinds", "dhash,phash,colorhash"],
                                     ["--orientation", "exif", "--kinds", "whash"], ["--max-pixels", "200000"],
                                     ["--decode", "fast", "--memory", "128M"]])
def test_hashes_are_the_same(folder, options):
    here = millrace("hash", folder, "--format", "jsonl", *options)
    there = millrace("hash", folder, "--format", "jsonl", "--sandbox", "all", *options)
    assert here.returncode == there.returncode == 3
    lines = [json.loads(line) for line in here.stdout.splitlines()]
    assert lines == [json.loads(line) for line in there.stdout.splitlines()]
    assert sum("error" not in line for line in lines) >= 3
    said = there.stderr.decode()
    assert "all pictures were decoded in the sandbox" in said and "s of CPU time" in said
    assert "sandbox" not in here.stderr.decode()


def test_groups_are_the_same(tmp_path, folder):
    scene(900, 600, 1).resize((450, 300)).save(folder / "small.jpg", quality=85)
    results = []
    for sandbox in ("rare", "all"):
        out = tmp_path / f"{sandbox}.json"
        millrace("dedupe", folder, "--catalog", tmp_path / f"{sandbox}.sqlite", "--json", out, "--sandbox", sandbox)
        results.append(json.loads(out.read_text()))
    assert "sandbox" not in results[0] and results[1].pop("sandbox")
    assert results[0] == results[1] and results[0]["groups"]


def test_nothing_is_decoded_without_the_helper(tmp_path, folder):
    copy = tmp_path / "bin"
    copy.mkdir()
    (copy / "millrace").write_bytes(pathlib.Path(PROGRAM).read_bytes())
    (copy / "millrace").chmod(0o755)
    done = subprocess.run([copy / "millrace", "hash", folder, "--format", "jsonl", "--sandbox", "all"], capture_output=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert all("cannot be started" in line["error"] or "is empty" in line["error"] for line in lines) and lines


def test_what_is_no_choice_is_refused(folder):
    done = millrace("hash", folder, "--sandbox", "everything", check=False)
    assert done.returncode == 2 and "rare" in done.stderr.decode() and "all" in done.stderr.decode()
