"""What the families of lookalikes.py share: sheets to draw on, handwriting, noise, ways to be photographed.

Enters: `random.Random` objects, seeded by the caller for each design and for each picture. Leaves: pillow pictures in
RGB, or their pixels as float32. Everything that is drawn is made up; the fonts are those that matplotlib brings along.
"""

import dataclasses
import functools
import pathlib

import cv2
import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONTS = pathlib.Path(matplotlib.get_data_path()) / "fonts" / "ttf"
FACES = {
    "sans": "DejaVuSans", "sans-bold": "DejaVuSans-Bold", "sans-italic": "DejaVuSans-Oblique",
    "serif": "DejaVuSerif", "serif-bold": "DejaVuSerif-Bold", "serif-italic": "DejaVuSerif-Italic",
    "mono": "DejaVuSansMono", "mono-bold": "DejaVuSansMono-Bold",
    "times": "STIXGeneral", "times-bold": "STIXGeneralBol", "times-italic": "STIXGeneralItalic",
}
INK = (28, 28, 32)
GRAY = (120, 120, 126)
PALE = (205, 205, 210)


@dataclasses.dataclass
class Picture:
    """A picture to be written, with what truth.json tells of it."""

    name: str
    image: Image.Image
    base: str
    ending: str = ".jpg"
    save: dict = dataclasses.field(default_factory=dict)
    truth: dict = dataclasses.field(default_factory=dict)


@functools.lru_cache(maxsize=256)
def font(face, size):
    # The basic layout gives the same places on every machine, with or without libraqm.
    return ImageFont.truetype(FONTS / f"{FACES[face]}.ttf", size, layout_engine=ImageFont.Layout.BASIC)


class Sheet:
    """A canvas in units of its own (millimetres mostly, or pixels). `fine` draws that much larger and reduces at the
    end, which smooths lines that pillow draws in steps."""

    def __init__(self, width, height, scale=1.0, ground=(255, 255, 255), fine=1):
        self.width, self.height, self.fine, self.k = width, height, fine, scale * fine
        size = (round(width * scale) * fine, round(height * scale) * fine)
        if isinstance(ground, Image.Image):
            self.image = ground.convert("RGB").resize(size, Image.Resampling.BICUBIC)
        else:
            self.image = Image.new("RGB", size, ground)
        self.draw = ImageDraw.Draw(self.image)

    def _font(self, face, size):
        return font(face, max(5.0, round(size * self.k * 2) / 2))

    def _thick(self, width):
        return max(1, round(width * self.k))

    def at(self, points):
        return [(x * self.k, y * self.k) for x, y in points]

    def width_of(self, words, size, face="sans"):
        return self._font(face, size).getlength(words) / self.k

    def text(self, x, y, words, size, face="sans", fill=INK, anchor="la", **more):
        self.draw.text((x * self.k, y * self.k), words, fill=fill, font=self._font(face, size), anchor=anchor, **more)

    def line(self, points, fill=INK, width=0.3):
        self.draw.line(self.at(points), fill=fill, width=self._thick(width), joint="curve")

    def shape(self, points, fill=None, outline=None, width=0.3):
        self.draw.polygon(self.at(points), fill=fill, outline=outline, width=self._thick(width))

    def box(self, x0, y0, x1, y1, fill=None, outline=None, width=0.3, radius=0):
        (a, b), (c, d) = self.at([(x0, y0), (x1, y1)])
        thick = self._thick(width)
        if radius:
            self.draw.rounded_rectangle((a, b, c, d), radius * self.k, fill, outline, thick)
        else:
            self.draw.rectangle((a, b, c, d), fill, outline, thick)

    def disc(self, x, y, r, fill=None, outline=None, width=0.3, flat=1.0):
        k = self.k
        self.draw.ellipse(((x - r) * k, (y - r * flat) * k, (x + r) * k, (y + r * flat) * k), fill, outline,
                          self._thick(width))

    def paragraph(self, x, y, width, count, source, size, leading, face="sans", fill=INK, last=0.6):
        """`count` lines of words from the endless `source`, both margins straight as in print, so that pages with other
        words look alike from afar. Gives the y below."""
        space = self.width_of(" ", size, face)
        for number in range(count):
            limit = width * last if number == count - 1 else width
            words, taken = [], 0.0
            while True:
                word = next(source)
                word = word if words or number else word.capitalize()
                long = self.width_of(word, size, face)
                if words and taken + long + space * len(words) > limit:
                    break
                words.append((word, long))
                taken += long
            gap = space if number == count - 1 or len(words) < 2 else (width - taken) / (len(words) - 1)
            left = x
            for word, long in words:
                self.text(left, y, word, size, face, fill, anchor="ls")
                left += long + gap
            y += leading
        return y

    def hand(self, x, y, words, size, rng, fill=(30, 40, 110), width=0.5, slant=None):
        """Handwriting: strokes through a few points of each letter, each a little elsewhere. Gives the x behind."""
        unit = size / 6
        slant = rng.uniform(0.05, 0.3) if slant is None else slant
        drift, lean = rng.uniform(-0.02, 0.02), 0.0
        start = x
        for letter in words:
            if letter == " ":
                x += unit * rng.uniform(2.6, 3.4)
                continue
            grow = 1.25 if letter.isupper() else rng.uniform(0.92, 1.08)
            lean += rng.uniform(-0.3, 0.3) - 0.3 * lean
            widest = 0
            for stroke in STROKES.get(letter.lower(), "05 45").split("/"):
                points = [(int(p[0]), int(p[1])) for p in stroke.split()]
                widest = max(widest, *(p[0] for p in points))
                points = [(px + rng.uniform(-0.25, 0.25), py + rng.uniform(-0.25, 0.25)) for px, py in points]
                curve = smooth(points)
                self.line([(x + (px * 0.85 + (7 - py) * slant) * unit * grow,
                            y + ((py - 7) * grow + lean) * unit + (x - start) * drift) for px, py in curve], fill,
                            width)
            x += unit * grow * (widest * 0.85 + 1.1)
        return x

    def paste(self, image, x, y, width, height):
        size = (max(1, round(width * self.k)), max(1, round(height * self.k)))
        self.image.paste(image.resize(size, Image.Resampling.BICUBIC), (round(x * self.k), round(y * self.k)))

    def done(self):
        return self.image if self.fine == 1 else self.image.reduce(self.fine)


# A letter's strokes: points "xy", x 0..4, y 0..9, where 3 is the height of an x, 7 the base line.
STROKES = {
    "a": "44 33 13 05 17 27 45/44 47", "b": "00 07/05 13 34 45 36 17 07", "c": "44 33 13 05 17 37 46",
    "d": "44 33 13 05 17 27 45/40 47", "e": "05 45 34 23 04 06 17 37 46", "f": "40 30 21 27/13 33",
    "g": "44 33 13 05 17 27 45/43 48 39 19 08", "h": "00 07/05 13 33 44 47", "i": "13 17/11 12",
    "j": "23 28 19 09/21 22", "k": "00 07/43 05 47", "l": "10 16 27", "m": "03 07/05 13 24 27/25 33 44 47",
    "n": "03 07/05 13 33 44 47", "o": "23 04 06 27 46 44 23", "p": "03 09/05 13 34 45 36 17 07",
    "q": "44 33 13 05 17 27 45/43 49", "r": "03 07/05 13 33", "s": "44 33 13 04 25 46 37 17 06",
    "t": "10 16 27 36/03 33", "u": "03 06 17 27 45/43 47", "v": "03 27 43", "w": "03 17 24 37 43", "x": "03 47/43 07",
    "y": "03 26/43 26 09", "z": "03 43 07 47", "0": "21 03 05 27 45 43 21", "1": "13 21 27",
    "2": "03 12 21 32 43 07 47",
    "3": "02 21 32 23 35 36 27 06", "4": "31 05 45/31 37", "5": "41 11 04 24 45 36 17 06",
    "6": "31 13 05 17 37 45 24 05",
    "7": "01 41 17", "8": "24 12 21 32 24 05 17 37 45 24", "9": "43 24 03 11 31 43 37", "-": "05 35", ".": "16 17",
    ",": "16 18", "=": "04 34/06 36", "+": "05 45/23 27", "/": "41 07", ":": "13 14/16 17", ">": "03 45 07",
    "!": "10 15/16 17",
    "?": "02 10 30 42 25/26 27", "(": "30 13 15 37", ")": "10 33 35 17", "%": "41 07/02 11/46 37",
    "@": "44 24 26 46 41 11 05 17 37",
}


def smooth(points, steps=4):
    """A curve through all points (Catmull-Rom)."""
    if len(points) < 3:
        return points
    p = np.array([points[0], *points, points[-1]], np.float64)
    t = np.arange(steps)[:, None] / steps
    out = []
    for a, b, c, d in zip(p, p[1:], p[2:], p[3:]):
        out.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3))
    return [tuple(q) for q in np.concatenate([*out, p[-1:]])]


def seeded(rng):
    """A generator of arrays that follows from `rng`."""
    return np.random.default_rng(rng.getrandbits(48))


def fbm(height, width, cells, octaves, rng, falloff=0.5, stretch=1.0):
    """Clouds: noise of ever finer cells; about mean 0, deviation 1."""
    out = np.zeros((height, width), np.float32)
    strength, total = 1.0, 0.0
    for octave in range(octaves):
        n = cells * 2**octave
        across, down = max(2, round(n * stretch)), max(2, round(n * height / width))
        if down > height or across > width:
            break
        grid = rng.standard_normal((down + 3, across + 3), dtype=np.float32)
        # Enlarged a little and cut at a place of its own, so that the cells of the octaves do not meet at one corner.
        wide = cv2.resize(grid, (round(width * (across + 3) / across) + 1, round(height * (down + 3) / down) + 1),
                          interpolation=cv2.INTER_CUBIC)
        y, x = rng.integers(0, wide.shape[0] - height + 1), rng.integers(0, wide.shape[1] - width + 1)
        out += wide[y:y + height, x:x + width] * strength
        total += strength**2
        strength *= falloff
    return out * (1.6 / np.sqrt(total))


def as_picture(pixels):
    return Image.fromarray(np.clip(pixels + 0.5, 0, 255).astype(np.uint8))


def as_pixels(image):
    return np.asarray(image.convert("RGB")).astype(np.float32)


@functools.lru_cache(maxsize=1)
def _grain():
    return np.random.default_rng(5).standard_normal(1 << 23, dtype=np.float32)


def grain(shape, rng):
    """Noise of deviation 1. Pieces of one long roll, each from a place of its own: drawing it anew took most of the
    time."""
    roll, count = _grain(), int(np.prod(shape))
    if count > roll.size // 2:
        return rng.standard_normal(shape, dtype=np.float32)
    start = int(rng.integers(0, roll.size - count))
    return roll[start:start + count].reshape(shape)


def noisy(pixels, sigma, rng, coloured=0.4):
    """A sensor's noise, a part of it in colour."""
    h, w = pixels.shape[:2]
    if not coloured:
        return pixels + grain((h, w, 1), rng) * np.float32(sigma)
    tint = cv2.resize(grain(((h + 1) // 2, (w + 1) // 2, 3), rng), (w, h), interpolation=cv2.INTER_LINEAR)
    tint *= np.float32(sigma * coloured)
    tint += grain((h, w, 1), rng) * np.float32(sigma)
    tint += pixels
    return tint


def soft(field, sigma):
    """A wide blur, made small: what it leaves is smooth anyway."""
    factor = max(1, int(sigma / 3))
    h, w = field.shape[:2]
    small = cv2.resize(field, (max(1, w // factor), max(1, h // factor)), interpolation=cv2.INTER_AREA)
    return cv2.resize(cv2.GaussianBlur(small, (0, 0), sigma / factor), (w, h), interpolation=cv2.INTER_LINEAR)


@functools.lru_cache(maxsize=8)
def slope(height, width, seed, strength):
    """Uneven light: a plane and a bowl, about 1. It belongs to a design, so it is kept; one channel, to be
    broadcast."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[-1:1:height * 1j, -1:1:width * 1j].astype(np.float32)
    turn = rng.uniform(0, 2 * np.pi)
    bowl = rng.uniform(0, 1)
    light = 1 + np.float32(strength) * ((np.float32(np.cos(turn)) * x + np.float32(np.sin(turn)) * y) * 0.6
                                        - np.float32(bowl * 0.5) * (x * x + y * y))
    return light[..., None]


def scanned(image, design, rng, strength=1.0):
    """As a flatbed gives a sheet: hardly turned, a little soft, uneven light, noise. The scanner belongs to the
    design."""
    light = design.getrandbits(48)
    softness, sigma, tint = design.uniform(0.3, 0.6), design.uniform(1.0, 2.5), [design.uniform(0.965, 1.0)
                                                                                 for _ in range(3)]
    pixels = as_pixels(image)
    h, w = pixels.shape[:2]
    turn = cv2.getRotationMatrix2D((w / 2, h / 2), rng.uniform(-0.2, 0.2) * strength, 1.0)
    turn[:, 2] += [rng.uniform(-1.2, 1.2) * strength, rng.uniform(-1.2, 1.2) * strength]
    pixels = cv2.warpAffine(pixels, turn, (w, h), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    pixels = cv2.GaussianBlur(pixels, (0, 0), softness)
    pixels = 8 + pixels * (slope(h, w, light, 0.035) * np.float32(tint)) * 0.955
    return as_picture(noisy(pixels, sigma, seeded(rng), 0.2))


def photographed(image, design, rng, ground, hand=1.5):
    """As a camera above a table sees a sheet: `ground` is the table, the place belongs to the design, the hand to
    `rng`."""
    table = as_pixels(ground)
    h, w = table.shape[:2]
    iw, ih = image.size
    # The sheet fills the frame as far as its shape allows.
    fit = min(w * 0.9 / iw, h * 0.92 / ih)
    dx, dy = iw * fit / 2, ih * fit / 2
    corners = [(w / 2 - dx, h / 2 - dy), (w / 2 + dx, h / 2 - dy), (w / 2 + dx, h / 2 + dy), (w / 2 - dx, h / 2 + dy)]
    jitter = 0.025 * min(w, h)
    corners = [(x + design.uniform(-jitter, jitter), y + design.uniform(-jitter, jitter)) for x, y in corners]
    corners = [(x + rng.uniform(-hand, hand), y + rng.uniform(-hand, hand)) for x, y in corners]
    light, sigma = design.getrandbits(48), design.uniform(1.5, 3.5)
    strength, warm = design.uniform(0.1, 0.25), [design.uniform(0.9, 1.0) for _ in range(3)]
    move = cv2.getPerspectiveTransform(np.float32([(0, 0), (iw, 0), (iw, ih), (0, ih)]), np.float32(corners))
    if fit < 0.8:
        image = image.resize((round(iw * fit), round(ih * fit)), Image.Resampling.LANCZOS)
        move = move @ np.diag([iw / image.width, ih / image.height, 1])
    sheet = cv2.warpPerspective(as_pixels(image), move, (w, h), flags=cv2.INTER_LINEAR)
    cover = cv2.warpPerspective(np.ones((image.height, image.width), np.float32), move, (w, h), flags=cv2.INTER_LINEAR)
    shadow = soft(np.roll(cover, (round(h * 0.008), round(w * 0.006)), (0, 1)), min(w, h) * 0.008)
    out = table * (1 - 0.55 * shadow * (1 - cover))[..., None]
    out = out * (1 - cover[..., None]) + sheet * cover[..., None] * 0.93
    out *= slope(h, w, light, strength) * np.float32(warm)
    return as_picture(noisy(cv2.GaussianBlur(out, (0, 0), 0.6), sigma, seeded(rng)))
