"""Families of lookalikes.py that are cards: playing cards, identity cards, tickets.

Enters and leaves: as in lookalikes_documents.py.
"""

import random

import numpy as np
from PIL import Image, ImageFilter

from lookalikes_documents import as_seen, money
from lookalikes_render import ground
from lookalikes_tools import GRAY, INK, Sheet, fbm, photographed, scanned
from lookalikes_words import FIRMS, FIRST, LAST, TOWNS, colour, date, digits, person, phrase, shaded


def on_table(image, kind, design, look, rng, size=(900, 1200)):
    return photographed(image, look, rng, Image.fromarray(ground(kind, *size, design).astype(np.uint8)))


PIPS = {1: [(2, 4)], 2: [(2, 1), (2, 7)], 3: [(2, 1), (2, 4), (2, 7)], 4: [(1, 1), (3, 1), (1, 7), (3, 7)]}
PIPS[5] = PIPS[4] + PIPS[1]
PIPS[6] = PIPS[4] + [(1, 4), (3, 4)]
PIPS[7] = PIPS[6] + [(2, 2.5)]
PIPS[8] = PIPS[7] + [(2, 5.5)]
PIPS[9] = PIPS[4] + [(1, 3), (3, 3), (1, 5), (3, 5), (2, 4)]
PIPS[10] = PIPS[9][:-1] + [(2, 2), (2, 6)]


def card(design, look, rng, number):
    """Design 0: a French deck; 1: one by another printer; 2: a deck with other signs, on cloth."""
    suit, rank = "♠♣♥♦"[number % 4] if design < 2 else "★●■▲"[number % 4], number // 4 % 13 + 1
    red = number % 4 > 1
    tone = (190, 24, 34) if red else INK
    s = Sheet(63, 88, 11 if design == 0 else 9, (252, 251, 248) if design != 1 else (247, 240, 225), fine=1)
    s.box(0.6, 0.6, 62.4, 87.4, None, GRAY if design == 0 else tone, 0.3, radius=4)
    name = {1: "A", 11: "J", 12: "Q", 13: "K"}.get(rank, str(rank))
    sign, face = 11 if rank < 11 else 8, "serif-bold" if design != 2 else "sans-bold"
    if rank > 10:  # a court: a frame, two figures head to foot
        s.box(14, 12, 49, 76, (248, 226, 150), tone, 0.6)
        for n in range(9):
            s.line([(14 + n * 4.4, 12), (14 + (8 - n) * 4.4, 76)], (40, 70, 150) if n % 2 else (190, 40, 40), 0.9)
        for up in (1, -1):
            y = 44 - up * 17
            s.disc(31.5, y, 7, (240, 208, 180), INK, 0.4)
            crown = {11: [(25, -6), (38, -6), (36, -10), (27, -10)],
                     12: [(25, -6), (38, -6), (40, -12), (31.5, -8), (23, -12)],
                     13: [(25, -6), (38, -6), (39, -13), (35, -9), (31.5, -13), (28, -9), (24, -13)]}[rank]
            s.shape([(x if up > 0 else 63 - x, y + dy * up) for x, dy in crown], (222, 170, 40), INK, 0.4)
            for side in (-2.4, 2.4):
                s.disc(31.5 + side, y - up, 0.9, INK)
            s.line([(29.5, y + 3 * up), (33.5, y + 3 * up)], (160, 40, 40), 0.6)
        s.text(19, 18, suit, sign, "sans", tone, "mm")
        s.text(44, 70, suit, sign, "sans", tone, "mm")
    else:
        for x, y in PIPS[rank]:
            s.text(31.5 + (x - 2) * 12.5, 44 + (y - 4) * 10.3, suit, 26 if rank == 1 else sign * 1.15, "sans", tone,
                   "mm")
    corner = Sheet(10, 19, s.k)
    corner.image.paste(s.image.getpixel((s.image.width // 2, round(3 * s.k))), (0, 0, *corner.image.size))
    corner.text(5, 5, name, 8 if len(name) == 1 else 6.5, face, tone, "mm")
    corner.text(5, 13.5, suit, 7, "sans", tone, "mm")
    s.image.paste(corner.image, (round(1.5 * s.k), round(2 * s.k)))
    turned = corner.image.rotate(180)
    s.image.paste(turned, (s.image.width - turned.width - round(1.5 * s.k),
                           s.image.height - turned.height - round(2 * s.k)))
    image = s.done()
    if design == 0:
        return image
    return scanned(image, look, rng) if design == 1 else on_table(image, "felt", design, look, rng, (700, 900))


def face_picture(rng, size=240):
    """A passport photograph of nobody: shapes, shaded and blurred as a small print shows a head."""
    s = Sheet(100, 120, size / 100, colour(random.Random(7), 205, 225))
    skin = rng.choice([(232, 196, 170), (205, 160, 128), (160, 112, 82), (110, 74, 54), (240, 210, 188)])
    hair = rng.choice([(38, 28, 24), (92, 58, 34), (168, 128, 72), (120, 120, 122), (66, 34, 26)])
    dress = colour(rng, 20, 150)
    wide, long = rng.uniform(18, 22), rng.uniform(24, 28)
    s.disc(50, 132, 40, dress, flat=0.85)
    if rng.random() < 0.5:
        s.disc(50, 62, wide + 8, hair, flat=rng.uniform(1.3, 1.9))
    else:
        s.disc(50, 44, wide + 4, hair, flat=1.1)
    s.box(43, 75, 57, 100, shaded(skin, 0.85))
    s.disc(50, 60, wide, skin, flat=long / wide)
    s.shape([(50 - wide, 52), (50 - wide * 0.6, 36), (50 + wide * 0.6, 35), (50 + wide, 52),
             (50 + wide * rng.uniform(0.2, 0.8), 43),
             (50 - wide * rng.uniform(0.2, 0.8), 44)], hair)
    for side in (-1, 1):
        x = 50 + side * wide * 0.42
        s.disc(x, 57, 3.2, (245, 245, 245), flat=0.6)
        s.disc(x, 57, 1.8, rng.choice([(40, 60, 90), (60, 40, 24), (40, 70, 50)]))
        s.line([(x - 4, 52 + rng.uniform(-1, 1)), (x + 4, 51.5)], hair, 1.6)
    s.line([(50, 58), (48.5 + rng.uniform(-1, 1), 67), (51.5, 67.5)], shaded(skin, 0.7), 1)
    s.line([(43, 75), (50, 76 + rng.uniform(-1, 1.5)), (57, 75)], shaded((190, 90, 90), rng.uniform(0.7, 1.1)), 2)
    if rng.random() < 0.3:
        for side in (-1, 1):
            s.disc(50 + side * wide * 0.42, 57, 6, None, (30, 30, 30), 1)
    image = s.done().filter(ImageFilter.GaussianBlur(size / 100))
    light = 1 + 0.025 * fbm(image.height, image.width, 2, 2, np.random.default_rng(rng.getrandbits(40)))
    return Image.fromarray(np.clip(np.asarray(image) * light[..., None], 0, 255).astype(np.uint8))


def idcard(design, look, rng):
    tone = colour(look, 60, 190)
    pale = tuple(225 + c // 8 for c in tone)
    s = Sheet(86, 54, look.choice([11, 13, 15]), pale)
    amp, waves = look.uniform(3, 8), look.uniform(3, 7)
    for n in range(30):
        x = np.linspace(0, 86, 60)
        y = 54 * n / 30 + amp * np.sin(x / 86 * 6.28 * waves / 3 + n * 0.2)
        s.line(list(zip(x, y)), shaded(tone, 1.15), 0.12)
    s.box(0, 0, 86, 9, tone)
    s.text(3, 4.5, f"{look.choice(TOWNS).upper()}  {phrase(look, 2).upper()}", 4, "sans-bold", (255, 255, 255), "lm")
    right = design % 2
    x = 58 if right else 4
    s.paste(face_picture(rng), x, 13, 24, 29)
    x = 4 if right else 32
    who = rng.choice(FIRST), rng.choice(LAST)
    for n, (name, text) in enumerate((("Surname", who[1]), ("Given names", who[0]),
                                      ("Date of birth", date(rng, since=1950)),
                                      ("Number", f"{look.choice('KLM')}{digits(rng, 8)}"), ("Valid until", date(rng)))):
        s.text(x, 12 + n * 6.6, name, 1.9, "sans", GRAY)
        s.text(x, 14.2 + n * 6.6, text.upper(), 3.2, "sans-bold")
    s.text(4, 51, f"ID<{who[1].upper()}<<{who[0].upper()}<<<<{digits(rng, 10)}<<<<"[:36], 3.1, "mono", anchor="lm")
    image = s.done()
    if design % 4 == 0:
        return image
    if design % 4 == 1:
        return scanned(image, look, rng)
    table = ground(["wood", "marble", "felt", "stone"][design % 4], 1100, 760, design)
    return photographed(image, look, rng, Image.fromarray(table.astype(np.uint8)))


def ticket(design, look, rng):
    """Tickets and parcel labels: large fields, bars, a code of squares."""
    tone = colour(look, 40, 190)
    s = Sheet(150, 70, look.choice([7, 8.5]), (255, 255, 255))
    s.box(0, 0, 150, 12, tone)
    s.text(5, 6, look.choice(FIRMS), 6, "sans-bold", (255, 255, 255), "lm")
    s.line([(110, 12), (110, 70)], GRAY, 0.4)
    for n, (name, text) in enumerate((("From", rng.choice(TOWNS)), ("To", rng.choice(TOWNS)), ("Name", person(rng)))):
        s.text(5, 16 + n * 13, name, 3, "sans", GRAY)
        s.text(5, 19.5 + n * 13, text, 6, "sans-bold")
    for n, (name, text) in enumerate((("Date", date(rng)), ("Seat", f"{rng.randint(1, 39)}{rng.choice('ABCDEF')}"),
                                      ("Gate", str(rng.randint(1, 60))))):
        s.text(72, 16 + n * 13, name, 3, "sans", GRAY)
        s.text(72, 19.5 + n * 13, text, 5.4, "sans-bold")
    for row in range(20):
        for column in range(20):
            framed = row in (0, 19) or column in (0, 19)
            if (framed and (row + column) % 2 == 0) or (not framed and rng.random() < 0.5):
                s.box(115 + column * 1.45, 18 + row * 1.45, 116.45 + column * 1.45, 19.45 + row * 1.45, INK)
    s.text(129, 52, digits(rng, 10), 4, "mono", anchor="ma")
    s.text(5, 60, f"Class {look.randint(1, 2)}   Price {money(rng, 10, 400)}   No {digits(rng, 8)}", 4, "sans")
    return as_seen(s.done(), design + 1, look, rng, "stone")


DRAWN = {"idcards": (idcard, 4, 10), "tickets": (ticket, 4, 9)}  # family: (draw, designs, pictures of each)
CARDS = [(0, range(52)), (1, range(4, 40)), (2, range(0, 40))]
