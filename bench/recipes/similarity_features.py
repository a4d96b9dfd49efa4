"""What the quality measurements read from a folder made by versions.py: thumbnails and hashes, kept in a file.

A thumbnail goes the way it goes in the product: 128 pixels on the long side in the picture's own aspect, a
JPEG of at most 4 KiB, decoded again, squeezed to 64 x 64.
"""

import io
import json
import multiprocessing
import pathlib

import imagehash
import numpy as np
import pdqhash
from PIL import Image

Image.MAX_IMAGE_PIXELS = None
LANCZOS = Image.Resampling.LANCZOS
JPEG_LIMIT = 4096
HASHES = ("ahash", "dhash", "dhash_v", "phash")


def stored_thumbnail(image):
    w, h = image.size
    scale = 128 / max(w, h)
    small = image.resize((max(1, round(w * scale)), max(1, round(h * scale))), LANCZOS)
    for quality in range(90, 4, -5):
        data = io.BytesIO()
        small.save(data, "JPEG", quality=quality)
        if data.tell() <= JPEG_LIMIT:
            break
    return Image.open(io.BytesIO(data.getvalue())).convert("RGB").resize((64, 64), LANCZOS)


def features_of(path):
    image = Image.open(path).convert("RGB")
    thumb = np.asarray(stored_thumbnail(image))
    hashes = [imagehash.average_hash(image), imagehash.dhash(image), imagehash.dhash_vertical(image),
              imagehash.phash(image)]
    small = image.resize([max(1, round(s * 512 / max(image.size))) for s in image.size], LANCZOS) \
        if max(image.size) > 512 else image
    pdq, quality = pdqhash.compute(np.asarray(small))
    return thumb, np.stack([h.hash.ravel() for h in hashes]), np.asarray(pdq, bool), quality


class Collection:
    """Files, what is known of them, and their features, in one order."""

    def __init__(self, folder, subset, jobs=2):
        folder = pathlib.Path(folder)
        truth = json.loads((folder / "truth.json").read_text())
        self.files = [f for f in truth if truth[f]["set"] == subset]
        self.truth = [truth[f] for f in self.files]
        self.base = np.array([t["base"] for t in self.truth])
        self.version = np.array([t["version"] for t in self.truth])
        self.photo = np.array([t["kind"] == "photo" for t in self.truth])
        self.same = np.array([t["same"] for t in self.truth])
        kept = folder / f"features_{subset}.npz"
        if not kept.exists():
            with multiprocessing.Pool(jobs) as pool:
                rows = pool.map(features_of, [folder / f for f in self.files], chunksize=8)
            np.savez_compressed(kept, thumb=np.stack([r[0] for r in rows]), hash=np.stack([r[1] for r in rows]),
                                pdq=np.stack([r[2] for r in rows]), quality=np.array([r[3] for r in rows]))
        data = np.load(kept)
        self.thumb = data["thumb"]
        self.hash = {name: data["hash"][:, k] for k, name in enumerate(HASHES)}
        self.pdq = data["pdq"]

    def __len__(self):
        return len(self.files)


# EXIF's eight orientations: mirrored left to right or not, then turned so many quarters anticlockwise.
ORIENTATIONS = {1: (False, 0), 2: (True, 0), 3: (False, 2), 4: (True, 2),
                5: (True, 1), 6: (False, 3), 7: (True, 3), 8: (False, 1)}


def oriented(thumbs, o):
    mirrored, quarters = ORIENTATIONS[o]
    out = thumbs[:, :, ::-1] if mirrored else thumbs
    return np.ascontiguousarray(np.rot90(out, quarters, axes=(1, 2)))


def distances(a, b=None):
    """All Hamming distances of two arrays of bit rows."""
    b = a if b is None else b
    fa, fb = a.astype(np.float32), b.astype(np.float32)
    return (fa.sum(1)[:, None] + fb.sum(1)[None, :] - 2 * fa @ fb.T).round().astype(np.int32)
