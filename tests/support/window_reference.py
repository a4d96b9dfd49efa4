"""Sliding windows as MONAI 1.6 defines them, in NumPy and float64: all of an image at once."""

import numpy as np

PADS = {"reflect": "reflect", "constant": "constant", "replicate": "edge", "circular": "wrap"}


def starts(size, window, overlap):
    step = window if size == window else max(int(window * (1 - overlap)), 1)
    out = []
    for start in range(0, size, step):
        out.append(min(start, size - window))
        if start + window >= size:
            break
    return out


def importance(height, width, kind):
    if kind == "constant":
        return np.ones((height, width))
    axes = [np.exp(-((np.arange(n) - (n - 1) / 2) ** 2) / (2 * (n / 8) ** 2)) for n in (height, width)]
    out = axes[0][:, None] * axes[1][None, :]
    return np.maximum(out, max(out.min(), 1e-3))


def segment(image, network, window, overlap, kind="gaussian", pad="reflect"):
    """`image` is [C, H, W] as the network takes it, `network(window)` gives [K, h, w]."""
    height, width = window
    lack = [max(n - size, 0) for n, size in zip(window, image.shape[1:])]
    before = [n // 2 for n in lack]
    padded = np.pad(image, [(0, 0)] + [(b, n - b) for b, n in zip(before, lack)], mode=PADS[pad])
    weights = importance(height, width, kind)
    total, count = None, np.zeros(padded.shape[1:])
    for y in starts(padded.shape[1], height, overlap):
        for x in starts(padded.shape[2], width, overlap):
            got = network(padded[:, y : y + height, x : x + width])
            if total is None:
                total = np.zeros((got.shape[0], *count.shape))
            total[:, y : y + height, x : x + width] += weights * got
            count[y : y + height, x : x + width] += weights
    out = total / count
    return out[:, before[0] : before[0] + image.shape[1], before[1] : before[1] + image.shape[2]]


FLIPS = {"none": [()], "h": [(), (1,)], "w": [(), (2,)], "hw": [(), (1,), (2,), (1, 2)]}


def turned(network, flips, mean=lambda raw: raw):
    """`network` asked of each window and of it turned over: the mean of `mean` of what it gives, turned back."""
    def run(window):
        return np.mean([mean(np.flip(network(np.flip(window, axes)), axes)) for axes in FLIPS[flips]], axis=0)
    return run


def enlarged(values, step):
    """As PyTorch's interpolate with align_corners off, in float64."""
    for axis in (1, 2):
        n = values.shape[axis]
        at = np.maximum((np.arange(n * step) + 0.5) / step - 0.5, 0)
        first = at.astype(int)
        second = np.minimum(first + 1, n - 1)
        weight = (at - first).reshape([-1 if k == axis else 1 for k in range(3)])
        values = np.take(values, first, axis) * (1 - weight) + np.take(values, second, axis) * weight
    return values


def brought_back(planes, center, scale, height, width):
    """Of a square the pixels of the photograph that it is of, bilinear, 0 outside; and which lie in it."""
    side = planes.shape[1]
    taps = []
    for n, c in ((height, center[1]), (width, center[0])):
        at = (np.arange(n) - c) * scale + side / 2
        known = (at >= -0.5) & (at <= side - 0.5)
        at = np.clip(at, 0, side - 1)
        first = at.astype(int)
        taps.append((known, first, np.minimum(first + 1, side - 1), at - first))
    (in_y, y0, y1, dy), (in_x, x0, x1, dx) = taps
    rows = planes[:, y0] * (1 - dy)[None, :, None] + planes[:, y1] * dy[None, :, None]
    out = rows[:, :, x0] * (1 - dx) + rows[:, :, x1] * dx
    inside = in_y[:, None] & in_x[None, :]
    return out * inside, inside
