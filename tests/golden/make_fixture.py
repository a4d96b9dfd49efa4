#!/usr/bin/env python3
"""Makes tests/golden/fixture/: what every job is run over for its golden outputs. What it made is kept, for another encoder's
version makes other bytes; it is here to say what each file is, and to make one more.

  make_fixture.py NAME...     makes only what has these names
"""

import pathlib
import sys

import numpy
from PIL import Image, ImageDraw, PngImagePlugin, TiffImagePlugin

FOLDER = pathlib.Path(__file__).parent / "fixture"
CAPTURED, SUBSECOND, MAKE, MODEL, ORIENTATION, SERIAL = 0x9003, 0x9291, 0x010F, 0x0110, 0x0112, 0xA431


def place(seed, width=320, height=240):
    """Smooth colour, a few things with edges and a little grain: small as a JPEG, and no two seeds alike."""
    random = numpy.random.default_rng(seed)
    coarse = random.integers(40, 216, (6, 8, 3), dtype=numpy.uint8)
    picture = Image.fromarray(coarse).resize((width, height), Image.BICUBIC)
    draw = ImageDraw.Draw(picture)
    for _ in range(14):
        x, y, side = int(random.integers(0, width)), int(random.integers(0, height)), int(random.integers(8, 70))
        colour = tuple(int(c) for c in random.integers(0, 256, 3))
        if random.integers(0, 2):
            draw.ellipse((x, y, x + side, y + side * 2 // 3), fill=colour)
        else:
            draw.polygon([(x, y), (x + side, y + side // 4), (x + side // 3, y + side)], fill=colour)
    grain = numpy.asarray(picture).astype(int) + random.integers(-3, 4, (height, width, 1))
    return Image.fromarray(numpy.clip(grain, 0, 255).astype(numpy.uint8))


def exif(picture, when=None, camera=None, orientation=None, subsecond=None):
    tags = picture.getexif()
    inner = tags.get_ifd(0x8769)
    if when:
        inner[CAPTURED] = when
    if subsecond:
        inner[SUBSECOND] = subsecond
    if camera:
        tags[MAKE], tags[MODEL] = "Maker", camera
        inner[SERIAL] = "0042"
    if orientation:
        tags[ORIENTATION] = orientation
    return tags


def jpeg(picture, name, quality=82, **options):
    picture.save(FOLDER / name, quality=quality, **options)


def pictures():
    harbour, hill, street, garden, tower = (place(seed) for seed in (1, 2, 3, 4, 5))

    def marked():
        picture = harbour.copy()
        ImageDraw.Draw(picture).rectangle((40, 60, 74, 84), fill=(250, 30, 30))
        return picture

    def bordered():
        picture = Image.new("RGB", (360, 280), "white")
        picture.paste(harbour, (20, 20))
        return picture

    def warmer():
        red, green, blue = hill.split()
        return Image.merge("RGB", (red.point(lambda v: min(255, v * 3 // 2)), green, blue.point(lambda v: v // 2)))

    def comment():
        text = PngImagePlugin.PngInfo()
        text.add_text("Comment", "kept by hand")
        return text

    def moved(by):
        picture = street.copy()
        ImageDraw.Draw(picture).ellipse((100 + by, 100, 130 + by, 130), fill=(255, 240, 0))
        return picture

    def deep():
        y, x = numpy.mgrid[0:60, 0:80]
        return Image.fromarray((x * 800 + y * 37).astype(numpy.uint16))

    shot = {"camera": "Model One"}
    yield "harbour.jpg", lambda n: jpeg(harbour, n, 90, exif=exif(harbour, "2021:05:01 10:00:00", **shot))
    yield "harbour-small.jpg", lambda n: jpeg(harbour.resize((200, 150), Image.LANCZOS), n)
    yield "harbour-low.jpg", lambda n: jpeg(harbour, n, 45)
    yield "harbour-crop.jpg", lambda n: jpeg(harbour.crop((20, 12, 316, 236)), n, 88)
    yield "harbour-marked.jpg", lambda n: jpeg(marked(), n, 90)
    yield "harbour-framed.jpg", lambda n: jpeg(bordered(), n, 90)
    yield "harbour-turned.jpg", lambda n: jpeg(harbour.transpose(Image.ROTATE_90), n, 90)
    yield "hill.png", lambda n: hill.quantize(64).save(FOLDER / n)
    yield "hill-comment.png", lambda n: hill.quantize(64).save(FOLDER / n, pnginfo=comment())
    yield "hill.webp", lambda n: hill.save(FOLDER / n, quality=80)
    yield "hill-warm.jpg", lambda n: jpeg(warmer(), n)
    for i in range(3):
        when = exif(street, f"2022:01:02 03:04:0{5 + i}", "Model Two", subsecond="10")
        yield f"street-{i}.jpg", lambda n, i=i, when=when: jpeg(moved(i * 3), n, exif=when)
    yield "garden-progressive.jpg", lambda n: jpeg(garden, n, 80, progressive=True, subsampling=0)
    yield "garden-gray.jpg", lambda n: jpeg(garden.convert("L"), n)
    yield "garden-cmyk.jpg", lambda n: jpeg(garden.convert("CMYK"), n)
    yield "garden-exif6.jpg", lambda n: jpeg(garden.transpose(Image.ROTATE_90), n, exif=exif(garden, orientation=6))
    yield "tower.gif", lambda n: tower.resize((120, 90)).quantize(32).save(FOLDER / n)
    yield "tower.bmp", lambda n: tower.resize((64, 48)).quantize(16).save(FOLDER / n)
    yield "tower.tif", lambda n: tower.resize((96, 72)).save(FOLDER / n, compression="tiff_lzw",
                                                             tiffinfo={TiffImagePlugin.IMAGEWIDTH: 96, ORIENTATION: 3})
    yield "tower.ppm", lambda n: tower.resize((48, 36)).save(FOLDER / n)
    yield "deep.png", lambda n: deep().save(FOLDER / n)
    yield "glass.png", lambda n: glass(tower).save(FOLDER / n)
    yield "plain.png", lambda n: Image.new("RGB", (64, 64), (90, 120, 200)).save(FOLDER / n)
    yield "cut.jpg", lambda n: (FOLDER / n).write_bytes((FOLDER / "garden-progressive.jpg").read_bytes()[:4000])
    yield "words.jpg", lambda n: (FOLDER / n).write_bytes(b"these are words\n")


def glass(picture):
    picture = picture.resize((160, 120)).quantize(32).convert("RGBA")
    picture.putalpha(Image.linear_gradient("L").resize(picture.size).quantize(8).convert("L"))
    return picture


def walk(seed, rows):
    """Open, high, low, close in cents and volume: whole numbers, so that they are the same everywhere."""
    random = numpy.random.default_rng(seed)
    close = 10_000
    for _ in range(rows):
        opened = close + int(random.integers(-40, 41))
        close = max(500, opened + int(random.integers(-150, 152)))
        high = max(opened, close) + int(random.integers(0, 60))
        low = min(opened, close) - int(random.integers(0, 60))
        yield opened, high, low, close, int(random.integers(1_000, 90_000))


def cents(value):
    return f"{value // 100}.{value % 100:02}"


def tables():
    days = [str(numpy.datetime64("2020-01-01") + 3 * i) for i in range(160)]

    def prices(name):
        with open(FOLDER / name, "w") as out:
            out.write("Date,Open,High,Low,Close,Volume\n")
            for i, (day, row) in enumerate(zip(days, walk(11, len(days)))):
                texts = [cents(v) for v in row[:4]]
                if i in (70, 71):
                    texts = [""] * 4  # a gap
                out.write(",".join([day, *texts, str(row[4])]) + "\n")

    def symbols(name):
        with open(FOLDER / name, "w") as out:
            out.write("symbol,date,close\n")
            for symbol, seed in (("AAA", 21), ("BBB", 22)):
                for day, row in zip(days[:90], walk(seed, 90)):
                    out.write(f"{symbol},{day},{cents(row[3])}\n")

    yield "prices.csv", prices
    yield "symbols.csv", symbols


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, make in [*pictures(), *tables()]:
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name)


if __name__ == "__main__":
    main()
