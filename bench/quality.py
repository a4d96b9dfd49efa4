"""Quality and speed of `dedupe` on versions of known pictures, beside czkawka on the same files.

  quality.py VERSIONS_FOLDER PROGRAM WORK_FOLDER

A pair counts as found when groups that tell of one picture (`identical`, `same pixels`, `similar`, `altered`, `recoloured`)
connect its files. Every pair of files of one base that truth.json calls the same is to be found: recall. Precision is of
what is suggested: a file to go, for one that stays, is right where truth.json calls the two the same. czkawka suggests all
but one of each group. "easy" leaves the turned and mirrored versions out, as files; "all" has them.
"""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time


def pairs_of(groups):
    found = set()
    for members in groups:
        found.update(itertools.combinations(sorted(members), 2))
    return found


def connected(groups):
    """Groups that share members, joined."""
    parent = {}

    def root(name):
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for members in groups:
        for name in members[1:]:
            parent[root(name)] = root(members[0])
    joined = {}
    for name in parent:
        joined.setdefault(root(name), []).append(name)
    return list(joined.values())


def figures(result, truth, names):
    found, suggested = result
    names = [n for n in names if n in truth]
    by_base = {}
    for name in names:
        by_base.setdefault((truth[name]["set"], truth[name]["base"]), []).append(name)
    same = set()
    for members in by_base.values():
        whole = sorted(n for n in members if truth[n]["same"])
        same.update(itertools.combinations(whole, 2))
    kept = set(names)
    found = {p for p in found if p[0] in kept and p[1] in kept}
    suggested = {p for p in suggested if p[0] in kept and p[1] in kept}
    return {
        "files": len(names),
        "true_pairs": len(same),
        "found": len(found),
        "suggested": len(suggested),
        "precision": len(suggested & same) / len(suggested) if suggested else 1.0,
        "recall": len(found & same) / len(same) if same else 1.0,
        "false": sorted(suggested - same),
        "missed": sorted(same - found),
    }


def run_millrace(program, folder, work, *options):
    catalog = pathlib.Path(work) / "quality.sqlite"
    for leftover in catalog.parent.glob("quality.sqlite*"):
        leftover.unlink()
    out = pathlib.Path(work) / "quality.json"
    start = time.monotonic()
    done = subprocess.run([program, "dedupe", folder, "--catalog", catalog, "--json", out, "--report", f"{work}/quality.html",
                           "--threads", "2", "-q", *options])
    seconds = time.monotonic() - start
    assert done.returncode in (0, 3), done.returncode
    result = json.loads(out.read_text())
    groups, suggested = [], set()
    for group in result["groups"]:
        if group["kind"] not in ("identical", "same pixels", "similar", "altered", "recoloured"):
            continue
        groups.append([os.path.basename(m["path"]) for m in group["members"]])
        stays = next(os.path.basename(m["path"]) for m in group["members"] if m["keep"])
        goes = [os.path.basename(m["path"]) for m in group["members"] if not m["keep"]]
        suggested.update(tuple(sorted((stays, name))) for name in goes)
    return (pairs_of(connected(groups)), suggested), seconds, result["totals"]


def run_czkawka(folder, level=5):
    from czkawka import ImageSimilarity

    finder = ImageSimilarity()
    finder.set_directories([pathlib.Path(folder)])
    finder.set_similarity(level)
    start = time.monotonic()
    groups = finder.find_similar()
    seconds = time.monotonic() - start
    names = [[os.path.basename(str(getattr(item, "path", item))) for item in group] for group in groups]
    # It names no one to keep: whichever stays, these pairs are what it suggests by.
    return (pairs_of(names), pairs_of(names)), seconds


def show(label, f, worst=0):
    print(f"{label:34} files {f['files']:4}  pairs {f['true_pairs']:5}  suggested {f['suggested']:5}  precision {f['precision']:.4f}  recall {f['recall']:.4f}")
    if worst:
        for kind in ("false", "missed"):
            for pair in f[kind][:worst]:
                print(f"      {kind:7}{pair[0]}  {pair[1]}")


def main():
    folder, program, work = map(pathlib.Path, sys.argv[1:4])
    work.mkdir(parents=True, exist_ok=True)
    truth = {os.path.basename(k): v for k, v in json.loads((folder / "truth.json").read_text()).items()}
    turned = {"rotated", "rotated90", "mirrored", "mirror", "rot90"}
    easy_folder = work / "easy_upright"
    shutil.rmtree(easy_folder, ignore_errors=True)
    easy_folder.mkdir()
    all_names = sorted(os.listdir(folder / "easy"))
    upright = [n for n in all_names if truth[n]["version"] not in turned]
    for name in upright:
        os.link(folder / "easy" / name, easy_folder / name)
    found, seconds, _ = run_millrace(program, easy_folder, work)
    print(f"easy: {len(upright)} files in {seconds:.2f} s cold, page included: {len(upright) / seconds:.1f} images/s")
    for kind in ("photo", "design", None):
        names = [n for n in upright if kind is None or truth[n]["kind"] == kind]
        show(f"easy, {kind or 'all pictures'}", figures(found, truth, names), 6 if kind is None else 0)
    found, seconds, _ = run_millrace(program, folder / "easy", work)
    print(f"all ten: {len(all_names)} files in {seconds:.2f} s: {len(all_names) / seconds:.1f} images/s")
    for kind in ("photo", "design", None):
        names = [n for n in all_names if kind is None or truth[n]["kind"] == kind]
        show(f"all ten, {kind or 'all pictures'}", figures(found, truth, names), 6 if kind is None else 0)
    if (folder / "hard").is_dir():
        hard = sorted(os.listdir(folder / "hard"))
        found, seconds, _ = run_millrace(program, folder / "hard", work)
        show("harder edits", figures(found, truth, hard), 6)
    found, seconds, _ = run_millrace(program, folder / "easy", work)
    rate = len(all_names) / seconds
    print(f"speed: {len(all_names)} files, cold, page included: {seconds:.2f} s, {rate:.1f} images/s")
    try:
        found, seconds = run_czkawka(folder / "easy")
        print(f"czkawka 0.1.2, level 5: {seconds:.2f} s, {len(all_names) / seconds:.1f} images/s; ours is {rate * seconds / len(all_names):.2f} x")
        show("czkawka, easy", figures(found, truth, upright))
        show("czkawka, all ten", figures(found, truth, all_names))
    except ImportError as e:
        print(f"czkawka is not here: {e}")


if __name__ == "__main__":
    main()
