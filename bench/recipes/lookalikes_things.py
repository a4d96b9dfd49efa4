"""Things that lookalikes_scenes.py puts into photographs: a bottle with its label, small things on a table, drawn
heads.

Enters: generators of a design and of a picture. Leaves: pictures with their masks, or pixels with the thing in them.
"""

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from lookalikes_render import smoothstep
from lookalikes_tools import INK, Sheet, as_picture, as_pixels, soft
from lookalikes_words import GOODS, colour, digits, phrase, shaded


def bottle(width, height, rng_design, tone, label):
    """A bottle, jar or tube from the front, with its mask: a body of revolution lit from the side. `label` is a
    picture."""
    shoulder, neck, waist = rng_design.uniform(0.2, 0.4), rng_design.uniform(0.25, 0.6), rng_design.uniform(0.0, 0.08)
    cap, cap_tone = rng_design.uniform(0.08, 0.14), colour(rng_design, 20, 230)
    glow = rng_design.uniform(-0.5, 0.5)
    y = np.linspace(0, 1, height, dtype=np.float32)
    half = np.where(y < cap, neck * 1.12, neck + (1 - neck) * smoothstep(cap, cap + shoulder, y))
    half = half * (1 - waist * np.sin(np.clip((y - cap - shoulder) / (1 - cap - shoulder), 0, 1)
                                      * np.pi)) * smoothstep(1.012, 0.985, y) ** 0.25
    x = np.linspace(-1.05, 1.05, width, dtype=np.float32)[None, :] / np.maximum(half[:, None], 1e-3)
    mask = np.clip((1 - np.abs(x)) * half[:, None] * width / 2.1 + 0.5, 0, 1)
    turn = np.arcsin(np.clip(x, -1, 1))
    shade = 0.42 + 0.58 * np.clip(np.cos(turn - glow * 1.4), 0, 1)
    body = np.float32(tone) * shade[..., None]
    band = slice(round(height * (cap + shoulder + 0.08)), round(height * 0.9))
    art = as_pixels(label)
    rows = np.linspace(0, art.shape[0] - 1, band.stop - band.start).astype(np.float32)[:, None] + np.zeros_like(x[band])
    columns = (np.clip(turn[band] / 1.9 + 0.5, 0, 1) * (art.shape[1] - 1)).astype(np.float32)
    wrapped = cv2.remap(art, columns, rows.astype(np.float32), cv2.INTER_AREA)
    inside = (np.abs(turn[band]) < 0.93)[..., None]
    body[band] = np.where(inside, wrapped * shade[band][..., None], body[band])
    body[:round(height * cap)] = np.float32(cap_tone) * (shade[:round(height * cap)]
                                                         * (0.9 + 0.1 * np.sin(x[:round(height * cap)] * 60)))[...,
                                                                                                               None]
    body += (150 * np.exp(-((turn - glow) / 0.07) ** 2) * 0.5)[..., None]
    return Image.fromarray(np.clip(body, 0, 255).astype(np.uint8)), Image.fromarray((mask * 255).astype(np.uint8))


def label(paper, rng, tone, maker):
    """What stands on the bottle: the maker's name belongs to the design; kind, amount and number to the product."""
    s = Sheet(60, 50, 8, paper)
    s.box(0, 0, 60, 9, tone)
    s.text(30, 4.5, maker, 5, "serif-bold", (255, 255, 255), "mm")
    s.text(30, 16, rng.choice(GOODS).split()[0].upper(), 6.5, "sans-bold", shaded(tone, 0.6), "mm")
    s.text(30, 24, phrase(rng, 3), 3.4, "sans", INK, "mm")
    s.disc(30, 34, 5.5, None, tone, 0.8)
    s.text(30, 34, digits(rng, 2), 5, "sans-bold", tone, "mm")
    s.text(30, 46, f"{rng.choice([100, 125, 150, 175])} ml  {digits(rng, 6)}", 3, "sans", INK, "mm")
    return s.done()


def thing(kind, rng, size):
    """A small thing from above, RGBA, with its own light from the upper left."""
    s = Sheet(100, 100, size / 100, (0, 0, 0), fine=2)
    mask = Image.new("L", s.image.size, 0)
    draw, k = ImageDraw.Draw(mask), s.k
    if kind == "coin":
        tone = rng.choice([(196, 160, 86), (178, 178, 182), (170, 104, 70)])
        draw.ellipse((5 * k, 5 * k, 95 * k, 95 * k), fill=255)
        s.disc(50, 50, 46, shaded(tone, 0.8))
        s.disc(50, 50, 40, tone)
        s.text(50, 50, rng.choice("1250"), 50, "serif-bold", shaded(tone, 0.65), "mm")
    elif kind == "leaf":
        tone = rng.choice([(170, 120, 30), (90, 130, 50), (180, 70, 30)])
        t = np.linspace(0, np.pi, 24)
        points = [(50 + 24 * np.sin(a) ** 1.3 + 3 * np.sin(9 * a), 4 + 92 * a / np.pi) for a in t]
        points += [(100 - x, y) for x, y in reversed(points)]
        draw.polygon([(x * k, y * k) for x, y in points], fill=255)
        s.shape(points, tone)
        s.line([(50, 5), (50, 95)], shaded(tone, 0.6), 2)
        for y in range(18, 90, 12):
            s.line([(50, y), (68, y - 9)], shaded(tone, 0.75), 1)
            s.line([(50, y), (32, y - 9)], shaded(tone, 0.75), 1)
    elif kind == "key":
        tone = (190, 176, 130)
        for d, fill in ((draw, 255), (s.draw, tone)):
            d.ellipse((30 * k, 4 * k, 70 * k, 44 * k), fill=fill)
            d.rectangle((46 * k, 40 * k, 54 * k, 96 * k), fill=fill)
            for y in (74, 86):
                d.rectangle((54 * k, y * k, 66 * k, (y + 6) * k), fill=fill)
        draw.ellipse((42 * k, 12 * k, 58 * k, 28 * k), fill=0)
    elif kind == "note":
        tone = rng.choice([(250, 232, 120), (200, 232, 180), (250, 190, 200)])
        draw.rectangle((8 * k, 8 * k, 92 * k, 92 * k), fill=255)
        s.box(8, 8, 92, 92, tone)
        for y in (35, 55, 75):
            s.hand(16, y, phrase(rng, 1)[:8], 14, rng, (40, 50, 110), 2)
    else:
        tone = colour(rng, 70, 230)
        draw.ellipse((5 * k, 5 * k, 95 * k, 95 * k), fill=255)
        s.disc(50, 50, 46, tone)
        pixels = as_pixels(s.image)
        y, x = np.mgrid[-1:1:pixels.shape[0] * 1j, -1:1:pixels.shape[1] * 1j].astype(np.float32)
        z = np.sqrt(np.clip(1 - x * x - y * y, 0, 1))
        lit = np.clip(-0.5 * x - 0.6 * y + 0.62 * z, 0, 1)
        s.image = as_picture(pixels * (0.35 + 0.75 * lit)[..., None] + (120 * lit**30)[..., None])
    turned = Image.merge("RGBA", (*s.image.split(), mask)).rotate(rng.uniform(0, 360) if kind != "note"
                                                                  else rng.uniform(-12, 12), Image.Resampling.BICUBIC)
    return turned.resize((size, size), Image.Resampling.LANCZOS)


def placed(pixels, cut, x, y, softness=0.6):
    """`cut` (RGBA) laid onto the picture with its shadow; softened as far as the picture is."""
    alpha = np.zeros(pixels.shape[:2], np.float32)
    h, w = cut.height, cut.width
    part = as_pixels(cut.filter(ImageFilter.GaussianBlur(softness)))
    alpha[y:y + h, x:x + w] = np.asarray(cut.getchannel("A").filter(ImageFilter.GaussianBlur(softness)),
                                         np.float32) / 255
    shadow = soft(np.roll(alpha, (max(1, h // 14), max(1, w // 14)), (0, 1)), max(1.0, w / 22))
    out = pixels * (1 - 0.5 * shadow * (1 - alpha))[..., None] * (1 - alpha)[..., None]
    mean = pixels[y:y + h, x:x + w].mean() / 128
    out[y:y + h, x:x + w] += part * alpha[y:y + h, x:x + w, None] * np.clip(0.55 + 0.4 * mean, 0.5, 1.1)
    return out


def head(s, x, y, size, look, rng, shut):
    """A drawn head at a place: who it is belongs to `look`; gaze and mouth to `rng`; `shut` are the eyes."""
    skin = look.choice([(232, 196, 170), (205, 160, 128), (160, 112, 82), (112, 76, 56), (240, 210, 188)])
    hair, dress = look.choice([(38, 28, 24), (92, 58, 34), (168, 128, 72), (120, 120, 122)]), colour(look, 30, 180)
    k, long = size / 100, look.random() < 0.5
    s.disc(x, y + 125 * k, 62 * k, dress, flat=0.9)
    s.disc(x, y - 4 * k, 43 * k, hair, flat=1.45 if long else 1.12)
    s.box(x - 13 * k, y + 30 * k, x + 13 * k, y + 68 * k, shaded(skin, 0.84))
    s.disc(x, y + 8 * k, 35 * k, skin, flat=1.3)
    s.shape([(x - 36 * k, y), (x - 20 * k, y - 36 * k), (x + 22 * k, y - 36 * k), (x + 36 * k, y),
             (x + 18 * k, y - 16 * k), (x - 16 * k, y - 18 * k)], hair)
    gaze, smile = rng.uniform(-1.6, 1.6), rng.uniform(-1, 5)
    for side in (-1, 1):
        ex, ey = x + side * 14 * k, y + 3 * k
        if shut:
            s.disc(ex, ey, 6.4 * k, shaded(skin, 0.9), flat=0.6)
            s.line([(ex - 6 * k, ey), (ex, ey + 2.4 * k), (ex + 6 * k, ey)], shaded(skin, 0.4), 1.2 * k)
        else:
            s.disc(ex, ey, 6.4 * k, (248, 248, 246), shaded(skin, 0.5), 0.6 * k, flat=0.6)
            s.disc(ex + gaze * k, ey, 3.2 * k, (50, 60, 70))
            s.disc(ex + gaze * k - k, ey - k, 0.9 * k, (255, 255, 255))
        s.line([(ex - 7 * k, ey - 9 * k), (ex + 7 * k, ey - (9 + rng.uniform(0, 2)) * k)], hair, 2 * k)
    s.line([(x, y + 5 * k), (x - 4 * k, y + 22 * k), (x + 4 * k, y + 23 * k)], shaded(skin, 0.75), 1.2 * k)
    s.line([(x - 11 * k, y + 33 * k - smile * k * 0.4), (x, y + 33 * k + smile * k * 0.5),
            (x + 11 * k, y + 33 * k - smile * k * 0.4)], (168, 70, 74), 2.6 * k)
