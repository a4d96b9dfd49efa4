"""Families of lookalikes.py that a program shows: slides, charts, maps with pins, windows of one program.

Enters and leaves: as in lookalikes_documents.py.
"""

import numpy as np
from PIL import Image, ImageDraw

from lookalikes_tools import GRAY, INK, PALE, Sheet, as_picture, fbm, photographed
from lookalikes_words import COMMON, FIRMS, GOODS, TOWNS, colour, date, person, phrase, shaded, words


def slide(design, look, rng):
    tone = colour(look, 10, 140)
    wide = design % 2 == 0
    s = Sheet(160 if wide else 120, 90, look.choice([6, 8, 10, 12]),
              [(255, 255, 255), (250, 248, 242), (24, 28, 40)][design % 3])
    dark = design % 3 == 2
    ink = (236, 236, 238) if dark else INK
    if design % 4 == 0:
        s.box(0, 0, s.width, 17, tone)
    elif design % 4 == 1:
        s.box(0, 0, 6, 90, tone)
    elif design % 4 == 2:
        s.box(10, 18, s.width - 10, 18.7, shaded(tone, 2))
    else:
        s.shape([(s.width - 30, 0), (s.width, 0), (s.width, 30)], tone)
    s.text(11, 9, phrase(rng, 3), 7, "sans-bold", (255, 255, 255) if design % 4 == 0 else ink, "lm")
    count, room = look.randint(4, 6), s.width - 22 if design % 3 else s.width * 0.5
    for n in range(count):
        y = 27 + n * 54 / count
        s.disc(13, y, 1, shaded(tone, 1.6) if dark else tone)
        text = phrase(rng, 5, 8)
        while s.width_of(text, 4.6) > room - 6:
            text = text.rsplit(" ", 1)[0]
        s.text(17, y, text, 4.6, "sans", ink, "lm")
    if design % 3 == 0:  # a small chart, whose last bar is new
        for n in range(6):
            tall = look.uniform(10, 34) if n < 5 else rng.uniform(12, 32)
            x = s.width * (0.62 + n * 0.056)
            s.box(x, 72 - tall, x + s.width * 0.04, 72, tone if n < 5 else shaded(tone, 1.5))
    s.text(11, 86, f"{look.choice(FIRMS)}   {look.randint(2016, 2024)}", 2.8, "sans", GRAY, "lm")
    s.text(s.width - 6, 86, str(rng.randint(2, 60)), 2.8, "sans", GRAY, "rm")
    image = s.done()
    if design % 5 == 4:  # thrown at a wall
        wall = shaded((150, 140, 130), 0.5)
        return photographed(image, look, rng, Image.new("RGB", (1280, 800), wall))
    return image


def chart(design, look, rng):
    """One report's chart with other figures."""
    kind = ["bars", "line", "pie", "scatter", "stack"][design % 5]
    s = Sheet(150, 100, look.choice([6, 8, 9]), (255, 255, 255) if design % 2 == 0 else (250, 250, 252), fine=2)
    tones = [(31, 110, 170), (230, 126, 40), (60, 150, 80), (190, 60, 60), (130, 100, 170)]
    look.shuffle(tones)
    s.text(75, 5, phrase(look, 3), 5, "sans-bold", anchor="ma")
    s.text(75, 12, date(rng), 3.4, "sans", GRAY, "ma")
    if kind != "pie":
        top = look.choice([50, 100, 400])
        for n in range(6):
            s.line([(18, 85 - n * 13), (145, 85 - n * 13)], (225, 225, 228), 0.25)
            s.text(16, 85 - n * 13, str(top * n // 5), 3, "sans", GRAY, "rm")
        s.line([(18, 20), (18, 85), (145, 85)], INK, 0.4)
    if kind in ("bars", "stack"):
        count = look.randint(7, 11)
        pitch = 125 / count
        changed = set(rng.sample(range(count), 3))
        for n in range(count):
            y = 85.0
            for layer in range(1 if kind == "bars" else 3):
                tall = look.uniform(14, 58) / (1 if kind == "bars" else 3)
                if n in changed:
                    tall += rng.choice([-1, 1]) * rng.uniform(1.6, 4)
                s.box(19 + n * pitch + pitch * 0.15, y - tall, 19 + n * pitch + pitch * 0.85, y, tones[layer])
                if kind == "bars":
                    s.text(19 + (n + 0.5) * pitch, y - tall - 2, f"{tall * top / 65:.0f}", 2.8, "sans", anchor="mm")
                y -= tall
            s.text(19 + (n + 0.5) * pitch, 88.5, "JFMAMJJASONDX"[n], 3, "sans", GRAY, "mm")
    elif kind == "line":
        for series in range(2):
            y = np.cumsum([look.gauss(0, 1) for _ in range(70)])
            y = 42 + series * 18 + y * 10 / max(1, np.ptp(y)) * 1.3
            y = y + np.convolve([rng.gauss(0, 2.2) for _ in range(74)], np.ones(5) / 5, "valid")
            s.line(list(zip(np.linspace(19, 144, 70), y)), tones[series], 0.7)
    elif kind == "scatter":
        for _ in range(120):
            x = look.gauss(80, 24) + rng.gauss(0, 3)
            y = np.clip(72 - (x - 20) * 0.4 + look.gauss(0, 7) + rng.gauss(0, 3), 22, 84)
            if 20 < x < 144:
                s.disc(x, y, 0.9, tones[0])
    else:
        parts = np.array([look.uniform(1, 4) for _ in range(5)])
        parts = parts * [rng.uniform(0.88, 1.14) for _ in range(5)]
        angle = -90.0
        k = s.k
        for n, part in enumerate(parts / parts.sum()):
            s.draw.pieslice((20 * k, 20 * k, 92 * k, 92 * k), angle, angle + part * 360, fill=tones[n],
                            outline=(255, 255, 255), width=round(k * 0.6))
            middle = np.radians(angle + part * 180)
            s.text(56 + 25 * np.cos(middle), 56 + 25 * np.sin(middle), f"{part * 100:.0f} %", 3.4, "sans-bold",
                   (255, 255, 255), "mm")
            s.box(105, 36 + n * 9, 110, 41 + n * 9, tones[n])
            s.text(113, 38.5 + n * 9, GOODS[(design * 5 + n) % len(GOODS)], 3.6, "sans", anchor="lm")
            angle += part * 360
    s.text(145, 96, f"Source: {look.choice(FIRMS)}", 2.6, "sans", GRAY, "rm")
    return s.done()


def map_(design, look, rng):
    """A town, and where the pin is. Design 3 is seen from the air."""
    s = Sheet(140, 100, look.choice([7, 9, 11]), (240, 236, 228), fine=1)
    if design % 4 == 3:
        noise = np.random.default_rng(look.getrandbits(40))
        h, w = s.image.height, s.image.width
        land = fbm(h, w, 5, 7, noise, 0.65)
        tone = np.float32([88, 100, 62]) + land[..., None] * np.float32([22, 18, 14])
        tone += (fbm(h, w, 60, 3, noise, 0.8) * 7)[..., None]
        s.image = as_picture(tone)
        s.draw = ImageDraw.Draw(s.image)
    for _ in range(5):
        x, y, a, b = look.uniform(0, 120), look.uniform(0, 80), look.uniform(10, 30), look.uniform(8, 22)
        s.shape([(x, y), (x + a, y + look.uniform(-4, 4)), (x + a + look.uniform(-5, 5), y + b), (x - 3, y + b)],
                (200, 226, 184) if design % 4 != 3 else (126, 120, 84))
    river = [(x, 60 + 14 * np.sin(x / 24 + look.random() * 0.3) + look.uniform(-1.5, 1.5)) for x in range(-5, 150, 8)]
    s.line(river, (170, 206, 228) if design % 4 != 3 else (58, 76, 84), 5)
    tilt = look.uniform(-0.5, 0.5)
    streets = []
    for n in range(26):
        along, at = n % 2, look.uniform(-20, 160)
        bend = look.uniform(-0.12, 0.12)
        points = [(at + t * (tilt + bend), t) if along else (t, at * 0.75 - t * (tilt + bend))
                  for t in range(-10, 160, 10)]
        streets.append((points, look.choice([0.7, 0.7, 1.1, 2.0])))
    for points, wide in streets:
        s.line(points, (200, 192, 180) if design % 4 != 3 else (120, 116, 108), wide + 0.5)
    for points, wide in streets:
        tone = (255, 255, 255) if wide < 2 else (252, 220, 140)
        s.line(points, tone if design % 4 != 3 else (168, 164, 156), wide)
    for _ in range(240 if design % 2 else 60):
        x, y = look.uniform(0, 140), look.uniform(0, 100)
        a = look.uniform(1, 2.4)
        s.box(x, y, x + a, y + look.uniform(1, 2.4), (222, 214, 204) if design % 4 != 3 else (150, 110, 92))
    for _ in range(12):
        s.text(look.uniform(5, 120), look.uniform(5, 95), look.choice(TOWNS + [phrase(look, 1) + " St"]),
               look.choice([2.6, 2.6, 3.6]), "sans",
               (90, 86, 84) if design % 4 != 3 else (245, 245, 240))
    for _ in range(rng.choice([1, 1, 2])):
        x, y = rng.uniform(15, 125), rng.uniform(20, 90)
        tone = [(214, 50, 44), (40, 90, 200), (214, 50, 44), (240, 200, 40)][design % 4]
        s.disc(x, y, 1.4, shaded(tone, 0.5), flat=0.4)
        s.shape([(x - 2.6, y - 6), (x + 2.6, y - 6), (x, y)], tone)
        s.disc(x, y - 7, 3, tone)
        s.disc(x, y - 7, 1.1, (255, 255, 255))
    if design % 2 == 0:
        s.box(4, 4, 52, 12, (255, 255, 255), PALE, radius=2)
        s.text(7, 8, f"{rng.choice(TOWNS)}, {rng.randint(1, 90)}", 3.4, "sans", anchor="lm")
    return s.done()


def screen(design, look, rng):
    """A window of one program: mail, chat, code, settings, a shop."""
    kind = ["mail", "chat", "code", "shop", "files"][design % 5]
    tall = kind == "chat"
    s = Sheet(90 if tall else 160, 160 if tall else 100, look.choice([7, 8, 9]), (255, 255, 255))
    tone = colour(look, 20, 150)
    w, h = s.width, s.height
    s.box(0, 0, w, 8, tone if kind != "code" else (50, 52, 60))
    for n in range(3):
        s.disc(4 + n * 4, 4, 1.2, [(240, 90, 80), (240, 190, 60), (90, 200, 90)][n])
    s.text(w / 2, 4, look.choice(FIRMS), 3.2, "sans-bold", (255, 255, 255), "mm")
    s.text(w - 3, 4, f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}", 3, "sans", (255, 255, 255), "rm")
    if kind == "mail" or kind == "files":
        s.box(0, 8, 36, h, (242, 243, 246))
        for n in range(10):
            s.text(5, 15 + n * 7, phrase(look, 1), 3.2, "sans", tone if n == 1 else GRAY, "lm")
        for n in range(14 if kind == "mail" else 17):
            y = 12 + n * (6.4 if kind == "mail" else 5.2)
            s.disc(41, y, 1.6, look.choice([PALE, tone]))
            s.text(45, y, person(rng) if kind == "mail" else f"{rng.choice(COMMON)}_{rng.randint(1, 99)}.txt", 3,
                   "sans-bold" if n < 3 else "sans", anchor="lm")
            s.text(86, y, phrase(rng, 5) if kind == "mail" else f"{rng.randint(2, 980)} KB", 3, "sans", GRAY, "lm")
            s.text(157, y, date(rng), 2.6, "sans", GRAY, "rm")
            s.line([(38, y + 3), (158, y + 3)], (232, 232, 236), 0.2)
    elif kind == "chat":
        y = 14
        while y < 140:
            lines, mine = look.randint(1, 3), look.random() < 0.5
            wide, tall_ = look.uniform(42, 60), 5 + lines * 4.6
            x = w - 4 - wide if mine else 4
            s.box(x, y, x + wide, y + tall_, (214, 240, 205) if mine else (238, 238, 242), radius=3)
            s.paragraph(x + 3, y + 5.4, wide - 6, lines, words(rng), 3.2, 4.6, "sans", last=0.8)
            s.text(x + wide - 2, y + tall_ - 1.8, f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}", 2.2, "sans",
                   GRAY, "rm")
            y += tall_ + 4
        s.box(4, 148, w - 4, 156, (255, 255, 255), PALE, radius=4)
    elif kind == "code":
        s.box(0, 8, w, h, (30, 31, 36))
        indent = 0
        for n in range(19):
            y = 12 + n * 4.5
            s.text(7, y, str(n + 1), 2.8, "mono", (100, 102, 110), "rm")
            indent = max(0, min(4, indent + look.choice([-1, 0, 0, 1])))
            x = 11 + indent * 5
            for _ in range(look.randint(2, 6)):
                long = look.randint(3, 9)
                piece = "".join(rng.choice("abcdeilmnorstuvx_") for _ in range(long))
                s.text(x, y, piece, 2.9, "mono", look.choice([(220, 220, 224), (204, 120, 190), (130, 190, 240),
                                                              (150, 200, 130)]), "lm")
                x += (long + 1) * 1.75
    else:
        for n in range(8):
            x, y = 5 + n % 4 * 39, 13 + n // 4 * 44
            s.box(x, y, x + 35, y + 40, (255, 255, 255), (226, 226, 230), 0.3, radius=1)
            shape = look.choice(["disc", "box"])
            paint = colour(look, 90, 220)
            s.box(x + 1, y + 1, x + 34, y + 24, (244, 244, 246))
            if shape == "disc":
                s.disc(x + 17.5, y + 12.5, 9, paint)
            else:
                s.box(x + 10, y + 5, x + 25, y + 21, paint, radius=1)
            s.text(x + 2, y + 28, rng.choice(GOODS), 3, "sans", anchor="lm")
            s.text(x + 2, y + 35, f"{rng.uniform(1, 99):.2f}", 4, "sans-bold", tone, "lm")
    return s.done()


DRAWN = {  # family: (draw, designs, pictures of each)
    "slides": (slide, 6, 8), "charts": (chart, 5, 9), "maps": (map_, 4, 10), "screens": (screen, 5, 8),
}
