"""JPEGs that hold more than their picture: films, sound, further pictures, profiles of colours."""

import io
import random
import struct

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


def with_profile(data, name):
    return segment(data, 0xE2, b"ICC_PROFILE\0\1\1" + profile(name))
