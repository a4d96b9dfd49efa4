"""Files that are broken on purpose, in every format: each is an outcome of its own, and none touches its neighbours."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy
import pytest
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import helpers_of, kill_helpers  # noqa: E402
from program import PROGRAM, lines_of, millrace  # noqa: E402
from raw import dng  # noqa: E402
from variants import scene  # noqa: E402

HASH = ["--kinds", "dhash,phash", "--format", "jsonl", "--progress", "none"]


def write_valid(folder):
    """One valid file a format, as many as the tools here can write."""
    folder.mkdir()
    image = scene(96, 72, 3)
    image.save(folder / "a.jpg", quality=80)
    image.save(folder / "progressive.jpg", quality=80, progressive=True)
    image.convert("CMYK").save(folder / "cmyk.jpg", quality=80)
    image.save(folder / "a.png")
    image.convert("P").save(folder / "palette.png")
    image.save(folder / "a.webp", quality=70)
    image.save(folder / "lossless.webp", lossless=True)
    image.save(folder / "film.webp", save_all=True, append_images=[image.rotate(90)])
    image.save(folder / "a.tif", compression="tiff_lzw")
    image.save(folder / "jpeg.tif", compression="jpeg")
    image.convert("1").save(folder / "fax.tif", compression="group4")
    image.save(folder / "a.ppm")
    image.convert("L").save(folder / "a.pgm")
    image.convert("1").save(folder / "a.pbm")
    image.save(folder / "a.gif")
    image.convert("P").save(folder / "film.gif", save_all=True, append_images=[image.convert("L").convert("P")])
    image.save(folder / "a.bmp")
    image.convert("P").save(folder / "palette.bmp")
    (folder / "a.dng").write_bytes(dng(numpy.asarray(image)))
    (folder / "twelve.dng").write_bytes(dng(numpy.asarray(image), bits=12))
    if shutil.which("vips"):
        for name in ("a.heic", "a.avif", "a.jxl", "a.jp2", "tiled.tif[tile,compression=deflate]"):
            subprocess.run(["vips", "copy", folder / "a.png", f"{folder}/{name}"], capture_output=True)
    for path in folder.iterdir():
        if path.stat().st_size == 0:
            path.unlink()
    return sorted(folder.iterdir())


def broken_copies(data, seed):
    """Cut, flipped, shuffled and overgrown: the same for the same seed."""
    rng = random.Random(seed)
    for part in (0.02, 0.2, 0.5, 0.9):
        yield "cut", data[: int(len(data) * part)]
    for flips in (1, 4, 60):
        copy = bytearray(data)
        for _ in range(flips):
            # Headers are short and decide most, so half of the flips go there.
            at = rng.randrange(min(len(copy), 200)) if rng.random() < 0.5 else rng.randrange(len(copy))
            copy[at] ^= 1 << rng.randrange(8)
        yield "flip", bytes(copy)
    for value in (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0"):
        copy = bytearray(data)
        at = rng.randrange(4, min(len(copy), 120))
        copy[at : at + 4] = value
        yield "huge", bytes(copy)
    a, b = sorted(rng.randrange(len(data)) for _ in range(2))
    yield "removed", data[:a] + data[b:]
    yield "twice", data[:b] + data[a:]


def test_every_broken_file_has_a_line_and_harms_no_other(tmp_path):
    valid = write_valid(tmp_path / "valid")
    assert len(valid) >= 20
    alone = {pathlib.Path(l["path"]).name: l for l in lines_of(millrace("hash", tmp_path / "valid", *HASH))}
    assert all("error" not in line for line in alone.values()), alone

    mixed = tmp_path / "mixed"
    mixed.mkdir()
    count = 0
    for index, path in enumerate(valid):
        data = path.read_bytes()
        for n, (kind, broken) in enumerate(broken_copies(data, 1000 + index)):
            (mixed / f"{index:02d}_{n:02d}_{kind}_{path.name}").write_bytes(broken)
            count += 1
        (mixed / f"{index:02d}_99_good_{path.name}").write_bytes(data)
        count += 1
    (mixed / "empty.webp").write_bytes(b"")
    for name, magic in {"x.webp": b"RIFF\x10\0\0\0WEBPVP8 ", "x.heic": b"\0\0\0\x18ftypheic", "x.jxl": b"\xff\x0a",
                        "x.jp2": b"\xff\x4f\xff\x51", "x.raf": b"FUJIFILMCCD-RAW", "x.bmp": b"BM"}.items():
        (mixed / name).write_bytes(magic + random.Random(name).randbytes(4000))
        count += 1
    done = millrace("hash", mixed, *HASH, "--memory", "1G", timeout=300)
    assert done.returncode == 3
    lines = {pathlib.Path(l["path"]).name: l for l in lines_of(done)}
    assert len(lines) == count + 1
    for name, line in lines.items():
        assert ("error" in line and line["error"]) or "dhash" in line, line
        if "_good_" in name:
            expected = alone[name.split("_good_")[1]]
            assert "error" not in line, line
            assert (line["dhash"], line["phash"], line["width"]) == (expected["dhash"], expected["phash"], expected["width"])


@pytest.mark.parametrize("bits", [12, 16])
def test_raw_decodes_and_is_turned(tmp_path, bits):
    image = scene(640, 480, 8)
    for orientation in (1, 3, 6, 8):
        (tmp_path / f"{orientation}.dng").write_bytes(dng(numpy.asarray(image), orientation, bits))
    lines = {pathlib.Path(l["path"]).stem: l for l in lines_of(millrace("hash", tmp_path, *HASH))}
    assert all("error" not in line for line in lines.values()), lines
    assert (lines["1"]["width"], lines["1"]["height"]) == (640, 480)
    assert len({line["dhash"] for line in lines.values()}) == 1, "as stored, they are one picture"
    image.save(tmp_path / "seen.png")
    turned = {pathlib.Path(l["path"]).stem: l for l in lines_of(millrace("hash", tmp_path, *HASH, "--orientation", "exif"))}
    distance = bin(int(turned["1"]["phash"], 16) ^ int(turned["seen"]["phash"], 16)).count("1")
    assert distance <= 12, "it shows the scene"
    for orientation, transpose in {3: Image.ROTATE_180, 6: Image.ROTATE_270, 8: Image.ROTATE_90}.items():
        # The half-size picture of the file with orientation 1, turned the way the tag says, hashes close to it.
        image.transpose(transpose).save(tmp_path / "turned.png")
        seen = lines_of(millrace("hash", tmp_path / "turned.png", *HASH))[0]
        other = turned[str(orientation)]
        assert other["dhash"] != turned["1"]["dhash"]
        assert bin(int(other["phash"], 16) ^ int(seen["phash"], 16)).count("1") <= 12, orientation


def test_killed_helpers_cost_only_their_files(tmp_path):
    image = scene(1600, 1200, 4)
    for index in range(30):
        image.rotate(index).save(tmp_path / f"{index:02d}.webp", quality=60, method=0)
    whole = {l["path"]: l for l in lines_of(millrace("hash", tmp_path, *HASH))}
    running = subprocess.Popen([PROGRAM, "hash", tmp_path, *HASH, "--threads", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    killed = 0
    while running.poll() is None and killed < 6:
        if helpers_of(running.pid):
            time.sleep(0.03)
            killed += kill_helpers(running.pid)
        time.sleep(0.005)
    out, err = running.communicate(timeout=120)
    running.stdout = out
    lines = lines_of(running)
    assert running.returncode in (0, 3), err
    assert len(lines) == 30
    errors = [l for l in lines if "error" in l]
    assert len(errors) <= killed
    others = [l["error"] for l in errors if "killed" not in l["error"]]
    assert not others, others
    assert all(l == whole[l["path"]] for l in lines if "error" not in l)
    assert killed > 0


def test_helpers_end_with_a_killed_program(tmp_path):
    scene(3000, 2500, 4).save(tmp_path / "a.webp", lossless=True, method=0)
    running = subprocess.Popen([PROGRAM, "hash", *[tmp_path / "a.webp"] * 3, *HASH], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    helpers = []
    while not helpers and running.poll() is None:
        helpers = helpers_of(running.pid)
    running.send_signal(signal.SIGKILL)
    running.wait()
    deadline = time.monotonic() + 20
    while any(os.path.exists(f"/proc/{h}") and "Z" not in pathlib.Path(f"/proc/{h}/stat").read_text().split()[2] for h in helpers):
        assert time.monotonic() < deadline, "a helper outlived the program"
        time.sleep(0.01)
