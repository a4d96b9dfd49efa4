"""Pictures of more than 8 bits a sample: told apart, found again, and never suggested for what shows fewer."""

import os
import struct
import zlib

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("PIL")
from PIL import Image  # noqa: E402

from program import content_of, millrace  # noqa: E402
from test_dedupe import dedupe, groups, scene  # noqa: E402

W, H = 640, 480


def gray(seed):
    return np.asarray(scene(W, H, seed).convert("L"))


def png16(path, samples):
    """Gray, or RGB, big-endian."""
    height, width = samples.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in samples)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    colour = 2 if samples.ndim == 3 else 0
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, colour, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def tiff(path, samples):
    Image.fromarray(samples).save(path)


def signed_tiff(path, samples):
    """16 bits, signed, as elevations are."""
    height, width = samples.shape
    data = samples.astype("<i2").tobytes()
    fields = [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8), (277, 3, 1, 1),
              (278, 3, 1, height), (279, 4, 1, len(data)), (339, 3, 1, 2)]
    path.write_bytes(b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(fields)) +
                     b"".join(struct.pack("<HHII", *field) for field in fields) + struct.pack("<I", 0))


def wide(seed, low=0):
    return gray(seed).astype(np.uint16) * 256 + 128 + low


def suggested(result):
    return {os.path.basename(m["path"]) for group in result["groups"] for m in group["members"] if not m["keep"]}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "scans"
    folder.mkdir()
    return folder


WRITERS = {
    "png": lambda folder, name, seed: png16(folder / f"{name}.png", wide(seed)),
    "tiff": lambda folder, name, seed: tiff(folder / f"{name}.tif", wide(seed)),
    "float": lambda folder, name, seed: tiff(folder / f"{name}.tif", gray(seed).astype(np.float32) / 255),
    "large float": lambda folder, name, seed: tiff(folder / f"{name}.tif", gray(seed).astype(np.float32) * 1000),
    "signed": lambda folder, name, seed: signed_tiff(folder / f"{name}.tif", gray(seed).astype(np.int16) * 8),
    "pgm": lambda folder, name, seed: (folder / f"{name}.pgm").write_bytes(
        b"P5 %d %d 65535\n" % (W, H) + wide(seed).astype(">u2").tobytes()),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_different_scans_are_no_copies(tmp_path, folder, kind):
    for seed in range(4):
        WRITERS[kind](folder, f"scan{seed}", 300 + seed)
    result, _ = dedupe(tmp_path, folder)
    assert suggested(result) == set()
    if "float" not in kind and kind != "signed":
        assert groups(result) == []
    other = tmp_path / "other"
    other.mkdir()
    (folder / sorted(os.listdir(folder))[0]).rename(other / "alone")
    (other / "alone").rename(other / f"alone{os.path.splitext(sorted(os.listdir(folder))[0])[1]}")
    done = millrace("dedupe", "compare", other, folder, "--catalog", tmp_path / "c.sqlite", check=False)
    said = (done.stdout + done.stderr).decode()
    assert "0 of 1" in said, said


def test_what_differs_in_its_low_bits_is_no_copy(tmp_path, folder):
    """Two exposures whose high bytes are the same."""
    png16(folder / "a.png", wide(310))
    png16(folder / "b.png", wide(310, 90))
    result, _ = dedupe(tmp_path, folder)
    assert suggested(result) == set()


def test_signed_samples_that_differ_in_their_low_bits_are_no_copies(tmp_path, folder):
    signed_tiff(folder / "a.tif", gray(311).astype(np.int16) * 8)
    signed_tiff(folder / "b.tif", gray(311).astype(np.int16) * 8 + 5)
    result, _ = dedupe(tmp_path, folder)
    assert suggested(result) == set()


def test_the_same_bytes_are_and_an_eight_bit_copy_is_found(tmp_path, folder):
    png16(folder / "master.png", wide(320))
    (folder / "again.png").write_bytes((folder / "master.png").read_bytes())
    Image.fromarray(gray(320)).save(folder / "eight.jpg", quality=92)
    result, _ = dedupe(tmp_path, folder)
    assert len(suggested(result) & {"master.png", "again.png"}) == 1
    shown = [{os.path.basename(m["path"]) for m in group["members"]} for group in result["groups"] + result["related"]]
    assert any({"eight.jpg"} < names for names in shown), "it is shown beside its master"


@pytest.mark.parametrize("prefer", [[], ["--prefer", "eight*"]])
def test_a_deep_colour_master_never_goes_for_fewer_bits(tmp_path, folder, prefer):
    image = np.asarray(scene(W, H, 330).convert("RGB"))
    png16(folder / "master.png", image.astype(np.uint16) * 256 + 77)
    Image.fromarray(image).save(folder / "eight.png")
    (folder / "eight.png.xmp").write_text('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description '
                                          'xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="5"/></rdf:RDF>')
    before = content_of(folder)
    result, _ = dedupe(tmp_path, folder, *prefer)
    assert "master.png" not in suggested(result) and content_of(folder) == before
