"""hash: BMP, PNM and TIFF in all that they can be, hashed as imagehash over Pillow hashes them, or said not to be exact."""

import json
import pathlib
import struct
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402

imagehash = pytest.importorskip("imagehash")
from PIL import Image  # noqa: E402

WIDTH, HEIGHT = 61, 45
RNG = np.random.default_rng(4)
# Something with large shapes, and noise in every pixel.
Y, X = np.mgrid[0:HEIGHT, 0:WIDTH]
SHAPES = np.clip(128 + 80 * np.sin(X / 9) + 60 * np.cos(Y / 7) + RNG.normal(0, 9, (HEIGHT, WIDTH)), 0, 255).astype(np.uint8)


def expected(path):
    with Image.open(path) as picture:
        return {"ahash": str(imagehash.average_hash(picture)), "dhash": str(imagehash.dhash(picture)),
                "phash": str(imagehash.phash(picture))}, picture.size


def check(folder):
    files = sorted(folder.iterdir())
    lines = [json.loads(line) for line in
             millrace("hash", *files, "--kinds", "ahash,dhash,phash", "--format", "jsonl").stdout.splitlines()]
    assert len(lines) == len(files)
    wrong = []
    for path, line in zip(files, lines):
        hashes, size = expected(path)
        told = {kind: line.get(kind) for kind in hashes}
        if told != hashes or not line["exact"] or (line["width"], line["height"]) != size or line.get("damaged"):
            wrong.append((path.name, line))
    assert not wrong, wrong


def bmp(header, bits, *, gap=0, down=False, compression=0, masks=None, palette=None, rows=None):
    """A BMP by hand; rows are those of the file, already padded."""
    if rows is None:
        levels = SHAPES if down else SHAPES[::-1]
        if bits == 1:
            rows = np.packbits(levels > 128, axis=1)
        elif bits == 4:
            even = np.pad(levels // 16, ((0, 0), (0, 1)))
            rows = even[:, 0:-1:2] << 4 | even[:, 1::2]
        elif bits == 8:
            rows = levels
        elif bits == 16:
            low = levels.astype("<u2") >> 3
            wide = levels.astype("<u2") >> 2 if masks == (0xF800, 0x7E0, 0x1F) else low
            values = (low << 11 | wide << 5 | low[:, ::-1]) if wide is not low else (low << 10 | low << 5 | low[:, ::-1])
            rows = values.astype("<u2").view(np.uint8).reshape(HEIGHT, -1)
        else:
            rows = np.stack([levels, levels[:, ::-1], 255 - levels, levels][: bits // 8], axis=2).reshape(HEIGHT, -1)
        stride = (WIDTH * bits + 31) // 32 * 4
        rows = np.pad(rows, ((0, 0), (0, stride - rows.shape[1]))).astype(np.uint8).tobytes()
    height = (1 << 32) - HEIGHT if down else HEIGHT
    if bits <= 8 and palette is None:
        palette = [(RNG.integers(256), i * 255 // ((1 << bits) - 1), 255 - i) for i in range(1 << bits)]
    if header == 12:
        head = struct.pack("<IHHHH", 12, WIDTH, HEIGHT, 1, bits)
        colours = b"".join(bytes(map(int, c)) for c in palette or [])
    else:
        head = struct.pack("<IIIHHIIiiII", header, WIDTH, height, 1, bits, compression, len(rows), 2835, 2835, len(palette or []), 0)
        colours = b"".join(bytes(map(int, c)) + b"\0" for c in palette or [])
        rest = b"".join(struct.pack("<I", m) for m in masks or ())
        head += rest if header == 40 else rest.ljust(header - 40, b"\0")
    offset = 14 + len(head) + len(colours) + gap
    return b"BM" + struct.pack("<IHHI", offset + len(rows), 0, 0, offset) + head + colours + b"\xAA" * gap + rows


def test_bmp_of_every_kind(tmp_path):
    for bits in (1, 4, 8, 16, 24, 32):
        for header in (12, 40, 56, 108, 124):
            if header == 12 and bits in (16, 32):
                continue
            for gap in (0, 4, 100):
                for down in (False, True):
                    if header == 12 and down:
                        continue
                    (tmp_path / f"{bits}_{header}_{gap}_{down}.bmp").write_bytes(bmp(header, bits, gap=gap, down=down))
    for name, masks in {"565": (0xF800, 0x7E0, 0x1F), "555": (0x7C00, 0x3E0, 0x1F)}.items():
        for header in (40, 56):
            (tmp_path / f"{name}_{header}.bmp").write_bytes(bmp(header, 16, compression=3, masks=masks, gap=20))
    (tmp_path / "gray.bmp").write_bytes(bmp(40, 8, palette=[(i, i, i) for i in range(256)]))
    (tmp_path / "short palette.bmp").write_bytes(bmp(40, 8, palette=[(i, 255 - i, i) for i in range(100)]))
    check(tmp_path)


def test_bmp_in_run_lengths(tmp_path):
    rows, literal = b"", b""
    for line in SHAPES[::-1] // 4 * 4:
        x = 0
        while x < WIDTH:
            count = 1
            while x + count < WIDTH and line[x + count] == line[x]:
                count += 1
            rows += bytes([count, line[x]])
            x += count
        rows += b"\0\0"
        literal += bytes([0, WIDTH]) + line.tobytes() + b"\0" * (WIDTH % 2) + b"\0\0"
    (tmp_path / "runs.bmp").write_bytes(bmp(40, 8, compression=1, rows=rows + b"\0\1"))
    (tmp_path / "literal.bmp").write_bytes(bmp(40, 8, compression=1, rows=literal + b"\0\1"))
    # Skips leave index 0, whatever colour that is.
    skipping = b"".join(bytes([0, 2, 20, 0, 30, 7]) + b"\0\0" for _ in range(HEIGHT))
    (tmp_path / "skips.bmp").write_bytes(bmp(40, 8, compression=1, rows=skipping + b"\0\1", palette=[(200, 90, 10)] * 4 + [(9, 9, 200)] * 252))
    nibbles = b"".join(bytes([40, 0x1F, 21, 0x2E]) + b"\0\0" for _ in range(HEIGHT))
    (tmp_path / "nibbles.bmp").write_bytes(bmp(40, 4, compression=2, rows=nibbles + b"\0\1"))
    check(tmp_path)


def test_bmp_that_ends_early_is_damaged(tmp_path):
    whole = bmp(40, 24)
    (tmp_path / "cut.bmp").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "head.bmp").write_bytes(whole[:60])
    (tmp_path / "masks.bmp").write_bytes(bmp(40, 8, compression=3, masks=(1, 2, 4)))
    (tmp_path / "jpeg.bmp").write_bytes(bmp(40, 24, compression=4))
    (tmp_path / "none.bmp").write_bytes(whole[:18] + bytes(8) + whole[26:])
    lines = {pathlib.Path(line["path"]).name: line for line in
             map(json.loads, millrace("hash", tmp_path, "--format", "jsonl").stdout.splitlines())}
    assert lines["cut.bmp"]["damaged"] == "the file is truncated"
    assert "truncated before" in lines["head.bmp"]["error"]
    for name in ("masks.bmp", "jpeg.bmp", "none.bmp"):
        assert "error" in lines[name], lines[name]


def pnm(kind, most, comment=b""):
    colour = kind in (3, 6)
    samples = np.stack([SHAPES, SHAPES[:, ::-1], 255 - SHAPES], axis=2) if colour else SHAPES
    values = samples.astype(np.int64) * most // 255
    head = b"P%d\n%s%d %d\n%d\n" % (kind, comment, WIDTH, HEIGHT, most)
    if kind in (2, 3):
        return head + b"\n".join(b" ".join(b"%d" % v for v in row.ravel()) for row in values) + b"\n"
    return head + values.astype(">u2" if most > 255 else "u1").tobytes()


def test_pnm_of_every_kind(tmp_path):
    for kind in (2, 3, 5, 6):
        for most in (1, 7, 100, 254, 255, 256, 1000, 4095, 65535):
            (tmp_path / f"p{kind}_{most}.pnm").write_bytes(pnm(kind, most))
        (tmp_path / f"p{kind}_comment.pnm").write_bytes(pnm(kind, 255, b"# of 7 and 9\n"))
    bits = SHAPES > 128
    (tmp_path / "dense.pbm").write_bytes(b"P1\n%d %d\n" % (WIDTH, HEIGHT) + b"\n".join(b"".join(b"%d" % v for v in row) for row in bits))
    (tmp_path / "spaced.pbm").write_bytes(b"P1 # bits\n%d %d\n" % (WIDTH, HEIGHT) + b"\n".join(b" ".join(b"%d" % v for v in row) for row in bits))
    (tmp_path / "packed.pbm").write_bytes(b"P4\n%d %d\n" % (WIDTH, HEIGHT) + np.packbits(bits, axis=1).tobytes())
    check(tmp_path)


def test_pnm_that_ends_early(tmp_path):
    for kind in (2, 3, 5, 6):
        whole = pnm(kind, 255)
        (tmp_path / f"p{kind}.pnm").write_bytes(whole[: len(whole) * 3 // 4])
    # Shorter than its samples can be: nobody waits for a picture of what is not there.
    (tmp_path / "bomb.pbm").write_bytes(b"P1\n31000 31000\n0 0 0")
    for line in map(json.loads, millrace("hash", tmp_path, "--format", "jsonl").stdout.splitlines()):
        if line["path"].endswith("bomb.pbm"):
            assert "too short for" in line["error"]
        else:
            assert line.get("damaged"), line


@pytest.mark.parametrize("mode", ["1", "L", "RGB"])
def test_tiff_is_turned_as_it_says(tmp_path, mode):
    picture = Image.fromarray(np.stack([SHAPES, SHAPES[:, ::-1], 255 - SHAPES], axis=2)).convert(mode)
    for orientation in range(1, 9):
        picture.save(tmp_path / f"{orientation}.tif", tiffinfo={274: orientation}, compression="tiff_lzw")
    check(tmp_path)


def test_tiff_that_libvips_reads_otherwise_is_not_called_exact(tmp_path):
    multiplied = Image.fromarray(np.dstack([SHAPES, SHAPES[:, ::-1], 255 - SHAPES, SHAPES]), "RGBA")
    multiplied.save(tmp_path / "alpha.tif")
    data = (tmp_path / "alpha.tif").read_bytes()
    # ExtraSamples: 2 is alpha beside the colours, 1 alpha that was multiplied into them.
    said, meant = (struct.pack("<HHIHH", 338, 3, 1, kind, 0) for kind in (2, 1))
    assert data.count(said) == 1
    (tmp_path / "alpha.tif").write_bytes(data.replace(said, meant))
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"><rdf:Description tiff:Orientation="6"/></rdf:RDF></x:xmpmeta>'
    Image.fromarray(SHAPES).save(tmp_path / "xmp.tif", tiffinfo={700: xmp})
    lines = [json.loads(line) for line in millrace("hash", tmp_path, "--format", "jsonl").stdout.splitlines()]
    assert [line["exact"] for line in lines] == [False, False], lines
