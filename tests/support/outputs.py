"""Every command with every output that it has, and inputs for them."""

import itertools
import json
import random

from series import prices_text

OUT = object()  # where the name of the output stands


def codes_text(count=200):
    rng = random.Random(1)
    head = f"{{'descr': '<u8', 'fortran_order': False, 'shape': ({count},), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00v\x00" + head.encode() + rng.randbytes(8 * count)


class Inputs:
    """Files for every command, in the home of who runs them."""

    def __init__(self, scene):
        self.journal = scene.applied("hardlink", folder=scene.library(scene.folder(scene.home / "old")))
        self.removal = scene.file(scene.home / "r.jsonl", self.journal.read_bytes().replace(b"hardlink", b"delete", 1))
        self.photos = scene.library()
        self.codes = scene.file(scene.home / "codes.npy", codes_text())
        self.prices = scene.file(scene.home / "prices.csv", prices_text())
        self.decisions = scene.decide(scene.search())


def every_output(inputs):
    """Words of a command by their name, with OUT where the output's name stands."""
    dedupe = ["dedupe", inputs.photos]
    apply = ["dedupe", "apply", inputs.decisions, "--action", "delete"]
    render = ["render", inputs.prices, "--window", "20", "--size", "40x30", "-q"]
    return {
        "dedupe --json": [*dedupe, "--json", OUT],
        "dedupe --csv": [*dedupe, "--csv", OUT],
        "dedupe --report": [*dedupe, "--report", OUT],
        "dedupe --trace": [*dedupe, "--trace", OUT],
        "hash --trace": ["hash", inputs.photos, "--trace", OUT],
        "join --output": ["join", inputs.codes, "--radius", "3", "-o", OUT],
        "join --json": ["join", inputs.codes, "--radius", "3", "--json", OUT],
        "render --output": [*render, "-o", OUT],
        "render --store npy": [*render, "--store", "npy", "-o", OUT],
        "render --sample": [*render, "--sample", "4", "-o", OUT],
        "render --json": [*render, "-o", inputs.prices.with_name("charts.h5"), "--json", OUT],
        "apply --json": [*apply, "--json", OUT],
        "apply --trace": [*apply, "--trace", OUT],
        "undo --json": ["dedupe", "undo", inputs.journal, "--json", OUT],
        "doctor --json": ["doctor", "--json", OUT],
    }


UNMARKED = ("join --output",)  # an array has no place for a mark
STORES = ("render --output", "render --store npy")


def with_output(words, name):
    return [name if word is OUT else word for word in words]


def lookalikes(name):
    """Files of other programs and people that come close to this program's."""
    other = "join" if "join" not in name else "render"
    dedupe = {"groups": [], "related": [], "unreadable": [], "totals": {}}
    files = {
        "a text": "my notes\n",
        "JSON": '{"name": "album"}\n',
        "a list": "[1, 2]\n",
        "JSON of another command": json.dumps({"millrace": other, "pairs": 1}) + "\n",
        "JSON that names it later": json.dumps({"name": 1, "millrace": name.split()[0]}) + "\n",
        "JSON that names it in a text": json.dumps({"a": '"millrace": "dedupe"'}) + "\n",
        "JSON with one key more": json.dumps(dedupe | {"mine": 1}) + "\n",
        "JSON with a note behind": json.dumps(dedupe) + "\nmy notes\n",
        "JSON with one key less": json.dumps(dict(itertools.islice(dedupe.items(), 3))) + "\n",
        "a table": "group,kind,path\n1,2,3\n",
        "a table with one column more": "group,kind,path,bytes,width,height,damaged,keep,why,mine\n",
        "a page": '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>My page</title>\n',
        "a photograph": b"\xff\xd8\xff\xe0\0\x10JFIF a photograph",
        "an array": codes_text(3),
        "a database": b"SQLite format 3\0" + b"\0" * 84,
        "one byte": "\n",
    }
    few = ("JSON of another command", "a photograph", "one byte")
    return files if name.startswith("dedupe") else {what: files[what] for what in few}
