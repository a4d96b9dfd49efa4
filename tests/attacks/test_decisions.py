"""Decisions that no page saved: what the search has not seen is not touched."""

import base64
import json
import os

import pytest
from attacks import ROOT, copied, needs_root, picture, state

ACTIONS = ["trash", "move", "delete", "hardlink"]


def action_of(scene, name):
    return f"move={scene.home / 'moved'}" if name == "move" else name


def entry(path, action, hash_of, group="made-up", **more):
    info = os.stat(path)
    return {
        "group": group,
        "action": action,
        "path": os.fsdecode(os.fspath(path)),
        "size": info.st_size,
        "mtime_ns": str(info.st_mtime_ns),
        "hash": hash_of,
    } | more


def hashes_of(scene, *paths):
    """The program's own hashes of files, found with a catalogue that is thrown away."""
    twin = scene.folder(scene.home / "twins")
    for k, path in enumerate(paths):
        for name in (f"{k} a.png", f"{k} b.png"):
            scene.mine(copied(path, twin / name))
    catalog = scene.home / "thrown away.sqlite"
    found = scene.search(twin, options=["--catalog", catalog])
    catalog.unlink()
    by_name = {m["path"].rsplit("/", 1)[1]: m["hash"] for group in found["groups"] for m in group["members"]}
    for path in twin.iterdir():
        path.unlink()
    twin.rmdir()
    return [by_name[f"{k} a.png"] for k in range(len(paths))]


@pytest.fixture
def strangers(scene):
    """Two pictures with the same bytes that no search has seen, and right decisions about them."""
    folder = scene.folder(scene.home / "etc")
    first = scene.mine(picture(folder / "hostname.png", 50))
    second = scene.mine(copied(first, folder / "passwd.png"))
    (hash_of,) = hashes_of(scene, first)
    decisions = scene.write_decisions([entry(first, "keep", hash_of), entry(second, "remove", hash_of)])
    return folder, decisions


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("catalog", ["of other pictures", "none"])
def test_files_that_the_catalogue_does_not_know_are_left(scene, strangers, action, catalog):
    folder, decisions = strangers
    scene.library()
    if catalog == "of other pictures":
        scene.search()
    before = state(folder)
    for go in ([], ["--go"]):
        done = scene.apply(decisions, action_of(scene, action), *go).fine(3)
        assert b"--within" in done.out and b"--catalog" in done.out and b"passwd.png" in done.out
        assert state(folder) == before
    # Told where, it lists them by themselves, and then does it.
    dry = scene.apply(decisions, action_of(scene, action), "--within", folder).fine()
    assert b"passwd.png" in dry.words and state(folder) == before
    known = scene.decide(scene.search(), "known.json")
    both = json.loads(known.read_text())
    both["decisions"] += json.loads(decisions.read_text())["decisions"]
    mixed = scene.file(scene.home / "mixed.json", json.dumps(both))
    apart = scene.apply(mixed, action_of(scene, action), "--within", folder).fine()
    unlike = apart.words.replace(b"photos", b"etc")
    assert b"not in the catalog" in unlike and b"--within" in unlike, apart.words
    scene.apply(decisions, action_of(scene, action), "--within", folder, "--go").fine()
    assert state(folder) != before


def test_files_that_are_not_as_the_catalogue_has_them_are_left(scene):
    scene.library(pictures=3)
    decisions = scene.decide(scene.search())
    text = json.loads(decisions.read_text())
    gone = [e for e in text["decisions"] if e["action"] == "remove"]
    other = hashes_of(scene, scene.photos / "1.png", scene.photos / "2.png", scene.photos / "3.png")
    for k, e in enumerate(gone):
        path = e["path"]
        if k == 0:  # other bytes, and the decision says so
            picture(path, 77)
            (e["hash"],) = hashes_of(scene, path)
            e["size"] = os.stat(path).st_size
        elif k == 1:  # a newer time, and the decision says so
            os.utime(path, ns=(1, 10**18))
            e["mtime_ns"] = str(10**18)
        else:  # the hash of another picture
            e["hash"] = other[0] if e["hash"] != other[0] else other[1]
    forged = scene.write_decisions(text["decisions"], "forged.json")
    before = state(scene.photos)
    done = scene.apply(forged, "delete", "--go").fine(3)
    assert state(scene.photos) == before and done.out.count(b"left") >= 3


def test_a_folder_whose_name_only_begins_the_same_is_not_within(scene, strangers):
    folder, decisions = strangers
    before = state(folder)
    for within in (
        scene.folder(scene.home / "et"),
        f"{folder}c",
        f"{folder}/passwd",
        scene.photos,
        f"{folder}/../photos",
    ):
        scene.apply(decisions, "delete", "--within", within, "--go").fine(3, 1, 2)
        assert state(folder) == before, within
    for within in ("", " "):
        scene.apply(decisions, "delete", "--within", within, "--go", cwd=scene.photos).fine(3, 1, 2)
        assert state(folder) == before
    scene.apply(decisions, "delete", "--within", f"{folder}/", "--go").fine()
    assert state(folder) != before


@pytest.mark.parametrize(
    "options",
    [[], ["--within", "PHOTOS"], ["--follow-symlinks"], ["--follow-symlinks", "--within", "PHOTOS"]],
    ids=["", "within", "follow", "both"],
)
def test_a_link_leads_to_no_other_file(scene, strangers, options):
    """The folder that the decision names has become a link to one with the same names."""
    folder, _ = strangers
    known = scene.folder(scene.photos / "holiday")
    first, second = (scene.mine(copied(folder / name, known / name)) for name in ("hostname.png", "passwd.png"))
    decisions = scene.decide(scene.search())
    assert str(second) in decisions.read_text()
    first.unlink()
    second.unlink()
    known.rmdir()
    known.symlink_to(folder)
    before = state(folder)
    options = [str(scene.photos) if word == "PHOTOS" else word for word in options]
    scene.apply(decisions, "delete", *options, "--go").fine(3, 0)
    assert state(folder) == before


def test_a_link_that_leads_where_the_search_saw_it_lead_is_followed(scene, strangers):
    folder, _ = strangers
    (scene.photos / "holiday").symlink_to(folder)
    decisions = scene.decide(scene.search(options=["--follow-symlinks"]))
    before = state(folder)
    scene.apply(decisions, "delete", "--go").fine(3)
    assert state(folder) == before
    scene.apply(decisions, "delete", "--go", "--follow-symlinks").fine()
    assert len([p for p in folder.iterdir() if p.suffix == ".png"]) == 1


def test_spellings_of_a_path_remove_no_last_copy(scene):
    scene.library(pictures=1)
    (scene.home / "way").symlink_to(scene.photos)
    found = scene.search()
    told = {e["path"].rsplit("/", 1)[1]: e for e in json.loads(scene.decide(found).read_text())["decisions"]}
    one, two = told["1.png"], told["1 copy 1.png"]
    os.unlink(two["path"])
    before = state(scene.photos)
    path = one["path"]
    for spelled in (
        f"{scene.home}/way/1.png",
        f"{scene.photos}/./1.png",
        f"{scene.photos}//1.png",
        f"{scene.home}/way/../photos/1.png",
        path,
    ):
        entries = [one | {"action": "remove"}, one | {"action": "keep", "path": spelled}]
        for order in (entries, entries[::-1]):
            scene.apply(scene.write_decisions(order), "delete", "--go", "--follow-symlinks").fine(1, 2, 3)
            assert state(scene.photos) == before, spelled
    os.link(path, scene.home / "hard.png")
    entries = [one | {"action": "remove"}, one | {"action": "keep", "path": str(scene.home / "hard.png")}]
    scene.apply(scene.write_decisions(entries), "delete", "--go", "--within", scene.home).fine(3)
    assert os.path.exists(path)


def test_decisions_in_a_circle_remove_nothing(scene):
    scene.library(pictures=2)
    entries = json.loads(scene.decide(scene.search()).read_text())["decisions"]
    turned = [
        e | {"group": "turned " + e["group"], "action": "remove" if e["action"] == "keep" else "keep"} for e in entries
    ]
    before = state(scene.photos)
    scene.apply(scene.write_decisions(entries + turned), "delete", "--go").fine(3)
    assert state(scene.photos) == before
    scene.apply(scene.write_decisions([e | {"action": "remove"} for e in entries]), "delete", "--go").fine(3)
    assert state(scene.photos) == before


def test_what_is_shown_is_what_is_meant(scene):
    """A path that is not text stands in base64 beside it; the two may not agree."""
    scene.library(pictures=1)
    entries = json.loads(scene.decide(scene.search()).read_text())["decisions"]
    gone = next(e for e in entries if e["action"] == "remove")
    meant = gone["path"]
    gone["path_base64"] = base64.b64encode(os.fsencode(meant)).decode()
    gone["path"] = "/tmp/harmless.png"
    done = scene.apply(scene.write_decisions(entries), "delete")
    assert done.code in (1, 2, 3) or os.fsencode(meant) in done.out
    assert b"harmless" not in done.out or done.code != 0


def test_paths_that_are_none_are_refused(scene):
    scene.library(pictures=1)
    entries = json.loads(scene.decide(scene.search()).read_text())["decisions"]
    before = state(scene.photos)
    for path in (
        "photos/1.png",
        "",
        "/",
        "..",
        "/..",
        f"{scene.photos}/..",
        f"{scene.photos}/",
        f"{scene.photos}/1.png\0",
        7,
        None,
    ):
        bad = [e | {"path": path} if e["action"] == "remove" else e for e in entries]
        done = scene.apply(scene.write_decisions(bad), "delete", "--go")
        assert done.code in (1, 2, 3), (path, done.words)
        assert state(scene.photos) == before, path


def test_hostile_decisions_stay_within_bounds(scene):
    scene.library(pictures=1)
    head = '{"millrace_decisions": 1, "decisions": ['
    for text in (
        "[" * 5_000_000,
        head + '{"a":' * 2_000_000,
        head + "{}," * 2_000_000,
        "\0" * 5_000_000,
        head + '{"path":"' + "a/" * 5_000_000,
    ):
        done = scene.apply(scene.file(scene.home / "d.json", text), "delete", "--go")
        assert done.code in (1, 2), done.words[:200]
    for name in ("/dev/zero", scene.photos, "/proc/self/mem", scene.home / "none.json"):
        scene.apply(name, "delete", "--go", seconds=10, memory=256 << 20).refused()


def test_decisions_from_somebody_else_do_what_they_say_and_no_more(scene):
    """They may be anybody's, and may lie anywhere: only what the search saw is touched."""
    needs_root("be attacked by somebody else")
    scene.library()
    decisions = scene.decide(scene.search())
    sent = scene.shared / "decisions.json"
    sent.write_bytes(decisions.read_bytes())
    scene.theirs(sent)
    scene.apply(sent, "delete", "--go").fine()
    assert len(list(scene.photos.glob("*.png"))) == 2 and ROOT


def test_sidecars_go_with_their_picture_and_links_among_them_stay(scene):
    scene.library(pictures=1)
    for name in ("1.xmp", "1 copy 1.xmp", "1 copy 1.png.xmp"):
        scene.file(scene.photos / name, name)
    (scene.photos / "1 copy 1.aae").symlink_to(scene.precious)
    decisions = json.loads(scene.decide(scene.search()).read_text())["decisions"]
    gone = next(e["path"] for e in decisions if e["action"] == "remove")
    scene.apply(scene.write_decisions(decisions), "delete", "--go").fine(0, 3)
    assert not os.path.exists(gone) and scene.precious.read_text() == "the only copy\n"
    named = [e | {"path": str(scene.photos / "1.xmp"), "action": "remove", "size": 5} for e in decisions[:1]]
    scene.apply(scene.write_decisions(named + decisions), "delete", "--go")
    assert (scene.photos / "1.xmp").exists() or gone.endswith("1.png")
