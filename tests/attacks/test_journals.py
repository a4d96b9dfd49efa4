"""Journals that say what no run wrote: nothing is done that one orders."""

import json
import os

import pytest
from attacks import ATTACKER, ROOT, needs_root, picture, state
from forged import ID, journal_text, record, set_aside

ACTIONS = ["trash", "move", "hardlink", "delete"]


def action_of(scene, name):
    return f"move={scene.home / 'moved'}" if name == "move" else name


@pytest.mark.parametrize("action", ACTIONS)
def test_undo_is_a_dry_run_until_it_is_told_to_go(scene, action):
    scene.library()
    before = state(scene.photos)
    journal = scene.applied(action_of(scene, action))
    done = state(scene.home)
    assert state(scene.photos) != before
    dry = scene.undo(journal).fine()
    assert b"nothing was changed" in dry.err and b"--go" in dry.err
    assert state(scene.home) == done
    scene.undo(journal, "--plan").fine()
    assert state(scene.home) == done
    scene.undo(journal, "--go").fine()
    restored = {path: row[-1] for path, row in state(scene.photos).items()}
    assert restored == {path: row[-1] for path, row in before.items()}


def wrong_journals(scene):
    """Journals by what is wrong with them; each would move, remove, replace or link something of the user's."""
    home, shared = scene.home, scene.shared
    evil = scene.shared / "evil"
    evil.write_text("#!/bin/sh\n")
    hidden = set_aside(scene.photos / "a.png")
    hidden.parent.mkdir()
    hidden.write_text("set aside")
    scene.mine(hidden.parent)
    planted, precious = home / "planted", scene.precious
    beside = scene.photos / f".millrace-partial-{ID}-1"

    def delete(path, to, look=evil):
        return journal_text("delete", record(1, "delete", path, look, to=to))

    def move(path, to, look=evil, temporary=beside, **head):
        return journal_text("move", record(1, "move", path, look, to=to, temporary=temporary), **head)

    def link(path, to, **more):
        row = record(1, "hardlink", path, evil, to=to, **{"temporary": home / f".millrace-link-{ID}-1"} | more)
        return journal_text("hardlink", row)

    return {
        "a file brought from elsewhere": delete(planted, evil),
        "a file brought to a folder that is made": delete(home / "new" / "cron.d" / "evil", evil),
        "up out of the folder": delete(
            f"{scene.photos}/../planted", f"{scene.photos}/../.millrace-removed-{ID}/planted"
        ),
        "up into another folder": delete(scene.photos / "x" / "precious.txt", f"{hidden.parent}/../../precious.txt"),
        "a folder of another journal": delete(
            scene.photos / "a.png", scene.photos / f".millrace-removed-{ID[::-1]}" / "a.png"
        ),
        "another name": delete(scene.photos / "b.png", hidden, hidden),
        "two slashes": delete(f"{scene.photos}//a.png", f"{scene.photos}//.millrace-removed-{ID}/a.png", hidden),
        "a byte 0": delete(f"{scene.photos}/a.png\0", f"{hidden}\0", hidden),
        "a precious file for a name in between, of a move": move(
            shared / "y", home / "y", temporary=precious, destination=str(home)
        ),
        "a precious file for a name in between, of a link": link(
            scene.photos / "y", evil, survivor=evil, temporary=precious
        ),
        "a link to a file that was not to stay": link(home / "planted", evil, survivor=home / "other"),
        "a link without one that stays": link(home / "planted", evil),
        "moved to where no run moves it": move(
            planted, shared / "planted", destination=str(scene.photos), temporary=shared / f".millrace-partial-{ID}-1"
        ),
        "moved under another name": move(planted, evil, temporary=shared / f".millrace-partial-{ID}-1"),
        "the trash is elsewhere": journal_text("trash", record(1, "trash", planted, evil, to=evil)),
        "an operation without a place": journal_text("delete", record(1, "delete", planted, evil)),
        "a companion of a file above": journal_text(
            "delete", record(1, "delete", scene.photos / "a.png", hidden, to=hidden, main=f"{home}/../x")
        ),
        "a folder of the user's": journal_text("delete", {"folder": str(home / "empty")}),
        "an id that is a path": journal_text(
            "delete", record(1, "delete", planted, evil, to=evil), journal_id="../../x"
        ),
        "an id in capitals": journal_text(
            "delete",
            record(1, "delete", home / "a", evil, to=home / f".millrace-removed-{ID.upper()}" / "a"),
            journal_id=ID.upper(),
        ),
        "an id with a path behind": journal_text("delete", journal_id=f"{ID}-2/../../x"),
        "no id": journal_text("delete", journal_id=""),
    }


def test_a_journal_that_no_run_wrote_is_refused_whole(scene):
    """Though it is the user's own: a file that was sent, and saved."""
    scene.folder(scene.home / "empty")
    journals = wrong_journals(scene)
    decisions = scene.write_decisions([])
    for what, text in journals.items():
        journal = scene.file(scene.home / "evil.jsonl", text)
        before = state(scene.top)
        for command in (
            ["undo", journal, "--go", "--trust-files"],
            ["purge", journal, "--go"],
            ["apply", decisions, "--action", "delete", "--go", "--journal", journal],
        ):
            done = scene.dedupe(*command)
            assert done.code == 1, (what, command, done.words)
            assert journal.name.encode() in done.err, (what, done.err)
            assert state(scene.top) == before, (what, command)


def test_a_journal_of_somebody_else_is_refused_before_it_is_understood(scene):
    needs_root("be attacked by somebody else")
    journals = wrong_journals(scene)
    for what in (
        "a file brought from elsewhere",
        "a precious file for a name in between, of a move",
        "a precious file for a name in between, of a link",
        "an id that is a path",
    ):
        journal = scene.theirs(scene.file(scene.shared / "evil.jsonl", journals[what]))
        before = state(scene.top)
        scene.undo(journal, "--go").refused("evil.jsonl", "not trusted", str(ATTACKER))
        assert state(scene.top) == before, what


def test_an_honest_journal_of_the_same_form_is_undone(scene):
    """What the others are made like: without the lie, the file comes back."""
    hidden = set_aside(scene.photos / "a.png")
    scene.folder(hidden.parent)
    scene.file(hidden, "set aside")
    text = journal_text(
        "delete", {"folder": str(hidden.parent)}, record(1, "delete", scene.photos / "a.png", hidden, to=hidden)
    )
    journal = scene.file(scene.home / "j.jsonl", text)
    scene.undo(journal, "--go").refused("--trust-files")  # no run of the user's has made it
    assert hidden.exists()
    scene.undo(journal, "--go", "--trust-files").fine()
    assert (scene.photos / "a.png").read_text() == "set aside" and not hidden.parent.exists()


@pytest.mark.parametrize("there", [True, False], ids=["an existing file", "a copy"])
@pytest.mark.parametrize("action", ["hardlink", "move"])
def test_no_journal_makes_a_file_executable_for_others_or_gives_it_away(scene, action, there):
    """Owner and mode are those of the file that lies there; what a journal says of them is passed over."""
    source = picture(scene.shared / "program.png", 1)
    os.chmod(source, 0o4755)
    if ROOT:
        os.chown(source, ATTACKER, ATTACKER)
        os.chmod(source, 0o4755)
    tool = scene.photos / "program.png"
    if there:
        scene.file(tool, source.read_bytes(), mode=0o700)
    hash_of = scene.search(scene.shared, options=["--catalog", scene.home / "c.sqlite"])  # readable at all
    assert hash_of["totals"]["files"] == 1
    known = scene.file(scene.home / "known.png", source.read_bytes())
    twin = scene.file(scene.home / "twin.png", source.read_bytes())
    groups = scene.search(known, twin, options=["--catalog", scene.home / "c.sqlite"])["groups"]
    name = "link" if action == "hardlink" else "partial"
    row = record(
        1,
        action,
        tool,
        source,
        to=source,
        survivor=source,
        owner=0,
        group_id=0,
        mode=0o4755,
        hash=groups[0]["members"][0]["hash"],
        temporary=(tool.parent if action == "hardlink" else source.parent) / f".millrace-{name}-{ID}-1",
    )
    journal = scene.file(scene.home / "j.jsonl", journal_text(action, row))
    scene.undo(journal, "--go", "--trust-files").fine()
    for path in scene.photos.iterdir():
        info = path.stat()
        assert info.st_mode & 0o6000 == 0 or info.st_ino == row["inode"], path
        assert not ROOT or scene.uid == 0 or info.st_uid != 0
    if there:
        assert tool.stat().st_mode & 0o7777 == 0o700 and tool.stat().st_uid == scene.uid


def test_ids_are_looked_up_in_the_users_own_folder_first(scene):
    scene.library()
    before = {path: row[-1] for path, row in state(scene.photos).items()}
    journal = scene.applied("delete")
    evil = scene.shared / "evil"
    evil.write_text("theirs")
    planted = journal_text(
        "delete", record(1, "delete", scene.home / "planted", evil, to=evil), journal_id=journal.stem
    )
    for name in (journal.stem, journal.name):
        (scene.shared / name).write_text(planted)
        if ROOT:
            os.chown(scene.shared / name, ATTACKER, ATTACKER)
    scene.undo(journal.stem, "--go", cwd=scene.shared).fine()
    assert {path: row[-1] for path, row in state(scene.photos).items()} == before
    assert evil.exists() and not (scene.home / "planted").exists()
    journal.unlink()
    scene.undo(journal.stem, "--go", cwd=scene.shared).refused(journal.stem)
    assert evil.exists() and not (scene.home / "planted").exists()


@pytest.mark.parametrize(
    "name", ["../evil", "journals/../../evil", f"{ID}/../../evil", f"{ID}-1x", ID.upper(), "", "."]
)
def test_an_id_is_no_way_to_a_file(scene, name):
    scene.library()
    journal = scene.applied("delete")
    for place in (
        scene.data / "evil.jsonl",
        scene.data / "millrace" / "evil.jsonl",
        scene.data / "millrace" / ID.upper(),
    ):
        scene.file(place, journal.read_bytes())
    before = state(scene.home)
    assert scene.undo(name, "--go").code in (1, 2)
    assert state(scene.home) == before


def hostile_bytes(scene):
    head = journal_text("delete")
    deep = 1_000_000
    row = record(1, "delete", scene.photos / "a", scene.precious, to=set_aside(scene.photos / "a"))
    return {
        "nested": head + "[" * deep + "\n",
        "nested first": '{"millrace_journal":' + '{"a":' * deep,
        "numbers": head + json.dumps(row | {"n": 2**64 + 1, "size": -(2**63), "mode": 2**70}) + "\n",
        "a number of no kind": head + json.dumps(row).replace('"n": 1', '"n": 1e999') + "\n",
        "a path that is not absolute": head + json.dumps(row | {"path": "photos/a", "to": "precious.txt"}) + "\n",
        "words for numbers": head + json.dumps(row | {"n": "1", "size": [], "hash": {}, "path": 7}) + "\n",
        "zeros": b"\0" * 3_000_000,
        "no lines": head.rstrip() + " " * 3_000_000,
        "many lines": head + "{}\n" * 100_000,
        "not UTF-8": head.encode() + b'{"folder": "\xff\xfe"}\n',
    }


def test_a_journal_of_noise_harms_nothing(scene):
    scene.library()
    for what, text in hostile_bytes(scene).items():
        journal = scene.file(scene.home / "j.jsonl", text)
        before = state(scene.photos)
        done = scene.undo(journal, "--go", "--trust-files")
        assert done.code in (0, 1, 2, 3), (what, done.words)
        assert state(scene.photos) == before, what
        assert scene.precious.read_text() == "the only copy\n"
