"""Somebody exchanges names while results are written, the catalogue is opened, pictures are read."""

import itertools
import os
import random
import shutil
import time

import pytest
from attacks import ATTACKER, ROOT, attacker, exchange, picture, state
from forged import journal_naming, plain_database
from series import prices_text


def exchanged(scene, a, b, when=lambda: True):
    """An attacker that keeps two names of a shared folder changing places."""

    def act():
        if when():
            exchange(a, b)
            time.sleep(random.choice((0, 0, 0.0001, 0.0003)))

    return attacker(scene.attacker, act)


def series(scene, name="prices.csv", rows=120):
    return scene.file(scene.home / name, prices_text(rows))


def test_an_output_that_is_exchanged_with_a_link(scene):
    scene.library()
    out, link = scene.shared / "found.json", scene.shared / "other"
    link.symlink_to(scene.precious)
    before = state(scene.precious)
    for _ in range(12):
        scene.dedupe(scene.photos, "--json", out).fine()
        with exchanged(scene, out, link):
            scene.dedupe(scene.photos, "--json", out, "--csv", scene.home / "l.csv").fine(0, 1)
        if out.is_symlink():
            exchange(out, link)
        assert scene.precious.read_text() == "the only copy\n" and state(scene.precious) == before
        assert out.is_file() and not out.is_symlink()


def test_an_output_that_is_exchanged_with_a_file_of_the_users(scene):
    scene.library()
    out, photo = scene.shared / "found.json", scene.mine(picture(scene.shared / "photo.png", 7))
    scene.dedupe(scene.photos, "--json", out).fine()
    kept = photo.stat().st_ino, photo.read_bytes()
    for _ in range(12):
        with exchanged(scene, out, photo):
            scene.dedupe(scene.photos, "--json", out, "--csv", scene.home / "l.csv").fine(0, 1)
        found = {p.stat().st_ino: p.read_bytes() for p in scene.shared.iterdir()}
        assert found.get(kept[0]) == kept[1], "the photograph was replaced"


def test_a_folder_for_results_that_is_exchanged_with_a_link(scene):
    scene.library()
    folder, link = scene.folder(scene.shared / "out", 0o777), scene.shared / "other"
    private = scene.folder(scene.home / "private")
    scene.file(private / "found.json", "mine\n")
    scene.file(private / "prices.npy", "mine\n")
    link.symlink_to(private)
    before = {p: row[-1] for p, row in state(private).items() if p in ("found.json", "prices.npy")}
    codes = scene.file(scene.home / "codes.npy", npy_of_codes())
    for _ in range(6):
        with exchanged(scene, folder, link):
            scene.dedupe(scene.photos, "--json", folder / "found.json").fine(0, 1)
            scene.run("join", codes, "--radius", "3", "-o", folder / "prices.npy", "-q").fine(0, 1)
        assert {p: row[-1] for p, row in state(private).items() if p in before} == before


def npy_of_codes(count=2000):
    rng = random.Random(1)
    head = f"{{'descr': '<u8', 'fortran_order': False, 'shape': ({count},), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00v\x00" + head.encode() + rng.randbytes(8 * count)


@pytest.mark.parametrize(
    "store, moment",
    [
        ("hdf5", "when the store is there"),
        *((store, "while it draws") for store in ("hdf5", "npy", "png", "webdataset", "zarr")),
    ],
)
def test_the_folder_for_shards_that_is_exchanged_with_a_link(scene, store, moment):
    prices = series(scene)
    out = scene.shared / "charts"
    shards, link = scene.shared / "charts.shards", scene.shared / "other"
    private = scene.folder(scene.home / "private")
    for name in ("whole.h5", "whole.h5.part", "run.json", "0.charts", "images.npy", "images.npy.part", "precious.txt"):
        scene.file(private / name, f"{name} of the user\n")
    for name in ("00000", "00001.part", "empty"):
        scene.folder(private / name)
        scene.file(private / name / "000000.png", "a picture of the user") if name != "empty" else None
    link.symlink_to(private)
    before = state(private)
    there = (lambda: out.exists()) if moment == "when the store is there" else (lambda: shards.exists())
    for _ in range(6):
        with exchanged(scene, shards, link, there):
            scene.run(
                "render",
                prices,
                "--window",
                "20",
                "--size",
                "40x30",
                "--shard",
                "10",
                "--store",
                store,
                "-o",
                out,
                "-q",
            ).fine(0, 1, 3)
        after = state(private)
        assert {p: after.get(p) for p in before if p != "."} == {p: row for p, row in before.items() if p != "."}
        for path in (out, shards):
            if path.is_symlink():
                exchange(path, link) if link.exists() else path.unlink()
        if not link.is_symlink():
            shutil.rmtree(link, ignore_errors=True)
            link.symlink_to(private)
        for path in (out, shards):
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)


def test_the_thumbnails_of_a_page_that_are_exchanged_with_a_folder_of_the_users(scene):
    scene.library()
    page, thumbs = scene.shared / "page.html", scene.shared / "page.html.thumbs"
    own = scene.folder(scene.shared / "own")
    scene.file(own / "thesis.tex", "the only copy\n")
    for _ in range(25):
        if not page.exists():
            scene.dedupe(scene.photos, "--report", page).fine()
        if not thumbs.exists():
            scene.folder(thumbs)
            scene.folder(thumbs / "0000")
            scene.file(thumbs / ".millrace-thumbs", b"")
            for k in range(300):
                scene.file(thumbs / "0000" / f"{k:06}.jpg", b"")
        with exchanged(scene, thumbs, own):
            scene.dedupe(scene.photos, "--report", page, "-q").fine(0, 1)
        found = [p for p in scene.shared.rglob("thesis.tex") if p.read_text() == "the only copy\n"]
        assert found, "the user's folder was removed"
        if found[0].parent != own:
            exchange(thumbs, own)


def test_a_name_that_is_taken_while_a_store_is_drawn(scene):
    """What appears under the name meanwhile stays."""
    prices = series(scene)
    out = scene.shared / "charts.h5"
    for store in ("hdf5", "npy"):
        for _ in range(4):

            def act():
                if (scene.shared / "charts.h5.shards").exists():
                    os.close(os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                    (scene.shared / "taken").touch()

            with attacker(scene.attacker, act):
                done = scene.run(
                    "render",
                    prices,
                    "--window",
                    "20",
                    "--size",
                    "40x30",
                    "--shard",
                    "7",
                    "--store",
                    store,
                    "-o",
                    out,
                    "-q",
                ).fine(0, 1)
            if (scene.shared / "taken").exists():
                assert out.is_file() and out.stat().st_size == 0, "another's file was replaced"
                assert done.code == 1
            for path in scene.shared.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("command", ["search", "apply"])
def test_the_folder_of_the_catalogue_is_exchanged(scene, command):
    """Who owns the folder above cannot write to the user's, but can put one of theirs in its place."""
    scene.library()
    own, foes = scene.folder(scene.shared / "own", 0o700), scene.shared / "foes"
    first = scene.dedupe(scene.photos, "--catalog", own / "c.sqlite")
    if first.code == 1:  # not kept below a folder of somebody else: there is nothing to exchange
        first.refused("shared")
        return
    decisions = scene.write_decisions([])
    words = ["dedupe", scene.photos] if command == "search" else ["dedupe", "apply", decisions, "--action", "delete"]
    for _ in range(30):
        foes.mkdir()
        database = plain_database(foes / "c.sqlite")
        (foes / "c.sqlite-journal").write_bytes(journal_naming(scene.precious, database.stat().st_size // 4096))
        for path in (foes, *foes.iterdir()):
            path.chmod(0o777)
        if ROOT:
            scene.theirs(foes)
        inode = own.stat().st_ino
        with exchanged(scene, own, foes):
            scene.run(*words, "--catalog", own / "c.sqlite", "-q").fine(0, 1)
        assert scene.precious.exists(), "SQLite removed the file that another's journal named"
        if own.stat().st_ino != inode:
            exchange(own, foes)
        shutil.rmtree(foes)


@pytest.mark.parametrize("trap", ["pipe", "/dev/zero", "a pipe behind a link", "a private file"])
def test_pictures_that_are_exchanged_while_they_are_read(scene, trap):
    folder, traps = scene.folder(scene.shared / "photos", 0o777), scene.folder(scene.shared / "traps", 0o777)
    pipe = scene.home / "pipe"
    os.mkfifo(pipe)
    scene.mine(pipe)
    names = [f"{k:03}.png" for k in range(60)]
    secret = scene.mine(picture(scene.home / "secret.png", 99))
    for k, name in enumerate(names):
        picture(folder / name, k)
        if trap == "pipe":
            os.mkfifo(traps / name)
            os.chmod(traps / name, 0o666)
        else:
            target = {"/dev/zero": "/dev/zero", "a private file": secret}.get(trap, pipe)
            (traps / name).symlink_to(target)
    scene.mine(folder)
    if ROOT:
        os.chown(folder, ATTACKER, ATTACKER)
        os.chown(traps, ATTACKER, ATTACKER)
    turn = itertools.count()

    def act():
        name = names[next(turn) % len(names)]
        exchange(folder / name, traps / name)

    catalog = scene.home / "c.sqlite"
    with attacker(scene.attacker, act):
        for _ in range(3):
            scene.dedupe(folder, "--catalog", catalog, "--json", scene.home / "f.json", "-q").fine(0, 3)
            scene.run("hash", folder, "-q").fine(0, 3)
            catalog.unlink()
