"""True copies for lookalikes.py, and altered versions of the same originals: of photographs, of graphics, of A4 pages.

Enters: the material, the seed, and the drawing functions of the other modules. Leaves:
OUTDIR/copies/FAMILY/BASE__EDIT.* and the rows of truth.json. An altered version differs from its original at a known
place by as much as a person would see; a copy shows all and only what the original, or that window of it, shows, and
none of its tones is clipped.
"""

import random
import shutil
import subprocess
import tempfile

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageOps

import lookalikes_cards as cards
from lookalikes_documents import fine_print
from lookalikes_photographs import CAMERAS, enlarged, some_day, tags
from lookalikes_render import developed
from lookalikes_tools import as_picture, as_pixels, font, noisy, seeded
from lookalikes_words import date, digits, phrase

FAMILIES = ["photographs", "graphics", "pages"]
GRAPHICS = [("invoices", 0), ("invoices", 3), ("letters", 2), ("textpages", 2), ("tables", 0), ("tables", 1),
            ("idcards", 0), ("music", 0),
            ("tickets", 2), ("chess", 0), ("slides", 0), ("slides", 2), ("charts", 0), ("charts", 2), ("maps", 0),
            ("maps", 1), ("screens", 0),
            ("screens", 2), ("screens", 3)]


def scaled(image, factor):
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    return image.resize(size, Image.Resampling.LANCZOS)


def toned(image, curve):
    table = [min(255, max(0, round(255 * curve(v / 255)))) for v in range(256)]
    return image.point(table * len(image.getbands()))


def brightened(image, factor):
    """By a factor where nothing is clipped by it; else with a shoulder, as editors do."""
    if factor < 1 or np.percentile(np.asarray(image), 99.9) * factor <= 255:
        return toned(image, lambda v: v * factor)
    return toned(image, lambda v: v * factor / (1 + (factor - 1) * v**3))


def contrasted(image, factor):
    """The slope in the middle is `factor`; black and white stay."""
    return toned(image, lambda v: v + (factor - 1) * np.sin(2 * np.pi * (v - 0.5)) / (2 * np.pi))


def grained(image, sigma, rng):
    pixels = as_pixels(image)
    return as_picture(pixels + seeded(rng).standard_normal(pixels.shape, dtype=np.float32) * sigma)


def framed(image, part, tone):
    return ImageOps.expand(image, round(max(image.size) * part), tone)


def cropped(image, part, rng):
    w, h = round(image.width * part), round(image.height * part)
    x, y = rng.randint(0, image.width - w), rng.randint(0, image.height - h)
    window = [x / image.width, y / image.height, (x + w) / image.width, (y + h) / image.height]
    return image.crop((x, y, x + w, y + h)), window


def true_copies(image, exif, rng):
    """(edit, picture, ending, how it is saved, window)."""
    jpeg, kept = {"quality": 92}, {"quality": 92} | ({"exif": exif} if exif else {})
    for quality in (30, 50, 70, 85):
        yield f"q{quality}", image, ".jpg", kept | {"quality": quality} if quality > 60 else {"quality": quality}, None
    yield "webp75", image, ".webp", {"quality": 75, "method": 1}, None
    yield "png", image, ".png", {"compress_level": 1}, None
    yield "heic", image, ".heic", {}, None
    for part in (75, 50, 40):
        yield f"scale{part}", scaled(image, part / 100), ".jpg", kept if part == 75 else jpeg, None
    yield "thumb320", scaled(image, 320 / max(image.size)), ".jpg", {"quality": 85}, None
    for value, turn in ((6, Image.Transpose.ROTATE_90), (3, Image.Transpose.ROTATE_180),
                        (8, Image.Transpose.ROTATE_270)):
        turned = Image.Exif()
        turned[0x0112] = value
        yield f"exif{value}", image.transpose(turn), ".jpg", jpeg | {"exif": turned}, None
    for sigma in (4, 8):
        yield f"grain{sigma}", grained(image, sigma, rng), ".jpg", jpeg, None
    for sigma in (0.8, 1.5):
        yield f"blur{sigma}", image.filter(ImageFilter.GaussianBlur(sigma)), ".jpg", jpeg, None
    for factor in (1.5, 2):
        yield f"up{factor}", image.resize((round(image.width * factor), round(image.height * factor)),
                                          Image.Resampling.BICUBIC), ".jpg", jpeg, None
    for percent in (60, 120):
        yield f"sharp{percent}", image.filter(ImageFilter.UnsharpMask(2, percent, 0)), ".jpg", jpeg, None
    for power in (0.9, 1.1):
        yield f"gamma{power}", toned(image, lambda v, p=power: v**p), ".jpg", jpeg, None
    for factor in (0.9, 1.1):
        yield f"contrast{factor}", contrasted(image, factor), ".jpg", jpeg, None
    for factor in (0.92, 1.08):
        yield f"bright{factor}", brightened(image, factor), ".jpg", jpeg, None
    yield "frame-white", framed(image, 0.04, (255, 255, 255)), ".jpg", jpeg, None
    yield "frame-black", framed(image, 0.02, (0, 0, 0)), ".jpg", jpeg, None
    for part in (0.95, 0.9):
        cut, window = cropped(image, part, rng)
        yield f"crop{round(part * 100)}", cut, ".jpg", jpeg, window


def relative(box, image):
    return [box[0] / image.width, box[1] / image.height, box[2] / image.width, box[3] / image.height]


def stamped(image, kind, rng):
    """A mark of a sixtieth of the longer side, in a tone that its ground is not."""
    size = max(image.size) / 60
    x, y = rng.uniform(0.06, 0.94) * image.width, rng.uniform(0.06, 0.94) * image.height
    box = (x - size / 2, y - size / 2, x + size / 2, y + size / 2)
    below = np.asarray(image.crop([round(c) for c in box])).reshape(-1, 3)
    level = float((below @ [0.299, 0.587, 0.114]).mean())
    tone = rng.choice([(190, 20, 30), (20, 20, 24), (20, 40, 150)] if level > 140
                      else [(250, 250, 250), (255, 235, 80)])
    # Drawn four times as large and laid on, so that its edges are smooth.
    side = round(size * 4) + 8
    mark = Image.new("L", (side, side), 0)
    draw = ImageDraw.Draw(mark)
    inner = (4, 4, side - 4, side - 4)
    if kind == "dot":
        draw.ellipse(inner, fill=255)
    elif kind == "cross":
        draw.line((inner[0], inner[1], inner[2], inner[3]), fill=255, width=round(size * 0.9))
        draw.line((inner[2], inner[1], inner[0], inner[3]), fill=255, width=round(size * 0.9))
    else:
        draw.text((side / 2, side / 2), digits(rng, 1), fill=255, font=font("sans-bold", size * 4 / 0.73), anchor="mm")
    mark = mark.resize((round(size) + 2, round(size) + 2), Image.Resampling.LANCZOS)
    out = image.copy()
    out.paste(tone, (round(box[0]) - 1, round(box[1]) - 1), mark)
    return out, relative(box, image)


def in_patch(image, rng, change):
    """`change(pixels, mask)` on a patch of 2 % of the area where it makes a visible difference: of some places the
    first that changes by 16 levels rms after a light blur, or that which changes most. None where nothing is to be
    seen of it."""
    pixels = as_pixels(image)
    h, w = pixels.shape[:2]
    ph, pw = round(h * 0.1414), round(w * 0.1414)
    best = (-1.0, None, None)
    for _ in range(24):
        x, y = rng.randint(pw // 3, w - pw - pw // 3), rng.randint(ph // 3, h - ph - ph // 3)
        # Only the surroundings are worked on.
        x0, y0, x1, y1 = x - pw // 3, y - ph // 3, x + pw + pw // 3, y + ph + ph // 3
        before = pixels[y0:y1, x0:x1]
        if before[ph // 3:ph // 3 + ph, pw // 3:pw // 3 + pw].std() < 6:
            continue
        mask = np.zeros(before.shape[:2], np.uint8)
        mask[ph // 3:ph // 3 + ph, pw // 3:pw // 3 + pw] = 255
        after = change(before, mask)
        apart = cv2.GaussianBlur(after - before, (0, 0), 1.5)[mask > 0]
        rms = float(np.sqrt((apart**2).mean()))
        if rms > best[0]:
            best = (rms, (x0, y0, x1, y1), after)
        if rms > 16:
            break
    rms, place, after = best
    if rms < 7:
        return None
    x0, y0, x1, y1 = place
    out = pixels.copy()
    out[y0:y1, x0:x1] = after
    box = (x0 + pw // 3, y0 + ph // 3, x1 - pw // 3, y1 - ph // 3)
    return as_picture(out), relative(box, image)


def removed(before, mask):
    return cv2.inpaint(np.clip(before, 0, 255).astype(np.uint8), mask, 4, cv2.INPAINT_TELEA).astype(np.float32)


def swirled(before, mask):
    ys, xs = np.nonzero(mask)
    cy, cx, ry, rx = (ys.min() + ys.max()) / 2, (xs.min() + xs.max()) / 2, np.ptp(ys) / 2, np.ptp(xs) / 2
    y, x = np.mgrid[:mask.shape[0], :mask.shape[1]].astype(np.float32)
    reach = np.clip(1 - np.hypot((x - cx) / rx, (y - cy) / ry), 0, 1)
    turn = 2.4 * reach
    dx, dy = x - cx, y - cy
    return cv2.remap(before, (cx + np.cos(turn) * dx - np.sin(turn) * dy).astype(np.float32),
                     (cy + np.sin(turn) * dx + np.cos(turn) * dy).astype(np.float32), cv2.INTER_CUBIC)


def filled(before, mask):
    return np.where(mask[..., None] > 0, before[mask > 0].mean(0), before).astype(np.float32)


def smeared(before, mask):
    return np.where(mask[..., None] > 0, cv2.GaussianBlur(before, (0, 0), max(mask.shape) / 10),
                    before).astype(np.float32)


def over(image, draw_on):
    """A translucent layer laid over the picture; `draw_on(draw, width, height)` gives the box of what it drew."""
    layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
    box = draw_on(ImageDraw.Draw(layer), *image.size)
    return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB"), relative(box, image)


def corner_mark(draw, w, h):
    size = max(w, h) / 38
    how = {"font": font("sans-bold", size), "anchor": "rd", "stroke_width": max(1, round(size / 14))}
    at = (w * 0.98, h * 0.975)
    draw.text(at, "© sample studio", fill=(255, 255, 255, 190), stroke_fill=(0, 0, 0, 150), **how)
    return draw.textbbox(at, "© sample studio", **how)


def tiled_mark(draw, w, h):
    size = max(w, h) / 30
    for row in range(6):
        for column in range(4):
            draw.text((w * (column + (row % 2) * 0.5) / 3.5, h * (row + 0.5) / 6), "SAMPLE", fill=(255, 255, 255, 110),
                      font=font("sans-bold", size), anchor="mm",
                      stroke_width=1, stroke_fill=(0, 0, 0, 90))
    return 0, 0, w, h


def centre_mark(draw, w, h):
    how = {"font": font("sans-bold", w / 9), "anchor": "mm", "stroke_width": 1}
    draw.text((w / 2, h / 2), "PREVIEW", fill=(255, 255, 255, 100), stroke_fill=(0, 0, 0, 100), **how)
    return draw.textbbox((w / 2, h / 2), "PREVIEW", **how)


def caption_bar(text):
    def draw_on(draw, w, h):
        band = h * 0.08
        draw.rectangle((0, h - band, w, h), fill=(245, 245, 245, 255))
        draw.text((w / 2, h - band / 2), text, fill=(20, 20, 20, 255), font=font("sans", min(band * 0.55, w / 22)),
                  anchor="mm")
        return 0, h - band, w, h
    return draw_on


def caption_over(text):
    def draw_on(draw, w, h):
        size = w / 22
        how = {"font": font("sans-bold", size), "anchor": "ma", "stroke_width": max(2, round(size / 10))}
        draw.text((w / 2, h * 0.04), text.upper(), fill=(255, 255, 255, 255), stroke_fill=(0, 0, 0, 255), **how)
        return draw.textbbox((w / 2, h * 0.04), text.upper(), **how)
    return draw_on


def date_stamp(text):
    def draw_on(draw, w, h):
        size = max(w, h) / 36
        how = {"font": font("mono-bold", size), "anchor": "rd", "stroke_width": max(1, round(size / 16))}
        draw.text((w * 0.97, h * 0.96), text, fill=(255, 150, 40, 255), stroke_fill=(90, 40, 0, 255), **how)
        return draw.textbbox((w * 0.97, h * 0.96), text, **how)
    return draw_on


def altered(image, rng):
    """(edit, picture, place)."""
    for kind in ("dot", "digit", "cross"):
        yield f"stamp-{kind}", *stamped(image, kind, rng)
    for edit, change in (("removed", removed), ("warped", swirled), ("filled", filled), ("smeared", smeared)):
        if patched := in_patch(image, rng, change):
            yield edit, *patched
    for edit, draw_on in (("mark-corner", corner_mark), ("mark-tiled", tiled_mark), ("mark-centre", centre_mark),
                          ("caption-bar", caption_bar(phrase(rng, 4))), ("caption-over", caption_over(phrase(rng, 3))),
                          ("date", date_stamp(date(rng)))):
        yield edit, *over(image, draw_on)


def heic_encoder():
    """Saves HEIC, or None where nothing here can."""
    try:
        import pillow_heif

        pillow_heif.register_heif_opener()
        return lambda image, path: image.save(path, quality=60)
    except ImportError:
        pass
    if shutil.which("vips") is None:
        return None

    def save(image, path):
        with tempfile.NamedTemporaryFile(suffix=".ppm") as between:
            image.save(between.name)
            done = subprocess.run(["vips", "copy", between.name, f"{path}[Q=60,effort=1]"], capture_output=True)
        if done.returncode:
            raise OSError(done.stderr.decode(errors="replace"))

    return save


def photographs(material, seed):
    """(name, picture or path): each of something else."""
    for name, path in material.photographs.items():
        with Image.open(path) as image:
            whole = path if max(image.size) <= 1000 and image.format == "JPEG" else None
        yield name, whole or as_picture(material.photograph(name, 1000))
    for number, pixels in enumerate(material.fundus):
        yield f"fundus{number}", as_picture(enlarged(pixels, 900))
    if len(material.frames):
        yield "film", as_picture(material.frames[int(material.presence.argmax())].astype(np.float32))
    for number in range(7):
        rng = random.Random(f"{seed}/copies/{number}")
        for kind in ("still", "land"):
            yield f"{kind}{number}", as_picture(noisy(developed(material.render(kind, 5000 + 17 * number + seed, 900)),
                                                      2.0, seeded(rng)))


def graphics(drawn, seed):
    for family, design in GRAPHICS:
        draw = drawn[family][0]
        rng = random.Random(f"{seed}/copies/{family}/{design}")
        image = draw(design, random.Random(f"{seed}/copies/look/{family}/{design}"), rng)
        yield f"{family}{design}", scaled(image, 900 / max(image.size))
    image = cards.card(0, random.Random(1), random.Random(1), 51)
    yield "card", scaled(image, 800 / max(image.size))


def pages(out, seed):
    """A4 pages, their recompressed copies, and versions with one digit changed."""
    for dpi in (150, 200, 300):
        for tint, ground in (("white", (255, 255, 255)), ("tint", (246, 242, 228))):
            base = f"page{dpi}{tint}"
            look = random.Random(f"{seed}/pages/{base}")
            state = look.getstate()
            image, places = fine_print(dpi, ground, look, None)
            original = f"copies/pages/{base}__original.jpg"
            row = {"set": "copies", "family": "pages", "base": base, "original": original}
            image.save(out / original, quality=92, dpi=(dpi, dpi))
            yield row | {"path": original, "edit": "original", "expected": "copy", "group": base}
            for edit, ending, save in (("q85", ".jpg", {"quality": 85}), ("q70", ".jpg", {"quality": 70}),
                                       ("q50", ".jpg", {"quality": 50}),
                                       ("png", ".png", {"compress_level": 3}),
                                       ("webp75", ".webp", {"quality": 75, "method": 1}),
                                       ("scale75", ".jpg", {"quality": 90})):
                path = f"copies/pages/{base}__{edit}{ending}"
                (scaled(image, 0.75) if edit == "scale75" else image).save(out / path, **save)
                yield row | {"path": path, "edit": edit, "expected": "copy", "group": base}
            for number in range(2):
                look.setstate(state)
                chosen = random.Random(f"{seed}/pages/{base}/{number}").randrange(len(places))
                path = f"copies/pages/{base}__digit{number}.jpg"
                fine_print(dpi, ground, look, chosen)[0].save(out / path, quality=90)
                yield row | {"path": path, "edit": "digit", "expected": "altered", "group": f"{base}~digit{number}",
                             "place": places[chosen]}


def versions_of(family, name, source, out, heic, seed):
    """Writes an original with all that is made of it; gives the rows."""
    rng = random.Random(f"{seed}/copies/{family}/{name}")
    folder = out / "copies" / family
    photographic = family == "photographs"
    ending = ".jpg" if photographic else ".png"
    original = f"copies/{family}/{name}__original{ending}"
    exif = None
    if not photographic:
        source.save(out / original, compress_level=3)
    elif isinstance(source, Image.Image):
        exif = tags(CAMERAS[rng.randrange(len(CAMERAS))], some_day(rng), exposure=1 / 80, iso=200)
        source.save(out / original, quality=93, exif=exif)
    else:
        shutil.copyfile(source, out / original)
    image = Image.open(out / original).convert("RGB")
    row = {"set": "copies", "family": family, "base": name, "original": original}
    yield row | {"path": original, "edit": "original", "expected": "copy", "group": name}
    for edit, picture, ending, save, window in true_copies(image, exif, rng):
        path = f"copies/{family}/{name}__{edit}{ending}"
        if ending == ".heic":
            if heic is None:
                continue
            heic(picture, out / path)
        else:
            picture.save(out / path, **save)
        yield row | {"path": path, "edit": edit, "expected": "copy", "group": name} | ({"window": window} if window
                                                                                       else {})
    for number, (edit, picture, place) in enumerate(altered(image, rng)):
        quality = rng.choice([85, 90, 95])
        png = not photographic and number % 2 == 0
        ending, save = (".png", {"compress_level": 1}) if png else (".jpg", {"quality": quality})
        path = folder / f"{name}__{edit}{ending}"
        picture.save(path, **save)
        yield row | {"path": path.relative_to(out).as_posix(), "edit": edit, "expected": "altered",
                     "group": f"{name}~{edit}",
                     "place": [round(min(1.0, max(0.0, float(c))), 4) for c in place]}


def make(family, out, material, seed, drawn):
    if family == "pages":
        return list(pages(out, seed))
    heic = heic_encoder()
    if heic is None:
        print("heic: skipped, neither pillow_heif nor vips is here")
    rows = []
    for number, (name, source) in enumerate(photographs(material, seed) if family == "photographs"
                                            else graphics(drawn, seed)):
        # Encoding HEIC takes longer than all else that is made of an original: of every second one.
        rows += versions_of(family, name, source, out, heic if number % 2 == 0 else None, seed)
    return rows
