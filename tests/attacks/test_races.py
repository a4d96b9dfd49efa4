"""Somebody exchanges names while files are moved, trashed, linked, set aside, brought back or destroyed."""

import itertools
import json
import os
import random
import time

import pytest
from attacks import ATTACKER, ROOT, attacker, copied, exchange, picture, state

FILES = 100


class Trap:
    """A shared folder of copies whose name somebody exchanges with a link to a private one with the same names."""

    def __init__(self, scene):
        self.scene = scene
        self.first = scene.mine(picture(scene.shared / "first.png", 1))
        self.folder = scene.folder(scene.shared / "copies")
        self.names = [f"{k:03}.png" for k in range(FILES)]
        for name in self.names:
            scene.mine(copied(self.first, self.folder / name))
        self.private = scene.folder(scene.home / "private")
        self.link = scene.shared / "other"
        self.link.symlink_to(self.private)

    def private_files(self, below=""):
        """The same names, sizes and times; other files."""
        folder = self.private / below
        folder.mkdir(exist_ok=True)
        for name in self.names:
            copied(self.first, folder / name)
        self.scene.mine(self.private)
        return state(self.private)

    def exchanged_once(self, begun):
        """What the attacker does: nothing until the run has begun with the files, then without pause."""
        started = []

        def act():
            if started or begun():
                started.append(True)
                # Now and then for long, mostly for a moment, so that files go and attacks fall between two calls.
                exchange(self.folder, self.link)
                time.sleep(random.choice((0, 0, 0, 0.0002)))
                exchange(self.folder, self.link)
                time.sleep(random.choice((0, 0.0001, 0.0005)))

        return attacker(self.scene.attacker, act)

    def settled(self):
        """The folder has its own name again; what is in it."""
        if self.folder.is_symlink():
            exchange(self.folder, self.link)
        return sorted(path.name for path in self.folder.iterdir() if path.suffix == ".png")

    def count(self):
        return sum(name.endswith(".png") for name in os.listdir(self.folder))

    def fewer(self):
        return self.count() < FILES

    def some(self):
        return self.count() > 0


def action_of(scene, name):
    return f"move={scene.home / 'moved'}" if name == "move" else name


ACTIONS = ["trash", "move", "delete", "hardlink"]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_folder_that_is_exchanged_with_a_link(scene, action):
    trap = Trap(scene)
    before = trap.private_files()
    decisions = scene.decide(scene.search(scene.shared))
    begun = (lambda: trap.first.stat().st_nlink > 1) if action == "hardlink" else trap.fewer
    with trap.exchanged_once(begun):
        scene.apply(decisions, action_of(scene, action), "--go").fine(0, 3)
    assert state(trap.private) == before
    left = trap.settled()
    if action == "hardlink":
        assert left == trap.names
        assert {(trap.folder / name).read_bytes() for name in left} == {trap.first.read_bytes()}
    # Undisturbed, the same command does the rest.
    scene.apply(decisions, action_of(scene, action), "--go").fine()
    assert trap.settled() == (trap.names if action == "hardlink" else [])
    assert trap.first.stat().st_nlink == (FILES + 1 if action == "hardlink" else 1)
    assert state(trap.private) == before


@pytest.mark.parametrize("action", ACTIONS)
def test_a_folder_that_is_exchanged_while_files_are_brought_back(scene, action):
    trap = Trap(scene)
    decisions = scene.decide(scene.search(scene.shared))
    scene.apply(decisions, action_of(scene, action), "--go").fine()
    before = state(trap.private)
    journal = scene.journal()
    some = (lambda: trap.first.stat().st_nlink <= FILES) if action == "hardlink" else trap.some
    with trap.exchanged_once(some):
        scene.undo(journal, "--go").fine(0, 3)
    assert state(trap.private) == before
    trap.settled()
    scene.undo(journal, "--go").fine(0, 3)
    assert trap.settled() == trap.names
    assert {(trap.folder / name).read_bytes() for name in trap.names} == {trap.first.read_bytes()}
    assert trap.first.stat().st_nlink == 1 and state(trap.private) == before


def test_a_folder_that_is_exchanged_while_files_are_destroyed(scene):
    trap = Trap(scene)
    decisions = scene.decide(scene.search(scene.shared))
    scene.apply(decisions, "delete", "--go").fine()
    journal = scene.journal()
    below = f".millrace-removed-{journal.stem}"
    before = trap.private_files(below)
    gone = trap.folder / below
    with trap.exchanged_once(lambda: True):
        scene.dedupe("purge", journal, "--go").fine(0, 3)
    assert state(trap.private) == before
    trap.settled()
    scene.dedupe("purge", journal, "--go").fine(0, 3)
    assert not gone.exists() and trap.first.exists() and state(trap.private) == before


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("with_what", ["a link", "another name of a private file"])
def test_files_that_are_exchanged_under_their_names(scene, action, with_what):
    trap = Trap(scene)
    trap.private_files()
    traps = scene.folder(scene.shared / "traps")
    for name in trap.names:
        if with_what == "a link":
            (traps / name).symlink_to(trap.private / name)
        else:
            os.link(trap.private / name, traps / name)
    if ROOT:
        os.chown(trap.folder, ATTACKER, ATTACKER)
        os.chown(traps, ATTACKER, ATTACKER)
        trap.folder.chmod(0o777)
        traps.chmod(0o777)
    before = state(trap.private)
    decisions = scene.decide(scene.search(scene.shared, options=["--exclude", str(traps)]))
    turn = itertools.count()

    def act():
        name = trap.names[next(turn) % FILES]
        exchange(trap.folder / name, traps / name)

    with attacker(scene.attacker, act):
        scene.apply(decisions, action_of(scene, action), "--go").fine(0, 3)
    after = state(trap.private)
    # Names that the attacker gave them may have gone; never more names, other bytes, modes or owners.
    assert {p: row[:3] + row[4:] for p, row in after.items()} == {p: row[:3] + row[4:] for p, row in before.items()}
    assert all(row[3] <= before[p][3] for p, row in after.items())
    if action == "hardlink":
        linked = trap.first.stat().st_ino
        names = [p for p in [*trap.folder.iterdir(), *traps.iterdir()] if p.lstat().st_ino == linked]
        assert trap.first.stat().st_nlink == 1 + len(names)


@pytest.mark.parametrize("action", ["move", "delete"])
def test_a_folder_that_files_go_to_is_exchanged_with_a_link(scene, action):
    trap = Trap(scene)
    before = state(trap.private)
    decisions = scene.decide(scene.search(scene.shared))
    if action == "move":
        into, text = scene.shared / "moved", f"move={scene.shared / 'moved'}"
    else:
        dry = scene.home / "dry.json"
        scene.apply(decisions, "delete", "--json", dry).fine()
        into, text = trap.folder / f".millrace-removed-{json.loads(dry.read_text())['id']}", "delete"
        if ROOT:
            os.chown(trap.folder, ATTACKER, ATTACKER)
            trap.folder.chmod(0o777)
    link = into.with_name("link")
    link.symlink_to(trap.private)

    def act():
        if into.exists() or into.is_symlink():
            exchange(into, link)
        elif action == "delete":  # a destination that is a link from the start is what its user has named
            os.rename(link, into)
            os.rename(into, link)

    with attacker(scene.attacker, act):
        scene.apply(decisions, text, "--go").fine(0, 2, 3)
    assert state(trap.private) == before
    found = [p for p in scene.shared.rglob("*.png") if not p.is_symlink()]
    assert len({p.stat().st_ino for p in found}) == FILES + 1


def test_the_library_itself_is_a_link(scene):
    """A root that is a link of the user's own is no attack."""
    scene.library()
    pointed = scene.home / "pictures"
    pointed.symlink_to(scene.photos)
    before = {p: row[-1] for p, row in state(scene.photos).items()}
    journal = scene.applied("delete", folder=pointed)
    assert {p: row[-1] for p, row in state(scene.photos).items()} != before
    scene.undo(journal, "--go").fine()
    assert {p: row[-1] for p, row in state(scene.photos).items()} == before
