"""At least 400 pictures in every mode, size and format that `hash` promises to be exact on, made from seeded noise."""

import pathlib
import random

import numpy
from PIL import Image, ImageFilter


def scene(width, height, seed):
    """A picture with structure at several scales: smooth colour, shapes, and grain."""
    rng = numpy.random.default_rng(seed)
    small = rng.integers(0, 256, (max(2, min(9, height)), max(2, min(9, width)), 3), dtype=numpy.uint8)
    image = Image.fromarray(small).resize((width, height), Image.BICUBIC)
    array = numpy.asarray(image).astype(numpy.int16)
    array = array + rng.integers(-20, 21, array.shape)
    array = numpy.clip(array, 0, 255).astype(numpy.uint8)
    y, x = numpy.mgrid[0:height, 0:width]
    inside = (x - width * 0.4) ** 2 + (y - height * 0.5) ** 2 < (min(width, height) * 0.3) ** 2
    array[inside] = 255 - array[inside]
    return Image.fromarray(array)


SIZES = [(1, 1), (1, 2), (2, 1), (3, 5), (7, 7), (8, 8), (9, 8), (8, 9), (16, 16), (31, 33), (32, 32), (33, 31), (63, 65),
         (64, 64), (65, 63), (100, 75), (127, 129), (128, 128), (200, 133), (255, 257), (256, 256), (320, 240),
         (333, 500), (511, 513), (640, 480), (801, 601), (1023, 768), (1200, 1600)]
EXTREME = [(1, 8000), (8000, 1), (3, 4000), (4000, 3), (20, 8000), (8000, 20), (100, 2500), (2500, 100), (64, 1000),
           (300, 601), (300, 597), (300, 1900), (8000, 300), (300, 8000)]


def make(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    random.seed(5)
    count = 0

    def save(image, name, **options):
        nonlocal count
        image.save(folder / f"{count:04d}_{name}", **options)
        count += 1

    for index, (width, height) in enumerate(SIZES + EXTREME):
        rgb = scene(width, height, index)
        gray = rgb.convert("L")
        tag = f"{width}x{height}"
        save(rgb, f"{tag}.png")
        save(gray, f"{tag}_gray.png")
        save(rgb, f"{tag}_q90.jpg", quality=90)
        save(gray, f"{tag}_gray.jpg", quality=75)
        save(rgb, f"{tag}.bmp")
        if max(width, height) > 2600:
            continue
        save(rgb, f"{tag}_progressive.jpg", quality=80, progressive=True)
        save(rgb, f"{tag}_444.jpg", quality=95, subsampling=0)
        save(rgb, f"{tag}_422.jpg", quality=70, subsampling=1)
        save(rgb.convert("CMYK"), f"{tag}_cmyk.jpg", quality=85)
        save(rgb.convert("P", palette=Image.ADAPTIVE, colors=64), f"{tag}_palette.png")
        save(rgb.convert("P", palette=Image.ADAPTIVE, colors=200), f"{tag}.gif")
        save(rgb, f"{tag}.tif")
        save(rgb, f"{tag}_lossless.webp", lossless=True)
        if index % 2 == 0:
            alpha = Image.effect_noise((width, height), 90)
            rgba = rgb.copy()
            rgba.putalpha(alpha)
            save(rgba, f"{tag}_rgba.png")
            la = gray.copy()
            la.putalpha(alpha)
            save(la, f"{tag}_la.png")
            palette = rgb.convert("P", palette=Image.ADAPTIVE, colors=32)
            save(palette, f"{tag}_palette_transparent.png", transparency=3)
            save(palette, f"{tag}_transparent.gif", transparency=3)
            save(gray.convert("1"), f"{tag}_1bit.png")
            save(gray.convert("1"), f"{tag}_1bit.bmp")
            save(gray.convert("1"), f"{tag}_1bit.tif")
            save(gray.convert("1"), f"{tag}.pbm")
            save(gray, f"{tag}.pgm")
            save(rgb, f"{tag}.ppm")
            save(gray, f"{tag}_gray.bmp")
            save(gray, f"{tag}_gray.gif")
            save(palette, f"{tag}_palette.bmp")
            save(palette, f"{tag}_palette.tif")
            save(rgb.convert("CMYK"), f"{tag}_cmyk.tif")
            save(gray, f"{tag}_gray_lzw.tif", compression="tiff_lzw")
            save(rgb, f"{tag}_deflate.tif", compression="tiff_adobe_deflate")
            save(rgba, f"{tag}_rgba_lossless.webp", lossless=True, exact=True)
            wide = numpy.asarray(gray).astype(numpy.uint16) * (1 if index % 4 == 0 else 257)
            save(Image.fromarray(wide), f"{tag}_16bit.png")
            save(Image.fromarray(wide), f"{tag}_16bit.tif")

    # Symmetric, flat and two-tone pictures, where rounding alone would decide bits.
    for index in range(24):
        size = random.choice([16, 32, 64, 100, 128, 256, 300])
        half = numpy.asarray(scene(size, size, 1000 + index).convert("L"))
        left = numpy.concatenate([half, half[:, ::-1]], axis=1)
        save(Image.fromarray(left), f"mirror{index}.png")
        save(Image.fromarray(numpy.concatenate([left, left[::-1]], axis=0)), f"fourfold{index}.png")
    for index, value in enumerate([0, 1, 31, 32, 127, 128, 254, 255]):
        save(Image.new("L", (random.randint(1, 500), random.randint(1, 500)), value), f"flat{value}.png")
        save(Image.new("RGB", (200 + index, 100), (value, 255 - value, 90)), f"flat_rgb{value}.png")
    for index in range(8):
        array = numpy.zeros((128, 192), dtype=numpy.uint8)
        array[:, 96:] = 255 if index % 2 else 128
        array[: 16 * index] = 60
        save(Image.fromarray(array).filter(ImageFilter.BoxBlur(index // 4)), f"steps{index}.png")
    return count
