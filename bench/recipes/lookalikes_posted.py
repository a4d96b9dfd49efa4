"""Copies for lookalikes.py as phones, messengers and social media make them: cut, framed, turned, shown on a screen.

Enters: photographs, the seed. Leaves: OUTDIR/copies/posted/BASE__EDIT.jpg and the rows of truth.json. A crop's `window`
is what it has of its original; everything else shows the whole of it.
"""

import random

from lookalikes_copies import cropped, framed, photographs, scaled
from lookalikes_tools import font
from lookalikes_words import phrase
from PIL import Image, ImageDraw, ImageFilter, ImageOps


def cut(image, width, height, rng):
    """A window of that share of either side, anywhere in the picture; in its middle without `rng`."""
    w, h = round(image.width * width), round(image.height * height)
    x = rng.randint(0, image.width - w) if rng else (image.width - w) // 2
    y = rng.randint(0, image.height - h) if rng else (image.height - h) // 2
    window = [x / image.width, y / image.height, (x + w) / image.width, (y + h) / image.height]
    return image.crop((x, y, x + w, y + h)), window


def to_aspect(image, aspect, rng=None):
    """Cut along one side to width : height = aspect."""
    now = image.width / image.height
    return cut(image, min(1, aspect / now), min(1, now / aspect), rng)


def padded(image, aspect, tone):
    """Bars of one tone that make it width : height = aspect."""
    now = image.width / image.height
    size = (image.width, round(image.width / aspect)) if now > aspect else (round(image.height * aspect), image.height)
    out = Image.new("RGB", size, tone)
    out.paste(image, ((size[0] - image.width) // 2, (size[1] - image.height) // 2))
    return out


def before_itself(image, aspect):
    """Before an enlarged and blurred copy of itself, as phones fill what they show upright."""
    out = ImageOps.fit(image, padded(image, aspect, 0).size).filter(ImageFilter.GaussianBlur(max(image.size) / 40))
    out.paste(image, ((out.width - image.width) // 2, (out.height - image.height) // 2))
    return out


def polaroid(image):
    edge = round(max(image.size) * 0.05)
    out = Image.new("RGB", (image.width + 2 * edge, image.height + 5 * edge), (250, 249, 244))
    out.paste(image, (edge, edge))
    return out


def on_phone(image, dark, rng):
    """540 x 1170: a bar of state on top, the picture as wide as the screen, a row of buttons below."""
    ground, ink = ((0, 0, 0), (235, 235, 235)) if dark else ((255, 255, 255), (30, 30, 30))
    out = Image.new("RGB", (540, 1170), ground)
    picture = scaled(image, 540 / image.width)
    if picture.height > 900:
        picture = scaled(image, 900 / image.height)
    out.paste(picture, ((540 - picture.width) // 2, (1170 - picture.height) // 2))
    draw = ImageDraw.Draw(out)
    draw.text((28, 18), f"{rng.randint(7, 22)}:{rng.randint(10, 59)}", fill=ink, font=font("sans-bold", 22))
    draw.rectangle((478, 22, 512, 36), outline=ink, width=2)
    draw.rectangle((481, 25, 481 + rng.randint(8, 26), 33), fill=ink)
    draw.text((60, 66), phrase(rng, 2), fill=ink, font=font("sans", 24))
    for button in range(4):
        x = 80 + button * 127
        draw.ellipse((x - 16, 1090, x + 16, 1122), outline=ink, width=3)
    return out


def on_desktop(image, rng):
    """1280 x 800: a viewer's window with its title and tools, the picture in its middle."""
    out = Image.new("RGB", (1280, 800), (46, 46, 50))
    draw = ImageDraw.Draw(out)
    draw.rectangle((0, 0, 1280, 44), fill=(222, 222, 226))
    draw.text((20, 10), f"{phrase(rng, 2)}.jpg", fill=(40, 40, 40), font=font("sans", 20))
    for button in range(6):
        draw.rectangle((900 + 52 * button, 10, 928 + 52 * button, 34), outline=(90, 90, 90), width=2)
    room = (1240, 720)
    picture = scaled(image, min(room[0] / image.width, room[1] / image.height))
    out.paste(picture, ((1280 - picture.width) // 2, 44 + (756 - picture.height) // 2))
    return out


def posted(image, rng):
    """(edit, picture, window)."""
    for part in (95, 90):
        for place in "ab":
            yield f"crop{part}{place}", *cropped(image, part / 100, rng)
        yield f"crop{part}wide", *cut(image, 1, part / 100, rng)
        yield f"crop{part}tall", *cut(image, part / 100, 1, rng)
    for part in (80, 70):
        for place in "ab":
            yield f"crop{part}{place}", *cropped(image, part / 100, rng)
        yield f"crop{part}middle", *cut(image, part / 100, part / 100, None)
    yield "square", *to_aspect(image, 1)
    yield "squareoff", *to_aspect(image, 1, rng)
    landscape = image.width >= image.height
    yield "cinema", *to_aspect(image, 2.1 if landscape else 1 / 2.1, rng)
    for name, part, tone in (("white6", 0.06, (255, 255, 255)), ("white3", 0.03, (255, 255, 255)),
                             ("black2", 0.02, (0, 0, 0)), ("gray5", 0.05, (128, 128, 128))):
        yield f"frame-{name}", framed(image, part, tone), None
    yield "letterbox", padded(image, image.width / image.height / 1.4, (0, 0, 0)), None
    yield "pillarbox", padded(image, image.width / image.height * 1.4, (0, 0, 0)), None
    yield "whitebox", padded(image, 1, (255, 255, 255)), None
    yield "polaroid", polaroid(image), None
    yield "blurred-square", before_itself(image, 1), None
    yield "blurred-story", before_itself(image, 9 / 16 if landscape else 16 / 9), None
    yield "phone-dark", on_phone(image, True, rng), None
    yield "phone-light", on_phone(image, False, rng), None
    yield "desktop", on_desktop(image, rng), None
    yield "mirror", image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), None
    yield "rotated90", image.transpose(Image.Transpose.ROTATE_90), None
    yield "rotated180", image.transpose(Image.Transpose.ROTATE_180), None


def make(out, material, seed):
    rows = []
    for name, source in photographs(material, seed):
        rng = random.Random(f"{seed}/posted/{name}")
        image = source if isinstance(source, Image.Image) else Image.open(source).convert("RGB")
        original = f"copies/posted/{name}__original.jpg"
        image.save(out / original, quality=93)
        row = {"set": "copies", "family": "posted", "base": name, "original": original, "expected": "copy", "group": name}
        rows.append(row | {"path": original, "edit": "original"})
        for edit, picture, window in posted(image, rng):
            path = f"copies/posted/{name}__{edit}.jpg"
            picture.save(out / path, quality=rng.choice([80, 85, 90]))
            rows.append(row | {"path": path, "edit": edit} | ({"window": window} if window else {}))
    return rows
