"""Files that an attacker makes by hand: journals of apply, and databases with what SQLite believes beside them."""

import base64
import json
import os
import shutil
import sqlite3
import struct

ID = "6c644243dfb742d9"
MAGIC = bytes.fromhex("d9d505f920a163d7")  # of SQLite's journals


def put(row, key, path):
    """A path, as journals and decisions write it."""
    raw = os.fsencode(path)
    row[key] = raw.decode(errors="replace")
    if "\ufffd" in row[key] or "\0" in row[key]:
        row[key + "_base64"] = base64.b64encode(raw).decode()


def record(number, action, path, look, **more):
    """What a journal says before an operation: `look` is a file whose size, time and inode it names."""
    info = os.stat(look)
    row = {"n": number, "intent": action}
    put(row, "path", path)
    row |= {"size": info.st_size, "mtime_ns": info.st_mtime_ns, "mode": info.st_mode & 0o7777, "owner": info.st_uid}
    row |= {"group_id": info.st_gid, "device": info.st_dev, "inode": info.st_ino}
    for key, value in more.items():
        if key in ("to", "temporary", "main", "survivor"):
            put(row, key, value)
        else:
            row[key] = value
    return row


def journal_text(action, *lines, journal_id=ID, **head):
    """A journal whose every operation was done."""
    rows = [{"millrace_journal": 1, "id": journal_id, "action": action, "decisions": "/decisions.json"} | head]
    for line in lines:
        rows.append(line)
        if "intent" in line:
            rows.append({"n": line["n"], "done": True})
    return "".join(json.dumps(row) + "\n" for row in rows)


def set_aside(path, journal_id=ID):
    """Where `delete` puts a file."""
    return path.parent / f".millrace-removed-{journal_id}" / path.name


def journal_naming(victim, pages=1):
    """A journal without changes, of a transaction that would end when SQLite has removed the file `victim`."""
    header = MAGIC + struct.pack(">IIIII", 0, 0, pages, 512, 4096)
    name = os.fsencode(victim)
    end = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + MAGIC
    return header.ljust(512, b"\0") + end


def plain_database(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    return path


def bites(folder, victim_text):
    """Whether the SQLite of these tests removes the file that such a journal names."""
    folder.mkdir()
    victim = folder / "victim"
    victim.write_text(victim_text)
    database = plain_database(folder / "d.sqlite")
    (folder / "d.sqlite-journal").write_bytes(journal_naming(victim, os.stat(database).st_size // 4096))
    db = sqlite3.connect(database)
    db.execute("SELECT count(*) FROM sqlite_master").fetchall()
    db.close()
    gone = not victim.exists()
    shutil.rmtree(folder)
    return gone


def rewritten(path, *statements):
    """Statements carried out on a database, of which one without a write-ahead log is left."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return path
