#!/usr/bin/env python3
"""Photographs of fundi that nobody took, whose field of view is known: make_fundus.py FOLDER [COUNT] [SEED]

Writes PNG files and truth.csv: name, centre and radius in pixels, and what was done to each: clipped at none to three
sides, dark, off-centre, noisy, vignetted. The first pixel's middle is (0, 0).
"""

import csv
import pathlib
import sys

import numpy as np
from PIL import Image


def smooth_noise(rng, height, width, cells):
    """Between 0 and 1, changing slowly."""
    small = rng.random((cells, max(cells * width // height, 2)))
    return np.asarray(Image.fromarray(small.astype(np.float32), "F").resize((width, height), Image.BICUBIC))


def fundus(rng):
    height = int(rng.choice([480, 600, 768, 1000]))
    sides = int(rng.choice([0, 1, 2, 3], p=[0.4, 0.2, 0.25, 0.15]))
    aspect = rng.choice([1.0, 1.25, 1.33, 1.5])
    radius = height * rng.uniform(0.42, 0.48)
    if sides == 1:
        radius = height * rng.uniform(0.45, 0.49)
    elif sides > 1:
        radius = height * rng.uniform(0.52, 0.66)
    # What is not to be clipped has room.
    room = 2.06 * radius if sides < 3 else 1.75 * radius
    width = int(max(height * aspect, room))
    x = width / 2 + rng.uniform(-0.02, 0.02) * max(width - room, 0)
    y = height / 2 + rng.uniform(-0.01, 0.01) * height
    if sides == 1:
        y = height / 2 + rng.choice([-1, 1]) * rng.uniform(0.05, 0.16) * height
    if sides == 3:
        x = radius * rng.uniform(0.72, 0.95)
        if rng.random() < 0.5:
            x = width - x
    yy, xx = np.mgrid[0:height, 0:width].astype(np.float32)
    distance = np.hypot(xx - x, yy - y)
    inside = np.clip((radius - distance) / rng.uniform(1, 4) + 0.5, 0, 1)
    dark = rng.random() < 0.25
    level = rng.uniform(0.12, 0.25) if dark else rng.uniform(0.45, 0.85)
    vignette = 1 - rng.uniform(0.1, 0.75) * np.clip(distance / radius, 0, 1) ** rng.uniform(2, 4)
    texture = 0.8 + 0.4 * smooth_noise(rng, height, width, int(rng.integers(4, 12)))
    light = level * vignette * texture
    # A disc, a macula and vessels.
    side = rng.choice([-1, 1])
    disc = np.exp(-((xx - x - side * 0.45 * radius) ** 2 + (yy - y) ** 2) / (2 * (0.09 * radius) ** 2))
    macula = np.exp(-((xx - x + side * 0.1 * radius) ** 2 + (yy - y) ** 2) / (2 * (0.12 * radius) ** 2))
    light = light * (1 + 0.5 * disc) * (1 - 0.35 * macula)
    for _ in range(int(rng.integers(6, 14))):
        angle, bend = rng.uniform(0, 2 * np.pi), rng.uniform(-1.2, 1.2)
        t = np.linspace(0, 1.6 * radius, 400)
        px = x + side * 0.45 * radius + t * np.cos(angle + bend * t / radius)
        py = y + t * np.sin(angle + bend * t / radius)
        ok = (px >= 0) & (px < width - 1) & (py >= 0) & (py < height - 1)
        vessel = np.zeros((height, width), np.uint8)
        vessel[py[ok].astype(int), px[ok].astype(int)] = 255
        wide = Image.fromarray(vessel).resize((width // 2, height // 2), Image.BOX).resize((width, height), Image.BICUBIC)
        light = light * (1 - 0.4 * np.clip(np.asarray(wide) / 90.0, 0, 1))
    black = rng.uniform(0, 0.03)
    noise = rng.uniform(0.002, 0.04)
    out = np.zeros((height, width, 3), np.float32)
    for c, share in enumerate((1.0, rng.uniform(0.4, 0.6), rng.uniform(0.15, 0.3))):
        out[..., c] = black + inside * light * share + rng.normal(0, noise * (0.3 + inside), (height, width)) * 0.5
    picture = Image.fromarray((np.clip(out, 0, 1) * 255).astype(np.uint8))
    return picture, x, y, radius, sides, dark, noise


def main():
    folder = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for k in range(count):
        picture, x, y, radius, sides, dark, noise = fundus(np.random.default_rng([seed, k]))
        name = f"{k:04}.png"
        picture.save(folder / name, compress_level=1)
        rows.append([name, *picture.size, f"{x:.4f}", f"{y:.4f}", f"{radius:.4f}", sides, int(dark), f"{noise:.4f}"])
    with open(folder / "truth.csv", "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["name", "width", "height", "x", "y", "radius", "sides", "dark", "noise"])
        table.writerows(rows)


if __name__ == "__main__":
    main()
