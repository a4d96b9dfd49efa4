"""Families of lookalikes.py with a fixed board: chess, go, clocks, gauges, whiteboards.

Enters and leaves: as in lookalikes_documents.py.
"""

import functools

import numpy as np
from PIL import Image

from lookalikes_render import ground
from lookalikes_tools import GRAY, INK, Sheet, as_picture, as_pixels, fbm, noisy, photographed, scanned, seeded, slope
from lookalikes_words import COMMON, FIRMS, FIRST, colour, phrase, shaded


def seen_by_camera(image, look, rng, sigma=2.0):
    """The picture as a photograph of itself: uneven light of the design, noise of its own."""
    light = look.getrandbits(48)
    h, w = image.height, image.width
    lit = as_pixels(image) * slope(h, w, light, 0.16)
    return as_picture(noisy(lit, sigma, seeded(rng)))


def chess(design, look, rng):
    """One middle game of the design; a few pieces elsewhere."""
    light, dark = [((240, 217, 181), (181, 136, 99)), ((238, 238, 210), (118, 150, 86)),
                   ((250, 250, 250), (190, 190, 196))][design % 3]
    squares = [(f, r) for f in range(8) for r in range(8)]
    pieces = "♔♕♖♖♗♗♘♙♙♙♙♙♙♚♛♜♜♝♞♞♟♟♟♟♟♟"
    look.shuffle(squares)
    at = dict(zip(squares, pieces))
    for _ in range(rng.randint(1, 3)):
        start = rng.choice(sorted(at))
        free = [(f, r) for f in range(8) for r in range(8) if (f, r) not in at and abs(f - start[0]) <= 2
                and abs(r - start[1]) <= 2]
        if free:
            at[rng.choice(free)] = at.pop(start)
    s = Sheet(92, 92, look.choice([8, 9, 11]), (60, 44, 34) if design % 2 else (245, 245, 245))
    for f in range(8):
        s.text(10 + f * 10, 2.6, "abcdefgh"[f], 3, "sans", GRAY, "mm")
        s.text(2.8, 10 + f * 10, str(8 - f), 3, "sans", GRAY, "mm")
        for r in range(8):
            s.box(5 + f * 10, 5 + r * 10, 15 + f * 10, 15 + r * 10, light if (f + r) % 2 == 0 else dark)
    for (f, r), piece in sorted(at.items()):
        black = piece in "♚♛♜♝♞♟"
        solid = "♚♛♜♝♞♟"["♔♕♖♗♘♙".index(piece)] if not black else piece
        s.text(10 + f * 10, 10 + r * 10, solid, 8.6, "sans", INK if black else (252, 252, 250), "mm",
               stroke_width=round(s.k * 0.18),
               stroke_fill=(10, 10, 10) if not black else INK)
    image = s.done()
    return scanned(image, look, rng) if design % 3 == 2 else seen_by_camera(image, look,
                                                                            rng) if design % 3 == 1 else image


def go(design, look, rng):
    """A game after some moves more or less."""
    s = Sheet(100, 100, look.choice([9, 11]),
              Image.fromarray(ground("wood", 700, 700, [2, 0, 6][design % 3]).astype(np.uint8)), fine=1)
    size = [19, 13, 19][design % 3]
    step = 92 / (size - 1)
    for n in range(size):
        s.line([(4, 4 + n * step), (96, 4 + n * step)], (40, 30, 20), 0.2)
        s.line([(4 + n * step, 4), (4 + n * step, 96)], (40, 30, 20), 0.2)
    cells = [(x, y) for x in range(size) for y in range(size)]
    look.shuffle(cells)
    count = size * size // 4
    stones = {cell: n % 2 for n, cell in enumerate(cells[:count])}
    for _ in range(rng.randint(2, 5)):
        if rng.random() < 0.5:
            stones.pop(rng.choice(sorted(stones)))
        else:
            stones[rng.choice(cells[count:])] = rng.randint(0, 1)
    for (x, y), white in sorted(stones.items()):
        a, b, r = 4 + x * step, 4 + y * step, step * 0.47
        s.disc(a + 0.3, b + 0.4, r, (70, 50, 30))
        s.disc(a, b, r, (238, 238, 234) if white else (22, 22, 24))
        s.disc(a - r * 0.3, b - r * 0.3, r * 0.3, (255, 255, 255) if white else (70, 70, 74))
    return seen_by_camera(s.done(), look, rng)


def seven(s, x, y, text, size, tone, off=None):
    """Digits of seven bars."""
    bars = {"a": (0.1, 0, 0.9, 0), "b": (1, 0.1, 1, 0.9), "c": (1, 1.1, 1, 1.9), "d": (0.1, 2, 0.9, 2),
            "e": (0, 1.1, 0, 1.9),
            "f": (0, 0.1, 0, 0.9), "g": (0.1, 1, 0.9, 1)}
    lit = dict(zip("0123456789", "abcdef bc abdeg abcdg bcfg acdfg acdefg abc abcdefg abcdfg".split()))
    for letter in text:
        if letter in ":.":
            for dot in (0.6, 1.4) if letter == ":" else (2,):
                s.disc(x + size * 0.1, y + dot * size / 2, size * 0.07, tone)
            x += size * 0.32
            continue
        for bar, (x0, y0, x1, y1) in bars.items():
            shade = tone if letter in lit and bar in lit[letter] else off
            if shade:
                s.line([(x + x0 * size / 2, y + y0 * size / 2), (x + x1 * size / 2, y + y1 * size / 2)], shade,
                       size * 0.1)
        x += size * 0.72
    return x


def clock(design, look, rng):
    wall = Image.fromarray(ground("wall" if design != 3 else "wood", 1000, 1000, design).astype(np.uint8))
    s = Sheet(100, 100, 8 + design % 3, wall, fine=2)
    hour, minute = rng.randint(0, 11) if design % 2 else look.randint(0, 11), rng.randint(0, 59)
    if design % 5 == 4:  # an alarm clock with lit digits
        s.box(8, 26, 92, 74, (24, 24, 28), (60, 60, 64), 1.5, radius=6)
        seven(s, 17, 38, f"{rng.randint(0, 23):02d}:{minute:02d}", 23, (255, 60, 40), (52, 24, 24))
        return seen_by_camera(s.done(), look, rng)
    tone, face = colour(look, 20, 120), [(250, 250, 246), (246, 240, 224), (36, 38, 44),
                                         (255, 255, 255)][design % 5 % 4]
    ink = (235, 235, 230) if sum(face) < 300 else INK
    s.disc(51.2, 52, 41, shaded(wall.getpixel((500, 500)), 0.6))
    s.disc(50, 50, 41, tone)
    s.disc(50, 50, 37.5, face)
    for n in range(60):
        a = n / 60 * 2 * np.pi
        inner = 33 if n % 5 == 0 else 35
        s.line([(50 + inner * np.sin(a), 50 - inner * np.cos(a)), (50 + 36.3 * np.sin(a), 50 - 36.3 * np.cos(a))], ink,
               0.9 if n % 5 == 0 else 0.3)
        if n % 5 == 0 and design % 3 != 1:
            numeral = str(n // 5 or 12) if design % 2 == 0 else "XII I II III IV V VI VII VIII IX X XI".split()[n // 5]
            s.text(50 + 28.5 * np.sin(a), 50 - 28.5 * np.cos(a), numeral, 6, "serif-bold" if design % 2
                   else "sans-bold", ink, "mm")
    s.text(50, 64, look.choice(FIRMS).split()[0].upper(), 2.6, "sans", ink, "mm")
    for angle, long, wide in (((hour + minute / 60) / 12, 19, 1.7), (minute / 60, 29, 1.1)):
        a = angle * 2 * np.pi
        s.line([(50 - 4 * np.sin(a), 50 + 4 * np.cos(a)), (50 + long * np.sin(a), 50 - long * np.cos(a))], ink, wide)
    a = rng.randint(0, 59) / 60 * 2 * np.pi
    s.line([(50 - 7 * np.sin(a), 50 + 7 * np.cos(a)), (50 + 31 * np.sin(a), 50 - 31 * np.cos(a))], (200, 30, 30), 0.5)
    s.disc(50, 50, 1.6, ink)
    return seen_by_camera(s.done(), look, rng)


def gauge(design, look, rng):
    """Meters on a wall: counters and needles, as one sends to the waterworks every year."""
    kind = ["stone", "wall", "wood", "wall"][design % 4]
    s = Sheet(120, 90, 9, Image.fromarray(ground(kind, 1100, 820, design + 1).astype(np.uint8)), fine=2)
    body = colour(look, 60, 200)
    s.box(14, 8, 108, 84, shaded(body, 0.5), radius=5)
    s.box(12, 6, 106, 82, body, shaded(body, 0.7), 1, radius=5)
    s.disc(59, 44, 33, (245, 244, 238), (60, 60, 60), 1.2)
    s.text(59, 22, look.choice(FIRMS), 3.6, "sans-bold", anchor="mm")
    s.text(59, 70, f"No {look.randint(10**6, 10**7)}", 3, "sans", anchor="mm")
    fixed = str(look.randint(100, 999))
    for n, letter in enumerate(fixed + f"{rng.randint(0, 9999):04d}"):
        last = n > 4
        s.box(36 + n * 6.6, 30, 42 + n * 6.6, 39, (170, 30, 30) if last else (20, 20, 20))
        s.text(39 + n * 6.6, 34.5, letter, 6.5, "mono-bold", (250, 250, 250), "mm")
    s.text(59, 43, ["m³", "kWh"][design % 2], 3.6, "sans", anchor="mm")
    for n in range(3):
        x, y, a = 42 + n * 17, 55, rng.random() * 2 * np.pi
        s.disc(x, y, 6.5, (252, 252, 250), (170, 40, 40), 0.4)
        for tick in range(10):
            b = tick / 10 * 2 * np.pi
            s.disc(x + 5.4 * np.sin(b), y - 5.4 * np.cos(b), 0.3, INK)
        s.line([(x, y), (x + 4.8 * np.sin(a), y - 4.8 * np.cos(a))], (180, 20, 20), 0.8)
    return seen_by_camera(s.done(), look, rng, 2.5)


@functools.lru_cache(maxsize=1)
def smears(height, width, seed):
    """What the sponge left."""
    return fbm(height, width, 4, 5, np.random.default_rng(seed), 0.6, 0.5)


def whiteboard(design, look, rng):
    s = Sheet(160, 100, look.choice([6, 7, 8]), (236, 238, 238) if design != 2 else (42, 74, 60))
    chalk = design == 2
    inks = [(236, 236, 226), (246, 226, 150)] if chalk else [(30, 50, 140), (170, 30, 40), (20, 110, 60), (30, 30, 34)]
    inks = [look.choice(inks) for _ in range(6)]
    title = phrase(look, 2)
    s.hand(10, 15, title, 9, look, inks[0], 0.8)
    s.line([(9, 18.5), (10 + len(title) * 6, 19)], inks[0], 0.7)
    spots = [(10, 32), (10, 44), (10, 56), (10, 68), (84, 32), (84, 44), (84, 56)]
    for n, (x, y) in enumerate(spots[:look.randint(5, 7)]):
        s.line([(x, y - 2), (x + 2.5, y - 2)], inks[1], 0.8)
        text = rng.choice([f"{rng.choice(FIRST)} {rng.randint(1, 12)}:{rng.choice(['00', '30', '15'])}",
                           f"{rng.choice(COMMON)} {rng.choice(COMMON)} {rng.randint(2, 90)}",
                           f"{rng.randint(2, 99)} x {rng.randint(2, 99)} = {rng.randint(100, 9999)}"])
        s.hand(x + 5, y, text, 6.5, rng, inks[1 + n % 2], 0.7)
    boxes = [(88 + 26 * n, 74) for n in range(2)]
    for n, (x, y) in enumerate(boxes):
        s.line([(x, y), (x + 20, y + 0.4), (x + 19.6, y + 13), (x, y + 12.6), (x, y)], inks[3], 0.7)
        s.hand(x + 2.5, y + 9, rng.choice(COMMON)[:4], 5.5, rng, inks[4], 0.6)
    s.line([(108, 80), (113.5, 80)], inks[3], 0.7)
    s.hand(12, 88, f"-> {rng.choice(FIRST)}", 6.5, rng, inks[5], 0.7)
    h, w = s.image.height, s.image.width
    smear = smears(h, w, look.getrandbits(40))
    board = as_pixels(s.image) + (9 if chalk else 3) * smear[..., None] + (6 if chalk else 0)
    framed = Image.new("RGB", (w + 40, h + 40), (176, 178, 180) if not chalk else (128, 92, 58))
    framed.paste(as_picture(board), (20, 20))
    wall = ground("wall", 1280, 900, design)
    return photographed(framed, look, rng, Image.fromarray(wall.astype(np.uint8)))


DRAWN = {  # family: (draw, designs, pictures of each)
    "chess": (chess, 3, 10), "go": (go, 3, 9), "clocks": (clock, 5, 9), "gauges": (gauge, 4, 7),
    "whiteboards": (whiteboard, 4, 9),
}
