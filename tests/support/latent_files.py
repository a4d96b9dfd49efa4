"""Latents for tests, laid out as `latents` reads them, and what it writes, read back."""

import csv
import pathlib

import numpy as np
from program import content_of


def smooth(shape, seed=1):
    """Correlated in space, in time and between channels."""
    random = np.random.default_rng(seed)
    x = random.normal(size=shape)
    for axis in range(1, x.ndim):
        for _ in range(3):
            x = x + np.roll(x, 1, axis) + 0.5 * np.roll(x, -1, axis)
    x = np.tensordot(random.normal(size=(shape[0], shape[0])), x, 1)
    return x / x.std()


def path_of(folder, group="prompt_000", video="vid_000", step=0, ending=".npy"):
    path = pathlib.Path(folder) / "latents" / group / video / f"step_{step:03d}{ending}"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def put(folder, latent, group="prompt_000", video="vid_000", step=0):
    path = path_of(folder, group, video, step)
    np.save(path, latent)
    return path


def a_collection(folder, groups=2, videos=2, steps=5, frames=(3, 2), sides=(4, 12, 20), effect=0.0):
    """Noise; `frames` in turn by video; each group stronger than the one before by `effect`."""
    random = np.random.default_rng(3)
    for g in range(groups):
        for v in range(videos):
            for s in range(steps):
                shape = (sides[0], frames[v % len(frames)], *sides[1:])
                latent = random.normal(size=shape) * (1 + effect * g)
                put(folder, latent.astype(np.float16), f"prompt_{g:03d}", f"vid_{v:03d}", s)
    return folder


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def values(path, **which):
    return {row["metric"]: float(row["value"]) for row in table(path)
            if all(row[key] == str(value) for key, value in which.items())}


def results_of(folder):
    """All that has to be the same whenever it is made: performance.json is about one run."""
    return {name: content for name, content in content_of(folder).items() if name != "performance.json"}
