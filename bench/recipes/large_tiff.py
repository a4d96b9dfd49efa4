"""A tiled BigTIFF as slide scanners write it: JPEG tiles of 512 x 512, each a piece of noise and shapes.

    large_tiff.py OUT.tif SIDE
"""

import io
import struct
import sys

import numpy as np
from PIL import Image, ImageDraw

TILE = 512


def tiles(count):
    """JPEG streams of tiles; each is whole in itself."""
    out = []
    for seed in range(count):
        random = np.random.default_rng(seed)
        image = Image.fromarray(random.integers(90, 140, (TILE, TILE, 3), dtype=np.uint8).astype(np.uint8))
        draw = ImageDraw.Draw(image)
        for _ in range(12):
            x, y, r = random.integers(0, TILE, 2).tolist() + [int(random.integers(10, 90))]
            draw.ellipse([x - r, y - r, x + r, y + r], fill=tuple(random.integers(0, 256, 3).tolist()))
        stream = io.BytesIO()
        image.save(stream, "JPEG", quality=60, subsampling=0)
        out.append(stream.getvalue())
    return out


def write(path, side):
    across = (side + TILE - 1) // TILE
    count = across * across
    kinds = tiles(16)
    order = np.random.default_rng(7).integers(0, len(kinds), count)
    lengths = np.array([len(kinds[k]) for k in order], dtype="<u8")
    offsets = 16 + np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype("<u8")
    with open(path, "wb") as file:
        file.write(b"II" + struct.pack("<HHHQ", 43, 8, 0, 0))
        for k in order:
            file.write(kinds[k])
        places = file.tell()
        file.write(offsets.tobytes())
        sizes = file.tell()
        file.write(lengths.tobytes())
        directory = file.tell()
        fields = [(256, 4, 1, side), (257, 4, 1, side), (258, 3, 3, struct.pack("<HHH2x", 8, 8, 8)), (259, 3, 1, 7),
                  (262, 3, 1, 6), (277, 3, 1, 3), (284, 3, 1, 1), (322, 4, 1, TILE), (323, 4, 1, TILE),
                  (324, 16, count, places), (325, 16, count, sizes), (530, 3, 2, struct.pack("<HH4x", 1, 1))]
        file.write(struct.pack("<Q", len(fields)))
        for tag, kind, number, value in fields:
            file.write(struct.pack("<HHQ", tag, kind, number))
            file.write(value if isinstance(value, bytes) else struct.pack("<Q", value))
        file.write(struct.pack("<Q", 0))
        file.seek(8)
        file.write(struct.pack("<Q", directory))


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
