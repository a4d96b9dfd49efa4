"""Names, and what files say, that would drive a terminal."""

import json
import os
import struct

from attacks import copied, picture
from forged import journal_text, record, rewritten, set_aside
from outputs import Inputs, codes_text

CONTROLS = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202egnp",
    "\u2066",
    "\u200f",
    "\u061c",
    "\r",
    "\n",
    "\x7f",
    "\x08",
]
WRONG = [c.encode() for c in ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u200f", "\u061c", "\r", "\x7f", "\x08")]


def clean(done, *parts):
    """Nothing that a terminal takes for an order; the name is still to be seen."""
    for text in parts or (done.out, done.err):
        found = [mark for mark in WRONG if mark in text]
        assert not found, (found, text)
    return done


def orders(scene, words):
    """The command and what it said, where a terminal would take part of that for an order."""
    done = scene.run(*words)
    if not any(mark in done.words for mark in WRONG):
        return []
    return [" ".join(ascii(os.path.basename(word)) for word in words) + "\n    " + ascii(done.words)]


def test_names_give_a_terminal_no_orders(scene):
    for k, control in enumerate(CONTROLS):
        first = scene.mine(picture(scene.photos / f"{k} {control}a.png", k))
        scene.mine(copied(first, scene.photos / f"{k} {control}b.png"))
        scene.file(scene.photos / f"{k} {control}broken.png", b"\x89PNG\r\n\x1a\n broken")
        scene.file(scene.photos / f"{k} {control}a.xmp", "sidecar")
    clean(scene.dedupe(scene.photos, "-v", "--log-level", "debug").fine(3))
    decisions = scene.decide(scene.search())
    for action in ("trash", f"move={scene.home}/mo\u202eved", "hardlink", "delete"):
        clean(scene.apply(decisions, action).fine(0, 3))
        clean(scene.apply(decisions, action, "--plan").fine(0, 3))
        clean(scene.apply(decisions, action, "--go", "-v").fine(0, 3))
        journal = scene.journal()
        clean(scene.undo(journal).fine(0, 3))
        if action == "delete":
            clean(scene.dedupe("purge", journal).fine(0, 3))
        clean(scene.undo(journal, "--go").fine(0, 3))
    clean(scene.run("hash", scene.photos, "-v").fine(3))
    scene.run("hash", scene.photos, "--format", "jsonl").fine(3)


def test_messages_about_a_name_give_a_terminal_no_orders(scene):
    inputs = Inputs(scene)
    control = "".join(CONTROLS)
    bad = scene.file(scene.home / f"x{control}y", "no such thing\n")
    array = scene.file(scene.home / f"x{control}y.npy", codes_text())
    broken = scene.file(scene.home / f"z{control}.npy", "no array\n")
    table = scene.file(scene.home / f"x{control}y.csv", "date,price\n2020-01-01,1\n")
    folder = scene.folder(scene.home / f"f{control}g")
    wrong = []
    for words in (
        ["dedupe", scene.home / f"none{control}"],
        ["dedupe", inputs.photos, "--json", bad],
        ["dedupe", inputs.photos, "--report", folder / "none" / "x"],
        ["dedupe", inputs.photos, "--report", folder],
        ["dedupe", inputs.photos, "--catalog", bad],
        ["dedupe", inputs.photos, "--catalog", folder],
        ["dedupe", inputs.photos, "--config", bad],
        ["dedupe", inputs.photos, "--report", folder / "r.html"],
        ["dedupe", inputs.photos, "--plan", "--exclude", f"x{control}"],
        ["dedupe", "apply", bad, "--action", "trash"],
        ["dedupe", "apply", inputs.decisions, "--action", "delete", "--journal", bad],
        ["dedupe", "undo", bad],
        ["dedupe", "undo", f"none{control}"],
        ["dedupe", "purge", bad],
        ["hash", bad],
        ["join", broken, "--radius", "2"],
        ["join", array, "--radius", "2", "--plan"],
        ["join", array, "--radius", "2", "-o", bad],
        ["join", array, "--radius", "2", "-o", folder / "p.npy"],
        ["render", table, "-o", folder / "c.h5"],
        ["render", inputs.prices, table, "--window", "20", "-o", folder / "c.h5"],
        ["render", inputs.prices, "--window", "20", "-o", folder / "c.h5"],
        ["render", inputs.prices, "--window", "21", "-o", folder / "c.h5"],
        ["render", inputs.prices, "--window", "20", "-o", bad],
        ["render", inputs.prices, "--window", "20", "-o", folder / "none" / "c.h5"],
        ["render", inputs.prices, "--window", "20", "--sample", "3", "-o", folder / "s.png"],
        ["render", inputs.prices, "--window", "20", "--columns", f"close=x{control}", "-o", folder / "d.h5"],
        ["render", inputs.prices, "--plan", "--window", "20", "-o", folder / "d.h5"],
        ["doctor", "--json", bad],
        ["hash", f"--x{control}"],  # a file's name, by a shell's *
    ):
        wrong += orders(scene, words)
    assert not wrong, "\n".join(wrong)


def test_what_files_say_gives_a_terminal_no_orders(scene):
    """Not only their names: headers of tables and arrays, ids, groups, reasons."""
    inputs = Inputs(scene)
    said = "x" + "".join(c for c in CONTROLS if c not in "\r\n")
    decisions = json.loads(inputs.decisions.read_text())["decisions"]
    hidden = set_aside(scene.photos / said)
    array = (
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", 200)
        + f"{{'descr': '{said}', 'shape': (3,)}}".encode().ljust(199)
        + b"\n"
    )

    def file(name, text):
        return scene.file(scene.home / name, text)

    catalog = scene.home / "c.sqlite"
    scene.dedupe(inputs.photos, "--catalog", catalog).fine()
    rewritten(catalog, f"UPDATE files SET code = 3, content = NULL, reason = '{said}'")
    scene.mine(catalog)
    wrong = []
    for words in (
        ["render", file("a.csv", f"date,{said}\n2020-01-01,1\n"), "-o", scene.home / "c.h5"],
        [
            "render",
            file("b.csv", f"date,close\n{said},1\n2020-01-02,{said}\n"),
            "--window",
            "2",
            "-o",
            scene.home / "c.h5",
        ],
        ["render", file("a.npy", array), "-o", scene.home / "d.h5"],
        ["join", scene.home / "a.npy", "--radius", "2"],
        ["dedupe", inputs.photos, "--config", file("a.yaml", f"{said}: 1\n")],
        ["dedupe", inputs.photos, "--config", file("b.yaml", f"bursts: {said}\n")],
        ["dedupe", inputs.photos, "--config", file("c.yaml", f"bursts: [{said}\n")],
        ["dedupe", inputs.photos, "--catalog", catalog, "-v"],
        [
            "dedupe",
            "apply",
            file("a.json", json.dumps({"millrace_decisions": 1, "decisions": [{"group": said}]})),
            "--action",
            "trash",
        ],
        [
            "dedupe",
            "apply",
            scene.write_decisions([e | {"action": said} for e in decisions], "b.json"),
            "--action",
            "trash",
        ],
        [
            "dedupe",
            "apply",
            scene.write_decisions([e | {"group": said} for e in decisions], "c.json"),
            "--action",
            "trash",
        ],
        [
            "dedupe",
            "apply",
            scene.write_decisions([e | {"path": f"/{said}"} for e in decisions], "d.json"),
            "--action",
            "trash",
        ],
        [
            "dedupe",
            "apply",
            scene.write_decisions([e | {"hash": said} for e in decisions], "e.json"),
            "--action",
            "trash",
        ],
        ["dedupe", "apply", file("f.json", '{"millrace_decisions": 1, "' + said), "--action", "trash"],
        ["dedupe", "undo", "--trust-files", file("a.jsonl", journal_text("delete", journal_id=said))],
        ["dedupe", "undo", "--trust-files", file("b.jsonl", journal_text(said))],
        ["dedupe", "undo", "--trust-files", file("c.jsonl", journal_text("delete", {"folder": f"/{said}"}))],
        ["dedupe", "undo", "--trust-files", file("d.jsonl", journal_text("move", destination=said))],
        [
            "dedupe",
            "undo",
            "--trust-files",
            file("e.jsonl", journal_text("delete", record(1, "delete", hidden, scene.precious, to=f"/{said}"))),
        ],
        [
            "dedupe",
            "undo",
            "--trust-files",
            file(
                "f.jsonl", journal_text("delete", record(1, "delete", scene.photos / said, scene.precious, to=hidden))
            ),
        ],
        [
            "dedupe",
            "undo",
            "--trust-files",
            file("g.jsonl", journal_text("delete", {"apart": [["0" * 32, "1" * 32]], "catalog": f"/{said}"})),
            "--go",
        ],
    ):
        wrong += orders(scene, words)
    assert not wrong, "\n".join(wrong)
