"""Scenes that no camera has seen but that behave like those it sees: grounds, landscapes, still lifes.

Enters: seeds, and what differs between two shots: where the camera stands, where the light stands, where the clouds
have gone, which thing was moved. Leaves: arrays of float32 in linear light, white at 1, or pixels 0..255
(`developed`, `ground`). Never reads a file.
"""

import functools
import random

import cv2
import numpy as np

from lookalikes_tools import INK, Sheet, as_pixels, fbm
from lookalikes_words import colour, phrase


def linear(pixels):
    """From 0..255 as stored to light. A plain power: what matters is that it is undone by `developed`."""
    return np.clip(np.asarray(pixels, np.float32) / 255, 0, 1) ** np.float32(2.2)


def developed(light, exposure=1.0):
    return np.clip(light * exposure, 0, 1) ** np.float32(1 / 2.2) * 255


def smoothstep(low, high, values):
    t = np.clip((values - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def lerp(a, b, t):
    a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
    return a + (b - a) * (t[..., None] if t.ndim and (a.ndim == 1 or b.ndim == 1 or a.ndim == t.ndim + 1) else t)


@functools.lru_cache(maxsize=6)
def ground(kind, width, height, seed):
    """A flat material seen from above, 0..255: what lies under a sheet, a card or a product. Kept for the next
    picture of the design: not to be written into."""
    rng = np.random.default_rng([seed, 1])
    fine = rng.standard_normal((height, width), dtype=np.float32)
    if kind == "wood":
        base, dark = [(186, 142, 96), (121, 80, 51), (206, 178, 140), (150, 104, 70)][seed % 4], 0.62
        rings = fbm(height, width, 3, 7, rng, 0.6, 0.18) * 0.8 + fbm(height, width, 60, 3, rng, 0.7, 0.06) * 0.7
        boards = np.arange(height) * 5 // height
        shift = rng.uniform(-0.12, 0.12, 5)[boards][:, None]
        seams = np.exp(-(((np.arange(height) * 5 / height) % 1 - 0.02) / 0.008) ** 2)[:, None]
        tone = np.clip(0.5 + 0.22 * rings + shift, 0, 1.2)
        out = np.float32(base) * (dark + (1.06 - dark) * tone)[..., None] * (1 - 0.5 * seams)[..., None]
    elif kind == "carpet":
        base = [(150, 132, 118), (96, 92, 98), (118, 74, 66), (70, 84, 104)][seed % 4]
        tufts = cv2.GaussianBlur(fine, (0, 0), 1.1) * 2.6 + fbm(height, width, 9, 3, rng) * 0.35
        out = np.float32(base) * (1 + 0.16 * tufts)[..., None]
    elif kind == "felt":
        base = [(28, 104, 62), (32, 66, 120), (126, 30, 44)][seed % 3]
        out = np.float32(base) * (1 + 0.05 * fine + 0.05 * fbm(height, width, 4, 4, rng))[..., None]
    elif kind == "marble":
        veins = np.abs(fbm(height, width, 3, 7, rng, 0.62))
        out = np.float32([232, 229, 224]) - (30 * np.exp(-veins * 9) + 4 * veins)[...,
                                                                                  None] * np.float32([1, 0.95, 0.85])
    elif kind == "stone":
        base = [(128, 126, 122), (158, 148, 134)][seed % 2]
        out = np.float32(base) * (1 + 0.05 * fbm(height, width, 40, 5, rng, 0.9) + 0.03 * fbm(height, width, 3, 3,
                                                                                              rng))[..., None]
    else:  # a painted wall
        base = [(226, 222, 212), (196, 206, 210), (214, 200, 186), (168, 178, 170)][seed % 4]
        out = np.float32(base) * (1 + 0.012 * cv2.GaussianBlur(fine, (0, 0), 1.5) * 3 + 0.01 * fbm(height, width, 2, 3,
                                                                                                   rng))[..., None]
    return np.clip(out, 0, 255)


def ridge(width, rng, rough, octaves=7):
    """The skyline of a mountain: noise in one dimension, about 0."""
    line, strength = np.zeros(width, np.float32), 1.0
    for octave in range(octaves):
        points = rng.standard_normal(3 * 2**octave + 2)
        line += strength * np.interp(np.arange(width), np.linspace(0, width - 1, len(points)), points)
        strength *= rough
    return line


class Landscape:
    """Mountains, a wood and a lake or a meadow under clouds. What stands still is made once."""

    LANDS = [  # far to near: bare mountains, hills, slopes, trees; then the meadow
        [(0.30, 0.30, 0.34), (0.20, 0.24, 0.22), (0.10, 0.17, 0.08), (0.030, 0.055, 0.022), (0.10, 0.16, 0.04)],
        [(0.32, 0.27, 0.25), (0.30, 0.20, 0.10), (0.34, 0.16, 0.05), (0.16, 0.07, 0.02), (0.26, 0.19, 0.06)],
        [(0.42, 0.44, 0.48), (0.50, 0.53, 0.58), (0.40, 0.43, 0.47), (0.05, 0.07, 0.08), (0.66, 0.68, 0.72)],
        [(0.36, 0.22, 0.16), (0.45, 0.24, 0.13), (0.52, 0.31, 0.16), (0.12, 0.10, 0.05), (0.48, 0.34, 0.19)],
    ]

    def __init__(self, seed, width=1200, height=800):
        rng = np.random.default_rng([seed, 2])
        self.seed, self.width, self.height = seed, width, height
        self.sun = rng.choice([rng.uniform(0.02, 0.25), rng.uniform(0.5, 1.0), rng.uniform(0.7, 1.0)])
        self.horizon = height * rng.uniform(0.40, 0.66)
        self.amount = rng.uniform(-0.4, 0.7)
        self.clouds = [fbm(min(height, round(self.horizon * 1.2)), width * 2, rng.integers(4, 8), 7, rng, 0.55, 0.7)
                       for _ in range(2)]
        self.tones = self.LANDS[seed % 4]
        self.layers = []
        y = np.arange(height, dtype=np.float32)[:, None]
        for layer in range(4):
            near = layer / 3
            skyline = self.horizon + height * (0.13 * near - 0.05) - ridge(width, rng, 0.5 + 0.08
                                                                           * near) * height * (0.07 - 0.035 * near)
            if layer == 3:  # the tops of trees
                skyline -= np.abs(ridge(width, rng, 0.85, 9)) * height * 0.012
            top = int(max(0, skyline.min() - 2))
            texture = fbm(height, width, 14 + 10 * layer, 6, rng, 0.65)[top:]
            slope = np.gradient(cv2.GaussianBlur(skyline[None, :].astype(np.float32), (0, 0), 6)[0])[None, :]
            shade = np.clip(1 + 0.30 * texture + 0.5 * np.clip(slope, -0.8, 0.8), 0.15, 2)
            land = np.float32(self.tones[layer]) * shade[..., None]
            if layer == 0:  # snow on what is high
                snow = smoothstep(0.0, 0.5, texture * 0.4
                                  + (skyline[None, :] + height * 0.05 - y[top:]) / (height * 0.05) + 0.4)
                land = lerp(land, np.float32([0.68, 0.70, 0.74]) * shade[..., None], snow)
            self.layers.append((top, near, land.astype(np.float32),
                                smoothstep(-1, 1, y[top:] - skyline[None, :]).astype(np.float32)))
        self.shore = round(min(height * 0.88, self.horizon + height * rng.uniform(0.17, 0.24)))
        rows = height - self.shore
        grass = fbm(rows, width, 70, 4, rng, 0.8, 2.0) + 0.7 * fbm(rows, width, 5, 3, rng)
        self.meadow = np.float32(self.tones[4]) * np.clip(1 + (0.1 if seed % 4 == 2 else 0.35) * grass, 0.1, 3)[...,
                                                                                                                None]

    def render(self, time=0.0, sun=None):
        """Linear light. `time` moves clouds, their shadows and the waves; `sun` 0..1 is from dusk to noon."""
        width, height, shore = self.width, self.height, self.shore
        sun = np.float32(self.sun if sun is None else sun)
        zenith, low = lerp([0.16, 0.17, 0.34], [0.13, 0.30, 0.66], sun), lerp([0.95, 0.50, 0.22], [0.62, 0.76, 0.88],
                                                                              sun)
        rows = self.clouds[0].shape[0]
        y = np.arange(rows, dtype=np.float32)[:, None]
        out = np.zeros((height, width, 3), np.float32)
        out[:rows] = lerp(zenith, low, np.clip(y / self.horizon, 0, 1) ** 1.3 + np.zeros((1, width), np.float32))
        # Clouds drift and slowly become others: two fields that are blended as time goes on.
        start = int((time * width * 0.5) % width)
        turn = 0.5 + 0.5 * np.sin(time * 0.9)
        one, other = (c[:, start:start + width] for c in self.clouds)
        cloud = (one * np.float32(1 - turn) + other
                 * np.float32(turn)) / np.float32(np.hypot(turn, 1 - turn)) - np.float32(self.amount)
        cover = smoothstep(0, 0.9, cloud) * 0.93
        lit = lerp([0.50, 0.50, 0.55], [1.0, 0.97, 0.92], smoothstep(0, 1.5, cloud)) * lerp([0.95, 0.62, 0.45],
                                                                                            [1, 1, 1], sun)
        out[:rows] = lerp(out[:rows], lit, cover)
        shadow = cv2.GaussianBlur(cv2.resize(cover, (width // 4, height // 4)), (0, 0), width / 240)
        light = (0.30 + 0.80 * sun) * (1 - 0.45 * cv2.resize(shadow, (width, height)))
        haze = lerp(low, [0.6, 0.66, 0.74], np.float32(0.5)) * (0.4 + 0.6 * sun)
        for top, near, land, mask in self.layers:
            seen = land * (light[top:] * (0.35 + 0.65 * near))[..., None] + haze * (0.65 * (1 - near))
            out[top:] = lerp(out[top:], seen, mask)
        if self.seed % 3 == 2:
            out[shore:] = self.meadow * light[shore:, :, None]
            return np.clip(out, 0, 1.5)
        # The lake mirrors what is above, broken by waves that are longer the nearer they are.
        below = np.arange(height - shore, dtype=np.float32)[:, None]
        waves = fbm(height - shore, width, 12, 6, np.random.default_rng([self.seed, 3, int(time * 1000)]), 0.7, 0.15)
        source_y = np.clip(shore - 1 - below * 1.6 + waves * (1 + 7 * below / (height - shore)), 0, shore - 1)
        source_x = np.clip(np.arange(width, dtype=np.float32)[None, :] + waves * 2, 0, width - 1)
        mirror = cv2.remap(out, source_x.astype(np.float32), source_y.astype(np.float32), cv2.INTER_LINEAR)
        out[shore:] = mirror * 0.62 + np.float32([0.02, 0.04, 0.05]) * (1 + 0.3 * waves)[..., None]
        return np.clip(out, 0, 1.5)


def label_picture(rng, words=None, accent=None):
    """A tin's label or a book's cover, 0..255."""
    tone = colour(rng, 50, 220)
    sheet = Sheet(100, 60, 6, tone)
    accent = accent or colour(rng, 20, 235)
    sheet.box(0, 8, 100, 13, accent)
    sheet.box(0, 50, 100, 52, accent)
    text = words or phrase(rng, 1)
    for x in (25, 75):
        sheet.disc(x, 31, 15, (245, 240, 228), accent, 1)
        sheet.text(x, 31, text, 6.5, "serif-bold", INK, "mm")
        sheet.text(x, 39, phrase(rng, 1), 3.4, "sans", INK, "mm")
    return as_pixels(sheet.done())


class StillLife:
    """A table before a wall, and five to eight things on it: balls, tins and boxes. Metres; x to the right, y up, z
    away from the camera. Things can be moved, and camera and light stand where they are told to."""

    def __init__(self, seed, pictures=()):
        self.seed = seed
        rng = random.Random(f"still life {seed}")
        self.table = linear(ground(["wood", "marble", "wood", "stone", "carpet"][seed % 5], 900, 900, seed))
        self.wall = linear(ground("wall", 1040, 520, seed))
        for picture in pictures:  # hung side by side
            tall = rng.uniform(0.20, 0.32)
            wide = tall * picture.shape[1] / picture.shape[0]
            x, y, w, h = rng.uniform(0.30, 0.60) * 1040, rng.uniform(0.24,
                                                                     0.36) * 520, round(wide * 520), round(tall * 520)
            x, y = round(min(x, 1030 - w)), round(y)
            self.wall[y - 7:y + h + 7, x - 7:x + w + 7] = linear(colour(rng, 20, 90))
            self.wall[y:y + h, x:x + w] = linear(cv2.resize(picture, (w, h), interpolation=cv2.INTER_AREA)) * 0.9
        self.light = (rng.choice([-1, 1]) * rng.uniform(1.2, 2.4), rng.uniform(2.4, 3.4), rng.uniform(-2.4, -1.2))
        self.warm = (1.0, rng.uniform(0.88, 1.0), rng.uniform(0.72, 0.98))
        self.things = []
        for _ in range(200):
            size = rng.uniform(0.1, 0.24)
            x, z = rng.uniform(-1.0, 1.0), rng.uniform(-0.55, 0.75)
            if all((x - t["x"]) ** 2 + (z - t["z"]) ** 2 > (size + t["r"] + 0.02) ** 2 for t in self.things):
                kind = rng.choice(["ball", "tin", "tin", "box"])
                texture = label_picture(rng) if kind != "ball" else np.float32([[colour(rng, 60, 235)]])
                self.things.append({"kind": kind, "x": x, "z": z, "r": size, "h": size * rng.uniform(1.2, 3.0)
                                    if kind != "ball" else 2 * size,
                                    "turn": rng.uniform(0, 6.28), "texture": linear(texture),
                                    "gloss": rng.uniform(0.05, 0.5)})
            if len(self.things) >= 5 + seed % 4:
                break

    def render(self, width=1024, height=683, camera=(0.0, 0.0), light=None, moved=None, over=1.2):
        """Linear light. `camera` is by how much it stands to the right and higher; `moved` {thing: (x, z)} are steps in
        metres, or None for a thing that was taken away."""
        w, h = round(width * over), round(height * over)
        things = []
        for number, t in enumerate(self.things):
            step = (moved or {}).get(number, (0, 0))
            if step is not None:
                things.append(dict(t, x=t["x"] + step[0], z=t["z"] + step[1]))
        eye = np.float32([camera[0], 1.25 + camera[1], -3.1])
        ahead = np.float32([0, 0.32, 0.1]) - np.float32([0, 1.25, -3.1])  # the camera moves but does not turn
        ahead /= np.linalg.norm(ahead)
        right = np.cross([0, 1, 0], ahead).astype(np.float32)
        right /= np.linalg.norm(right)
        up = np.cross(ahead, right)
        u = (np.arange(w, dtype=np.float32) - w / 2)[None, :] / w * 0.92
        v = -(np.arange(h, dtype=np.float32) - h / 2)[:, None] / w * 0.92
        ray = [(ahead[i] + u * right[i] + v * up[i]).ravel() for i in range(3)]
        long = np.sqrt(ray[0] ** 2 + ray[1] ** 2 + ray[2] ** 2)
        ray = [r / long for r in ray]
        lamp = np.float32(light or self.light)

        # The nearest of wall, table and things.
        t_wall = (1.5 - eye[2]) / ray[2]
        with np.errstate(divide="ignore"):
            t_table = np.where(ray[1] < -1e-4, -eye[1] / ray[1], np.inf)
        near = np.minimum(t_wall, t_table)
        on = np.where(t_table < t_wall, -1, -2)
        for number, thing in enumerate(things):
            # Only the rays about it are asked.
            mid = np.float32([thing["x"], thing["h"] / 2, thing["z"]]) - eye
            reach = np.hypot(thing["r"] * 1.42, thing["h"] / 2) + 0.01
            away = mid @ ahead
            px, py = (mid @ right) / away / 0.92 * w + w / 2, -(mid @ up) / away / 0.92 * w + h / 2
            span = reach / (away - reach) / 0.92 * w
            x0, x1, y0, y1 = (int(np.clip(a, 0, b)) for a, b in ((px - span, w), (px + span + 1, w), (py - span, h),
                                                                 (py + span + 1, h)))
            if x0 >= x1 or y0 >= y1:
                continue
            some = (np.arange(y0, y1)[:, None] * w + np.arange(x0, x1)[None, :]).ravel()
            t = hit(thing, [np.full(len(some), e, np.float32) for e in eye], [r[some] for r in ray])
            closer = t < near[some]
            near[some[closer]], on[some[closer]] = t[closer], number
        point = [eye[i] + near * ray[i] for i in range(3)]

        albedo = np.empty((w * h, 3), np.float32)
        normal = [np.zeros(w * h, np.float32) for _ in range(3)]
        gloss = np.full(w * h, 0.04, np.float32)
        for index, picture in ((-1, self.table), (-2, self.wall)):
            chosen = np.flatnonzero(on == index)
            a, b = (point[0], point[2]) if index == -1 else (point[0], 1.9 - point[1])
            scale = 2.8 if index == -1 else 5.2
            albedo[chosen] = lookup(picture, a[chosen] / scale + 0.5, b[chosen] / (scale if index == -1 else 2.6))
            normal[1 if index == -1 else 2][chosen] = 1 if index == -1 else -1
        for number, thing in enumerate(things):
            chosen = np.flatnonzero(on == number)
            if len(chosen):
                surface(thing, [p[chosen] for p in point], chosen, albedo, normal)
                gloss[chosen] = thing["gloss"]

        toward = [lamp[i] - point[i] for i in range(3)]
        away = np.sqrt(toward[0] ** 2 + toward[1] ** 2 + toward[2] ** 2)
        toward = [d / away for d in toward]
        # A lamp as wide as a window: each pixel sees another spot of it, and a blur makes half shadows of that.
        rng = np.random.default_rng([self.seed, 4])
        spread = [d + 0.07 * rng.standard_normal(w * h, dtype=np.float32) for d in toward]
        start = [point[i] + normal[i] * 0.004 for i in range(3)]
        dark = np.zeros(w * h, bool)
        touch = np.ones(w * h, np.float32)
        for thing in things:
            # Only what can lie in its shadow is asked: near the line from it, away from the lamp.
            maybe = np.flatnonzero(~dark & in_reach(thing, start, lamp))
            if len(maybe):
                dark[maybe] = np.isfinite(hit(thing, [s[maybe] for s in start], [s[maybe] for s in spread]))
            gap = np.hypot(point[0] - thing["x"], point[2] - thing["z"]) - thing["r"]
            low = on == -1
            touch[low] *= 1 - 0.5 * np.exp(-np.clip(gap[low], 0, 9) / 0.07)
        lit = cv2.GaussianBlur(1 - dark.reshape(h, w).astype(np.float32), (0, 0), w / 500).ravel()
        lambert = np.clip(sum(n * d for n, d in zip(normal, toward)), 0, 1) * lit * (9.0 / away**2)
        halfway = [d - r for d, r in zip(toward, ray)]
        size = np.sqrt(sum(c * c for c in halfway)) + 1e-6
        shine = np.clip(sum(n * c for n, c in zip(normal, halfway)) / size, 0, 1) ** 40 * lit * gloss
        out = albedo * (lambert * 0.95 + 0.16 * touch)[:, None] * np.float32(self.warm) + shine[:, None]
        return cv2.resize(out.reshape(h, w, 3), (width, height), interpolation=cv2.INTER_AREA)


def in_reach(thing, start, lamp):
    """Whether a point lies so that the thing may hide the lamp: its ball of reach near the line between them."""
    mid = np.float32([thing["x"], thing["h"] / 2, thing["z"]])
    reach = np.hypot(thing["r"] * 1.42, thing["h"] / 2) * 1.5 + 0.05
    to = [lamp[i] - start[i] for i in range(3)]
    out = [mid[i] - start[i] for i in range(3)]
    whole = sum(a * a for a in to)
    t = np.clip(sum(a * b for a, b in zip(to, out)) / whole, 0, 1)
    return sum((b - t * a) ** 2 for a, b in zip(to, out)) < reach**2


def lookup(picture, u, v):
    h, w = picture.shape[:2]
    return picture[(v % 1 * h).astype(np.int32) % h, (u % 1 * w).astype(np.int32) % w]


def hit(thing, start, ray):
    """How far along each ray the thing is met first; infinite where it is not."""
    sx, sy, sz = start[0] - thing["x"], start[1], start[2] - thing["z"]
    rx, ry, rz = ray
    far = np.float32(np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        if thing["kind"] == "ball":
            sy = sy - thing["r"]
            a, b = rx * rx + ry * ry + rz * rz, sx * rx + sy * ry + sz * rz
            root = b * b - a * (sx * sx + sy * sy + sz * sz - thing["r"] ** 2)
            t = (-b - np.sqrt(root)) / a
            return np.where((root > 0) & (t > 1e-3), t, far)
        if thing["kind"] == "tin":
            a, b = rx * rx + rz * rz, sx * rx + sz * rz
            root = b * b - a * (sx * sx + sz * sz - thing["r"] ** 2)
            t = (-b - np.sqrt(root)) / a
            y = sy + t * ry
            side = np.where((root > 0) & (t > 1e-3) & (y > 0) & (y < thing["h"]), t, far)
            t = (thing["h"] - sy) / ry
            top = np.where((t > 1e-3) & ((sx + t * rx) ** 2 + (sz + t * rz) ** 2 < thing["r"] ** 2), t, far)
            return np.minimum(side, top)
        c, s = np.float32(np.cos(thing["turn"])), np.float32(np.sin(thing["turn"]))
        sx, sz, rx, rz = sx * c - sz * s, sx * s + sz * c, rx * c - rz * s, rx * s + rz * c
        low, high = np.float32(-np.inf), far
        for p, d, a, b in ((sx, rx, -thing["r"], thing["r"]), (sy, ry, 0, thing["h"]),
                           (sz, rz, -thing["r"] * 0.6, thing["r"] * 0.6)):
            t0, t1 = (a - p) / d, (b - p) / d
            low, high = np.maximum(low, np.minimum(t0, t1)), np.minimum(high, np.maximum(t0, t1))
        return np.where((low < high) & (low > 1e-3), low, far)


def surface(thing, point, chosen, albedo, normal):
    """Colour and direction of the points of a thing, written where `chosen` tells."""
    x, y, z = point[0] - thing["x"], point[1], point[2] - thing["z"]
    r = thing["r"]
    if thing["kind"] == "ball":
        up = y - r
        mottle = 1 + 0.12 * np.sin(9 * np.arctan2(x, z) + 5 * np.sin(7 * up / r)) * np.sqrt(np.clip(1 - (up / r) ** 2,
                                                                                                    0, 1))
        albedo[chosen] = thing["texture"][0, 0] * mottle[:, None]
        n = (x / r, up / r, z / r)
    elif thing["kind"] == "tin":
        top = y > thing["h"] - 1e-3
        albedo[chosen] = lookup(thing["texture"], (np.arctan2(x, -z) + thing["turn"]) / 6.2832,
                                1 - y / thing["h"] * 0.999)
        rings = 0.55 + 0.2 * np.sin(np.hypot(x, z) / r * 14)
        albedo[chosen[top]] = rings[top][:, None]
        n = (np.where(top, 0, x / r), top.astype(np.float32), np.where(top, 0, z / r))
    else:
        c, s = np.cos(thing["turn"]), np.sin(thing["turn"])
        bx, bz = x * c - z * s, x * s + z * c
        faces = np.stack([np.abs(bx) / r, np.abs(y / thing["h"] - 0.5) * 2, np.abs(bz) / (r * 0.6)])
        face = faces.argmax(0)
        u = np.where(face == 0, bz / (1.2 * r) + 0.5, bx / (2 * r) + 0.5)
        v = np.where(face == 1, bz / (1.2 * r) + 0.5, 1 - y / thing["h"])
        albedo[chosen] = lookup(thing["texture"], u * 0.998, v * 0.998)
        nx, nz = np.where(face == 0, np.sign(bx), 0), np.where(face == 2, np.sign(bz), 0)
        n = (nx * c + nz * s, (face == 1).astype(np.float32), -nx * s + nz * c)
    for out, values in zip(normal, n):
        out[chosen] = values
