"""Where lookalikes.py has its photographs from, and the tags that a camera writes.

Enters: a folder of photographs, a fundus picture and a film (see lookalikes.py --data), each where it is present; the
wallpapers that versions.py names, where their packages are installed; matplotlib's own sample. Leaves: scenes as arrays
0..255, and frames of the film with its empty room. Nothing of it is part of the project, and nothing is fetched.
"""

import datetime
import functools
import pathlib

import cv2
import matplotlib
import numpy as np
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

import versions
from lookalikes_render import Landscape, StillLife, developed
from lookalikes_tools import noisy

CAMERAS = [("Aldine", "AX-2", "4410021"), ("Corvo", "C700", "00988213"), ("Lumen Optik", "LO 5", "77120-5"),
           ("Aldine", "AX-4 II", None)]


def tags(camera, taken, subsecond=True, zone=None, exposure=None, bias=None, iso=None, orientation=None):
    """EXIF as a camera writes it. `exposure` in seconds, `bias` in EV; a camera without a serial number writes none."""
    make, model, serial = camera
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = make, model
    exif[0x0132] = taken.strftime("%Y:%m:%d %H:%M:%S")
    if orientation:
        exif[0x0112] = orientation
    inner = exif.get_ifd(0x8769)
    inner[0x9003] = inner[0x9004] = taken.strftime("%Y:%m:%d %H:%M:%S")
    if subsecond:
        inner[0x9291] = inner[0x9292] = f"{taken.microsecond // 10000:02d}"
    if zone:
        inner[0x9011] = zone
    if serial:
        inner[0xA431] = serial
    if exposure:
        inner[0x829A] = IFDRational(1, round(1 / exposure)) if exposure < 0.5 else IFDRational(round(exposure * 10), 10)
        inner[0x829D] = IFDRational(8, 1)
    if bias is not None:
        inner[0x9204] = IFDRational(round(bias * 10), 10)
    if iso:
        inner[0x8827] = iso
    return exif


def some_day(rng):
    return datetime.datetime(rng.randint(2012, 2024), rng.randint(1, 12), rng.randint(1, 28), rng.randint(7, 19),
                             rng.randint(0, 59), rng.randint(0, 59),
                             rng.randint(0, 99) * 10000)


def enlarged(pixels, longest):
    h, w = pixels.shape[:2]
    scale = longest / max(h, w)
    if abs(scale - 1) < 0.01:
        return pixels
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    return np.clip(cv2.resize(pixels, (round(w * scale), round(h * scale)), interpolation=how), 0, 255)


class Material:
    def __init__(self, data):
        self.data = pathlib.Path(data)
        self.film_path = self.data / "video" / "one_by_one_person.mp4"

    @functools.cached_property
    def photographs(self):
        """{name: path}: photographs of different things. A name with "_" is an edit of the one whose name it begins
        with."""
        found = {p.stem: p for p in sorted((self.data / "photos").glob("*.jpg")) if "_" not in p.stem}
        sample = pathlib.Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
        if sample.exists():
            found["portrait"] = sample
        found |= {versions.name_of(p): pathlib.Path(p) for p in versions.PHOTOS if pathlib.Path(p).exists()}
        return found

    @functools.lru_cache(maxsize=4)  # noqa: B019: one Material lives as long as the program
    def photograph(self, name, longest=0):
        """RGB float32, 0..255; `longest` bounds its long side."""
        image = Image.open(self.photographs[name])
        if longest and max(image.size) > 2 * longest:
            image.draft("RGB", (longest, longest))
        pixels = np.asarray(image.convert("RGB")).astype(np.float32)
        return enlarged(pixels, longest) if longest and max(pixels.shape) > longest else pixels

    @functools.cached_property
    def fundus(self):
        """Windows of one fundus photograph that do not overlap, without its black corners."""
        found = sorted((self.data / "fundus").glob("*.jpg"))
        if not found:
            return []
        pixels = np.asarray(Image.open(found[0]).convert("RGB"))
        h, w = pixels.shape[:2]
        cuts = [(0.20, 0.12, 0.49, 0.48), (0.51, 0.12, 0.80, 0.48), (0.20, 0.52, 0.49, 0.88), (0.51, 0.52, 0.80, 0.88)]
        return [pixels[round(y0 * h):round(y1 * h), round(x0 * w):round(x1 * w)].astype(np.float32) for x0, y0, x1,
                y1 in cuts]

    @functools.cached_property
    def frames(self):
        """Two frames a second of the film, RGB; none where there is no film."""
        if not self.film_path.exists():
            return np.zeros((0, 1, 1, 3), np.uint8)
        film, frames, number = cv2.VideoCapture(str(self.film_path)), [], 0
        while film.grab():
            if number % 5 == 0:
                frames.append(film.retrieve()[1][..., ::-1])
            number += 1
        return np.stack(frames)

    @functools.cached_property
    def presence(self):
        """For each frame how much of it differs from the first, in which nobody is, 0..1."""
        small = [cv2.resize(f, (96, 54), interpolation=cv2.INTER_AREA).astype(np.int16) for f in self.frames]
        return np.array([(np.abs(f - small[0]).max(2) > 40).mean() for f in small])

    @functools.cached_property
    def room(self):
        """The film's room without anybody."""
        empty = np.flatnonzero(self.presence < 0.004)
        return np.median(self.frames[empty[:: max(1, len(empty) // 9)]], axis=0).astype(np.uint8)

    @functools.cached_property
    def people(self):
        """Persons cut out of the film: (pixels, mask 0..255, left, top), one for each of those who stand at the
        table."""
        found = []
        inside = self.presence > 0.04
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(np.int8), [0]])))
        for start, end in zip(edges[::2], edges[1::2]):
            if end - start < 6:
                continue
            # Not at every moment does a person stand out as one piece: the tallest of some cuts.
            cuts = [self._cut(index) for index in range(start + 3, end - 3, max(1, (end - start) // 8))]
            found.append(max(cuts, key=lambda cut: cut[1].shape[0]))
        return found

    def _cut(self, index):
        frame = self.frames[index]
        apart = np.abs(cv2.GaussianBlur(frame, (0, 0), 1.2).astype(np.int16) - cv2.GaussianBlur(self.room, (0, 0),
                                                                                                1.2)).max(2)
        mask = cv2.morphologyEx((apart > 26).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
        _, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
        largest = 1 + stats[1:, cv2.CC_STAT_AREA].argmax()
        x, y, w, h = stats[largest, :4]
        outline, _ = cv2.findContours((labels == largest).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        whole = cv2.drawContours(np.zeros(mask.shape, np.uint8), outline, -1, 255, -1)
        whole = cv2.GaussianBlur(cv2.erode(whole, np.ones((3, 3), np.uint8)), (0, 0), 1.0)
        return frame[y:y + h, x:x + w].astype(np.float32), whole[y:y + h, x:x + w], x, y

    def scenes(self, family, count, rng, longest=(800, 1000, 1200, 1400), renders=True):
        """(name, pixels) of `count` scenes: photographs, windows of the fundus, still lifes and landscapes. Of a
        photograph each family takes a window of its own; no scene comes twice in one."""
        names = sorted(self.photographs)
        rng.shuffle(names)
        windows = list(range(len(self.fundus)))
        rng.shuffle(windows)
        made = 0
        for number in range(count):
            size = rng.choice(longest)
            if number % 7 == 6 and windows:
                pixels = enlarged(self.fundus[windows.pop()], size)
                yield f"fundus{number}", pixels
            elif names and (number % 2 == 0 or not renders):
                name = names.pop()
                pixels = self.photograph(name, 1800)
                h, w = pixels.shape[:2]
                part = rng.uniform(0.9, 0.97)
                x, y = round(rng.uniform(0, 1 - part) * w), round(rng.uniform(0, 1 - part) * h)
                pixels = pixels[y:y + round(part * h), x:x + round(part * w)]
                # Enlarged ones have lost the grain that a camera of that many pixels has.
                small = max(w, h) < size
                pixels = enlarged(pixels, size)
                yield name, noisy(pixels, 1.5, np.random.default_rng(rng.getrandbits(40))) if small else pixels
            else:
                made += 1
                kind, seed = ("still", "land")[made % 2], rng.randrange(10**6)
                yield f"{kind}{number}", developed(self.render(kind, seed, size))

    def render(self, kind, seed, size):
        if kind == "land":
            return Landscape(seed, size, size * 2 // 3).render(seed % 7)
        return self.still_life(seed).render(size, size * 2 // 3)

    def still_life(self, seed):
        """A photograph hangs behind, as far as there are any."""
        names = sorted(self.photographs)
        hung = [self.photograph(names[seed % len(names)], 400)] if names and seed % 2 else []
        return StillLife(seed, hung)
