"""A minimal DNG: a TIFF whose pixels are the samples of a colour filter array."""

import struct

import numpy


def dng(image, orientation=1, bits=16, preview=None, taken=None):
    """Bytes of a DNG, RGGB, uncompressed, that shows `image` (height x width x 3, 8 bits, even sides); the bytes of a
    JPEG lie before the samples where it has a `preview`, a list of its sides and those. `taken`: as EXIF writes it."""
    height, width, _ = image.shape
    samples = numpy.empty((height, width), dtype=numpy.uint16)
    for y, x, channel in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2)):
        samples[y::2, x::2] = image[y::2, x::2, channel]
    samples = samples * (257 if bits == 16 else 16)
    if bits == 16:
        data = samples.astype("<u2").tobytes()
    else:
        # Twelve bits, two samples in three bytes.
        flat = samples.reshape(-1, 2).astype(numpy.uint32)
        packed = numpy.empty((flat.shape[0], 3), dtype=numpy.uint8)
        packed[:, 0] = flat[:, 0] >> 4
        packed[:, 1] = (flat[:, 0] & 15) << 4 | flat[:, 1] >> 8
        packed[:, 2] = flat[:, 1] & 255
        data = packed.tobytes()

    matrix = [1, 0, 0, 0, 1, 0, 0, 0, 1]
    rationals = b"".join(struct.pack("<ii", v, 1) for v in matrix)
    entries = [  # tag, type, count, value or bytes
        (254, 4, 1, 0), (256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, bits), (259, 3, 1, 1), (262, 3, 1, 32803),
        (271, 2, 6, b"Maker\0"), (272, 2, 6, b"Model\0"), (273, 4, 1, "data"), (274, 3, 1, orientation), (277, 3, 1, 1),
        (278, 4, 1, height), (279, 4, 1, len(data)), (284, 3, 1, 1), (33421, 3, 2, 2 | 2 << 16),
        (33422, 1, 4, 0 | 1 << 8 | 1 << 16 | 2 << 24), (50706, 1, 4, 1 | 4 << 8), (50708, 2, 6, b"Model\0"),
        (50714, 4, 1, 0), (50717, 4, 1, (1 << bits) - 1), (50721, 10, 9, rationals),
        (50728, 5, 3, struct.pack("<6I", 1, 1, 1, 1, 1, 1)), (50778, 3, 1, 21),
    ]
    if taken:
        entries.insert([e[0] for e in entries].index(50706), (34665, 4, 1, "exif"))
    extra_at = 8 + 2 + 12 * len(entries) + 4
    extra, table = b"", struct.pack("<H", len(entries))
    pending = []
    for tag, kind, count, value in entries:
        if isinstance(value, bytes):
            pending.append((tag, kind, count, extra_at + len(extra)))
            extra += value + b"\0" * (len(value) % 2)
        elif value == "exif":
            at = extra_at + len(extra)
            pending.append((tag, kind, count, at))
            extra += struct.pack("<HHHIII", 1, 36867, 2, 20, at + 18, 0) + taken.encode() + b"\0"
        else:
            pending.append((tag, kind, count, value))
    second = b""
    if preview:
        wide, high, picture = preview
        small = [(254, 4, 1), (256, 4, wide), (257, 4, high), (259, 3, 7), (262, 3, 6), (273, 4, "at"), (277, 3, 3), (278, 4, high), (279, 4, len(picture))]
        second_at = extra_at + len(extra)
        picture_at = second_at + 2 + 12 * len(small) + 4
        second = struct.pack("<H", len(small)) + b"".join(
            struct.pack("<HHII", tag, kind, 1, picture_at if value == "at" else value) for tag, kind, value in small
        )
        second += struct.pack("<I", 0) + picture + b"\0" * (len(picture) % 2)
    for tag, kind, count, value in pending:
        table += struct.pack("<HHII", tag, kind, count, extra_at + len(extra + second) if value == "data" else value)
    return b"II*\0" + struct.pack("<I", 8) + table + struct.pack("<I", second_at if preview else 0) + extra + second + data
