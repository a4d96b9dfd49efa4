"""Journals where somebody else could have written them, and names that are no journals."""

import os
import shutil
import socket

import pytest
from attacks import ATTACKER, access_list, needs_root, state


def copy_of(journal, folder):
    copy = shutil.copy(journal, folder / "j.jsonl")
    copy.chmod(0o644)
    return copy


def in_folder_of_somebody_else(scene, journal):
    needs_root("be attacked by somebody else")
    return scene.mine(copy_of(journal, scene.shared))


def theirs_in_folder_of_the_user(scene, journal):
    journal.chmod(0o644)
    return scene.theirs(journal)


def theirs_in_a_sticky_folder(scene, journal):
    needs_root("be attacked by somebody else")
    folder = scene.top / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    return scene.theirs(copy_of(journal, folder))


def mine_in_a_sticky_folder(scene, journal):
    folder = scene.folder(scene.home / "tmp", 0o1777)
    return scene.mine(copy_of(journal, folder))


def written_by_others(scene, journal):
    journal.chmod(0o666)
    return journal


def written_by_a_group(scene, journal):
    needs_root("give a file to another group")
    os.chown(journal, scene.uid, ATTACKER)
    journal.chmod(0o660)
    return journal


def written_by_an_access_list(scene, journal):
    try:
        os.setxattr(journal, "system.posix_acl_access", access_list(6))
    except OSError:
        pytest.skip("this file system has no access lists")
    return journal


def in_an_open_folder(scene, journal):
    journal.parent.chmod(0o777)
    return journal


def in_a_folder_of_a_group(scene, journal):
    needs_root("give a folder to another group")
    os.chown(journal.parent, scene.uid, ATTACKER)
    journal.parent.chmod(0o770)
    return journal


def in_a_folder_with_an_access_list(scene, journal):
    try:
        os.setxattr(journal.parent, "system.posix_acl_access", access_list(7))
    except OSError:
        pytest.skip("this file system has no access lists")
    return journal


def a_link(scene, journal):
    link = journal.parent / "link.jsonl"
    link.symlink_to(journal)
    return link


PLACES = [
    in_folder_of_somebody_else,
    theirs_in_folder_of_the_user,
    theirs_in_a_sticky_folder,
    mine_in_a_sticky_folder,
    written_by_others,
    written_by_a_group,
    written_by_an_access_list,
    in_an_open_folder,
    in_a_folder_of_a_group,
    in_a_folder_with_an_access_list,
    a_link,
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_journal_that_somebody_else_could_have_written_is_not_believed(scene, place):
    scene.library()
    before = {path: row[-1] for path, row in state(scene.photos).items()}
    own = scene.folder(scene.home / "own", 0o700) / "j.jsonl"
    scene.applied("delete", "--journal", own)
    kept = scene.mine(shutil.copy(own, scene.home / "kept.jsonl"))
    journal = place(scene, own)
    there = state(scene.top)
    decisions = scene.home / "decisions.json"
    for command in (
        ["undo", journal],
        ["undo", journal, "--go"],
        ["purge", journal, "--go"],
        ["apply", decisions, "--action", "delete", "--journal", journal, "--go"],
    ):
        done = scene.dedupe(*command).refused(str(journal))
        assert b"give the file" in done.err or b"--trust-files" in done.err
        assert state(scene.top) == there, command
    scene.undo(kept, "--go", "--trust-files").fine()
    assert {path: row[-1] for path, row in state(scene.photos).items()} == before


def test_where_there_are_no_owners_a_person_says_so(scene):
    scene.library()
    journal = scene.folder(scene.home / "usb", 0o777) / "j.jsonl"
    decisions = scene.decide(scene.search())
    before = state(scene.photos)
    scene.apply(decisions, "delete", "--go", "--journal", journal).refused("--trust-files")
    assert not journal.exists() and state(scene.photos) == before
    scene.apply(decisions, "delete", "--go", "--journal", journal, "--trust-files").fine()
    assert state(scene.photos) != before
    link = scene.home / "link.jsonl"
    link.symlink_to(journal)
    scene.undo(link, "--go", "--trust-files").refused("symbolic link")
    scene.undo(journal, "--go", "--trust-files").fine()
    assert {p: row[-1] for p, row in state(scene.photos).items()} == {p: row[-1] for p, row in before.items()}


@pytest.mark.parametrize("folder", ["shared", "tmp"])
def test_no_journal_is_begun_in_a_shared_folder(scene, folder):
    if folder == "tmp":
        scene.folder(scene.top / "tmp", 0o1777)
    scene.library()
    decisions = scene.decide(scene.search())
    before = state(scene.photos)
    journal = scene.top / folder / "j.jsonl"
    scene.apply(decisions, "delete", "--go", "--journal", journal).refused("j.jsonl", "--trust-files")
    assert state(scene.photos) == before and not journal.exists()
    scene.apply(decisions, "delete", "--go").fine()


def test_a_journal_is_no_other_file_of_the_users(scene):
    scene.library()
    decisions = scene.decide(scene.search())
    for name in (scene.precious, scene.photos / "1.png", scene.photos, decisions, scene.home / "found.json"):
        before = state(scene.home)
        scene.apply(decisions, "delete", "--go", "--journal", name).refused(str(name))
        assert state(scene.home) == before, name


def test_folders_that_were_left_open_are_closed(scene):
    scene.library()
    before = {path: row[-1] for path, row in state(scene.photos).items()}
    journal = scene.applied("delete")
    kept = scene.data / "millrace"
    for path, mode in ((kept, 0o777), (kept / "journals", 0o775), (journal, 0o644), (kept / "catalog.sqlite", 0o666)):
        path.chmod(mode)
    scene.undo(journal.stem, "--go").fine()
    assert {path: row[-1] for path, row in state(scene.photos).items()} == before
    scene.search()
    for path in [kept, *kept.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_what_others_left_in_an_open_folder_is_not_believed(scene):
    """Closing a folder makes nothing of what is in it the user's."""
    needs_root("be attacked by somebody else")
    scene.library()
    journal = scene.applied("delete")
    (scene.data / "millrace" / "journals").chmod(0o777)
    journal.chmod(0o644)
    scene.theirs(journal)
    before = state(scene.photos)
    scene.undo(journal.stem, "--go").refused(journal.name, str(ATTACKER))
    assert state(scene.photos) == before


def test_pipes_devices_and_folders_are_no_journals(scene):
    scene.library()
    decisions = scene.decide(scene.search())
    pipe = scene.home / "pipe.jsonl"
    os.mkfifo(pipe)
    scene.mine(pipe)
    gate = scene.home / "socket.jsonl"
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(gate))
    scene.mine(gate)
    for name in (pipe, gate, scene.photos, "/dev/zero", "/dev/stdin", "/proc/self/mem", "/dev/null/x"):
        before = state(scene.photos)
        scene.undo(name, "--go", seconds=10).refused()
        scene.dedupe("purge", name, "--go", seconds=10).refused()
        scene.apply(decisions, "delete", "--go", "--journal", name, seconds=10).refused()
        assert state(scene.photos) == before, name
    server.close()
