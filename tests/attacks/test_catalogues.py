"""Catalogues that somebody else made, or that lie where somebody else can write."""

import os
import shutil
import sqlite3

import pytest
from attacks import ATTACKER, MEMORY, needs_root, state
from forged import ID, bites, journal_naming, journal_text, plain_database, rewritten


def own_catalog(scene):
    """A folder of its own with a catalogue that a search has filled."""
    catalog = scene.folder(scene.home / "kept", 0o700) / "catalog.sqlite"
    scene.library()
    scene.search(options=["--catalog", catalog])
    return catalog


def uses(scene, catalog, *options):
    """Every command that opens a catalogue."""
    apply = ["dedupe", "apply", scene.write_decisions([], "none.json"), "--action", "delete", "--catalog", catalog]
    return [
        ["dedupe", scene.photos, "--catalog", catalog, *options],
        ["dedupe", scene.photos, "--catalog", catalog, "--plan", *options],
        [*apply, *options],
        [*apply, "--go", *options],
    ]


def pages_of(catalog):
    return max(1, catalog.stat().st_size // 4096) if catalog.exists() else 1


def hot(scene, catalog, victim):
    """As if SQLite had been cut off at the end of a transaction over several databases, listed in `victim`."""
    beside = catalog.with_name(catalog.name + "-journal")
    return scene.file(beside, journal_naming(victim, pages_of(catalog)), mode=0o600)


def test_the_recipe_removes_a_file_where_nothing_guards(scene):
    """Without this the tests below would show nothing."""
    if not bites(scene.top / "bites", "the only copy\n"):
        pytest.skip("this version of SQLite does not do what a journal says")


@pytest.mark.parametrize("options", [[], ["--trust-files"]], ids=["checked", "trusted"])
@pytest.mark.parametrize("kind", ["a catalogue", "another database", "empty"])
def test_a_journal_beside_a_catalogue_removes_no_file(scene, kind, options):
    catalog = own_catalog(scene)
    if kind == "a catalogue":
        rewritten(catalog)
    else:
        catalog.unlink()
        scene.file(catalog, b"") if kind == "empty" else plain_database(catalog)
    scene.mine(catalog.parent)
    for command in uses(scene, catalog, *options):
        hot(scene, catalog, scene.precious)
        scene.run(*command)
        assert scene.precious.read_text() == "the only copy\n", command


def test_the_journal_of_a_run_that_was_cut_off_is_still_played_back(scene):
    """One that names no other file is SQLite's own matter."""
    catalog = own_catalog(scene)
    rewritten(catalog)
    whole = journal_naming("x", pages_of(catalog))[:512]
    beside = scene.file(catalog.with_name(catalog.name + "-journal"), whole, mode=0o600)
    scene.mine(catalog.parent)
    scene.dedupe(scene.photos, "--catalog", catalog).fine()
    assert not beside.exists()


def theirs(scene, catalog):
    catalog.chmod(0o644)
    return scene.theirs(catalog)


def in_folder_of_somebody_else(scene, catalog):
    needs_root("be attacked by somebody else")
    return scene.mine(shutil.copy(catalog, scene.shared / "catalog.sqlite"))


def in_a_sticky_folder(scene, catalog):
    return scene.mine(shutil.copy(catalog, scene.folder(scene.home / "tmp", 0o1777) / "catalog.sqlite"))


def in_an_open_folder(scene, catalog):
    catalog.parent.chmod(0o777)
    return catalog


def in_a_folder_of_a_group(scene, catalog):
    needs_root("give a folder to another group")
    os.chown(catalog.parent, scene.uid, ATTACKER)
    catalog.parent.chmod(0o770)
    return catalog


def written_by_others(scene, catalog):
    catalog.chmod(0o666)
    return catalog


def a_link(scene, catalog):
    link = catalog.with_name("link.sqlite")
    link.symlink_to(catalog)
    return link


def a_link_to_nothing(scene, catalog):
    link = catalog.with_name("link.sqlite")
    link.symlink_to(scene.home / "planted")
    return link


@pytest.mark.parametrize(
    "place",
    [
        theirs,
        in_folder_of_somebody_else,
        in_a_sticky_folder,
        in_an_open_folder,
        in_a_folder_of_a_group,
        written_by_others,
        a_link,
        a_link_to_nothing,
    ],
    ids=lambda place: place.__name__,
)
def test_a_catalogue_that_somebody_else_could_have_written_is_not_believed(scene, place):
    catalog = place(scene, own_catalog(scene))
    hot(scene, catalog, scene.precious)
    commands = uses(scene, catalog)
    before = state(scene.top)
    for command in commands:
        scene.run(*command).refused(str(catalog))
        assert state(scene.top) == before, command


@pytest.mark.parametrize("part", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("kind", ["theirs", "open", "link", "pipe", "folder"])
def test_what_lies_beside_a_catalogue_is_the_users_own_too(scene, part, kind):
    catalog = own_catalog(scene)
    beside = catalog.with_name(catalog.name + part)
    if kind == "theirs":
        scene.theirs(scene.file(beside, b"", mode=0o644))
    elif kind == "open":
        scene.file(beside, b"", mode=0o666)
    elif kind == "link":
        beside.symlink_to(scene.precious)
    elif kind == "pipe":
        os.mkfifo(beside)
        scene.mine(beside)
    else:
        scene.folder(beside)
    before = state(scene.home)
    for command in uses(scene, catalog)[::3]:
        scene.run(*command, seconds=10).refused(beside.name)
        assert state(scene.home)[f"kept/{catalog.name}"] == before[f"kept/{catalog.name}"]
        assert scene.precious.read_text() == "the only copy\n"
    beside.rmdir() if kind == "folder" else beside.unlink()
    scene.dedupe(scene.photos, "--catalog", catalog).fine()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
SPARK = "length(hex(zeroblob(1)))"
LIGHTED = "UPDATE sqlite_master SET sql = replace(sql, 'zeroblob(1)', 'zeroblob(300000000)')"  # 900 MB at once
COLUMNS = (
    "i AS path, i AS size, i AS mtime_ns, NULL AS code, NULL AS reason, x'00112233445566778899aabbccddeeff' AS content"
)


def files_table(code, more=""):
    return [
        "DROP TABLE files",
        "CREATE TABLE files (path BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, "
        f"{code}, reason TEXT, content BLOB {more}) WITHOUT ROWID",
        "INSERT INTO files (path, size, mtime_ns) VALUES ('/a', 1, 1)" if not more else "SELECT 1",
    ]


PROGRAMS = {
    "a trigger": [f"CREATE TRIGGER t BEFORE INSERT ON files BEGIN {ENDLESS} SELECT count(*) FROM n; END"],
    "a view": ["DROP TABLE files", f"CREATE VIEW files AS {ENDLESS} SELECT {COLUMNS} FROM n"],
    "a virtual table": ["CREATE VIRTUAL TABLE w USING fts4(a)"],
    "a trigger that says it is a table": [
        f"CREATE TRIGGER t BEFORE INSERT ON files BEGIN {ENDLESS} SELECT count(*) FROM n; END",
        "UPDATE sqlite_master SET type = 'table', rootpage = 2 WHERE type = 'trigger'",
    ],
    "a view that says it is a table": [
        "DROP TABLE files",
        f"CREATE VIEW files AS {ENDLESS} SELECT {COLUMNS} FROM n",
        "UPDATE sqlite_master SET type = 'table', rootpage = 2 WHERE type = 'view'",
    ],
    "a virtual table that says it is a table": [
        "CREATE VIRTUAL TABLE w USING fts4(a)",
        "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'w'",
    ],
    "a column that is worked out": files_table(f"code INTEGER AS ({SPARK})"),
    "a value that is checked": files_table("code INTEGER", f", CHECK ({SPARK} > 0)"),
    "an index of an expression": [f"CREATE INDEX i ON files ({SPARK})"],
    "a partial index": [f"CREATE INDEX i ON files (size) WHERE {SPARK} > 0"],
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_catalogue_runs_nothing(scene, what):
    """It was sent, and saved: it is the user's own, and holds what SQLite would carry out."""
    catalog = own_catalog(scene)
    try:
        rewritten(catalog, *PROGRAMS[what], LIGHTED)
    except sqlite3.OperationalError as error:
        pytest.skip(f"these tests' SQLite cannot make it: {error}")
    scene.mine(catalog)
    for seed in range(3, 6):
        shutil.copy(scene.photos / "1.png", scene.photos / f"new {seed}.png")
    scene.mine(scene.photos)
    for command in uses(scene, catalog):
        scene.run(*command, seconds=20, memory=MEMORY // 2).refused(catalog.name)
    catalog.unlink()
    scene.dedupe(scene.photos, "--catalog", catalog).fine()


def test_rows_that_no_run_wrote_are_read_again(scene):
    catalog = own_catalog(scene)
    rewritten(
        catalog,
        "UPDATE files SET size = -1, mtime_ns = 'x', content = x'00'",
        "UPDATE pictures SET width = -5, codes = zeroblob(1000000), format = 10000, quality = 1e300",
        "INSERT INTO not_duplicates VALUES (x'', x''), (zeroblob(1000), 7)",
        "INSERT INTO joined VALUES (1, -1, x'ff'), (2, 4000000000, zeroblob(3))",
        "INSERT INTO files VALUES (zeroblob(1000000), 0, 0, 99999, zeroblob(10), NULL, 'x', zeroblob(3))",
    )
    scene.mine(catalog)
    found = scene.search(options=["--catalog", catalog])
    assert len(found["groups"]) == 2 and all(len(group["members"]) == 2 for group in found["groups"])


@pytest.mark.parametrize("kind", ["pipe", "folder", "/dev/zero", "/dev/null", "text"])
def test_what_is_no_database_is_refused_and_stays(scene, kind):
    scene.library()
    path = scene.home / "catalog.sqlite"
    if kind == "pipe":
        os.mkfifo(path)
        scene.mine(path)
    elif kind == "folder":
        scene.folder(path)
    elif kind == "text":
        scene.file(path, "my notes\n" * 1000)
    else:
        path = kind
    commands = uses(scene, path)
    before = state(scene.home)
    for command in commands:
        scene.run(*command, seconds=10).refused(str(path))
        assert state(scene.home) == before, command


@pytest.mark.parametrize("name", [":memory:", "file:planted?mode=rwc", "file:/tmp/x?vfs=unix-none", ""])
def test_a_catalogue_is_a_plain_name(scene, name):
    scene.library()
    scene.dedupe(scene.photos, "--catalog", name)
    assert not (scene.home / "planted").exists()
    assert scene.dedupe(scene.photos).code == 0


def test_a_journal_of_apply_opens_no_catalogue_that_is_not_believed(scene):
    """Undo takes pairs out of the catalogue that a journal names."""
    catalog = theirs(scene, own_catalog(scene))
    hot(scene, catalog, scene.precious)
    kept = scene.applied("delete").parent
    for named in (str(catalog), f"{scene.home}/photos/../kept/catalog.sqlite", str(scene.home / "absent.sqlite")):
        told = {"apart": [["0" * 32, "1" * 32]], "catalog": named}
        journal = scene.file(kept / f"{ID}.jsonl", journal_text("delete", told))
        before = catalog.read_bytes()
        done = scene.undo(journal, "--go")
        assert named.endswith("absent.sqlite") or b"catalog.sqlite" in done.err
        assert catalog.read_bytes() == before and scene.precious.exists()
        assert not (scene.home / "absent.sqlite").exists()
