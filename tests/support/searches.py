"""One search of `millrace dedupe` over files that a test makes, with a catalogue that its next search shares."""

import json
import os

from program import millrace


def placed(folder, files):
    """The folder, with files of these names and bytes in it."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def searched(tmp_path, files, *options):
    """What the JSON has, the members of its groups by their names (of one in several groups, that of the group that it is to go in), and
    the program that ended."""
    folder = placed(tmp_path / "pictures", files)
    out = tmp_path / "found.json"
    out.unlink(missing_ok=True)
    done = millrace("dedupe", folder, "--catalog", tmp_path / "catalog.sqlite", "--json", out, *options)
    found = json.loads(out.read_text())
    members = sorted((m for g in found["groups"] for m in g["members"]), key=lambda member: not member["keep"])
    return found, {os.path.relpath(m["path"], folder): m for m in members}, done


def goes(members):
    return sorted(name for name, member in members.items() if not member["keep"])
