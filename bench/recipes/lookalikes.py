#!/usr/bin/env python3
"""Pictures that look alike and of which there is no other copy, and true copies with their altered versions.

  lookalikes.py OUTDIR [--only FAMILY,...] [--seed N] [--data DIR]

Enters: nothing but the seed for what is drawn (lookalikes_documents.py, _cards, _boards, _screens); for what needs
photographs a folder with photos/*.jpg, fundus/*.jpg and video/one_by_one_person.mp4, `../shared/data` beside the
checkout unless --data names another, and the wallpapers of versions.py where they are installed. A family whose film
is absent is left out, and it is said.

Leaves: OUTDIR/unique/FAMILY/*, of which each picture has partners that look the same at 64 x 64 pixels and none that
shows the same; OUTDIR/copies/{photographs,graphics,pages,posted}/BASE__EDIT.*; and OUTDIR/truth.json, a list of {path, set,
family, base, edit, expected: unique | copy | altered, group, place, window, original}: files of one `group` show the
same; `place` [x0, y0, x1, y1] is where something was altered, `window` what a crop has of its original. Families are
to be searched one by one: the same photograph may be the ground of two. Never changes what it reads. The same seed,
data and library versions give the same bytes.
"""

import argparse
import json
import pathlib
import random
import sys
import time

import lookalikes_boards as boards
import lookalikes_cards as cards
import lookalikes_copies as copies
import lookalikes_documents as documents
import lookalikes_posted as posted
import lookalikes_scenes as scenes
import lookalikes_screens as screens
import lookalikes_shots as shots
from lookalikes_photographs import Material
from lookalikes_tools import Picture
from PIL import Image

DRAWN = documents.DRAWN | cards.DRAWN | boards.DRAWN | screens.DRAWN
MADE = scenes.MADE | shots.MADE
HERE = pathlib.Path(__file__).resolve()


def drawn(family, seed):
    draw, designs, count = DRAWN[family]
    for design in range(designs):
        for number in range(count):
            # The design's generator starts anew, so that each picture of it is laid out alike.
            look, rng = random.Random(f"{seed}/{family}/{design}"), random.Random(f"{seed}/{family}/{design}/{number}")
            yield Picture(f"{design:02d}_{number:02d}", draw(design, look, rng), f"{design:02d}", None)


def deck(seed):
    for design, numbers in cards.CARDS:
        for number in numbers:
            look, rng = random.Random(f"{seed}/cards/{design}"), random.Random(f"{seed}/cards/{design}/{number}")
            yield Picture(f"{design:02d}_{number:02d}", cards.card(design, look, rng, number), f"{design:02d}", None)


def fineprint(seed):
    """A4 pages at 150, 200 and 300 dpi, black on white and on a tint, of which one digit of 8 points differs."""
    for dpi in (150, 200, 300):
        for tint, ground in (("white", (255, 255, 255)),
                             ("tint", [(252, 246, 230), (236, 244, 250), (240, 248, 238)][dpi // 50 % 3])):
            for ending, save in ((".jpg", {"quality": 90}), (".png", {"compress_level": 3})):
                base = f"{dpi}-{tint}-{ending[1:]}"
                look = random.Random(f"{seed}/fineprint/{base}")
                state = look.getstate()
                image, places = documents.fine_print(dpi, ground, look, None)
                yield Picture(f"{base}_0", image, base, ending, save | {"dpi": (dpi, dpi)})
                for number in range(1, 4):
                    look.setstate(state)
                    changed = random.Random(f"{seed}/fineprint/{base}/{number}").randrange(len(places))
                    image, _ = documents.fine_print(dpi, ground, look, changed)
                    yield Picture(f"{base}_{number}", image, base, ending, save | {"dpi": (dpi, dpi)},
                                  {"place": places[changed]})


FAMILIES = [*DRAWN, "cards", "fineprint", *MADE]
COPIES = [*copies.FAMILIES, "posted"]


def pictures_of(family, material, seed):
    if family in DRAWN:
        return drawn(family, seed)
    if family == "cards":
        return deck(seed)
    return fineprint(seed) if family == "fineprint" else MADE[family](material, seed)


def write(picture, folder, rng):
    """As .jpg or .png where the family leaves that open, in one of several sizes, so that partners differ in that
    too."""
    image, ending, save = picture.image, picture.ending, dict(picture.save)
    if ending is None:
        ending = ".png" if rng.random() < 0.3 else ".jpg"
        scale = rng.choice([1, 1, 1, 0.8, 0.9, 1.15])
        if scale != 1:
            image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BICUBIC)
    if ending == ".jpg":
        save = {"quality": rng.randint(75, 95)} | save
    else:
        save = {"compress_level": 1} | save
    path = folder / f"{picture.name}{ending}"
    image.save(path, **save)
    return path


def emptied(folder):
    """What an earlier run left there would be unknown to the new truth."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    return folder


def unique(family, out, material, seed):
    folder = emptied(out / "unique" / family)
    truth = []
    for picture in pictures_of(family, material, seed):
        path = write(picture, folder, random.Random(f"{seed}/write/{family}/{picture.name}"))
        relative = path.relative_to(out).as_posix()
        truth.append({"path": relative, "set": "unique", "family": family, "base": picture.base, "edit": "",
                      "expected": "unique",
                      "group": relative, "original": relative} | picture.truth)
    return truth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", help="families, comma-separated: " + ", ".join([*FAMILIES, *COPIES]))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parents[2].parent / "shared" / "data")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else [*FAMILIES, *COPIES]
    unknown = set(wanted) - {*FAMILIES, *COPIES}
    if unknown:
        parser.error(f"no such family: {', '.join(sorted(unknown))}")
    options.out.mkdir(parents=True, exist_ok=True)
    material = Material(options.data)
    if not material.photographs:
        print(f"no photographs below {options.data}: drawn scenes stand in for them")
    truth = []
    begin = time.monotonic()
    for family in wanted:
        start = time.monotonic()
        if family in shots.FILM and not material.film_path.exists():
            print(f"{family:16} left out: {material.film_path} is absent")
            continue
        if family in COPIES:
            emptied(options.out / "copies" / family)
            rows = (posted.make(options.out, material, options.seed) if family == "posted"
                    else copies.make(family, options.out, material, options.seed, DRAWN))
        else:
            rows = unique(family, options.out, material, options.seed)
        truth += rows
        print(f"{family:16} {len(rows):5} pictures {time.monotonic() - start:6.1f} s", flush=True)
    path = options.out / "truth.json"
    if options.only and path.exists():
        # What was made before stays known.
        made = {row["family"] for row in truth}
        truth += [row for row in json.loads(path.read_text()) if row["family"] not in made]
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in truth) + "\n]\n")
    lone = sum(row["expected"] == "unique" for row in truth)
    print(f"{len(truth)} pictures, {lone} of them with no other copy, in {time.monotonic() - begin:.0f} s: {path}")


if __name__ == "__main__":
    sys.exit(main())
