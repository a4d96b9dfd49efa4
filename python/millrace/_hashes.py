"""Hashes of images in memory, and codes that lie close together."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from millrace import _core
from millrace._arrays import contiguous, image_array, is_one_image
from millrace._errors import Error, UsageError, in_keywords, named
from millrace._options import names, text, thread_count, truth, whole

if TYPE_CHECKING:
    import numpy

#: Of a row of join() and search().
PAIR = [("i", "<u4"), ("j", "<u4"), ("distance", "u1")]


@contextlib.contextmanager
def _said_of_codes():
    try:
        yield
    except Error as error:
        raise in_keywords(error, [("memory", "memory"), ("radius", "radius")]) from None


@functools.lru_cache(maxsize=16)
def _hasher(kinds, size, threads):
    return _core.Hasher(list(kinds), size, threads)


@overload
def hash(images: Any, kinds: str = "dhash", *, size: int = 8, threads: int = 0) -> numpy.ndarray: ...
@overload
def hash(images: Any, kinds: Iterable[str], *, size: int = 8, threads: int = 0) -> dict[str, numpy.ndarray]: ...
@named
def hash(images: Any, kinds: str | Iterable[str] = "dhash", *, size: int = 8, threads: int = 0) -> numpy.ndarray | dict[str, numpy.ndarray]:
    """Perceptual hashes of decoded images.

    `images` is one image or several: uint8 `[height, width]`, gray, or `[height, width, 3]`, RGB; NumPy arrays, tensors of
    torch on the CPU, pictures of Pillow, or whatever has DLPack or the buffer protocol, read where it lies. An array
    `[images, height, width, 3]` is several. `kinds` is ahash, dhash, dhash_vertical, phash, whash, colorhash or pdq, or a
    list of these; `size` makes `size * size` bits (colorhash has 42, pdq 256).

    Returns codes as uint8, `[bytes]` of one image and `[images, bytes]` of several, the first bit highest; of a list of
    kinds a dict of them. They are the program's, which are imagehash's and pdqhash's bit for bit.

    >>> import numpy as np
    >>> ramp = np.tile(np.arange(0, 256, 4, dtype=np.uint8), (64, 1))
    >>> millrace.hex_of(millrace.hash(ramp))
    'ffffffffffffffff'
    >>> millrace.hash([ramp, ramp[:, ::-1]], ["dhash", "phash"])["dhash"].shape
    (2, 8)
    """
    one = is_one_image(images)
    listed = [image_array(images)] if one else [image_array(image, f"image {number}") for number, image in enumerate(images)]
    listed_kinds = names(kinds, "kinds")
    codes = _hasher(tuple(listed_kinds), whole(size, "size", 2, 64), thread_count(threads)).hash(listed)
    if one:
        codes = [code[0] for code in codes]
    return codes[0] if isinstance(kinds, str) else dict(zip(listed_kinds, codes))


@named
def hex_of(codes: numpy.ndarray, bits: int | None = None) -> str | list[str]:
    """A code as imagehash and the program print it, or a list of several; `bits` where they are no multiple of 8.

    >>> import numpy as np
    >>> millrace.hex_of(np.array([0, 255], dtype=np.uint8))
    '00ff'
    """
    if getattr(codes, "dtype", None) == "uint64":
        codes = codes.astype(">u8").view("u1").reshape(*codes.shape, 8)
    if getattr(codes, "dtype", None) != "uint8" or codes.ndim not in (1, 2):
        raise UsageError("usage", f"codes are uint8 [bytes] or [n, bytes], or uint64 [n], of NumPy, not {getattr(codes, 'dtype', type(codes).__name__)} {list(getattr(codes, 'shape', []))}", "codes", "")
    if bits is not None:
        bits = whole(bits, "bits", 1, 8 * codes.shape[-1])
    if codes.ndim > 1:
        return [hex_of(code, bits) for code in codes]
    digits = codes.tobytes().hex()
    return digits if bits is None else digits[len(digits) - (bits + 3) // 4 :]


@named
def join(codes: Any, radius: int, *, algorithm: str = "auto", threads: int = 0, memory: int = 0) -> numpy.ndarray:
    """Every pair of codes that differ in at most `radius` bits.

    `codes` is uint64 `[n]`, or uint8 `[n, 8]` or `[n, 32]`, read where it lies unless there are gaps in it. Returns rows (i, j, distance), i < j, sorted:
    those that `millrace join` writes. `algorithm` auto, brute or index finds the same sooner or later; `memory` in bytes
    is the most to work in, beside the codes and the result (0: 60 % of what is available).

    >>> import numpy as np
    >>> millrace.join(np.array([0, 1, 255, 3], dtype=np.uint64), 1)["j"]
    array([1, 3], dtype=uint32)
    """
    with _said_of_codes():
        return _core.join(contiguous(codes, "codes"), whole(radius, "radius"), text(algorithm, "algorithm"), thread_count(threads),
                      whole(memory, "memory", 0, 2**63 - 1)).view(PAIR)[:, 0]


@named
def search(queries: Any, base: Any, radius: int, *, algorithm: str = "auto", threads: int = 0, memory: int = 0) -> numpy.ndarray:
    """Every pair of a query and a code of `base` that differ in at most `radius` bits, as join() has them: i is the query's
    row, j that of `base`.

    >>> import numpy as np
    >>> base = np.array([0, 1, 255, 3], dtype=np.uint64)
    >>> millrace.search(np.array([254], dtype=np.uint64), base, 1).tolist()
    [(0, 2, 1)]
    """
    with _said_of_codes():
        return _core.search(contiguous(queries, "queries"), contiguous(base, "base"), whole(radius, "radius"), text(algorithm, "algorithm"), thread_count(threads),
                      whole(memory, "memory", 0, 2**63 - 1)).view(PAIR)[:, 0]


class Comparison(NamedTuple):
    """What same_picture() says; true exactly where it is the same."""

    kind: str  #: same, recoloured (one design in other colours) or different
    score: float  #: how sure, from 0 to 1; at least 0.5 exactly where `kind` is same
    turned: int  #: how the second lies to the first, as an EXIF orientation; 1 is upright

    def __bool__(self):
        return self.kind == "same"


@named
def same_picture(a: Any, b: Any, *, orientations: bool = False) -> Comparison:
    """Whether two images show the same photograph: rescaled, recompressed, in another tone, a little cropped; with
    `orientations` also turned or mirrored. What `millrace dedupe` says of the two by their pixels; it looks closer where
    it suggests which to delete.

    >>> import numpy as np
    >>> y, x = np.mgrid[0:96, 0:128]
    >>> picture = (128 + 60 * np.sin(x / 9) * np.cos(y / 13) + 0.4 * y).astype(np.uint8)
    >>> bool(millrace.same_picture(picture, picture[::2, ::2]))
    True
    >>> millrace.same_picture(picture, (128 + 120 * np.sin(x * y / 700)).astype(np.uint8)).kind
    'different'
    """
    return Comparison(*_core.same_picture(image_array(a, "a"), image_array(b, "b"), truth(orientations, "orientations")))
