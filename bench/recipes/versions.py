#!/usr/bin/env python3
"""Makes a set of pictures of which it is known which are the same.

The bases come from four of Debian's wallpaper packages (gnome-backgrounds, mate-backgrounds,
plasma-workspace-wallpapers, ukui-wallpapers) and, with --photos, from a folder of photographs. Of every
base the set "easy" holds the ten versions a collection is full of; the set "hard" holds stronger edits
that are still the same picture, and pictures that are not: recoloured ones and second views of a scene.

  versions.py OUT [--photos DIR] [--max 3000] [--hard-max 1600] [--jobs N] [--sets easy,hard]

writes OUT/easy/*, OUT/hard/* and OUT/truth.json: file -> {set, base, version, kind, same}. `same` is false
for a picture that only resembles its base. The same packages, Pillow and seed give the same pictures.
"""

import argparse
import json
import multiprocessing
import pathlib
import random
import zlib

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps

Image.MAX_IMAGE_PIXELS = None
SEED = 20240229

# One picture of each design: symbolic links, other sizes, portrait cuts and previews are left out, and so
# are the solid ones (gnome's vnc-*, mate's Silk, Spring, Waves and MATE-Stripes-*, which lose their alpha).
GNOME = "/usr/share/backgrounds/gnome/"
MATE = "/usr/share/backgrounds/mate/"
PLASMA = "/usr/share/wallpapers/"
UKUI = "/usr/share/backgrounds/"

PHOTOS = (
    [MATE + "nature/" + n for n in (
        "Aqua.jpg Blinds.jpg Dune.jpg FreshFlower.jpg Garden.jpg GreenMeadow.jpg LadyBird.jpg "
        "RainDrops.jpg Storm.jpg TwoWings.jpg Wood.jpg YellowFlower.jpg").split()]
    + [PLASMA + n + "/contents/images/2560x1600.jpg" for n in (
        "BytheWater ColdRipple ColorfulCups DarkestHour EveningGlow FallenLeaf Grey Kite OneStandsOut "
        "Path summer_1am").split()]
    + [PLASMA + "Volna/contents/images/5120x2880.jpg"])

DESIGNS = (
    [GNOME + n + ".webp" for n in (
        "adwaita-d adwaita-l grid-d grid-l licorice-d licorice-l pixels-d pixels-l symbolic-d symbolic-l "
        "truchet-d truchet-l wood-d wood-l").split()]
    + [MATE + "abstract/" + n for n in (
        "Arc-Colors-Transparent-Wallpaper.png Elephants.jpg Flow.png Gulp.png").split()]
    + [MATE + "desktop/" + n for n in (
        "Float-into-MATE.png GreenTraditional.jpg Stripes.png Ubuntu-Mate-Cold-no-logo.png "
        "Ubuntu-Mate-Dark-no-logo.png Ubuntu-Mate-Radioactive-no-logo.png "
        "Ubuntu-Mate-Warm-no-logo.png").split()]
    + [PLASMA + n for n in (
        "Altai/contents/images/5120x2880.png Autumn/contents/images/2560x1600.jpg "
        "Canopee/contents/images/3840x2160.png Cascade/contents/images/3840x2160.png "
        "Cluster/contents/images/3840x2160.png Elarun/contents/images/2560x1600.png "
        "Flow/contents/images/5120x2880.jpg Flow/contents/images_dark/5120x2880.jpg "
        "FlyingKonqui/contents/images/2560x1600.png Honeywave/contents/images/5120x2880.jpg "
        "IceCold/contents/images/5120x2880.png Kay/contents/images/5120x2880.png "
        "Kay/contents/images_dark/5120x2880.png Kokkini/contents/images/3840x2160.png "
        "MilkyWay/contents/images/5120x2880.png Opal/contents/images/3840x2160.png "
        "PastelHills/contents/images/3200x2000.jpg Patak/contents/images/5120x2880.png "
        "Patak/contents/images_dark/3840x2160.png SafeLanding/contents/images/5120x2880.jpg "
        "Shell/contents/images/5120x2880.jpg").split()]
    + [UKUI + n for n in (
        "2004default.jpg calla.png city.png desert.png firstgeneration.jpg fluent-color.png "
        "focal-ubuntukylin.png goldfish.png rhythm.jpg rollpaper.png string.jpg the-mouse.jpg").split()])


def name_of(path):
    """A short name, unique in the set."""
    p = pathlib.Path(path)
    if "contents" in p.parts:
        at = p.parts.index("contents")
        return p.parts[at - 1] + ("_dark" if "images_dark" in p.parts else "")
    return p.parent.name + "-" + p.stem


def resized(image, factor):
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    return image.resize(size, Image.Resampling.LANCZOS)


def limited(image, longest):
    return resized(image, longest / max(image.size)) if max(image.size) > longest else image


def cut(image, left, top, right, bottom):
    w, h = image.size
    return image.crop((round(w * left), round(h * top), round(w * (1 - right)), round(h * (1 - bottom))))


def watermark(image, text="(c) millrace sample"):
    layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(layer)
    font = ImageFont.load_default(max(10, image.width // 14))
    draw.text((image.width / 2, image.height / 2), text, font=font, anchor="mm", fill=(255, 255, 255, 150),
              stroke_width=max(1, image.width // 400), stroke_fill=(0, 0, 0, 150))
    return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")


def caption(image, rng):
    """An opaque band along the lower edge, as memes and agencies put it."""
    out = image.copy()
    draw = ImageDraw.Draw(out)
    band = round(image.height * rng.uniform(0.08, 0.12))
    light = rng.random() < 0.5
    draw.rectangle((0, image.height - band, image.width, image.height), fill=(245,) * 3 if light else (15,) * 3)
    draw.text((image.width / 2, image.height - band / 2), "Somebody wrote this here", anchor="mm",
              font=ImageFont.load_default(max(8, band * 2 // 3)), fill=(10,) * 3 if light else (240,) * 3)
    return out


def border(image, rng):
    colour = rng.choice([(255, 255, 255), (0, 0, 0), (128, 128, 128)])
    return ImageOps.expand(image, round(max(image.size) * rng.uniform(0.025, 0.045)), colour)


def turned(image, rng):
    """Turned by 1 to 2 degrees, then cut so that no corner is empty."""
    angle = rng.choice([-1, 1]) * rng.uniform(1.0, 2.0)
    out = image.rotate(angle, Image.Resampling.BICUBIC)
    tangent = np.tan(np.radians(abs(angle))) / 2
    x, y = image.height * tangent / image.width + 0.004, image.width * tangent / image.height + 0.004
    return cut(out, x, y, x, y)


def toned(image, function):
    table = [min(255, max(0, round(255 * function(v / 255)))) for v in range(256)]
    return image.point(table * 3)


def hue_turned(image, degrees):
    h, s, v = image.convert("HSV").split()
    return Image.merge("HSV", (h.point(lambda x: (x + degrees * 256 // 360) % 256), s, v)).convert("RGB")


def smooth_field(shape, rng, grain):
    """Random blobs in [0, 1]: a picture of depth."""
    cells = np.array([[rng.random() for _ in range(grain + 2)] for _ in range(grain + 2)], np.float32)
    field = Image.fromarray(cells).resize((shape[1], shape[0]), Image.Resampling.BICUBIC)
    values = np.asarray(field)
    return (values - values.min()) / max(1e-6, float(values.max() - values.min()))


def second_view(image, rng, amplitude, layers):
    """The scene from a little to the side: near parts move against far ones by `amplitude` of the width."""
    pixels = np.asarray(image)
    h, w, _ = pixels.shape
    depth = smooth_field((h, w), rng, 3)
    if layers:
        depth = (depth > np.median(depth)).astype(np.float32)
    move = (depth - 0.5) * (amplitude * w)
    at = np.arange(w, dtype=np.float32)[None, :] + move
    at = np.clip(at, 0, w - 1)
    low = np.floor(at).astype(np.int32)
    high = np.minimum(low + 1, w - 1)
    part = (at - low)[..., None]
    rows = np.arange(h)[:, None]
    return Image.fromarray((pixels[rows, low] * (1 - part) + pixels[rows, high] * part + 0.5).astype(np.uint8))


def moved_thing(image, rng):
    """The next frame of a burst: the same place, but a thing has moved from one spot to another."""
    w, h = image.size
    size = (round(w * rng.uniform(0.2, 0.3)), round(h * rng.uniform(0.3, 0.4)))
    x = rng.randrange(w // 10, w - size[0] - w // 5)
    y = rng.randrange(0, h - size[1])
    mask = Image.new("L", size, 0)
    ImageDraw.Draw(mask).ellipse((0, 0, size[0] - 1, size[1] - 1), fill=255)
    out = image.copy()
    out.paste(image.crop((x, y, x + size[0], y + size[1])), (x + round(w * 0.05), y), mask)
    return out


def is_coloured(image):
    small = np.asarray(limited(image, 128), np.float32)
    return float((small.max(2) - small.min(2)).mean()) > 20


def easy_versions(image):
    jpeg = {"quality": 90}
    yield "original", ".jpg", image, {"quality": 94}
    yield "third", ".jpg", resized(image, 1 / 3), jpeg
    yield "half", ".png", resized(image, 1 / 2), {"compress_level": 1}
    yield "q40", ".jpg", image, {"quality": 40}
    yield "webp", ".webp", image, {"quality": 80, "method": 2}
    yield "crop", ".jpg", cut(image, 0.05, 0.05, 0.05, 0.05), jpeg
    yield "bright", ".jpg", ImageEnhance.Brightness(image).enhance(1.15), jpeg
    yield "watermark", ".jpg", watermark(image), jpeg
    yield "rotated", ".jpg", image.transpose(Image.Transpose.ROTATE_90), jpeg
    yield "mirrored", ".jpg", ImageOps.mirror(image), jpeg


def hard_versions(image, rng):
    """(name, image, quality, is the same picture)."""
    cuts = [rng.uniform(0, 0.1) for _ in range(2)]
    yield "base", image, 94, True
    yield "asymmetric_crop", cut(image, cuts[0], cuts[1], 0.1 - cuts[0], 0.02), 90, True
    yield "border", border(image, rng), 90, True
    gamma = rng.choice([0.7, 1.4])
    yield "gamma", toned(image, lambda v: v ** gamma), 90, True
    strength = rng.choice([0.7, 1.3])
    yield "contrast", toned(image, lambda v: 0.5 + (v - 0.5) * strength), 90, True
    yield "caption", caption(image, rng), 90, True
    yield "sharpened", image.filter(ImageFilter.UnsharpMask(2, 180, 2)), 90, True
    yield "third_q30", resized(image, 1 / 3), 30, True
    yield "turned", turned(image, rng), 90, True
    yield "saturation", ImageEnhance.Color(image).enhance(rng.choice([0.6, 1.5])), 90, True
    if is_coloured(image):
        yield "recoloured_hue", hue_turned(image, rng.choice([80, 120, 180, 240])), 90, False
        r, g, b = image.split()
        yield "recoloured_swap", Image.merge("RGB", rng.choice([(b, r, g), (g, b, r), (b, g, r)])), 90, False
    yield "recoloured_invert", ImageChops.invert(image), 90, False
    yield "view_layers", second_view(image, rng, 0.04, True), 90, False
    yield "view_smooth", second_view(image, rng, 0.06, False), 90, False
    yield "burst", moved_thing(image, rng), 90, False


def make(task):
    path, kind, out, options = task
    base = name_of(path)
    rng = random.Random(SEED ^ zlib.crc32(base.encode()))
    image = Image.open(path).convert("RGB")
    truth = {}
    if "easy" in options.sets:
        for version, ending, edited, how in easy_versions(limited(image, options.max)):
            file = f"easy/{base}.{version}{ending}"
            edited.save(out / file, **how)
            truth[file] = {"set": "easy", "base": base, "version": version, "kind": kind, "same": True}
    if "hard" in options.sets:
        for version, edited, quality, same in hard_versions(limited(image, options.hard_max), rng):
            file = f"hard/{base}.{version}.jpg"
            edited.save(out / file, quality=quality)
            truth[file] = {"set": "hard", "base": base, "version": version, "kind": kind, "same": same}
    return truth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--photos", type=pathlib.Path, help="more photographs, each of something else")
    parser.add_argument("--max", type=int, default=3000)
    parser.add_argument("--hard-max", type=int, default=1600)
    parser.add_argument("--sets", default="easy,hard")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    bases = [(p, "photo") for p in PHOTOS] + [(p, "design") for p in DESIGNS]
    if options.photos:
        # Names with "_" are edits of the picture whose name they begin with.
        bases += [(str(p), "photo") for p in sorted(options.photos.glob("*.jpg")) if "_" not in p.stem]
    missing = [p for p, _ in bases if not pathlib.Path(p).exists()]
    if missing:
        print("left out, not installed:", *missing, sep="\n  ")
    bases = [b for b in bases if b[0] not in missing]
    for folder in options.sets.split(","):
        (options.out / folder).mkdir(parents=True, exist_ok=True)
    truth = {}
    with multiprocessing.Pool(options.jobs) as pool:
        for part in pool.imap(make, [(p, kind, options.out, options) for p, kind in bases]):
            truth.update(part)
    (options.out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    kinds = [kind for _, kind in bases]
    print(f"{len(truth)} files of {kinds.count('photo')} photographs and {kinds.count('design')} designs")


if __name__ == "__main__":
    main()
