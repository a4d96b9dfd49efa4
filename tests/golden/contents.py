"""What an output holds, told so that two can be compared: texts as they are, all else decoded and by its digest, beside the
digest of its bytes, which holds only where encoders are of one version."""

import base64
import hashlib
import io
import json
import re
import sqlite3
import struct
import tarfile

import h5py
import numpy
import zarr
from PIL import Image


def digest(data):
    return hashlib.sha256(data).hexdigest()[:24]


def of_array(array):
    array = numpy.asarray(array)
    texts = array.dtype.kind in "OT"
    values = [v if isinstance(v, bytes) else str(v).encode() for v in array.ravel()] if texts else None
    data = array.tobytes() if values is None else b"\n".join(values)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": digest(data)}


def of_picture(data):
    """Pixels; of a JPEG, whose pixels hang on who decodes it, its mean colours."""
    with Image.open(io.BytesIO(data)) as picture:
        pixels = numpy.asarray(picture)
        told = {"format": picture.format, "mode": picture.mode, "size": list(picture.size)}
        if picture.format == "JPEG":
            return told | {"means": [int(v + 0.5) for v in numpy.atleast_1d(pixels.mean(axis=(0, 1)))]}
        return told | {"pixels": digest(pixels.tobytes())}


def of_attributes(item):
    def plain(value):
        value = value.tolist() if hasattr(value, "tolist") else value
        return value.decode() if isinstance(value, bytes) else value

    return {k: plain(v) for k, v in sorted(item.attrs.items())}


def of_zarr(path):
    return {name: of_array(item[...]) | {"attributes": dict(item.attrs), "chunks": list(item.chunks),
                                         "shards": list(item.shards) if item.shards else None}
            for name, item in sorted(zarr.open_group(path, mode="r").members(max_depth=None))
            if isinstance(item, zarr.Array)}


def of_hdf5(path):
    told = {}
    with h5py.File(path) as file:
        told["/"] = of_attributes(file)

        def visit(name, item):
            told[name] = {"attributes": of_attributes(item)}
            if isinstance(item, h5py.Dataset):
                told[name] |= of_array(item[()]) | {"chunks": item.chunks, "compression": item.compression}

        file.visititems(visit)
    return told


def of_tar(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {m.name: {"mtime": m.mtime, "mode": m.mode} | of_bytes(m.name, tar.extractfile(m).read())
                for m in tar.getmembers()}


def of_scores(packed):
    """What a blob of judgements holds: the two looks, orientation and kind, the score."""
    told = []
    while packed:
        first, others = struct.unpack_from("=QI", packed)
        told += [[first, *other] for other in struct.iter_unpack("=QBf", packed[12 : 12 + 13 * others])]
        packed = packed[12 + 13 * others :]
    return told


def of_catalog(path):
    """Rows of all tables, ordered by what they are; thumbnails by digest."""
    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]

    def cell(name, value):
        if name == "path":
            return value.decode(errors="backslashreplace")
        if name in ("inode", "ctime_ns"):  # each copy of a file has others
            return value != 0
        return (value.hex() if len(value) <= 64 else digest(value)) if isinstance(value, bytes) else value

    told = {}
    for table in tables:
        rows = connection.execute(f"SELECT * FROM {table}")
        if table == "packed_scores":  # how many lie in a row hangs on when they were saved
            told[table] = sorted(score for _, packed in rows for score in of_scores(packed))
            continue
        names = [column[0] for column in rows.description]
        told[table] = sorted(([cell(n, v) for n, v in zip(names, row)] for row in rows), key=str)
    return told


def of_page(text):
    """The page's data; its thumbnails decoded. The rest of it is the page's program."""
    def opened(value):
        if isinstance(value, dict):
            return {k: opened(v) for k, v in value.items()}
        if isinstance(value, list):
            return [opened(v) for v in value]
        if isinstance(value, str) and value.startswith("/9j/"):  # as every JPEG begins
            return of_picture(base64.b64decode(value))
        return value

    blocks = re.findall(r'<script type="application/json" (?:id|class)="(\w+)">(.*?)</script>', text, re.DOTALL)
    return [{name: opened(json.loads(data)) if data.strip() else None} for name, data in blocks]


def of_bytes(name, data):
    """A part of an output, by what its name and its first bytes say that it is."""
    told = {"bytes": digest(data)}
    if data[:6] == b"\x93NUMPY":
        return told | of_array(numpy.load(io.BytesIO(data)))
    if data[:3] == b"\xff\xd8\xff" or data[:4] == b"\x89PNG":
        return told | of_picture(data)
    if name.endswith(".tar"):
        return told | {"members": of_tar(data)}
    if name.endswith((".json", ".csv", ".cls", ".txt")):
        return told | {"text": digest(data)}
    return told | {"size": len(data)}
