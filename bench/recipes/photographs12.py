"""Twenty 12-megapixel photographs as a camera would write them: baseline JPEG, 4:2:0, 1.5 to 5 MB, 4000 x 3000.

Made from the pictures of named Debian packages, cropped to 4 : 3 at seeded places; sensor noise of a seeded strength is
added until the file has a camera's size, since scaled-up backgrounds alone compress too well.
"""

import pathlib
import subprocess
import sys

import numpy
from PIL import Image

PACKAGES = ["gnome-backgrounds", "mate-backgrounds", "plasma-workspace-wallpapers", "ukui-wallpapers"]
WIDTH, HEIGHT, COUNT = 4000, 3000, 20


def sources():
    found = []
    for package in PACKAGES:
        listed = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=True).stdout.splitlines()
        for name in sorted(listed):
            path = pathlib.Path(name)
            if path.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp") and path.is_file() and not path.is_symlink():
                with Image.open(path) as image:
                    if min(image.size) >= 1000:
                        found.append(path)
    return found


def make(folder):
    folder = pathlib.Path(folder)
    if (folder / ".complete").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = numpy.random.default_rng(12)
    chosen = rng.permutation(len(paths := sources()))[:COUNT]
    for number, index in enumerate(sorted(chosen)):
        image = Image.open(paths[index]).convert("RGB")
        width, height = image.size
        side = min(width / 4, height / 3) * rng.uniform(0.85, 1.0)
        left, top = rng.uniform(0, width - 4 * side), rng.uniform(0, height - 3 * side)
        image = image.resize((WIDTH, HEIGHT), Image.LANCZOS, box=(left, top, left + 4 * side, top + 3 * side))
        pixels = numpy.asarray(image).astype(numpy.float32)
        wanted = rng.uniform(1.7e6, 4.8e6)
        # The strength at which the file has the wanted size, by halving the interval.
        low, high = 0.0, 24.0
        grain = rng.standard_normal((HEIGHT, WIDTH, 1), dtype=numpy.float32)
        path = folder / f"photo{number:02d}.jpg"
        for _ in range(7):
            strength = (low + high) / 2
            noisy = numpy.clip(pixels + grain * strength, 0, 255).astype(numpy.uint8)
            Image.fromarray(noisy).save(path, quality=85, subsampling=2, optimize=False, progressive=False)
            if path.stat().st_size < wanted:
                low = strength
            else:
                high = strength
        size = path.stat().st_size
        assert 1.5e6 <= size <= 5e6, f"{path}: {size} bytes"
    (folder / ".complete").touch()


if __name__ == "__main__":
    make(sys.argv[1])
