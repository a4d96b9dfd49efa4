#!/usr/bin/env python3
"""Every number of `millrace latents`, as a careful user of NumPy and SciPy computes it: float32, what is needed twice kept, products
by BLAS, histograms by bincount. One process; the bench starts two.

  latents_numpy.py FILE...   prints a line of JSON a file, and on stderr the seconds of CPU that they took
"""

import json
import resource
import sys

import numpy as np
import scipy.fft

BINS = 20


def entropy(parts):
    parts = np.asarray(parts, np.float64).ravel()
    parts = parts[parts > 0] / parts.sum()
    return float(-(parts * np.log(parts)).sum())


def correlations(products, a, b):
    scale = np.sqrt(a * b)
    return np.where(scale > 1e-8, products / np.where(scale > 1e-8, scale, 1), 0)


def dot(a, b):
    """Over height and width, by channel and frame."""
    return np.einsum("cfhw,cfhw->cf", a, b)


def bins(x, low, high):
    index = ((x - low) * (BINS / (high - low))).astype(np.int32)
    return np.minimum(index, BINS - 1, out=index)


class Rings:
    """Which bin of a half spectrum is at which radius, and how often it counts."""

    def __init__(self, height, width):
        self.radii = min(height // 2, width // 2) - 1
        y = np.minimum(np.arange(height), height - np.arange(height))[:, None]
        x = np.arange(width // 2 + 1)[None]
        near = np.rint(np.hypot(y, x)).astype(int)
        self.ring = np.where((near >= 1) & (near <= self.radii), near, 0).ravel()
        self.weight = np.broadcast_to(np.where((x == 0) | (2 * x == width), 1, 2), near.shape).ravel()
        self.members = np.bincount(self.ring, self.weight, self.radii + 1)[1:]

    def means(self, power):
        return np.bincount(self.ring, power.ravel() * self.weight, self.radii + 1)[1:] / self.members


def by_patch(plane, p):
    """Sums over patches, and over the places in them, of [planes, height, width]."""
    n, height, width = plane.shape
    rows, columns = height // p, width // p
    down = plane[:, : rows * p].reshape(n, rows, p, width)
    inside = down.sum(2)[..., : columns * p].reshape(n, rows, columns, p).sum(3)
    places = down.sum(1)[..., : columns * p].reshape(n, p, columns, p).sum(2)
    return inside, places


def measure(half):
    x = half.astype(np.float32)
    channels, frames, height, width = x.shape
    pixels, planes = height * width, channels * frames
    out = {}
    magnitude = np.array([np.abs(channel).sum() for channel in x], np.float64)
    share = magnitude / (magnitude.sum() + 1e-10)
    out["channel.dominance"], out["channel.dominance_entropy"] = share.max(), entropy(share)

    mean = x.mean((2, 3))
    y = x - mean[:, :, None, None]
    flat = y.reshape(channels, frames, pixels)
    products = np.matmul(flat.transpose(1, 0, 2), flat.transpose(1, 2, 0)).astype(np.float64)
    pairs = np.triu_indices(channels, 1)

    def pair_correlations(matrix):
        squares = np.diagonal(matrix, axis1=-2, axis2=-1)
        return correlations(matrix, squares[..., :, None], squares[..., None, :])[..., pairs[0], pairs[1]]

    squares = np.diagonal(products, axis1=1, axis2=2).T
    s = mean.astype(np.float64)
    off = s - s.mean(1, keepdims=True)
    whole = products.sum(0) + pixels * (off @ off.T)
    n = frames * pixels
    of_channel = s.mean(1)
    plain = whole + n * np.outer(of_channel, of_channel)
    out["channel.cross_interaction"] = pair_correlations(products).mean()
    out["channel.correlation"] = pair_correlations(whole).mean()
    out["channel.variance"] = np.trace(whole) / (n - 1)
    out["global.mean"] = of_channel.mean()
    out["global.energy"] = np.trace(plain) / (channels * n)
    out["global.variance"] = (np.trace(whole) + n * ((of_channel - of_channel.mean()) ** 2).sum()) / (channels * n - 1)
    for name, matrix in (("", plain), ("_centered", whole)):
        values = np.linalg.eigvalsh(matrix)[::-1]
        out["complexity.effective_dimension" + name] = int(np.argmax(np.cumsum(values) >= 0.95 * values.sum())) + 1

    variance = squares / (pixels - 1)
    out["spatial.variance"] = variance.mean()
    out["global.structural_entropy"] = entropy(np.histogram(variance, bins=10)[0])
    lag_x, lag_y = dot(y[..., 1:], y[..., :-1]), dot(y[..., 1:, :], y[..., :-1, :])
    wrap_x = (y[..., 0] * y[..., -1]).sum(-1)
    wrap_y = (y[..., 0, :] * y[..., -1, :]).sum(-1)
    cyclic = correlations(lag_x + wrap_x, squares, squares) + correlations(lag_y + wrap_y, squares, squares)
    out["spatial.autocorrelation"] = 0.5 * cyclic.mean()

    def without(edge):
        return -edge.sum(-1), squares - (edge * edge).sum(-1)

    def valid(product, first, last, count):
        (sum_a, a), (sum_b, b) = without(first), without(last)
        return correlations(product - sum_a * sum_b / count, a - sum_a**2 / count, b - sum_b**2 / count)

    out["spatial.autocorrelation_valid"] = 0.5 * (
        valid(lag_x, y[..., 0], y[..., -1], pixels - height).mean()
        + valid(lag_y, y[..., 0, :], y[..., -1, :], pixels - width).mean())

    steps = np.empty((frames, height, width), np.float32)
    across = down = motion = 0.0
    for channel in x:
        for a, b, which in ((channel[..., 1:], channel[..., :-1], 0), (channel[:, 1:], channel[:, :-1], 1),
                            (channel[1:], channel[:-1], 2)):
            room = steps.reshape(-1)[: a.size].reshape(a.shape)
            np.abs(np.subtract(a, b, out=room), out=room)
            total = float(room.sum())
            across, down, motion = across + total * (which == 0), down + total * (which == 1), motion + total * (which == 2)
    out["spatial.edge_density"] = 0.5 * (across / (planes * height * (width - 1)) + down / (planes * (height - 1) * width))
    out["temporal.motion"] = motion / (channels * (frames - 1) * pixels)
    neighbours = np.einsum("cfn,cfn->cf", flat[:, 1:], flat[:, :-1])
    out["temporal.frame_correlation"] = correlations(neighbours, squares[:, 1:], squares[:, :-1]).mean()
    total = 0.0
    for channel in x:
        over_time = channel.sum(0)
        total += float(np.vdot(channel, channel)) - float(np.vdot(over_time, over_time)) / frames
    out["temporal.variance"] = total / ((frames - 1) * pixels * channels)
    for name, series in (("", s), ("_centered", off)):
        out["temporal.autocorrelation" + name] = ((series * np.roll(series, 1, 1)).sum(1) / (series * series).sum(1)).mean()

    def mirrored(a, b):
        count = a.shape[2] * a.shape[3]
        sum_a, sum_b = a.sum((2, 3)), b.sum((2, 3))
        return correlations(dot(a, b) - sum_a * sum_b / count, dot(a, a) - sum_a**2 / count, dot(b, b) - sum_b**2 / count)

    w, h = width // 2, height // 2
    out["global.symmetry"] = 0.5 * (mirrored(y[..., :w], y[..., width - w :][..., ::-1])
                                    + mirrored(y[:, :, :h], y[:, :, height - h :][:, :, ::-1])).mean()
    out["global.symmetry_published"] = out["global.symmetry"]  # of even sides

    plane, square = y.reshape(planes, height, width), (y * y).reshape(planes, height, width)
    for p in (4, 8, 16):
        inside, places = by_patch(plane, p)
        inside_squares, places_squares = by_patch(square, p)
        count, of_patch = inside[0].size, p * p
        out[f"patch.{p}.variance"] = ((inside_squares - inside**2 / of_patch) / (of_patch - 1)).mean()
        out[f"patch.{p}.distinctiveness"] = ((places_squares - places**2 / count) / (count - 1)).mean()

    indices, published, density = [], [], 0.0
    for channel in x[:4]:
        low, high = channel.min(), channel.max()
        indices.append(bins(channel.ravel(), low, high))
        published.append(((channel.ravel() - low) * np.float32((BINS - 1) / (high - low))).astype(np.int32))
        frame = channel.reshape(frames, pixels)
        index = bins(frame, frame.min(1, keepdims=True), frame.max(1, keepdims=True))
        index += BINS * np.arange(frames, dtype=np.int32)[:, None]
        counts = np.bincount(index.ravel(), minlength=BINS * frames).reshape(frames, BINS)
        density += sum(entropy(row) for row in counts)
    out["information.density"] = density / (4 * frames)
    for name, found in (("", indices), ("_published", published)):
        bits = []
        for a in range(4):
            for b in range(a + 1, 4):
                joint = np.bincount(found[a] * BINS + found[b], minlength=BINS * BINS).reshape(BINS, BINS) / n
                apart = joint.sum(1, keepdims=True) @ joint.sum(0, keepdims=True)
                some = joint > 0
                bits.append((joint[some] * np.log2(joint[some] / apart[some])).sum())
        out["information.mutual" + name] = np.mean(bits)

    power = np.abs(scipy.fft.fft2(x.reshape(planes, -1).mean(0, dtype=np.float64).reshape(height, width))) ** 2
    power = power[power > 1e-20 * power.max()]
    out["complexity.spectral_flatness"] = np.exp(np.log(power).mean()) / power.mean()
    total = np.zeros((height, width // 2 + 1), np.float32)
    for channel in x:
        spectrum = scipy.fft.rfft2(channel, workers=1)
        parts = spectrum.view(np.float32).reshape(frames, height, width // 2 + 1, 2)
        total += np.einsum("fhwk,fhwk->hw", parts, parts)
    profile = Rings(height, width).means(total / planes)
    out["frequency.spatial_entropy"], out["frequency.spatial_peak"] = entropy(profile), int(np.argmax(profile)) + 1
    temporal = (np.abs(scipy.fft.fft(s, axis=1)) ** 2).mean(0)
    out["frequency.temporal_dominant"] = int(np.argmax(temporal[1 : frames // 2 + 1])) + 1
    return {name: float(value) for name, value in out.items()}


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps(measure(np.load(path))))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, file=sys.stderr)
