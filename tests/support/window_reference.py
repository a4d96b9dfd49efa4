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
