#!/usr/bin/env python3
"""How well pictures are verified (src/kernels/similarity), and what each candidate rule would bring it.

  versions.py SET && similarity_quality.py SET [--windows] [--czkawka] [--distributions] [--no-candidates]

Compiles similarity_driver.cc, runs it over pairs of SET and prints
  1. recall of verification over every true pair of the ten versions, turned ones in their orientation, and
     every pair of different bases that it calls the same: among what a permissive rule proposes, and among
     all originals in all orientations; photographs and designs also apart;
  2. the harder edits, one line each;
  3. for each candidate rule, the recall it leaves after verification and the false pairs it proposes, also on
     windows of photographs that have nothing in common.
"""

import argparse
import pathlib
import random
import subprocess
import tempfile
import time

import czkawka
import numpy as np
from PIL import Image
from scipy.fft import dct

from similarity_features import LANCZOS, ORIENTATIONS, Collection, distances, oriented, stored_thumbnail

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELDS = ("kind score coarse overlap structure correlation movement moved_share chroma tone fit contrast").split()
SAME, RECOLOURED = 0, 1


class Driver:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="similarity-"))
        sources = [str(p) for p in (ROOT / "src/kernels/similarity").glob("similarity_*.cc")
                   if not p.stem.endswith(("_test", "_bench"))]
        sources.append(str(ROOT / "src/kernels/orient/orient_cpu.cc"))
        subprocess.run(["c++", "-std=c++20", "-O3", "-ffp-contract=off", f"-I{ROOT}",
                        str(ROOT / "bench/recipes/similarity_driver.cc"), *sources, "-o", str(self.folder / "driver"),
                        "-lhwy"], check=True)

    def __call__(self, thumbs, pairs):
        """A table of FIELDS, one row a pair (first, second, orientation of the second)."""
        files = [self.folder / n for n in ("thumbs", "pairs", "out")]
        thumbs.tofile(files[0])
        np.asarray(pairs, np.int32).tofile(files[1])
        done = subprocess.run([self.folder / "driver", *files], check=True, capture_output=True, text=True)
        self.speed = done.stderr.strip().replace("\n", "; ")
        return np.fromfile(files[2], np.float32).reshape(-1, len(FIELDS))


def true_pairs(c):
    """Every two versions of one base, and the orientation that brings the second to the first."""
    turn = {"rotated": 8, "mirrored": 2}  # original -> version
    back = {1: 1, 8: 6, 2: 2}
    where = {}
    for i, base in enumerate(c.base):
        where.setdefault(base, []).append(i)
    pairs = []
    for rows in where.values():
        for a, i in enumerate(rows):
            for j in rows[a + 1:]:
                oi, oj = turn.get(c.version[i], 1), turn.get(c.version[j], 1)
                if oi == 1:
                    pairs.append((i, j, back[oj]))
                elif oj == 1:
                    pairs.append((i, j, oi))
                else:  # a mirrored one is unmirrored, then turned
                    pairs.append((i, j, 5) if oi == 8 else (j, i, 5))
    return np.array(pairs)


def rate(hits, of=None):
    hits = hits if of is None else hits[of]
    return f"{hits.mean():.4f} ({hits.sum()} of {len(hits)})" if len(hits) else "none"


def verify(c, driver, options):
    pairs = true_pairs(c)
    table = driver(c.thumb, pairs)
    print(f"true pairs: {driver.speed}")
    same = table[:, 0] == SAME
    turned = np.isin(c.version, ["rotated", "mirrored"])
    easy = ~(turned[pairs[:, 0]] | turned[pairs[:, 1]])
    photo = c.photo[pairs[:, 0]]
    for name, of in (("all ten", np.ones(len(pairs), bool)), ("easy", easy)):
        print(f"  recall, {name}: {rate(same, of)}; photographs {rate(same, of & photo)}; "
              f"designs {rate(same, of & ~photo)}")
    missed = {}
    for (i, j, _), ok in zip(pairs, same):
        if not ok:
            missed[c.base[i]] = missed.get(c.base[i], 0) + 1
    print("  missed, by base:", ", ".join(f"{b} {n}" for b, n in sorted(missed.items(), key=lambda x: -x[1])))
    h = {n: distances(v) for n, v in c.hash.items()}
    near = ((h["dhash"] <= 10) & (h["ahash"] <= 10)) | (h["phash"] <= 12) | (distances(c.pdq) <= 90)
    i, j = np.nonzero(np.triu(near & (c.base[:, None] != c.base[None, :]), 1))
    proposed = np.stack([i, j, 0 * i + 1], 1)
    originals = np.nonzero(c.version == "original")[0]
    every = np.array([(a, b, o) for k, a in enumerate(originals) for b in originals[k + 1:] for o in ORIENTATIONS])
    for name, false in (("permissive candidates", proposed), ("originals, 8 orientations", every)):
        out = driver(c.thumb, false)
        print(f"false pairs, {name}: {driver.speed}")
        wrong = out[:, 0] == SAME
        both = c.photo[false[:, 0]] & c.photo[false[:, 1]]
        print(f"  called same: {wrong.sum()} of {len(false)} (two photographs {wrong[both].sum()} of {both.sum()});"
              f" called recoloured {(out[:, 0] == RECOLOURED).sum()}")
        if name.startswith("permissive"):
            print(f"  precision over true pairs and these: all ten {same.sum() / (same.sum() + wrong.sum()):.4f}, "
                  f"easy {same[easy].sum() / (same[easy].sum() + wrong.sum()):.4f}, of photographs "
                  f"{same[photo].sum() / (same[photo].sum() + wrong[both].sum()):.4f}")
        for a, b, o in false[wrong][:10]:
            print(f"    {c.files[a]} {c.files[b]} {o}")
        if options.distributions:
            distributions(name, out)
    if options.distributions:
        distributions("true pairs", table)
    return pairs, same, easy


def distributions(name, table):
    points = [0, 0.5, 1, 2, 5, 25, 50, 75, 95, 98, 99, 99.5, 100]
    decided = table[:, FIELDS.index("overlap")] > 0
    print(f"  {name}: percentiles {points}, of pairs that reached the last steps")
    for k, field in enumerate(FIELDS[2:], 2):
        print(f"    {field:12}", np.percentile(table[decided, k], points).round(3).tolist())


def harder(c, driver, options):
    index = {(b, v): i for i, (b, v) in enumerate(zip(c.base, c.version))}
    pairs = np.array([(index[b, "base"], i, 1) for i, (b, v) in enumerate(zip(c.base, c.version)) if v != "base"])
    table = driver(c.thumb, pairs)
    print(f"harder edits against their base: {driver.speed}")
    version, kind, true = c.version[pairs[:, 1]], table[:, 0], c.same[pairs[:, 1]]
    print(f"  same picture: called same {rate(kind == SAME, true)}; photographs "
          f"{rate(kind == SAME, true & c.photo[pairs[:, 1]])}")
    for name in dict.fromkeys(version):
        of = version == name
        print(f"  {name:18} {'same picture' if true[of].all() else 'NOT the same'}: called same "
              f"{(kind[of] == SAME).mean():.3f}, recoloured {(kind[of] == RECOLOURED).mean():.3f} of {of.sum()}")
        if options.distributions:
            distributions(name, table[of])
    return pairs[true], kind[true] == SAME


# ---- candidate rules: 64-bit codes of the 64 x 64 thumbnail's luma, and of its middle 58 x 58 -----------------

def luma(thumbs):
    t = thumbs.astype(np.int64)
    return ((19595 * t[..., 0] + 38470 * t[..., 1] + 7471 * t[..., 2] + 32768) >> 16).astype(np.uint8)


def code(name, image):
    if name == "dhash":
        a = np.asarray(image.resize((9, 8), LANCZOS)).astype(int)
        return (a[:, 1:] > a[:, :-1]).ravel()
    if name == "dhash_v":
        a = np.asarray(image.resize((8, 9), LANCZOS)).astype(int)
        return (a[1:] > a[:-1]).ravel()
    if name == "ahash":
        a = np.asarray(image.resize((8, 8), LANCZOS))
        return (a > a.mean()).ravel()
    d = dct(dct(np.asarray(image.resize((32, 32), LANCZOS)).astype(float), axis=0), axis=1)[:8, :8].copy()
    d[np.abs(d) < 1e-6] = 0
    return (d > np.median(d)).ravel()


CODES = ("dhash", "dhash_v", "ahash", "phash")
# How two pictures' codes meet: whole with whole, whole with middle, middle with whole.
MEETINGS = ((0, 0), (0, 1), (1, 0))


def codes_of(thumbs):
    """codes[name][whole or middle][picture] -> 64 bits."""
    out = {n: np.zeros((2, len(thumbs), 64), bool) for n in CODES}
    for i, plane in enumerate(luma(thumbs)):
        whole = Image.fromarray(plane)
        for part, image in enumerate((whole, whole.crop((3, 3, 61, 61)))):
            for n in CODES:
                out[n][part, i] = code(n, image)
    return out


RULES = [
    ("dhash<=5 & ahash<=5, whole", lambda x: (x["dhash"][:1] <= 5) & (x["ahash"][:1] <= 5)),
    ("dhash<=10 & ahash<=10, whole", lambda x: (x["dhash"][:1] <= 10) & (x["ahash"][:1] <= 10)),
    ("phash<=8, whole", lambda x: x["phash"][:1] <= 8),
    ("phash<=12, whole", lambda x: x["phash"][:1] <= 12),
    ("phash<=6", lambda x: x["phash"] <= 6),
    ("phash<=8", lambda x: x["phash"] <= 8),
    ("phash<=10", lambda x: x["phash"] <= 10),
    ("ahash<=6 & phash<=16", lambda x: (x["ahash"] <= 6) & (x["phash"] <= 16)),
    ("ahash<=6 & phash<=18", lambda x: (x["ahash"] <= 6) & (x["phash"] <= 18)),
    ("phash<=6 | dhash<=4 & phash<=18", lambda x: (x["phash"] <= 6) | (x["dhash"] <= 4) & (x["phash"] <= 18)),
    ("phash<=6 | dhash<=6 & phash<=16", lambda x: (x["phash"] <= 6) | (x["dhash"] <= 6) & (x["phash"] <= 16)),
    ("phash<=6 | dhash<=6 & phash<=18", lambda x: (x["phash"] <= 6) | (x["dhash"] <= 6) & (x["phash"] <= 18)),
    ("phash<=8 | dhash<=6 & phash<=16", lambda x: (x["phash"] <= 8) | (x["dhash"] <= 6) & (x["phash"] <= 16)),
    ("phash<=8 | dhash<=6 & phash<=18", lambda x: (x["phash"] <= 8) | (x["dhash"] <= 6) & (x["phash"] <= 18)),
    ("phash<=8 | dhash<=8 & phash<=18", lambda x: (x["phash"] <= 8) | (x["dhash"] <= 8) & (x["phash"] <= 18)),
    ("phash<=8 | dhash<=8 & phash<=20", lambda x: (x["phash"] <= 8) | (x["dhash"] <= 8) & (x["phash"] <= 20)),
]


def windows(c, folder, count=40):
    """Pictures of which no two of different photographs have anything in common."""
    rng = random.Random(5)
    thumbs, owners = [], []
    for i in np.nonzero((c.version == "original") & c.photo)[0]:
        image = Image.open(folder / c.files[i]).convert("RGB")
        image.thumbnail((1200, 1200))
        for _ in range(count):
            share = rng.uniform(0.25, 0.6)
            w, h = int(image.width * share), int(image.height * share)
            x, y = rng.randrange(image.width - w + 1), rng.randrange(image.height - h + 1)
            thumbs.append(np.asarray(stored_thumbnail(image.crop((x, y, x + w, y + h)))))
            owners.append(i)
    return np.stack(thumbs), np.array(owners)


def cross_distances(codes, apart):
    return {n: np.stack([distances(codes[n][p], codes[n][q])[apart].astype(np.uint8) for p, q in MEETINGS])
            for n in CODES}


def candidates(c, folder, pairs, same, easy, hard, hard_pairs, hard_same):
    by_orientation = {o: codes_of(oriented(c.thumb, o)) for o in ORIENTATIONS}
    true = {n: np.zeros((3, len(pairs)), int) for n in CODES}
    for k, (i, j, o) in enumerate(pairs):
        for m, (p, q) in enumerate(MEETINGS):
            for n in CODES:
                true[n][m, k] = (by_orientation[1][n][p, i] != by_orientation[o][n][q, j]).sum()
    of_hard = codes_of(hard.thumb)
    far = {n: np.stack([(of_hard[n][p, hard_pairs[:, 0]] != of_hard[n][q, hard_pairs[:, 1]]).sum(1)
                        for p, q in MEETINGS]) for n in CODES}
    set_false = cross_distances(by_orientation[1], np.triu(c.base[:, None] != c.base[None, :], 1))
    thumbs, owners = windows(c, folder)
    window_false = cross_distances(codes_of(thumbs), np.triu(owners[:, None] != owners[None, :], 1))
    total = window_false["phash"].shape[1]
    print(f"candidate rules; false pairs of {set_false['phash'].shape[1]} in the set and of {total} windows of "
          "different photographs.\n  A code meets another as whole with whole and whole with middle, all conditions "
          "in the same meeting.")
    print(f"  {'rule':34} {'easy':>7} {'all ten':>7} | after verification {'easy':>7} {'all ten':>7} {'hard':>7}"
          " | false: set windows")
    for name, rule in RULES:
        hit, hit_hard = rule(true).any(0), rule(far).any(0)
        print(f"  {name:34} {hit[easy].mean():7.4f} {hit.mean():7.4f} |{(hit & same)[easy].mean():26.4f} "
              f"{(hit & same).mean():7.4f} {(hit_hard & hard_same).mean():7.4f} | {rule(set_false).any(0).sum():10} "
              f"{rule(window_false).any(0).sum():7}")
    for n in CODES:
        near = window_false[n].min(0)
        print(f"  join on {n} alone, windows within 4, 6, 8:", [int((near <= r).sum()) for r in (4, 6, 8)])


def peer(c, folder, pairs, easy):
    """The pairs within the groups of czkawka 0.1.2 over the same files."""
    finder = czkawka.ImageSimilarity()
    finder.set_directories([folder / "easy"])
    index = {pathlib.Path(f).name: i for i, f in enumerate(c.files)}
    print("czkawka, pairs within its groups (it has no orientations)")
    for level in (5, 10, 20):
        finder.set_similarity(level)
        start = time.monotonic()
        groups = finder.find_similar()
        took = time.monotonic() - start
        found = {frozenset((index[a.name], index[b.name])) for g in groups for k, a in enumerate(g) for b in g[k + 1:]}
        hit = np.array([frozenset((i, j)) in found for i, j, _ in pairs])
        wrong = sum(c.base[i] != c.base[j] for i, j in map(tuple, found))
        print(f"  similarity {level}: recall easy {rate(hit, easy)}, all ten {rate(hit)}; {wrong} false pairs; {took:.1f} s")


def verify_windows(c, folder, driver):
    """Every pair of windows of different photographs: nothing in them is the same picture."""
    thumbs, owners = windows(c, folder)
    i, j = np.nonzero(np.triu(owners[:, None] != owners[None, :], 1))
    wrong = driver(thumbs, np.stack([i, j, 0 * i + 1], 1))[:, 0] == SAME
    print(f"windows of different photographs: {driver.speed}\n  called same: {wrong.sum()} of {len(wrong)}")
    for a, b in zip(i[wrong][:10], j[wrong][:10]):
        print(f"    {c.files[owners[a]]} {c.files[owners[b]]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--distributions", action="store_true")
    parser.add_argument("--no-candidates", action="store_true")
    parser.add_argument("--windows", action="store_true", help="verify 900,000 pairs with nothing in common")
    parser.add_argument("--czkawka", action="store_true", help="run it over the same files")
    options = parser.parse_args()
    driver = Driver()
    c, hard = Collection(options.folder, "easy"), Collection(options.folder, "hard")
    pairs, same, easy = verify(c, driver, options)
    hard_pairs, hard_same = harder(hard, driver, options)
    if options.windows:
        verify_windows(c, options.folder, driver)
    if options.czkawka:
        peer(c, options.folder, pairs, easy)
    if not options.no_candidates:
        candidates(c, options.folder, pairs, same, easy, hard, hard_pairs, hard_same)


if __name__ == "__main__":
    main()
