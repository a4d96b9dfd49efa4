#!/usr/bin/env python3
"""What `dedupe` suggests among pictures that look alike and have no copy, and among true copies and altered versions.

  closelook.py OUTDIR [--program PATH] [--only FAMILY,...] [--czkawka] [--alone] [-- PROGRAM'S ARGUMENTS...]

Enters: a folder that recipes/lookalikes.py has written, with its truth.json. The program is run on each family by
itself, with a catalogue of its own, cold; what stands behind `--` (`--look thumbnail`) is handed to it. Leaves: two
tables on stdout, and OUTDIR/closelook/FAMILY.json, the program's results.

A picture is *suggested* when it is a member with "keep": false of a group. It is *lost* when no kept member of that
group shows the same: the same original, unaltered, and of a crop only what the crop shows. *alike* are those that
stand in an `identical` or `similar` group with another. With --alone each edit of a copies' family is searched with the
originals and nothing else, so that none is found by way of another copy. Exit 1 when anything is lost. Never changes a picture.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from PIL import Image

WHOLE = [0.0, 0.0, 1.0, 1.0]
SAME = ("identical", "same pixels", "same_pixels", "similar")


def shows(kept, lost):
    """Whether the picture `kept` shows all that `lost` shows."""
    a, b = kept.get("window", WHOLE), lost.get("window", WHOLE)
    if kept["group"] != lost["group"]:
        # One that was altered still shows a crop that lies beside the place.
        place = kept.get("place")
        beside = place and (b[0] >= place[2] or b[1] >= place[3] or b[2] <= place[0] or b[3] <= place[1])
        if not (beside and kept["base"] == lost["base"] and kept["family"] == lost["family"] and lost["expected"] == "copy"):
            return False
    slack = 0.004
    return a[0] <= b[0] + slack and a[1] <= b[1] + slack and a[2] >= b[2] - slack and a[3] >= b[3] - slack


def run_program(program, folder, work, name, more):
    work.mkdir(parents=True, exist_ok=True)
    for leftover in work.glob(f"{name}.sqlite*"):
        leftover.unlink()
    out = work / f"{name}.json"
    out.unlink(missing_ok=True)
    command = [program, "dedupe", folder, "--catalog", work / f"{name}.sqlite", "--json", out, "-q", *more]
    start = time.monotonic()
    done = subprocess.run(command)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}")
    result = json.loads(out.read_text())
    result["seconds"] = time.monotonic() - start
    return result


def each_edit_alone(program, out, family, rows, more):
    """One result of as many searches: each edit's files, by other names of theirs, with the originals."""
    folder = out / "closelook" / f"{family}-alone"
    edits = collections.defaultdict(list)
    for row in rows:
        edits[row["edit"]].append(row)
    originals = edits.pop("original")
    result = {"groups": [], "related": [], "unreadable": [], "seconds": 0.0}
    for edit, versions in edits.items():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for row in [*originals, *versions]:
            os.link(out / row["path"], folder / os.path.basename(row["path"]))
        one = run_program(program, folder, out / "closelook", f"{family}-{edit}", more)
        for key, found in result.items():
            result[key] = found + one.get(key, [] if isinstance(found, list) else 0)
    shutil.rmtree(folder)
    return result


def czkawka_groups(folder, level=5):
    from czkawka import ImageSimilarity

    finder = ImageSimilarity()
    finder.set_directories([folder])
    finder.set_similarity(level)
    # It tells its progress on stdout, below Python.
    with quiet():
        found = finder.find_similar()
    return [[str(getattr(item, "path", item)) for item in group] for group in found]


@contextlib.contextmanager
def quiet():
    sys.stdout.flush()
    before, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)
        os.close(nowhere)


def largest_stays(group):
    """czkawka leaves the choice to its user; most keep the one with more pixels, then more bytes."""
    def worth(path):
        try:
            with Image.open(path) as image:
                return image.width * image.height, os.path.getsize(path)
        except OSError:
            return 0, os.path.getsize(path)

    kept = max(sorted(group), key=worth)
    return [(path, path == kept) for path in group]


class Look:
    """What was found in one family, against the truth: rows by file name."""

    def __init__(self, rows):
        self.rows = {os.path.basename(row["path"]): row for row in rows}
        self.suggested, self.stays, self.lost, self.alike = set(), set(), set(), set()
        self.kinds = collections.Counter()
        self.together = collections.defaultdict(set)  # file -> files it was found with
        self.best = None
        self.places = collections.defaultdict(list)  # altered file -> whether a marked place is right

    def names(self, group):
        names = [os.path.basename(m["path"]) for m in group["members"]]
        if unknown := [name for name in names if name not in self.rows]:
            sys.exit(f"truth.json does not know {unknown[0]}: write the set anew")
        return names

    def group(self, members):
        """(file name, keep) of a group's members: who is suggested, who is lost by that."""
        kept = [self.rows[name] for name, keep in members if keep]
        gone = [name for name, keep in members if not keep]
        self.suggested.update(gone)
        self.lost.update(name for name in gone if not any(shows(row, self.rows[name]) for row in kept))
        if gone:
            self.stays.update(name for name, keep in members if keep)
        self.met([name for name, _ in members])

    def met(self, names):
        for name in names:
            self.together[name].update(other for other in names if other != name)

    def result(self, result):
        for group in result["groups"]:
            names = self.names(group)
            self.kinds[group["kind"]] += 1
            self.group([(name, m["keep"]) for name, m in zip(names, group["members"])])
            if group["kind"] in SAME:
                self.alike.update(names)
            self.pairs(group, names, group["kind"] in SAME)
        for group in result.get("related", []):
            names = self.names(group)
            self.kinds[group["kind"] if group["kind"] not in SAME else "related"] += 1
            self.met(names)
            self.pairs(group, names, False)

    def pairs(self, group, names, counted):
        for pair in group.get("pairs", []):
            a, b = self.rows[names[pair["a"]]], self.rows[names[pair["b"]]]
            if counted and a["group"] != b["group"] and (self.best is None or pair.get("score", 0) > self.best[0]):
                self.best = (pair.get("score", 0), names[pair["a"]], names[pair["b"]])
        # A member's place is marked against the one that it was looked at against, which has none.
        others = [self.rows[n] for n, member in zip(names, group["members"]) if "place" not in member]
        for name, member in zip(names, group["members"]):
            row = self.rows[name]
            beside_copy = any(o["expected"] == "copy" and o["base"] == row["base"] for o in others)
            if "place" in member and row["expected"] == "altered" and row.get("place") and beside_copy:
                self.places[os.path.basename(row["path"])].append(overlaps(member["place"], row["place"]))

    def relatives(self, name):
        """Those of one's base that it was found with: the original and its copies."""
        row = self.rows[name]
        return [n for n in self.together[name] if self.rows[n]["base"] == row["base"]
                and self.rows[n]["expected"] == "copy"]


def overlaps(marked, true):
    """Whether the marked place lies where the alteration is: what they share is a third of the smaller of them."""
    wide = min(marked[2], true[2]) - max(marked[0], true[0])
    tall = min(marked[3], true[3]) - max(marked[1], true[1])
    if wide <= 0 or tall <= 0:
        return False
    area = min((marked[2] - marked[0]) * (marked[3] - marked[1]), (true[2] - true[0]) * (true[3] - true[1]))
    return wide * tall >= area / 3


def share(part, whole):
    return f"{part / whole:6.3f}" if whole else "     -"


def copies_table(family, look):
    print(f"\ncopies/{family}: {len(look.rows)} pictures, {len(look.lost)} lost")
    print("  edit           files found  share suggested stays of found  place right")
    by_edit = collections.defaultdict(list)
    for name, row in look.rows.items():
        by_edit[row["expected"], row["edit"]].append(name)
    sums = collections.Counter()
    for (expected, edit), names in by_edit.items():
        found = [n for n in names if look.relatives(n)]
        suggested = [n for n in found if n in look.suggested]
        # One that stays in place of the others of its base was understood as their copy too.
        stays = [n for n in found if n in look.stays and n not in look.suggested]
        told = [any(look.places[n]) for n in names if n in look.places]
        of_found = share(len(suggested) + (len(stays) if expected == "copy" else 0), len(found))
        place = "" if expected == "copy" else f"  {sum(told)} of {len(told)}" if told else "  -"
        print(f"  {edit:14} {len(names):5} {len(found):5} {share(len(found), len(names))} {len(suggested):9}"
              f" {len(stays):5} {of_found:>8}{place}")
        for key, value in (("files", len(names)), ("found", len(found)), ("suggested", len(suggested)),
                           ("stays", len(stays))):
            sums[expected, key] += value
    found, whole = sums["copy", "found"], sums["copy", "files"]
    print(f"  copies: found {share(found, whole)}, of those suggested or kept in another's place "
          f"{share(sums['copy', 'suggested'] + sums['copy', 'stays'], found)}")
    found, whole = sums["altered", "found"], sums["altered", "files"]
    print(f"  altered: found {share(found, whole)}, suggested {sums['altered', 'suggested']}")


def line(name, pictures, alike, lost, seconds="", theirs=None, more=""):
    """A row of the first table; the peer's column only where it was asked for."""
    peer = f" {theirs:>8}" if theirs is not None else ""
    print(f"{name:18.18} {pictures:>8} {alike:>6} {lost:>5} {seconds:>8}{peer}  {more}".rstrip(), flush=True)


def main():
    arguments, more = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, more = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path,
                        default=pathlib.Path(__file__).parents[1] / "build" / "release" / "millrace")
    parser.add_argument("--only", help="families, comma-separated")
    parser.add_argument("--czkawka", action="store_true", help="the same count by czkawka, level 5")
    parser.add_argument("--alone", action="store_true", help="of copies, each edit with the originals by itself")
    options = parser.parse_args(arguments)
    families = collections.defaultdict(list)
    for row in json.loads((options.out / "truth.json").read_text()):
        families[row["set"], row["family"]].append(row)
    wanted = set(options.only.split(",")) if options.only else {family for _, family in families}
    line("family", "pictures", "alike", "lost", "seconds", "czkawka" if options.czkawka else None,
         "best false score; kinds")
    total, tables = collections.Counter(), []
    for (which, family), rows in families.items():
        if family not in wanted:
            continue
        folder = options.out / which / family
        look = Look(rows)
        if which == "copies" and options.alone:
            result = each_edit_alone(options.program, options.out, family, rows, more)
        else:
            result = run_program(options.program, folder, options.out / "closelook", family, more)
        look.result(result)
        theirs = None
        if options.czkawka:
            peer = Look(rows)
            for group in czkawka_groups(folder):
                peer.group([(os.path.basename(path), keep) for path, keep in largest_stays(group)])
            theirs = len(peer.lost)
        told = f"{look.best[0]:.3f} {look.best[1]} {look.best[2]}; " if look.best else "-; "
        told += ", ".join(f"{kind} {count}" for kind, count in sorted(look.kinds.items()))
        if result.get("unreadable"):
            told += f"; {len(result['unreadable'])} not read"
        line(family if which == "unique" else f"{which}/{family}", len(rows), len(look.alike), len(look.lost),
             f"{result['seconds']:.1f}", theirs, told)
        for key, value in (("pictures", len(rows)), ("alike", len(look.alike)), ("lost", len(look.lost)),
                           ("theirs", theirs or 0)):
            total[which, key] += value
        if which == "copies":
            tables.append((family, look))
    for which in ("unique", "copies"):
        if total[which, "pictures"]:
            line(f"{which}, all", *(total[which, key] for key in ("pictures", "alike", "lost")), "",
                 total[which, "theirs"] if options.czkawka else None)
    for family, look in tables:
        copies_table(family, look)
    return 1 if total["unique", "lost"] or total["copies", "lost"] else 0


if __name__ == "__main__":
    sys.exit(main())
