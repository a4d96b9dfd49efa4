"""The pictures of the README and the pages, made from the product: painted landscapes and a few versions of each, searched by
`millrace dedupe`, its page photographed by headless Chromium; and contact sheets of `millrace render`.

  .venv/bin/python tools/pictures.py
"""

import csv
import pathlib
import shutil
import subprocess
import tempfile

import numpy
from PIL import Image, ImageFilter

ROOT = pathlib.Path(__file__).resolve().parents[1]


def landscape(seed, width=1600, height=1067):
    """Sky, sun and ridges behind each other, in a seeded palette."""
    rng = numpy.random.default_rng(seed)
    sky = rng.uniform(90, 255, (2, 3))
    y = numpy.linspace(0, 1, height)[:, None, None]
    canvas = numpy.repeat(sky[0] * (1 - y) + sky[1] * y, width, axis=1)
    sun = rng.uniform(0.15, 0.85) * width, rng.uniform(0.1, 0.45) * height
    gy, gx = numpy.mgrid[0:height, 0:width]
    glow = numpy.exp(-((gx - sun[0]) ** 2 + (gy - sun[1]) ** 2) / (2 * (0.05 * width) ** 2))[:, :, None]
    canvas += glow * (255 - canvas) * 0.9
    x = numpy.arange(width)
    for layer in range(5):
        colour = rng.uniform(20, 170, 3) * (1 - 0.16 * layer)
        ridge = (0.42 + 0.11 * layer) * height + numpy.zeros(width)
        for octave in range(1, 8):
            ridge += rng.normal() * height * 0.05 / octave * numpy.sin(x / width * 6.3 * octave * 1.3 + rng.uniform(0, 6.3))
        below = gy > ridge
        canvas[below] = colour + rng.normal(0, 6, (below.sum(), 1))
    return Image.fromarray(numpy.clip(canvas, 0, 255).astype(numpy.uint8)).filter(ImageFilter.GaussianBlur(0.8))


def bars(rows=300):
    """Open, high, low, close and volume of a made-up share whose days are calm and wild by turns."""
    rng = numpy.random.default_rng(8)
    out, close, unrest = [], 100.0, 1.0
    for _ in range(rows):
        unrest = 0.9 * unrest + 0.13 * abs(rng.normal())
        opened = close * numpy.exp(rng.normal(0, 0.003))
        day = opened * numpy.exp(numpy.cumsum(rng.normal(0.0002, 0.004 * unrest, 30)))
        close = day[-1]
        out.append([opened, max(opened, day.max()), min(opened, day.min()), close, 1e6 * unrest * numpy.exp(rng.normal(0, 0.3))])
    return numpy.array(out)


def sheets(out):
    """Contact sheets: the share index that the demo draws, and candles of a made-up share."""
    def render(source, picture, *options):
        (out / picture).unlink(missing_ok=True)
        subprocess.run([ROOT / "build/release/millrace", "render", source, "-o", out / picture, "-q", *options], check=True)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        listed = subprocess.run(["dpkg", "-L", "python-matplotlib-data"], check=True, capture_output=True, text=True).stdout
        table = next(line for line in listed.splitlines() if line.endswith("/Stocks.csv"))
        # Rows of single shares, on days of their own, have no index.
        with open(table, newline="") as file:
            rows = [(row["Date"], row["^GSPC"]) for row in csv.DictReader(line for line in file if not line.startswith("#"))]
        with open(folder / "index.csv", "w", newline="") as file:
            csv.writer(file).writerows([("date", "close"), *(row for row in rows if row[1])])
        render(folder / "index.csv", "charts.png", "--window", "60", "--sample", "12", "--size", "400x250")
        numpy.save(folder / "bars.npy", bars())
        render(folder / "bars.npy", "candles.png", "--sample", "4", "--style", "candle", "--window", "48", "--size", "480x270",
               "--volume", "--ma", "20", "--paper", "#101418", "--ink", "#8fa8c8", "--rising", "#2fa36b", "--falling", "#d9534f")


def main():
    work = pathlib.Path("/tmp/archive")
    shutil.rmtree(work, ignore_errors=True)
    photos, phone = work / "Pictures" / "2024", work / "Pictures" / "phone"
    photos.mkdir(parents=True)
    phone.mkdir()
    for number in range(4):
        image = landscape(100 + number)
        image.save(photos / f"DSC_{4310 + number}.jpg", quality=92)
        if number % 2 == 0:
            image.resize((1024, 683), Image.LANCZOS).save(phone / f"IMG_{20 + number}.jpg", quality=78)
        if number < 3:
            width, height = image.size
            box = (width // 25, height // 25, width - width // 25, height - height // 25)
            image.crop(box).save(phone / f"IMG_{20 + number}-cropped.webp", quality=85)
        if number == 3:
            shutil.copy(photos / "DSC_4313.jpg", phone / "DSC_4313 (1).jpg")
    subprocess.run([ROOT / "build/release/millrace", "dedupe", "Pictures", "--catalog", work / "catalog.sqlite", "--report",
                    work / "duplicates.html", "-q"], cwd=work, check=True)
    out = ROOT / "docs/images"
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1180,760",
                    f"--screenshot={out / 'duplicates.png'}", (work / "duplicates.html").as_uri()],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    Image.open(out / "duplicates.png").convert("RGB").quantize(192).save(out / "duplicates.png", optimize=True)
    shutil.rmtree(work)
    sheets(out)


if __name__ == "__main__":
    main()
