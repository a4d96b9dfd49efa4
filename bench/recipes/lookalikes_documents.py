"""Families of lookalikes.py on paper: invoices, receipts, forms, letters, pages of text, tables, sheet
music, and A4 pages of which one digit of 8 points differs.

Enters: for each family `draw(design, look, rng)`: the number of the design, a generator that is seeded by the design
alone (everything taken from it is the same in all pictures of the design), and one of the picture's own. Leaves: the
picture.
"""

import random

import numpy as np
from PIL import Image

from lookalikes_render import ground
from lookalikes_tools import GRAY, INK, PALE, Sheet, photographed, scanned
from lookalikes_words import (
    COMMON, FIRMS, FIRST, FOOD, GOODS, LAST, TOWNS, address, colour, date, digits, person, phrase, shaded, words,
)


def money(rng, low=4, high=900):
    return f"{rng.uniform(low, high):.2f}"


def as_seen(image, design, look, rng, table=None):
    """Clean as exported, or scanned, or photographed on a table: by the design."""
    way = design % 3
    if table is not None and way == 2:
        w, h = (1000, 1300) if image.height > image.width else (1300, 1000)
        return photographed(image, look, rng, Image.fromarray(ground(table, w, h, design).astype(np.uint8)))
    return scanned(image, look, rng) if way == 1 else image


def invoice(design, look, rng):
    tone, face = colour(look, 20, 150), ["sans", "serif", "times", "sans", "sans"][design % 5]
    bold = face + "-bold"
    s = Sheet(210, 297, look.choice([4.2, 4.8, 5.4]))
    firm, town = look.choice(FIRMS), address(look)
    left, lines = 20, look.randint(5, 9)
    if design % 2:
        s.box(0, 0, 210, 34, tone)
        s.text(left, 12, firm, 9, bold, (255, 255, 255))
    else:
        s.disc(left + 8, 20, 8, tone)
        s.text(left + 8, 20, firm[0], 9, bold, (255, 255, 255), "mm")
        s.text(left + 22, 14, firm, 8, bold, tone)
    s.text(190, 40, ", ".join(town), 3.2, face, GRAY, "ra")
    s.text(190, 45, f"Tel. {digits(look, 4)} {digits(look, 5)}", 3.2, face, GRAY, "ra")
    to = address(rng)
    for row, text in enumerate((person(rng), *to)):
        s.text(left, 58 + row * 5.5, text, 4, face)
    s.text(left, 86, f"Invoice {digits(rng, 6)}", 6, bold, tone)
    for row, (name, text) in enumerate((("Date", date(rng)), ("Customer", digits(rng, 5)), ("Due", date(rng)))):
        s.text(140, 58 + row * 5.5, name, 4, face, GRAY)
        s.text(190, 58 + row * 5.5, text, 4, face, anchor="ra")
    top, step = 100, 10.5
    s.box(left, top, 190, top + 8, shaded(tone, 1.0) if design % 2 else PALE)
    for x, name, anchor in ((22, "Pos", "lm"), (35, "Article", "lm"), (140, "Qty", "rm"), (165, "Price", "rm"),
                            (188, "Sum", "rm")):
        s.text(x, top + 4, name, 3.8, bold, (255, 255, 255) if design % 2 else INK, anchor)
    total = 0.0
    for row in range(lines):
        y = top + 13 + row * step
        count, price = rng.randint(1, 40), rng.uniform(2, 120)
        total += count * price
        for x, text, anchor in ((22, str(row + 1), "lm"), (35, rng.choice(GOODS), "lm"), (140, str(count), "rm"),
                                (165, f"{price:.2f}", "rm"), (188, f"{count * price:.2f}", "rm")):
            s.text(x, y, text, 4, face, anchor=anchor)
        s.line([(left, y + step / 2), (190, y + step / 2)], PALE)
    y = top + 20 + lines * step
    for name, value, weight in (("Net", total, face), ("Tax 19 %", total * 0.19, face), ("Total", total * 1.19, bold)):
        s.text(150, y, name, 4.2, weight, anchor="rm")
        s.text(188, y, f"{value:.2f}", 4.2, weight, anchor="rm")
        y += 7
    s.line([(120, y - 3), (190, y - 3)], tone, 0.6)
    s.paragraph(left, 262, 170, 2, words(look), 3.4, 5, face, GRAY)
    s.line([(left, 275), (190, 275)], tone, 0.4)
    s.text(105, 280, f"Bank of {look.choice(TOWNS)}  Account {digits(look, 10)}", 3.2, face, GRAY, "ma")
    return as_seen(s.done(), design, look, rng, "wood")


def receipt(design, look, rng):
    count = look.randint(9, 16)
    height = 78 + count * 6 + 40
    s = Sheet(80, height, 8, (252, 251, 247))
    s.text(40, 8, look.choice(FIRMS).upper(), 6, "mono-bold", anchor="ma")
    s.text(40, 17, address(look)[0], 3.4, "mono", anchor="ma")
    s.text(40, 22, f"Tax no {digits(look, 9)}", 3.4, "mono", anchor="ma")
    s.text(6, 34, date(rng), 3.6, "mono")
    s.text(74, 34, f"{rng.randint(8, 20):02d}:{rng.randint(0, 59):02d}", 3.6, "mono", anchor="ra")
    s.text(6, 40, f"Till {rng.randint(1, 9)}  No {digits(rng, 5)}", 3.6, "mono")
    s.text(40, 47, "-" * 36, 3.4, "mono", anchor="ma")
    y, total = 54, 0.0
    for _ in range(count):
        price = rng.uniform(0.5, 19)
        total += price
        s.text(6, y, rng.choice(FOOD), 3.8, "mono")
        s.text(74, y, f"{price:.2f} {rng.choice('AB')}", 3.8, "mono", anchor="ra")
        y += 6
    s.text(40, y, "=" * 36, 3.4, "mono", anchor="ma")
    s.text(6, y + 7, "TOTAL", 5.4, "mono-bold")
    s.text(74, y + 7, f"{total:.2f}", 5.4, "mono-bold", anchor="ra")
    s.text(6, y + 16, "Card" if design % 2 else "Cash", 3.8, "mono")
    s.text(74, y + 16, f"{total:.2f}", 3.8, "mono", anchor="ra")
    x = 14.0
    while x < 66:
        wide = rng.choice([0.4, 0.4, 0.8, 1.2])
        s.box(x, y + 26, x + wide, y + 38, INK)
        x += wide + rng.choice([0.4, 0.8])
    s.text(40, y + 41, "Thank you", 3.8, "mono", anchor="ma")
    image = s.done()
    if design % 4 == 1:
        return scanned(image, look, rng)
    if image.width * 1.9 < image.height:
        image = image.resize((image.width, round(image.width * 1.9)), Image.Resampling.BICUBIC)
    table = ground(["wood", "stone", "marble", "carpet"][design % 4], 900, 1200, design + 3)
    return photographed(image, look, rng, Image.fromarray(table.astype(np.uint8)))


def form(design, look, rng):
    tint = [(255, 255, 255), (253, 246, 236), (238, 246, 240), (255, 255, 255)][design % 4]
    tone = colour(look, 20, 130)
    s = Sheet(210, 297, look.choice([4.2, 4.8]), tint)
    s.text(20, 18, f"{phrase(look, 2)} form", 8, "sans-bold", tone)
    s.text(190, 18, f"Form {digits(look, 3)}-{look.choice('ABCD')}", 4, "sans", GRAY, "ra")
    s.paragraph(20, 36, 170, 3, words(look), 3.4, 5, "sans", GRAY)
    ink, pen = [(25, 35, 110), (30, 30, 34)][design % 2], rng.randint(0, 10**9)
    pen, y = random.Random(pen), 56
    while y < 235:
        kind = look.choice(["line", "line", "boxes", "checks", "two"])
        s.text(20, y, phrase(look, 2), 3.4, "sans", tone)
        if kind == "boxes":
            for n in range(14):
                s.box(20 + n * 8, y + 5, 28 + n * 8, y + 14, (255, 255, 255), GRAY)
                s.hand(22 + n * 8, y + 12.5, pen.choice("0123456789"), 6, pen, ink, 0.45, 0.1)
        elif kind == "checks":
            chosen = pen.randint(0, 3)
            for n in range(4):
                s.box(20 + n * 42, y + 6, 25 + n * 42, y + 11, (255, 255, 255), GRAY)
                s.text(28 + n * 42, y + 8.5, phrase(look, 1), 3.6, "sans", anchor="lm")
                if n == chosen:
                    s.line([(20.5 + n * 42, y + 6.5), (24.5 + n * 42, y + 10.5)], ink, 0.6)
                    s.line([(24.5 + n * 42, y + 6.2), (20.5 + n * 42, y + 10.8)], ink, 0.6)
        else:
            for x0, x1 in ((20, 100), (110, 190)) if kind == "two" else ((20, 190),):
                s.box(x0, y + 5, x1, y + 15, (255, 255, 255), GRAY)
                text = look.choice([person, date, lambda r: address(r)[0], lambda r: r.choice(TOWNS)])(pen)
                s.hand(x0 + 3, y + 12.5, text, 6.5, pen, ink, 0.45)
        y += 22
    s.line([(20, 262), (95, 262)], GRAY)
    s.line([(115, 262), (190, 262)], GRAY)
    s.text(20, 264, "Place, date", 3, "sans", GRAY)
    s.text(115, 264, "Signature", 3, "sans", GRAY)
    s.hand(22, 260, f"{pen.choice(TOWNS)}, {date(pen)}", 6, pen, ink, 0.45)
    s.hand(120, 260, pen.choice(LAST), 9, pen, ink, 0.5, 0.4)
    return as_seen(s.done(), [1, 2, 1, 0][design % 4], look, rng, "wood")


def letter(design, look, rng):
    face, tone = ["serif", "sans", "times"][design % 3], colour(look, 20, 140)
    s = Sheet(210, 297, look.choice([4.0, 4.6, 5.2]))
    firm = look.choice(FIRMS)
    if design % 3 == 0:
        s.text(105, 18, firm, 9, "serif-bold", tone, "ma")
        s.line([(20, 32), (190, 32)], tone, 0.5)
    elif design % 3 == 1:
        s.box(0, 0, 8, 297, tone)
        s.text(190, 16, firm, 7, "sans-bold", tone, "ra")
    else:
        s.shape([(150, 10), (190, 10), (170, 40)], tone)
        s.text(25, 16, firm, 9, "times-bold")
    for row, text in enumerate((person(rng), *address(rng))):
        s.text(25, 52 + row * 5.5, text, 4.2, face)
    s.text(185, 78, f"{look.choice(TOWNS)}, {date(rng)}", 4.2, face, anchor="ra")
    s.text(25, 92, phrase(rng, 4), 4.4, face + "-bold")
    s.text(25, 104, f"Dear {rng.choice(FIRST)},", 4.2, face)
    y, source = 116, words(rng)
    for count in [look.randint(3, 6) for _ in range(4)]:
        y = s.paragraph(25, y, 160, count, source, 4.2, 6, face) + 4
    s.text(25, y + 2, "Kind regards", 4.2, face)
    s.hand(28, y + 20, person(look), 9, rng, (25, 35, 110), 0.5, 0.4)
    s.text(105, 284, "   ".join(address(look)), 3, face, GRAY, "ma")
    return as_seen(s.done(), design + 1, look, rng, "marble")


def textpage(design, look, rng):
    """A page of a book or paper: the paragraphs' lengths belong to the design, so that only the words differ."""
    face = ["serif", "times", "sans", "serif", "times"][design % 5]
    narrow = design % 2
    s = Sheet(210, 297, look.choice([4.2, 4.8]), (255, 255, 255) if design % 3 else (252, 249, 241))
    source = words(rng)
    s.text(105, 12, phrase(look, 3), 3.4, face, GRAY, "ma")
    s.text(105, 284, str(rng.randint(2, 400)), 3.6, face, anchor="ma")
    size = look.uniform(3.6, 4.4)
    top = 26
    if look.random() < 0.6:
        s.text(20, 22, phrase(rng, 3), 6.5, face + "-bold")
        top = 40
    for x, wide in ((20, 82), (108, 82)) if narrow else ((22, 166),):
        y = top
        while y < 262:
            count = min(look.randint(4, 12), int((276 - y) // (size * 1.45)))
            y = s.paragraph(x, y, wide, count, source, size, size * 1.45, face, last=look.uniform(0.4, 0.9)) + 2
    return as_seen(s.done(), design + 1, look, rng, "wood")


def table(design, look, rng):
    """A sheet of cells: printed, or a program's window."""
    rows, columns = look.randint(22, 34), look.randint(6, 9)
    tone = colour(look, 30, 140)
    s = Sheet(300, 200, look.choice([3.6, 4.0, 4.6]))
    x0, y0 = (12, 22) if design % 2 else (8, 14)
    widths = [look.uniform(1, 2.4) for _ in range(columns)]
    scale = (292 - x0) / sum(widths)
    step = (196 - y0) / rows
    size = min(4.2, step * 0.62)
    if design % 2:
        s.box(0, 0, 300, 14, tone)
        s.text(4, 7, f"{look.choice(COMMON)}-{look.randint(2015, 2024)}", 4.5, "sans", (255, 255, 255), "lm")
        s.box(x0, 15, 292, y0, (236, 236, 238))
        x = x0
        for n, wide in enumerate(widths):
            s.text(x + wide * scale / 2, 18.5, chr(65 + n), 3.4, "sans", GRAY, "mm")
            x += wide * scale
    else:
        s.text(x0, 4, phrase(look, 3), 5, "sans-bold")
    kinds = [look.choice(["name", "whole", "money", "percent", "word"]) for _ in range(columns)]
    kinds[0] = "name"
    heads = [phrase(look, 1) for _ in range(columns)]
    for row in range(rows):
        y = y0 + row * step
        if row == 0:
            s.box(x0, y, 292, y + step, tone if not design % 2 else (222, 226, 234))
        elif row % 2 == 0 and design % 3 == 0:
            s.box(x0, y, 292, y + step, (242, 244, 248))
        if design % 2:
            s.text(x0 - 6, y + step / 2, str(row + 1), size * 0.9, "sans", GRAY, "mm")
        x = x0
        for n, wide in enumerate(widths):
            wide *= scale
            if row == 0:
                s.text(x + 2, y + step / 2, heads[n], size, "sans-bold", INK if design % 2 else (255, 255, 255), "lm")
            else:
                text = {"name": rng.choice(LAST), "whole": str(rng.randint(10, 9999)), "money": money(rng),
                        "percent": f"{rng.uniform(0, 100):.1f} %", "word": rng.choice(COMMON)}[kinds[n]]
                left = kinds[n] in ("name", "word")
                s.text(x + 2 if left else x + wide - 2, y + step / 2, text, size, "sans", anchor="lm" if left else "rm")
            s.box(x, y, x + wide, y + step, None, PALE)
            x += wide
    return as_seen(s.done(), [0, 0, 1, 0][design % 4], look, rng)


def music(design, look, rng):
    s = Sheet(210, 280, 5, (255, 255, 255) if design % 2 else (250, 245, 232))
    s.text(105, 12, phrase(look, 2), 9, "serif-bold", anchor="ma")
    s.text(190, 26, person(look), 4, "serif-italic", anchor="ra")
    staves, bars = [9, 11, 10][design % 3], 4
    gap = (265 - 42) / staves
    for stave in range(staves):
        y = 42 + stave * gap
        for n in range(5):
            s.line([(16, y + n * 2), (194, y + n * 2)], INK, 0.15)
        s.line([(22, y - 3), (19, y + 6), (23, y + 9), (21, y + 11), (22, y - 3)], INK, 0.6)
        s.disc(21, y + 5.5, 2.2, None, INK, 0.6)
        for bar in range(bars + 1):
            s.line([(16 + 178 * bar / bars, y), (16 + 178 * bar / bars, y + 8)], INK, 0.4)
        for bar in range(bars):
            rhythm = look.choice([(4, 4, 4, 4), (8, 8, 8, 8, 4, 4), (2, 4, 4), (4, 8, 8, 4, 4), (8,) * 8])
            left = 16 + 178 * bar / bars + (12 if bar == 0 else 5)
            room = 178 / bars - (14 if bar == 0 else 7)
            before = None
            for n, note in enumerate(rhythm):
                x = left + room * n / len(rhythm)
                step = rng.randint(-1, 9)
                at = y + 8 - step
                s.disc(x, at, 1.25, None if note == 2 else INK, INK, 0.4, flat=0.78)
                down = step > 4
                stem = (x - 1.15, at + 7) if down else (x + 1.15, at - 7)
                s.line([(stem[0], at), stem], INK, 0.3)
                if note == 8 and before and before[1] == down and n % 2:
                    s.line([before[0], stem], INK, 0.9)
                elif note == 8 and (n % 2 or n == len(rhythm) - 1):
                    s.line([stem, (stem[0] + 2, stem[1] + (-3 if down else 3))], INK, 0.5)
                before = (stem, down)
                if step < 0:
                    s.line([(x - 2.2, y + 10), (x + 2.2, y + 10)], INK, 0.2)
    return as_seen(s.done(), design, look, rng, "wood")


SIMILAR = {"0": "8639", "1": "74", "2": "37", "3": "85", "4": "19", "5": "63", "6": "85", "7": "12", "8": "306",
           "9": "80"}


def fine_print(dpi, tint, look, change):
    """An A4 page, grey, with a column of figures of 8 points; `change` is the number of the digit that another
    replaces, None for none. Gives the picture and the place of the digit."""
    px = dpi / 25.4
    s = Sheet(210, 297, px, tint)
    point = 25.4 / 72
    source = words(look)
    s.text(22, 18, phrase(look, 3), 15 * point, "sans-bold", (0, 0, 0))
    y = s.paragraph(22, 34, 166, look.randint(8, 14), source, 10 * point, 5, "serif", (0, 0, 0)) + 6
    rows = look.randint(22, 28)
    places = []
    chosen = change
    for row in range(rows):
        s.text(22, y, look.choice(GOODS), 8 * point, "sans", (0, 0, 0), "ls")
        for column in range(5):
            text = f"{look.randint(100, 99999) / 100:.2f}"
            right = 90 + column * 24
            left = right - s.width_of(text, 8 * point, "sans")
            for n, letter in enumerate(text):
                if letter.isdigit():
                    if chosen == len(places):
                        before = text
                        text = text[:n] + SIMILAR[letter][row % len(SIMILAR[letter])] + text[n + 1:]
                        assert text != before
                    a = left + s.width_of(text[:n], 8 * point, "sans")
                    b = left + s.width_of(text[:n + 1], 8 * point, "sans")
                    places.append((a / 210, (y - 2.4) / 297, b / 210, (y + 0.4) / 297))
            s.text(left, y, text, 8 * point, "sans", (0, 0, 0), "ls")
        y += 4.6
    s.paragraph(22, y + 8, 166, max(2, int((280 - y - 8) // 5)), source, 10 * point, 5, "serif", (0, 0, 0))
    image = s.done()
    return (image.convert("L") if tint == (255, 255, 255) else image), places


DRAWN = {  # family: (draw, designs, pictures of each)
    "invoices": (invoice, 6, 9), "receipts": (receipt, 5, 9), "forms": (form, 4, 9), "letters": (letter, 4, 8),
    "textpages": (textpage, 5, 8), "tables": (table, 4, 9), "music": (music, 3, 9),
}
