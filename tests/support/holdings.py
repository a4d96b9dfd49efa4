"""JPEGs that hold more than their picture: films, sound, further pictures, profiles of colours."""

import io
import random
import struct

from PIL import Image

TABLES = [[min(255, 3 + k // 3) for k in range(64)], [min(255, 4 + k // 2) for k in range(64)]]  # not libjpeg's
XMP = ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
       '<rdf:Description {}/></rdf:RDF></x:xmpmeta>')
STARS = XMP.format('xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="5"')
MOTION = XMP.format('xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" GCamera:MotionPhoto="1"')
PREVIEW, VIEW, MAP = 0x010002, 0x020002, 0


def jpeg(image, **more):
    out = io.BytesIO()
    image.save(out, "JPEG", **({"qtables": TABLES, "subsampling": 1} | more))
    return out.getvalue()


def segment(data, marker, content):
    """With one more, behind those that the file begins with."""
    at = 2
    while data[at : at + 2] in (b"\xff\xe0", b"\xff\xe1"):
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return data[:at] + bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content + data[at:]


def with_xmp(data, text):
    return segment(data, 0xE1, b"http://ns.adobe.com/xap/1.0/\0" + text.encode())


def box(kind, content):
    return struct.pack(">I", len(content) + 8) + kind + content


def film(seed, size=5000, brand=b"isom"):
    return box(b"ftyp", brand + b"\0\0\2\0" + brand) + box(b"mdat", random.Random(seed).randbytes(size))


def live_photo(image, identifier, camera="Apple", **more):
    """A phone's picture, half of the Live Photo of this identifier."""
    note = b"Apple iOS\0\0\1MM" + struct.pack(">HHHIIHHII", 2, 1, 9, 1, 14, 17, 2, len(identifier) + 1, 40) + identifier + b"\0"
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = camera, "iPhone 15"
    exif.get_ifd(0x8769)[0x927C] = note
    return jpeg(image, exif=exif, **more)


def live_film(seed, identifier):
    """Its other half."""
    value = box(struct.pack(">I", 1), box(b"data", struct.pack(">II", 1, 0) + identifier))
    keys = box(b"keys", struct.pack(">II", 0, 1) + box(b"mdta", b"com.apple.quicktime.content.identifier"))
    return film(seed, brand=b"qt  ") + box(b"moov", box(b"meta", keys + box(b"ilst", value)))


def several(first, *rest):
    """A JPEG with an index of further ones, each a pair of its kind and its bytes (CIPA DC-007)."""
    def index(sizes, offsets):
        kinds = [0x030000] + [kind for kind, _ in rest]
        entries = b"".join(struct.pack("<IIIHH", *each, 0, 0) for each in zip(kinds, sizes, offsets))
        fields = struct.pack("<H", 1) + struct.pack("<HHII", 0xB002, 7, len(entries), 26) + struct.pack("<I", 0)
        return b"MPF\0II*\0" + struct.pack("<I", 8) + fields + entries

    empty = segment(first, 0xE2, index([0] * (len(rest) + 1), [0] * (len(rest) + 1)))
    header = empty.index(b"MPF\0") + 4
    sizes, offsets, at = [len(empty)], [0], len(empty)
    for _, data in rest:
        sizes.append(len(data))
        offsets.append(at - header)
        at += len(data)
    return segment(first, 0xE2, index(sizes, offsets)) + b"".join(data for _, data in rest)


def samsung(data, *entries):
    """With the list that Samsung's phones write behind a picture; each entry a pair of its name and its bytes."""
    blocks = [struct.pack("<HHI", 0, 0x0A30, len(name)) + name + content for name, content in entries]
    places, back = [], sum(map(len, blocks))
    for block in blocks:
        places.append(struct.pack("<HHII", 0, 0x0A30, back, len(block)))
        back -= len(block)
    listed = b"SEFH" + struct.pack("<II", 107, len(blocks)) + b"".join(places)
    return data + b"".join(blocks) + listed + struct.pack("<I", len(listed)) + b"SEFT"


def profile(name):
    """As much of a profile as tells what it is called."""
    text = b"desc\0\0\0\0" + struct.pack(">I", len(name) + 1) + name + b"\0"
    return b"\0" * 128 + struct.pack(">I", 1) + b"desc" + struct.pack(">II", 144, len(text)) + text


def with_profile(data, name=b"", bytes_of_it=None):
    return segment(data, 0xE2, b"ICC_PROFILE\0\1\1" + (bytes_of_it or profile(name)))


# Red, green and blue as columns, adapted to D50; the exponent of the curve, none for sRGB's.
ADOBE_RGB = ((0.60976, 0.20524, 0.14922), (0.31112, 0.62566, 0.06322), (0.01948, 0.06089, 0.74484)), 563 / 256
DISPLAY_P3 = ((0.51512, 0.29198, 0.15710), (0.24119, 0.69225, 0.06657), (-0.00105, 0.04189, 0.78407)), None
SRGB = ((0.43607, 0.38515, 0.14307), (0.22249, 0.71687, 0.06061), (0.01392, 0.09708, 0.71410)), None


GRAY = None, 2.2


def matrix_profile(colours, name=b"a profile"):
    """One that every program understands, of a matrix and curves or of gray by a curve (ICC.1:2010)."""
    matrix, gamma = colours
    fixed = lambda value: struct.pack(">i", round(value * 65536))  # noqa: E731
    if gamma is None:
        curve = b"para\0\0\0\0\0\3\0\0" + b"".join(map(fixed, (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)))
    else:
        curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"
    place = lambda values: b"XYZ \0\0\0\0" + b"".join(map(fixed, values))  # noqa: E731
    text = b"desc\0\0\0\0" + struct.pack(">I", len(name) + 1) + name + b"\0" + bytes(4 + 4 + 2 + 1 + 67)
    tags = {b"desc": text + b"\0" * (-len(text) % 4), b"wtpt": place((0.9642, 1, 0.8249)), b"cprt": b"text\0\0\0\0none"}
    if matrix is None:
        tags[b"kTRC"] = curve
    for i, channel in enumerate((b"r", b"g", b"b") if matrix else ()):
        tags[channel + b"XYZ"] = place([row[i] for row in matrix])
        tags[channel + b"TRC"] = curve
    table, contents, at = b"", b"", 128 + 4 + 12 * len(tags)
    for tag, content in tags.items():
        table += tag + struct.pack(">II", at + len(contents), len(content))
        contents += content
    header = struct.pack(">I4sI4s4s4s12s4s", at + len(contents), b"none", 0x02400000, b"mntr", b"RGB " if matrix else b"GRAY", b"XYZ ", bytes(12), b"acsp")
    header += bytes(28) + b"".join(map(fixed, (0.9642, 1, 0.8249)))
    return header.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + contents
