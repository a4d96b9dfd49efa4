"""Families of lookalikes.py that a camera makes by pressing its shutter again: other people in a room, series with
times, brackets of exposures, time lapses, views from a little beside, windows that overlap.

Enters: the material (lookalikes_photographs.py) and the seed. Leaves: `Picture`s, with EXIF where the family is about
it.
"""

import datetime
import random

import cv2
import numpy as np

from lookalikes_photographs import CAMERAS, some_day, tags
from lookalikes_render import Landscape, developed, linear
from lookalikes_tools import Picture, as_picture, fbm, noisy, seeded

STILL = 0.5  # seconds between the frames that the material keeps of the film


def tagged(exif):
    return {"exif": exif}


def window(frame, which):
    """The whole frame, or what another camera beside it would take."""
    if which == 0:
        return as_picture(frame.astype(np.float32))
    return as_picture(cv2.resize(frame[12:424, 150:740].astype(np.float32), (1180, 824), interpolation=cv2.INTER_CUBIC))


def room_times(material, seed):
    """Stills of one room with the camera's times: 2 s apart without parts of a second, and 3 s apart with them. No
    frame is in both."""
    rng = random.Random(f"{seed}/room_times")
    for which, first, step in ((0, 0, 4), (1, 1, 6)):
        start = some_day(rng)
        for number, frame in enumerate(material.frames[first::step]):
            taken = start + datetime.timedelta(seconds=number * step * STILL)
            exif = tags(CAMERAS[which], taken, subsecond=which == 1, zone="+01:00" if which else None)
            yield Picture(f"{which}_{number:03d}", window(frame, which), f"{which}-room", ".jpg", tagged(exif))


def room(material, seed):
    """Stills without times, somebody in each: another person, or the same one standing otherwise."""
    for which, first, step, wanted in ((0, 2, 4, 30), (1, 3, 6, 16)):
        small, kept = [], []
        for index in range(first, len(material.frames), step):
            if not 0.03 < material.presence[index]:
                continue
            frame = cv2.resize(material.frames[index], (256, 144), interpolation=cv2.INTER_AREA).astype(np.int16)
            # Somebody who stood quite still would be the same picture to any eye.
            if all((np.abs(frame - other).max(2) > 48).mean() > 0.006 for other in small):
                small.append(frame)
                kept.append(index)
        for index in kept[:: max(1, round(len(kept) / wanted))]:
            yield Picture(f"{which}_{index:03d}", window(material.frames[index], which), f"{which}-room", ".jpg")


def shaken(pixels, rng, reach):
    """The camera is not quite where it was."""
    dx, dy = rng.uniform(-reach, reach), rng.uniform(-reach, reach)
    h, w = pixels.shape[:2]
    return cv2.warpAffine(pixels, np.float32([[1, 0, dx], [0, 1, dy]]), (w, h), flags=cv2.INTER_CUBIC,
                          borderMode=cv2.BORDER_REFLECT)


def series(material, seed):
    """The same thing taken again and again, 0.3 to 5 s apart: only noise, a hand's shake under a pixel, and the times
    differ."""
    look = random.Random(f"{seed}/series")
    for number, (name, pixels) in enumerate(material.scenes("series", 15, look)):
        camera, taken = CAMERAS[number % len(CAMERAS)], some_day(look)
        # Without parts of a second only whole ones tell them apart.
        parts = number % 3 != 1
        for version in range(4):
            rng = random.Random(f"{seed}/series/{number}/{version}")
            out = noisy(shaken(pixels, rng, 0.8), 2 + number % 3, seeded(rng))
            exif = tags(camera, taken, parts, "+02:00" if number % 2 else None, exposure=1 / 60, iso=400)
            yield Picture(f"{number:02d}_{version}", as_picture(out), f"{number:02d}-{name}", ".jpg", tagged(exif))
            taken += datetime.timedelta(seconds=rng.uniform(0.3, 5) if parts else rng.randint(1, 5))


BRACKETS = [(-1, 0, 1), (-2, 0, 2), (-0.7, 0, 0.7), (-2, -1, 0, 1, 2), (-1.3, 0, 1.3), (0, -0.7, 0.7), (-1, 0, 1)]


def exposed(light, stops, rng, sigma):
    """In linear light, clipped where the sensor is full; shadows that are lifted show more noise."""
    return noisy(developed(light, 2.0**stops), sigma * (1.25 if stops < 0 else 0.9), seeded(rng))


def brackets(material, seed):
    """One thing at several exposures, with the tags and times that the camera writes."""
    look = random.Random(f"{seed}/brackets")
    for number, (name, pixels) in enumerate(material.scenes("brackets", 15, look)):
        camera, taken, light = CAMERAS[number % len(CAMERAS)], some_day(look), linear(pixels)
        for version, stops in enumerate(BRACKETS[number % len(BRACKETS)]):
            rng = random.Random(f"{seed}/brackets/{number}/{version}")
            out = exposed(shaken(light, rng, 0.6 if number % 2 else 0), stops, rng, 1.6)
            seconds = 2.0**stops / [30, 60, 125, 2][number % 4]
            exif = tags(camera, taken, number % 2 == 0, exposure=seconds, bias=stops, iso=200)
            yield Picture(f"{number:02d}_{version}", as_picture(out), f"{number:02d}-{name}", ".jpg", tagged(exif))
            taken += datetime.timedelta(seconds=round(seconds) + rng.choice([1, 2, 4]))


def brackets_bare(material, seed):
    """Brackets whose tags a program has dropped."""
    look = random.Random(f"{seed}/brackets_bare")
    for number, (name, pixels) in enumerate(material.scenes("brackets_bare", 9, look)):
        light = linear(pixels)
        for version, stops in enumerate([(-1, 0, 1), (-0.7, 0, 0.7), (0, -0.7, -1.4)][number % 3]):
            rng = random.Random(f"{seed}/brackets_bare/{number}/{version}")
            yield Picture(f"{number:02d}_{version}", as_picture(exposed(light, stops, rng, 1.4)),
                          f"{number:02d}-{name}")


def timelapse(material, seed):
    """A camera on its tripod while clouds drift, a lamp or a shadow wanders. Every other one has its times."""
    for number in range(15):
        look = random.Random(f"{seed}/timelapse/{number}")
        camera, taken = CAMERAS[number % len(CAMERAS)], some_day(look)
        count = 7 if number < 6 else 4
        way = "clouds" if number < 6 else "lamp" if number < 10 else "shadow"
        if way == "clouds":
            scene = Landscape(look.randrange(10**6), look.choice([900, 1000, 1200]), look.choice([600, 640]))
        elif way == "lamp":
            scene = material.still_life(look.randrange(10**6))
            x, y, z = scene.light
        else:
            _, scene = next(material.scenes("timelapse", 1, look, renders=False), (None, None))
            if scene is None:
                return
            h, w = scene.shape[:2]
            field = fbm(h, w * 2, 3, 4, np.random.default_rng(number), 0.5)
        for version in range(count):
            rng = random.Random(f"{seed}/timelapse/{number}/{version}")
            if way == "clouds":
                out = developed(scene.render(number + version * 0.05))
            elif way == "lamp":
                out = developed(scene.render(900, 600, light=(x + 0.2 * version, y, z + 0.1 * version)), 1.2)
            else:
                at = round(version * w * 0.05)
                out = developed(linear(scene) * (1.05 - 0.42 * np.clip(field[:, at:at + w, None] * 1.5, 0, 1)))
            save = tagged(tags(camera, taken)) if number % 2 else {}
            yield Picture(f"{number:02d}_{version}", as_picture(noisy(out, 1.5, seeded(rng))), f"{number:02d}-{way}",
                          ".jpg", save)
            taken += datetime.timedelta(seconds=rng.choice([5, 10, 30]))


def beside(pixels, strength, depth):
    """The scene from a little beside: near parts move against far ones by `strength` of the width."""
    h, w = pixels.shape[:2]
    x = np.arange(w, dtype=np.float32)[None, :] + (depth - 0.5) * strength * w
    y = np.arange(h, dtype=np.float32)[:, None] + np.zeros((1, w), np.float32)
    return cv2.remap(pixels, x.astype(np.float32), y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)


def views(material, seed):
    """Second views: still lifes from beside, persons before a landscape, photographs with a near and a far part."""
    for number in range(8):
        look = random.Random(f"{seed}/views/{number}")
        scene = material.still_life(look.randrange(10**6))
        for version in range(3):
            rng = random.Random(f"{seed}/views/{number}/{version}")
            step = version * look.uniform(0.022, 0.026)
            out = developed(scene.render(1000, 667, camera=(step, step * 0.3 * (number % 2))), 1.3)
            yield Picture(f"s{number:02d}_{version}", as_picture(noisy(out, 1.5, seeded(rng))), f"{number:02d}-still")
    for number in range(5 if len(material.frames) else 0):
        look = random.Random(f"{seed}/views/planes/{number}")
        far = developed(Landscape(3 * look.randrange(10**5) + 2, 1200, 800).render(0.5))
        cut, mask, _, _ = material.people[look.randrange(len(material.people))]
        tall = 620
        wide = round(tall * mask.shape[1] / mask.shape[0])
        cut = cv2.resize(cut, (wide, tall), interpolation=cv2.INTER_CUBIC)
        alpha = (cv2.resize(mask, (wide, tall), interpolation=cv2.INTER_CUBIC).astype(np.float32) / 255)[..., None]
        x, y = look.randint(250, 700), 800 - tall
        for version in range(4):
            rng = random.Random(f"{seed}/views/planes/{number}/{version}")
            out = shaken(far, rng, 1)
            at = x + round(version * 1200 * look.uniform(0.011, 0.013))
            out[y:, at:at + wide] += (cut - out[y:, at:at + wide]) * alpha
            yield Picture(f"p{number:02d}_{version}", as_picture(noisy(out, 1.5, seeded(rng))), f"{number:02d}-planes")
    look = random.Random(f"{seed}/views/photographs")
    for number, (name, pixels) in enumerate(material.scenes("views", 6, look, renders=False)):
        depth = fbm(*pixels.shape[:2], 2, 1, seeded(look))
        depth = np.clip((depth - depth.min()) / np.ptp(depth), 0, 1)
        if number % 2:
            depth = cv2.GaussianBlur((depth > 0.5).astype(np.float32), (0, 0), 6)
        for version in range(3):
            rng = random.Random(f"{seed}/views/photographs/{number}/{version}")
            out = beside(pixels, version * 0.018, depth)
            yield Picture(f"d{number:02d}_{version}", as_picture(noisy(out, 1.5, seeded(rng))), f"{number:02d}-{name}")


def shifted(material, seed):
    """Windows of one scene that overlap: each has what the other lacks. Steps of 2 to 8 % of the side."""
    look = random.Random(f"{seed}/shifted")
    for number, (name, pixels) in enumerate(material.scenes("shifted", 15, look, longest=(1100, 1300, 1500))):
        h, w = pixels.shape[:2]
        part = look.uniform(0.80, 0.85)
        ww, wh = round(w * part), round(h * part)
        dx, dy = look.choice([(1, 0), (0, 1), (1, 1), (-1, 1), (1, 0)])
        x = 0.0 if dx >= 0 else 1 - part
        y = 0.0
        for version in range(4):
            rng = random.Random(f"{seed}/shifted/{number}/{version}")
            left, top = round(x * w), round(y * h)
            out = noisy(pixels[top:top + wh, left:left + ww], 1.0, seeded(rng))
            yield Picture(f"{number:02d}_{version}", as_picture(out), f"{number:02d}-{name}")
            step = look.choice([look.uniform(0.02, 0.035), look.uniform(0.02, 0.08)]) * part
            if not (0 <= x + dx * step <= 1 - part and 0 <= y + dy * step <= 1 - part):
                break
            x, y = x + dx * step, y + dy * step


MADE = {"room_times": room_times, "room": room, "series": series, "brackets": brackets, "brackets_bare": brackets_bare,
        "timelapse": timelapse, "views": views, "shifted": shifted}
FILM = {"room_times", "room", "persons"}
