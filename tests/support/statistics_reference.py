"""Whether groups of videos differ, by SciPy and NumPy and by the definition: src/kernels/statistics/ has them in words.

Written to be read. It draws the same random numbers, so every number has to be the program's to about 1e-9. A table is
`values` [videos, columns] with NaN for what is absent, and `groups` [videos], numbers from 0.
"""

import itertools
import math

import numpy as np
from scipy import special, stats

PERMUTATION, BOOTSTRAP, SEPARABILITY = 1, 2, 3
MARGIN = 1e-12
CONSTANT = 1e-12
COMPONENTS = 50
MASK = np.uint64(0xFFFFFFFF)


def philox(counter, seed):
    """Philox4x32-10 of counters [..., 4] (Salmon et al., 2011)."""
    c = [np.asarray(counter[..., i], np.uint64) for i in range(4)]
    keys = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        low, high = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            high >> np.uint64(32) ^ c[1] ^ np.uint64(keys[0]),
            high & MASK,
            low >> np.uint64(32) ^ c[3] ^ np.uint64(keys[1]),
            low & MASK,
        ]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, -1)


def draws(seed, purpose, stream, replicates, count):
    """The first `count` words of each replicate: [len(replicates), count]."""
    blocks = -(-count // 4)
    counter = np.zeros((len(replicates), blocks, 4), np.uint64)
    counter[..., 0] = np.arange(blocks)
    counter[..., 1] = np.asarray(replicates, np.uint64)[:, None]
    counter[..., 2] = stream
    counter[..., 3] = purpose
    return philox(counter, seed).reshape(len(replicates), -1)[:, :count]


def below(n, words):
    return (words * np.uint64(n) >> np.uint64(32)).astype(np.int64)


def partial_shuffle(n, words):
    """[replicates, n]: places after as many exchanges as there are words a replicate."""
    places = np.tile(np.arange(n), (len(words), 1))
    each = np.arange(len(words))
    for i in range(words.shape[1]):
        j = i + below(n - i, words[:, i])
        places[each, i], places[each, j] = places[each, j], places[each, i]
    return places


def pairs(count):
    return list(itertools.combinations(range(count), 2))


def present(sample):
    sample = np.asarray(sample, np.float64)
    return sample[~np.isnan(sample)]


def reason(a, b):
    a, b = present(a), present(b)
    if len(a) == 0 or len(b) == 0:
        return "absent"
    if len(a) < 2 or len(b) < 2:
        return "too_few"
    # A deviation of a rounding is none.
    constant = [np.std(x - x[0], ddof=1) <= np.finfo(float).eps * abs(x[0] + (x - x[0]).mean()) for x in (a, b)]
    return "no_variance" if all(constant) else "none"


def compare(a, b):
    """Every number about two samples; p and what belongs to it only where there is no reason against it."""
    a, b = present(a), present(b)
    out = {"reason": reason(a, b)}
    for name, x in (("1", a), ("2", b)):
        out["n" + name] = len(x)
        if len(x) > 0:
            out["mean" + name] = x[0] + (x - x[0]).mean()
        if len(x) > 1:
            out["sd" + name] = (x - x[0]).std(ddof=1)
    if out["reason"] == "absent":
        return out
    out["u"] = float((a[:, None] > b).sum() + (a[:, None] == b).sum() / 2)
    if out["reason"] != "none":
        return out
    pilot = a[0]
    welch = stats.ttest_ind(a - pilot, b - pilot, equal_var=False)
    out["t"], out["df"], out["p"] = welch.statistic, welch.df, welch.pvalue
    out["ci"] = np.array(welch.confidence_interval(0.95))
    df = len(a) + len(b) - 2
    pooled = np.sqrt(((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / df)
    out["d"] = ((a - pilot).mean() - (b - pilot).mean()) / pooled
    out["g"] = out["d"] * np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / np.sqrt(df / 2)
    out["u_p"] = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True).pvalue
    return out


def holm(p):
    p = np.asarray(p, np.float64)
    out = np.full(p.shape, np.nan)
    order = [i for i in np.argsort(p, kind="stable") if not np.isnan(p[i])]
    most = 0.0
    for k, i in enumerate(order):
        most = max(most, p[i] * (len(order) - k))
        out[i] = min(most, 1.0)
    return out


def benjamini_hochberg(p):
    p = np.asarray(p, np.float64)
    out = np.full(p.shape, np.nan)
    order = [i for i in np.argsort(p, kind="stable") if not np.isnan(p[i])]
    least = 1.0
    for k, i in reversed(list(enumerate(order))):
        least = min(least, p[i] * len(order) / (k + 1))
        out[i] = least
    return out


def welch_squared(y, there, first):
    """t^2 of splits `first` [splits, videos] (1 where a video is on the first side) for columns y [videos, columns]."""
    n1, n2 = first @ there, (1 - first) @ there
    with np.errstate(all="ignore"):
        m1, m2 = first @ y / n1, (1 - first) @ y / n2
        s1 = np.maximum(first @ y**2 - n1 * m1**2, 0)
        s2 = np.maximum((1 - first) @ y**2 - n2 * m2**2, 0)
        t2 = (m1 - m2) ** 2 / (s1 / (n1 * (n1 - 1)) + s2 / (n2 * (n2 - 1)))
    t2[s1 + s2 <= CONSTANT * (y**2).sum(0)] = np.inf
    t2[(n1 < 2) | (n2 < 2)] = 0
    return t2


def deals(n1, n2, seed, pair, most):
    """(splits [deals, videos], whether they are all there are): 1 where a video is on the smaller side."""
    n, m = n1 + n2, min(n1, n2)
    alike = n1 == n2
    if math.comb(n - alike, m - alike) <= most:
        sides = [(0, *rest) for rest in itertools.combinations(range(1, n), m - 1)] if alike else itertools.combinations(range(n), m)
        places, every = np.array(list(sides)), True
    else:
        places, every = partial_shuffle(n, draws(seed, PERMUTATION, pair, range(most), m))[:, :m], False
    splits = np.zeros((len(places), n))
    np.put_along_axis(splits, places, 1, 1)
    return splits, every


def share(count, of, every):
    return count / of if every else (1 + count) / (1 + of)


def permute(values, groups, count, family, seed, most=10000):
    """(raw, familywise), each [pairs, columns]; NaN where there is none. `family` [pairs, columns]."""
    values, groups, family = np.asarray(values, np.float64), np.asarray(groups), np.asarray(family, bool)
    columns = values.shape[1]
    raw = np.full((len(pairs(count)), columns), np.nan)
    within = raw.copy()
    levels = {}
    for k, (a, b) in enumerate(pairs(count)):
        rows = np.concatenate([np.flatnonzero(groups == a), np.flatnonzero(groups == b)])
        in_first = groups[rows] == a
        usable = np.array([c for c in range(columns)
                           if reason(values[rows[in_first], c], values[rows[~in_first], c]) == "none"], int)
        if not len(usable):
            continue
        x = values[np.ix_(rows, usable)]
        there = ~np.isnan(x)
        y = np.where(there, x - np.nanmean(x, 0), 0)
        y /= np.abs(y).max(0)
        there = there.astype(np.float64)
        splits, every = deals(in_first.sum(), (~in_first).sum(), seed, k, most)
        t2 = welch_squared(y, there, splits)
        own = welch_squared(y, there, in_first[None].astype(np.float64))[0]
        own = np.maximum(np.sqrt(own) * (1 - MARGIN) - MARGIN, 0) ** 2
        raw[k, usable] = share((t2 >= own).sum(0), len(splits), every)
        chosen = family[k, usable]
        if chosen.any():
            greatest = t2[:, chosen].max(1)
            within[k, usable[chosen]] = share((greatest[:, None] >= own[chosen]).sum(0), len(splits), every)
            levels[k] = len(splits) if every else None
    familywise = within.copy()
    for k in levels:
        for c in np.flatnonzero(~np.isnan(within[k])):
            p = within[k, c]
            none = 1.0
            for other, ways in levels.items():
                if other != k:
                    none *= 1 - (p if ways is None else np.floor(p * ways * (1 + MARGIN)) / ways)
            familywise[k, c] = p + (1 - p) * (1 - none)
    return raw, familywise


def bootstrap(values, groups, count, seed, replicates=10000):
    """(means [groups, columns, 2], differences [pairs, columns, 2]): 2.5 % and 97.5 %."""
    values, groups = np.asarray(values, np.float64), np.asarray(groups)
    columns = values.shape[1]
    means = np.full((count, columns, 2), np.nan)
    differences = np.full((len(pairs(count)), columns, 2), np.nan)
    words = [draws(seed, BOOTSTRAP, g, range(replicates), max((groups == g).sum(), 1)) for g in range(count)]
    for c in range(columns):
        resampled, centre = [None] * count, [0.0] * count
        for g in range(count):
            x = present(values[groups == g, c])
            if len(x) < 2:
                continue
            centre[g] = x[0] + (x - x[0]).mean()
            resampled[g] = (x - centre[g])[below(len(x), words[g][:, : len(x)])].mean(1)
            means[g, c] = centre[g] + np.quantile(resampled[g], [0.025, 0.975])
        for k, (a, b) in enumerate(pairs(count)):
            if resampled[a] is not None and resampled[b] is not None:
                apart = resampled[a] - resampled[b]
                differences[k, c] = centre[a] - centre[b] + np.quantile(apart, [0.025, 0.975])
    return means, differences


def standardized(features):
    x = np.asarray(features, np.float64)
    constant = np.ptp(x, 0) == 0
    deviation = np.where(constant, 1, x.std(0, ddof=1))
    return np.where(constant, 0, (x - x.mean(0)) / deviation)


def coordinates(x):
    """Of centred features: ([samples, components], shares of the variance)."""
    n = len(x)
    gram = x @ x.T
    values, vectors = np.linalg.eigh(gram)
    k = min(COMPONENTS, n - 1)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    values = np.where(values > n * np.finfo(float).eps * values[0], values, 0) if k else values
    largest = vectors[np.abs(vectors).argmax(0), np.arange(k)]
    return vectors * np.where(largest < 0, -1, 1) * np.sqrt(values), values / np.trace(gram)


def ratio(distances, labels):
    upper = np.triu_indices(len(labels), 1)
    same = (labels[:, None] == labels)[upper]
    return distances[upper][~same].mean() / distances[upper][same].mean()


def silhouettes(distances, labels):
    out = np.zeros(len(labels))
    for i, own in enumerate(labels):
        size = (labels == own).sum()
        if size < 2:
            continue
        within = distances[i, labels == own].sum() / (size - 1)
        nearest = min(distances[i, labels == other].mean() for other in set(labels) - {own})
        if max(within, nearest) > 0:
            out[i] = (nearest - within) / max(within, nearest)
    return out


def space(centred, labels, seed, stream, shuffles=10000):
    """Of one variant's features, centred already."""
    labels = np.asarray(labels)
    at, explained = coordinates(centred)
    distances = np.sqrt(((at[:, None] - at) ** 2).sum(-1))
    out = {"coordinates": np.pad(at, ((0, 0), (0, 2)))[:, :2], "explained": explained}
    sizes = np.unique(labels, return_counts=True)[1]
    if len(sizes) < 2 or sizes.max() < 2:
        return out | {"reason": "too_few"}
    out["ratio"] = ratio(distances, labels)
    out["silhouettes"] = silhouettes(distances, labels)
    out["silhouette"] = out["silhouettes"].mean()
    n, reached = len(labels), 0
    for sample in partial_shuffle(n, draws(seed, SEPARABILITY, stream, range(shuffles), n - 1)):
        reached += ratio(distances[np.ix_(sample, sample)], labels) >= out["ratio"] * (1 - MARGIN)
    return out | {"reason": "none", "p": (1 + reached) / (1 + shuffles)}


def separability(features, labels, seed, stream, shuffles=10000):
    """(published, standardized)."""
    x = np.asarray(features, np.float64)
    return tuple(space(y, labels, seed, stream, shuffles) for y in (x - x.mean(0), standardized(x)))

