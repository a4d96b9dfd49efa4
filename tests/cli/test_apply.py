"""millrace dedupe apply, undo and purge, from the search to the last byte back in its place."""

import base64
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from PIL import Image, ImageDraw  # noqa: E402
from processes import end_held, hold_when  # noqa: E402
from program import PROGRAM, millrace  # noqa: E402

ACTIONS = ["delete", "trash", "hardlink", "move"]


def picture(seed, size=(400, 300)):
    rng = random.Random(seed)
    image = Image.new("RGB", (400, 300), tuple(rng.randrange(256) for _ in range(3)))
    draw = ImageDraw.Draw(image)
    for _ in range(40):
        x, y = rng.randrange(380), rng.randrange(280)
        colour = tuple(rng.randrange(256) for _ in range(3))
        draw.rectangle([x, y, x + rng.randrange(10, 120), y + rng.randrange(10, 90)], fill=colour)
    return image.resize(size)


class Library:
    def __init__(self, top):
        self.top = top
        self.photos = top / "photos"
        self.photos.mkdir()
        self.env = {"XDG_DATA_HOME": str(top / "data"), "HOME": str(top / "home")}
        (top / "home").mkdir()
        for seed in (1, 2, 3):
            picture(seed).save(self.photos / f"{seed}.png")
            shutil.copy(self.photos / f"{seed}.png", self.photos / f"{seed} copy.png")
        picture(1, (200, 150)).save(self.photos / "1 small.jpg", quality=92)
        (self.photos / "1 small.xmp").write_text("sidecar")
        bad = os.fsencode(self.photos) + b"/3 \xff\xfe.png"
        shutil.copy(self.photos / "3.png", bad)
        for name in os.listdir(os.fsencode(self.photos)):
            os.utime(os.path.join(os.fsencode(self.photos), name), ns=(10**18, 10**18 + 123456789))

    def run(self, *arguments, **options):
        return millrace("dedupe", *arguments, env=self.env, cwd=self.top, **options)

    def search(self, *arguments):
        self.run("photos", "--json", "found.json", *arguments)
        return json.loads((self.top / "found.json").read_text())

    def decide(self, found, name="decisions.json", not_duplicates=False, **more):
        entries = []
        for group in found["groups"]:
            for member in group["members"]:
                entry = {"group": group["id"], "action": "keep" if member["keep"] else "remove"}
                if not_duplicates:
                    entry["action"] = "not_duplicates"
                for key in ("path", "path_base64", "size", "mtime_ns", "hash"):
                    if key in member:
                        entry[key] = member[key]
                entries.append(entry)
        (self.top / name).write_text(json.dumps({"millrace_decisions": 1, "decisions": entries, **more}))
        return entries

    def action(self, name):
        return f"move={self.top / 'moved'}" if name == "move" else name

    def disk(self):
        out = {}
        for root, folders, names in os.walk(os.fsencode(self.photos)):
            for name in folders:
                out[os.path.join(root, name)] = None
            for name in names:
                path = os.path.join(root, name)
                info = os.stat(path)
                with open(path, "rb") as file:
                    out[path] = (file.read(), info.st_mtime_ns, info.st_mode)
        return out


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path)


def summary(library, name="done.json"):
    return json.loads((library.top / name).read_text())


@pytest.mark.parametrize("action", ACTIONS)
def test_search_decide_dry_run_go_undo(library, action):
    before = library.disk()
    entries = library.decide(library.search())
    removed = [e for e in entries if e["action"] == "remove"]
    assert len(removed) == 5
    assert any("path_base64" in e for e in removed)

    dry = library.run("apply", "decisions.json", "--action", library.action(action), "--json", "dry.json")
    assert library.disk() == before
    assert b"nothing was changed" in dry.stderr
    assert not list((library.top / "data").glob("millrace/journals/*"))
    plan = library.run("apply", "decisions.json", "--action", library.action(action), "--plan")
    assert plan.stdout.startswith(dry.stdout)

    done = library.run("apply", "decisions.json", "--action", library.action(action), "--go", "--json", "done.json")
    assert done.returncode == (3 if action == "hardlink" else 0)  # one only looks alike
    result, planned = summary(library), summary(library, "dry.json")
    assert [(i["path"], i.get("to")) for i in result["items"]] == [(i["path"], i.get("to")) for i in planned["items"]]
    after = library.disk()
    gone = {base64.b64decode(e["path_base64"]) if "path_base64" in e else os.fsencode(e["path"]) for e in removed}
    if action == "hardlink":
        assert set(after) == set(before)
        assert os.path.samefile(library.photos / "1.png", library.photos / "1 copy.png")
        assert os.stat(library.photos / "1 small.jpg").st_nlink == 1
    else:
        assert gone.isdisjoint(after)
        assert os.fsencode(library.photos / "1 small.xmp") not in after
    assert f"millrace dedupe undo {result['journal']}".encode() in done.stderr

    dry = library.run("undo", result["journal"])
    assert b"nothing was changed: this was a dry run; add --go" in dry.stderr and b"would" in dry.stdout
    assert library.disk() == after
    back = library.run("undo", result["journal"], "--go")
    assert back.returncode == 0, back.stdout
    assert library.disk() == before
    if action == "trash":
        assert not list((library.top / "data" / "Trash" / "info").iterdir())
    if action == "move":
        assert not (library.top / "moved").exists()


def test_purge(library):
    before = library.disk()
    library.decide(library.search())
    library.run("apply", "decisions.json", "--action", "delete", "--go", "--json", "done.json")
    journal = summary(library)["journal"]
    set_aside = library.disk()
    library.run("purge", journal)
    assert library.disk() == set_aside
    assert library.run("purge", journal, "--go").returncode == 0
    after = library.disk()
    assert {path: what for path, what in before.items() if path in after} == after
    assert len(after) == 3
    assert library.run("undo", journal, "--go").returncode == 3
    assert library.disk() == after


def test_changed_and_reference_files_are_left(library):
    library.decide(library.search(), references=[str(library.photos / "none")])
    os.utime(library.photos / "2 copy.png", ns=(1, 1))
    before = library.disk()
    done = library.run("apply", "decisions.json", "--action", "delete", "--reference", library.photos, "--go")
    assert done.returncode == 3
    assert b"reference" in done.stdout
    assert library.disk() == before
    done = library.run("apply", "decisions.json", "--action", "delete", "--go")
    assert done.returncode == 3
    assert b"changed since" in done.stdout
    assert (library.photos / "2 copy.png").exists()
    assert not (library.photos / "3 copy.png").exists() or not (library.photos / "3.png").exists()


def test_not_duplicates_are_not_found_again_until_undone(library):
    found = library.search()
    library.decide(found, not_duplicates=True)
    library.run("apply", "decisions.json", "--action", "trash")
    assert library.search()["groups"] == found["groups"]
    done = library.run("apply", "decisions.json", "--action", "trash", "--go", "--json", "done.json")
    assert library.search()["groups"] == []
    journal = summary(library)["journal"]
    assert f"to undo: millrace dedupe undo {journal}".encode() in done.stderr
    back = library.run("undo", journal, "--go")
    assert b"removed from the pairs recorded as not duplicates" in back.stderr
    assert library.search()["groups"] == found["groups"]


def test_interrupt(library):
    for i in range(300):
        shutil.copy(library.photos / "1.png", library.photos / f"many {i:03}.png")
    library.decide(library.search())
    before = library.disk()
    arguments = [PROGRAM, "dedupe", "apply", "decisions.json", "--action", "delete", "--go", "--json", "done.json"]
    child = subprocess.Popen(arguments, cwd=library.top, env=dict(os.environ, **library.env),
                             stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    removed = [path for path in library.photos.iterdir()]
    assert hold_when(child, lambda: len(list(library.photos.iterdir())) <= len(removed) - 3)
    end_held(child, signal.SIGINT)
    _, words = child.communicate()
    assert child.returncode == 130
    assert b"millrace dedupe undo" in words and b"to resume" in words
    library.run("undo", summary(library)["journal"], "--go")
    assert library.disk() == before


@pytest.mark.parametrize("arguments, words", [
    (["apply", "none.json", "--action", "trash"], b"none.json"),
    (["apply", "decisions.json"], b"no action"),
    (["apply", "decisions.json", "--action", "burn"], b"burn"),
    (["apply", "decisions.json", "--action", "move="], b"no destination folder"),
    (["photos", "apply", "decisions.json"], b"./apply"),
    (["--hidden", "apply", "decisions.json"], b"./apply"),
    (["undo"], b"JOURNAL"),
    (["undo", "nothing.jsonl"], b"nothing.jsonl"),
    (["purge", "decisions.json"], b"not a journal"),
    (["apply", "found.json", "--action", "trash"], b"decisions"),
])
def test_wrong_usage(library, arguments, words):
    library.decide(library.search())
    done = library.run(*arguments, check=False)
    assert done.returncode in (1, 2)
    assert words in done.stderr, done.stderr


def test_go_is_said_on_the_command_line_alone(library):
    library.decide(library.search())
    before = library.disk()
    library.env["MILLRACE_GO"] = "true"
    library.run("apply", "decisions.json", "--action", "delete")
    assert library.disk() == before


def test_a_folder_named_like_a_command_is_searched(library):
    library.photos.rename(library.top / "apply")
    library.run("./apply", "--json", "found.json")
    assert len(summary(library, "found.json")["groups"]) == 3
