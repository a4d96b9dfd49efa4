"""Every number a latent, in float64 and by the definition: docs/latents.md has them in words.

Written to be read: no array is kept for a second use, nothing is fast. What a shape or a content does not allow is not in
the result.
"""

import numpy as np

# Sides of correlations whose deviations are lost in the rounding of float32 sums count as constant.
CONSTANT = 1e-5
# Means of frames that are this small beside the values, both squared, are rounding.
NO_MEANS = 1e-10


def deviations(x, pilot):
    """Centred values, or None where they are constant beside what their channel's values differ from its pilot by."""
    centred = x - x.mean()
    squares = (centred**2).sum()
    return None if squares <= CONSTANT * ((x - pilot) ** 2).sum() else centred


def r(a, b, pilot_a, pilot_b):
    a, b = deviations(a, pilot_a), deviations(b, pilot_b)
    if a is None or b is None:
        return 0.0, False
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())), True


def mean_r(pairs):
    """Of r over the pairs; None where no pair has one."""
    found = [r(*pair) for pair in pairs]
    return np.mean([value for value, _ in found]) if any(defined for _, defined in found) else None


def entropy(parts):
    parts = np.asarray(parts, np.float64).ravel()
    parts = parts[parts > 0] / parts.sum()
    return float(-(parts * np.log(parts)).sum())


def counts(x, edges):
    return np.histogram(x, bins=edges)[0]


def edges_of(x, bins):
    low, high = float(x.min()), float(x.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)


def mutual_bits(a, b, edges_a, edges_b):
    joint = np.histogram2d(a.ravel(), b.ravel(), bins=(edges_a, edges_b))[0]
    joint /= joint.sum()
    apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log2(joint[some] / apart[some])).sum())


def published_mutual_bits(a, b):
    """Twenty edges: nineteen bins, and one that holds the maximum alone."""

    def bin_of(x):
        return np.clip(np.digitize(x.ravel(), np.linspace(x.min(), x.max(), 20)) - 1, 0, 19)

    joint = np.bincount(bin_of(a) * 20 + bin_of(b), minlength=400).reshape(20, 20) / a.size
    apart = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log2(joint[some] / apart[some])).sum())


def patches(plane, p):
    rows, columns = plane.shape[0] // p, plane.shape[1] // p
    cut = plane[: rows * p, : columns * p]
    return cut.reshape(rows, p, columns, p).swapaxes(1, 2).reshape(rows * columns, p * p)


def patch_variances(latent):
    """What patch.* are means of: by the name of its histogram, the variance of each patch, or of each place in them."""
    x = np.asarray(latent, np.float64)
    out = {}
    for p in (4, 8, 16):
        if x.shape[2] < p or x.shape[3] < p:
            continue
        cut = np.array([patches(plane, p) for planes in x for plane in planes])
        out[f"patch.{p}.variance_histogram"] = cut.var(2, ddof=1)
        if cut.shape[1] > 1:
            out[f"patch.{p}.distinctiveness_histogram"] = cut.var(1, ddof=1)
    return out


def smallest_k(eigenvalues):
    share = np.cumsum(np.sort(eigenvalues)[::-1]) / eigenvalues.sum()
    return float(np.argmax(share >= 0.95) + 1)


def radial(power):
    """Means about the middle of a shifted spectrum, for k = 1 and on."""
    height, width = power.shape
    y, x = np.indices(power.shape)
    radius = np.hypot(y - height // 2, x - width // 2)
    return np.array([power[np.abs(radius - k) < 0.5].mean() for k in range(1, min(height // 2, width // 2))])


def lagged(s):
    return float((s * np.roll(s, 1)).sum()), float((s * s).sum())


def metrics(latent):
    """`latent`: [C, F, H, W] or [C, H, W], finite."""
    x = np.asarray(latent, np.float64)
    if x.ndim == 3:
        x = x[:, None]
    channels, frames, height, width = x.shape
    pixels = height * width
    planes = [(c, f) for c in range(channels) for f in range(frames)]
    pilot = x[:, 0].mean((1, 2))
    out = {}

    def put(name, value):
        if value is not None:
            out[name] = float(value)

    variance = x.var((2, 3), ddof=1) if pixels > 1 else None
    if pixels > 1:
        put("spatial.variance", variance.mean())
        put("spatial.autocorrelation", mean_r(
            [(x[c, f], np.roll(x[c, f], 1, axis), pilot[c], pilot[c]) for c, f in planes for axis in (0, 1)]))
        put("global.structural_entropy", entropy(counts(variance, edges_of(variance, 10))))
    if height > 1 and width > 1:
        put("spatial.autocorrelation_valid", mean_r(
            [(a, b, pilot[c], pilot[c]) for c, f in planes
             for a, b in ((x[c, f, 1:], x[c, f, :-1]), (x[c, f, :, 1:], x[c, f, :, :-1]))]))
        put("spatial.edge_density", 0.5 * (np.abs(np.diff(x, axis=3)).mean() + np.abs(np.diff(x, axis=2)).mean()))

    s = x.mean((2, 3))
    if frames > 1:
        put("temporal.frame_correlation", mean_r(
            [(x[c, f], x[c, f + 1], pilot[c], pilot[c]) for c in range(channels) for f in range(frames - 1)]))
        put("temporal.variance", x.var(1, ddof=1).mean())
        put("temporal.motion", np.abs(np.diff(x, axis=1)).mean())
        for name, series, from_where in (("", s, 0), ("_centered", s - s.mean(1, keepdims=True), pilot)):
            squares = ((x - np.reshape(from_where, (-1, 1, 1, 1))) ** 2).mean((2, 3)).sum(1)
            found = [one / zero for (one, zero), square in zip((lagged(one) for one in series), squares)
                     if zero > NO_MEANS * square]
            # Around the end of two or three frames it is the same whatever they hold.
            if found and (not name or frames > 3):
                put("temporal.autocorrelation" + name, np.mean(found))
        if found:
            temporal = (np.abs(np.fft.fft(s, axis=1)) ** 2).mean(0)
            put("frequency.temporal_dominant", 1 + np.argmax(temporal[1 : frames // 2 + 1]))

    if frames * pixels > 1:
        put("channel.variance", x.var((1, 2, 3), ddof=1).sum())
    pairs = [(a, b) for a in range(channels) for b in range(a + 1, channels)]
    if pairs:
        put("channel.correlation", mean_r([(x[a], x[b], pilot[a], pilot[b]) for a, b in pairs]))
        put("channel.cross_interaction", mean_r(
            [(x[a, f], x[b, f], pilot[a], pilot[b]) for f in range(frames) for a, b in pairs]))
    energy = np.abs(x).sum((1, 2, 3))
    if energy.sum() > 0:
        dominance = energy / energy.sum()
        if channels > 1:
            put("channel.dominance", dominance.max())
            put("channel.dominance_entropy", entropy(dominance))

    for p in (4, 8, 16):
        if height >= p and width >= p:
            cut = np.array([patches(x[c, f], p) for c, f in planes])
            put(f"patch.{p}.variance", cut.var(2, ddof=1).mean())
            if cut.shape[1] > 1:
                put(f"patch.{p}.distinctiveness", cut.var(1, ddof=1).mean())

    put("global.mean", x.mean())
    put("global.energy", (x * x).mean())
    if x.size > 1:
        put("global.variance", x.var(ddof=1))
    h, w = height // 2, width // 2
    if h > 0 and w > 0:
        published = [pair for c, f in planes for pair in (
            (x[c, f, :, :w], x[c, f, :, w : 2 * w][:, ::-1], pilot[c], pilot[c]),
            (x[c, f, :h], x[c, f, h : 2 * h][::-1], pilot[c], pilot[c]))]
        put("global.symmetry", mean_r(
            [pair for c, f in planes for pair in (
                (x[c, f, :, :w], x[c, f, :, width - w :][:, ::-1], pilot[c], pilot[c]),
                (x[c, f, :h], x[c, f, height - h :][::-1], pilot[c], pilot[c]))]))
        put("global.symmetry_published", mean_r(published))

    first = range(min(channels, 4))
    mutual = [(a, b) for a in first for b in first if a < b]
    if mutual:
        put("information.mutual", np.mean(
            [mutual_bits(x[a], x[b], edges_of(x[a], 20), edges_of(x[b], 20)) for a, b in mutual]))
        put("information.mutual_published", np.mean([published_mutual_bits(x[a], x[b]) for a, b in mutual]))
    put("information.density", np.mean(
        [entropy(counts(x[c, f], edges_of(x[c, f], 20))) for c in first for f in range(frames)]))

    flat = x.reshape(channels, -1)
    centred = flat - flat.mean(1, keepdims=True)
    if (flat**2).sum() > 0:
        put("complexity.effective_dimension", smallest_k(np.linalg.svd(flat, compute_uv=False) ** 2))
    if (centred**2).sum() > CONSTANT * ((flat - pilot[:, None]) ** 2).sum():
        put("complexity.effective_dimension_centered", smallest_k(np.linalg.svd(centred, compute_uv=False) ** 2))
    image = x.mean((0, 1))
    power = np.abs(np.fft.fft2(image)) ** 2
    some = power > 1e-20 * power.max()
    if some.sum() > some[0, 0]:
        put("complexity.spectral_flatness", np.exp(np.log(power[some]).mean()) / power[some].mean())
    profile = radial((np.abs(np.fft.fftshift(np.fft.fft2(x), axes=(2, 3))) ** 2).mean((0, 1)))
    if len(profile) > 0 and variance is not None and (variance > 0).any():
        put("frequency.spatial_entropy", entropy(profile))
        put("frequency.spatial_peak", 1 + np.argmax(profile))
    return out


def trajectory(latents):
    """Of a video's latents, in the order of their steps."""
    x = [np.asarray(latent, np.float64).ravel() for latent in latents]
    steps = [b - a for a, b in zip(x, x[1:])]
    if not steps:
        return {}
    lengths = [np.linalg.norm(step) for step in steps]
    path, ends = sum(lengths), np.linalg.norm(x[-1] - x[0])
    out = {"path": path, "velocity": path / len(steps)}
    if len(steps) > 1:
        out["acceleration"] = np.mean([np.linalg.norm(b - a) for a, b in zip(steps, steps[1:])])
    angles = [np.arccos(np.clip(a @ b / (la * lb), -1, 1))
              for a, b, la, lb in zip(steps, steps[1:], lengths, lengths[1:]) if la * lb > 0]
    if angles:
        out["turning_angle"] = np.mean(angles)
    if path > 0:
        out["linearity"] = ends / path
        out["half_life"] = 1 + next(t for t, behind in enumerate(np.cumsum(lengths)) if behind >= path / 2)
    if ends > 0:
        out["tortuosity"] = path / ends
    return {f"trajectory.{name}": float(value) for name, value in out.items()}
