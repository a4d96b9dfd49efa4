"""Families of lookalikes.py about one photograph with something put in, moved or written on it: captions, dates,
products, things and persons elsewhere, faces.

Enters: the material (lookalikes_photographs.py) and the seed. Leaves: `Picture`s; those of one `base` are alike.
"""

import random

import cv2
import numpy as np
from PIL import Image, ImageDraw

from lookalikes_boards import seven
from lookalikes_render import Landscape, developed, ground
from lookalikes_things import bottle, head, label, placed, thing
from lookalikes_tools import INK, Picture, Sheet, as_picture, as_pixels, noisy, seeded, slope, soft
from lookalikes_words import FIRMS, colour, date, person, phrase


def captions(material, seed):
    """One picture, several captions, in the ways of memes, agencies and films."""
    look = random.Random(f"{seed}/captions")
    for number, (name, pixels) in enumerate(material.scenes("captions", 14, look)):
        way, long = number % 4, look.randint(3, 4)
        for version in range(5 if number % 5 == 0 else 4):
            rng = random.Random(f"{seed}/captions/{number}/{version}")
            image = as_picture(pixels)
            w, h = image.size
            s = Sheet(100, 100 * h / w, w / 100, image)
            tall, size = s.height, 5.0
            text, other = phrase(rng, long), phrase(rng, long)
            if version == 4:
                pass  # the picture as it was
            elif way == 0:
                for y, line in ((2, text), (tall - 2 - size * 1.4, other)):
                    s.text(50, y, line.upper(), size, "sans-bold", (255, 255, 255), "ma", stroke_width=round(s.k * 0.5),
                           stroke_fill=(0, 0, 0))
            elif way == 1:
                s.box(0, tall - 9, 100, tall, (250, 250, 250))
                s.text(50, tall - 4.5, f"{text} {other.lower()}", 3.2, "sans-bold", INK, "mm")
            elif way == 2:
                s.text(50, tall - 8, f"{text},", 3.6, "sans", (255, 255, 255), "mm", stroke_width=round(s.k * 0.25),
                       stroke_fill=(0, 0, 0))
                s.text(50, tall - 4, f"{other.lower()}.", 3.6, "sans", (255, 255, 255), "mm",
                       stroke_width=round(s.k * 0.25), stroke_fill=(0, 0, 0))
            else:
                layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
                ImageDraw.Draw(layer).rectangle((0, round(h * 0.8), w, round(h * 0.92)), fill=(20, 20, 26, 150))
                s.image = Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")
                s.draw = ImageDraw.Draw(s.image)
                s.text(4, tall * 0.835, person(rng), 3.6, "sans-bold", (255, 255, 255), "lm")
                s.text(4, tall * 0.885, text, 2.8, "sans", (230, 230, 230), "lm")
            yield Picture(f"{number:02d}_{version}", s.done(), f"{number:02d}-{name}")


def dates(material, seed):
    """The date in a corner, as compact cameras burn it in; of one negative scanned twice, two dates would be two
    pictures."""
    look = random.Random(f"{seed}/dates")
    for number, (name, pixels) in enumerate(material.scenes("dates", 12, look)):
        for version in range(4):
            rng = random.Random(f"{seed}/dates/{number}/{version}")
            image = as_picture(noisy(pixels, 1.0, seeded(rng)))
            w, h = image.size
            s = Sheet(100, 100 * h / w, w / 100, image)
            hour, minute, second = rng.randint(10, 20), rng.randint(10, 59), rng.randint(10, 59)
            if number % 3 == 0:
                text = f"{rng.randint(10, 28)}.{rng.randint(10, 12)}.{rng.randint(10, 24)}"
                seven(s, 70.25, s.height - 7.75, text, 3.6, (110, 30, 0))
                seven(s, 70, s.height - 8, text, 3.6, (255, 150, 40))
            elif number % 3 == 1:
                s.text(97, s.height - 3, f"{date(rng)} {hour}:{minute}", 3.4, "mono-bold", (255, 170, 40), "rd",
                       stroke_width=1, stroke_fill=(90, 50, 10))
            else:
                s.text(3, 3, f"{date(rng)}  {hour}:{minute}:{second}  CAM {number}", 2.8, "mono", (255, 255, 255), "la",
                       stroke_width=1, stroke_fill=(0, 0, 0))
            yield Picture(f"{number:02d}_{version}", s.done(), f"{number:02d}-{name}")


def products(material, seed):
    """One bottle, other labels; the next flavour, the next size of print, another badge."""
    names = sorted(material.photographs)
    for design in range(6):
        look = random.Random(f"{seed}/products/{design}")
        w, h = look.choice([(900, 1100), (1000, 1000), (1200, 900)])
        kind = ["studio", "wood", "marble", "photo", "stone", "photo"][design]
        if kind == "photo" and names:  # something out of focus behind
            pixels = cv2.resize(material.photograph(look.choice(names), 1600), (w, h), interpolation=cv2.INTER_CUBIC)
            under = soft(pixels, w / 60)
        elif kind in ("studio", "photo"):
            y = np.linspace(0, 1, h, dtype=np.float32)[:, None, None]
            under = np.float32([236, 238, 240]) * (1 - 0.2 * y) + np.zeros((1, w, 1), np.float32)
        else:
            under = ground(kind, w, h, design)
        tone, paper, maker = colour(look, 60, 235), (246, 243, 234), look.choice(FIRMS)
        tall = round(h * 0.84)
        wide = round(tall * look.uniform(0.36, 0.6))
        band = colour(look, 40, 190)
        state = look.getstate()
        for version in range(8):
            rng = random.Random(f"{seed}/products/{design}/{version}")
            look.setstate(state)
            front, mask = bottle(wide, tall, look, tone, label(paper, rng, band, maker))
            cover = np.zeros((h, w), np.float32)
            x, y = (w - wide) // 2, round(h * 0.08)
            cover[y:y + tall, x:x + wide] = np.asarray(mask, np.float32) / 255
            shadow = soft(np.roll(cover, (8, round(w * 0.03)), (0, 1)), w / 40)
            out = under * (1 - 0.5 * shadow)[..., None] * (1 - cover)[..., None]
            out[y:y + tall, x:x + wide] += np.asarray(front, np.float32) * cover[y:y + tall, x:x + wide, None]
            if version % 4 == 3:  # a badge stuck on
                spot = Image.new("L", (w, h), 0)
                r = w * 0.028
                cx, cy = w / 2 + rng.choice([-0.2, 0.2]) * wide, y + tall * 0.38
                ImageDraw.Draw(spot).ellipse((cx - r, cy - r, cx + r, cy + r), fill=255)
                out += (np.asarray(spot, np.float32) / 255)[..., None] * (np.float32(colour(rng, 30, 230)) - out)
            out *= slope(h, w, design + 900, 0.12)
            yield Picture(f"{design:02d}_{version}", as_picture(noisy(out, 1.8, seeded(rng))), f"{design:02d}")


def things(material, seed):
    """A thing that lies elsewhere, is gone, or another thing; in still lifes one of the things on the table."""
    look = random.Random(f"{seed}/things")
    for number, (name, pixels) in enumerate(material.scenes("things", 9, look, renders=False)):
        kind, size = ["coin", "leaf", "key", "ball", "note"][number % 5], round(min(pixels.shape[:2])
                                                                                * look.uniform(0.06, 0.10))
        for version in range(5):
            rng = random.Random(f"{seed}/things/{number}/{version}")
            out = pixels
            if version < 4:
                h, w = pixels.shape[:2]
                cut = thing(kind, random.Random(f"{seed}/things/{number}"), size)
                out = placed(out, cut, rng.randint(w // 10, w - size - w // 10),
                             rng.randint(h // 10, h - size - h // 10))
            yield Picture(f"{number:02d}_{version}", as_picture(noisy(out, 1.5, seeded(rng))), f"{number:02d}-{name}")
    for number in range(6):
        scene = material.still_life(7000 + 31 * number + seed)
        for version in range(4):
            rng = random.Random(f"{seed}/stills/{number}/{version}")
            chosen = rng.randrange(len(scene.things))
            moved = {chosen: (rng.choice([-1, 1]) * rng.uniform(0.08, 0.16),
                              rng.uniform(-0.05, 0.05))} if version else {}
            if version == 3:
                smallest = min(range(len(scene.things)), key=lambda n: scene.things[n]["r"] * scene.things[n]["h"])
                moved = {smallest: None}
            light = scene.render(900, 600, moved=moved)
            yield Picture(f"s{number:02d}_{version}", as_picture(noisy(developed(light, 1.3), 1.5, seeded(rng))),
                          f"still-{number:02d}")


def persons(material, seed):
    """Persons put into the film's room and into landscapes: another one, or the same one elsewhere."""
    if not len(material.frames):
        return
    people = material.people
    room = material.room.astype(np.float32)
    for number in range(3):
        look = random.Random(f"{seed}/persons/{number}")
        # A camera of its own each: another window and size.
        x0, y0 = look.randint(0, 60), look.randint(0, 20)
        # Nobody stands twice where they stood: places in steps that a person sees.
        spots = [(who, 120 + 14 * step) for who in range(len(people)) for step in range(13 if number == 0 else 24)]
        look.shuffle(spots)
        for version in range(10):
            rng = random.Random(f"{seed}/persons/{number}/{version}")
            out = room.copy()
            for _ in range([1, 2, 1][number]):
                who, x = spots.pop()
                cut, mask, _, top = people[who]
                if rng.random() < 0.5:
                    cut, mask = cut[:, ::-1], mask[:, ::-1]
                h, w = mask.shape
                x += 180 if number == 0 else 0
                alpha = (mask.astype(np.float32) / 255)[..., None]
                out[top:top + h, x:x + w] += (cut - out[top:top + h, x:x + w]) * alpha
            out = out[y0:y0 + 400, x0:x0 + 700]
            out = cv2.resize(out, (1120, 640), interpolation=cv2.INTER_CUBIC) if number else out
            yield Picture(f"{number:02d}_{version}", as_picture(noisy(out, 1.5, seeded(rng))), f"{number:02d}-room")
    for number in range(4):
        width, height = 1200, 800
        seen = developed(Landscape(3 * (911 + number + seed) + 2, width, height).render(0.3 * number))
        for version in range(5):
            rng = random.Random(f"{seed}/hikers/{number}/{version}")
            out = seen.copy()
            for _ in range(1 if number % 2 else 2):
                cut, mask, _, _ = people[rng.randrange(len(people))]
                tall = round(height * 0.17)
                scale = tall / mask.shape[0]
                w = round(mask.shape[1] * scale)
                cut = cv2.resize(cut, (w, tall), interpolation=cv2.INTER_AREA)
                alpha = (cv2.resize(mask, (w, tall), interpolation=cv2.INTER_AREA).astype(np.float32) / 255)[..., None]
                x, y = rng.randint(width // 10, width - w - width // 10), round(height * 0.97) - tall
                out[y:y + tall, x:x + w] += (cut - out[y:y + tall, x:x + w]) * alpha
            yield Picture(f"h{number:02d}_{version}", as_picture(noisy(out, 1.8, seeded(rng))), f"{number:02d}-meadow")


def faces(material, seed):
    """A group that is taken again since someone blinked."""
    look = random.Random(f"{seed}/faces")
    for number, (name, pixels) in enumerate(material.scenes("faces", 6, look)):
        count = [3, 4, 5][number % 3]
        h, w = pixels.shape[:2]
        behind = as_picture(soft(pixels, w / 90))
        blinking = look.sample(range(2**count), 6)  # of each version who has the eyes shut, in bits
        for version in range(6):
            rng = random.Random(f"{seed}/faces/{number}/{version}")
            s = Sheet(300, 300 * h / w, w / 300, behind, fine=1)
            size = 250 / count
            for n in range(count):
                who = random.Random(f"{seed}/faces/{number}/who/{n}")
                head(s, 30 + (n + 0.5) * 240 / count + who.uniform(-3, 3), s.height * 0.52 + who.uniform(-8, 8), size,
                     who, rng, blinking[version] >> n & 1)
            drawn = cv2.GaussianBlur(as_pixels(s.done()), (0, 0), 1.2)
            drawn *= slope(h, w, number + 500, 0.14)
            yield Picture(f"{number:02d}_{version}", as_picture(noisy(drawn, 2.2, seeded(rng))), f"{number:02d}-{name}")


MADE = {"captions": captions, "dates": dates, "products": products, "things": things, "persons": persons,
        "faces": faces}
