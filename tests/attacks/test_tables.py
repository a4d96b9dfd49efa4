"""Names and dates that a spreadsheet would take for formulas, and exact names in JSON."""

import base64
import csv
import io
import json
import os

from attacks import picture

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", '=HYPERLINK("http://x","y")', "\t=1", "\r=1", "=cmd|' /C calc'!A0"]


def test_texts_of_tables_are_no_formulas(scene):
    names = [
        f"{k}.png" if k == 0 else f"{formula}{k}.png".replace("/", "_") for k, formula in enumerate(["", *FORMULAS])
    ]
    for name in names:
        scene.mine(picture(scene.photos / name, 1))
    broken = scene.file(scene.photos / "=broken.png", b"\x89PNG\r\n\x1a\n broken")
    table, found = scene.home / "l.csv", scene.home / "f.json"
    scene.dedupe(scene.photos, "--csv", table, "--json", found).fine(3)
    hashed = scene.run("hash", "--format", "csv", "--", *names, broken.name, cwd=scene.photos).fine(3)
    for text in (table.read_bytes().decode(), hashed.out.decode()):
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert len({len(row) for row in rows}) == 1 and len(rows) >= len(names)
        for row in rows:
            for cell in row:
                assert cell == "" or cell[0] not in "=+-@\t\r" or cell.lstrip("-").isdigit(), row
    members = {m["path"] for group in json.loads(found.read_text())["groups"] for m in group["members"]}
    assert members == {str(scene.photos / name) for name in names}
    lines = scene.run("hash", "--format", "jsonl", "--", *names, cwd=scene.photos).fine().out.decode().splitlines()
    assert {json.loads(line)["path"] for line in lines} == set(names)


def test_dates_of_a_series_are_no_formulas(scene):
    rows = [f"=1+{k},{100 + k % 7}" for k in range(40)]
    prices = scene.file(scene.home / "prices.csv", "\n".join(["date,close", *rows]) + "\n")
    out = scene.home / "charts"
    done = scene.run("render", prices, "--window", "20", "--size", "40x30", "--store", "npy", "-o", out)
    if done.code in (0, 3):
        for row in csv.reader(io.StringIO((out / "index.csv").read_text())):
            assert all(cell == "" or cell[0] not in "=+@\t\r" for cell in row), row


def test_exact_names_stand_in_json(scene):
    """Whatever bytes they are; in text for people, and so that they can be opened again."""
    raw = [
        os.fsencode(scene.photos) + b"/" + name
        for name in (b"\xff\xfe.png", b"'=1.png", b'a"b\\.png', "\u202e.png".encode())
    ]
    for path in raw:
        picture(scene.photos / "x.png", 1).rename(os.fsdecode(path))
    scene.mine(scene.photos)
    members = scene.search()["groups"][0]["members"]
    told = {base64.b64decode(m["path_base64"]) if "path_base64" in m else m["path"].encode() for m in members}
    assert told == set(raw)
