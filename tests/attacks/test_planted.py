"""Names that this program will use, which somebody else has taken before: links, files and folders of theirs."""

import json
import os
import shutil

import pytest
from attacks import ATTACKER, copied, needs_root, picture, state
from outputs import Inputs
from series import prices_text
from program import PROGRAM

STORES = ["hdf5", "virtual", "npy", "png", "jpeg", "webdataset", "zarr", "dat"]
FILES = [
    "whole.h5",
    "0.log",
    "1.log",
    "0.rows",
    "parts.json",
    "run.lock",
    "earlier0.h5",
    "images.npy",
    "00000.done",
    "00000.index.csv",
    "images.dat",
    "00000.tar",
    "00001.tar",
    "sequences.npy",
    "labels.npy",
    "index.csv",
    "0.h5",
    "1.h5",
    "zarr.json",
    ".zgroup",
]
FOLDERS = ["whole", "00000", "00001", "images", "index", "sequences", "labels"]


def render(scene, store, out, *more):
    form = ["--virtual"] if store == "virtual" else ["--store", store]
    return [
        "render",
        scene.home / "prices.csv",
        "--window",
        "20",
        "--size",
        "40x30",
        "--shard",
        "10",
        *form,
        "-o",
        out,
        "-q",
        *more,
    ]


def cut_off(scene, store, out):
    """A run that could not go on: what it leaves is a folder that the next one takes up."""
    words = " ".join(f"'{word}'" for word in [PROGRAM, *render(scene, store, out)])
    scene.run_other("bash", "-c", f"ulimit -f 1; exec {words}")
    shards = out.with_name(out.name + ".shards")
    assert (shards / "run.json").exists()
    return shards


@pytest.mark.parametrize("part", [".part", ""])
@pytest.mark.parametrize("store", STORES)
def test_links_under_the_names_of_shards_are_not_written_through(scene, store, part):
    """The folder was left open to others, who put links under every name that is used in it."""
    scene.file(scene.home / "prices.csv", prices_text())
    private = scene.folder(scene.home / "private")
    scene.file(private / "00000000.png", "a picture of the user")
    scene.file(private / "zarr.json", "mine")
    before = state(private), state(scene.precious)
    shards = cut_off(scene, store, scene.home / "charts")
    inner = shards / "whole.part"
    for path in [folder / (name + part) for folder in (shards, inner) if folder.is_dir() for name in [*FILES, *FOLDERS]]:
        name = path.name.removesuffix(".part")
        if path.is_dir():
            shutil.rmtree(path)
        if not path.parent.is_dir() or path.parent.is_symlink():
            continue
        path.unlink(missing_ok=True)
        path.symlink_to(private if name in FOLDERS else scene.precious)
    scene.mine(shards)
    done = scene.run(*render(scene, store, scene.home / "charts"))
    assert (state(private), state(scene.precious)) == before, done.words
    assert done.code in (0, 1), done.words
    fresh = scene.home / "fresh"
    scene.run(*render(scene, store, fresh)).fine()
    assert (state(private), state(scene.precious)) == before


@pytest.mark.parametrize("store", ["hdf5", "npy", "zarr"])
@pytest.mark.parametrize("kind", ["/dev/zero", "pipe", "precious.txt", "folder"])
def test_what_a_run_was_made_of_is_a_small_file(scene, store, kind):
    """run.json of the folder for shards, or of the output."""
    scene.file(scene.home / "prices.csv", prices_text())
    os.mkfifo(scene.home / "pipe")
    scene.mine(scene.home / "pipe")
    out = scene.home / "charts"
    shards = cut_off(scene, store, out)
    folder = scene.folder(scene.home / "whole")
    for run in (shards / "run.json", folder / "run.json", folder / "zarr.json"):
        run.unlink(missing_ok=True)
        if kind == "folder":
            scene.folder(run)
        else:
            run.symlink_to(kind if kind.startswith("/") else scene.home / kind)
    before = state(scene.precious), sorted(shards.iterdir())
    for name in (out, folder):
        done = scene.run(*render(scene, store, name), seconds=10, memory=256 << 20)
        assert done.code == 1, done.words
    assert (state(scene.precious), sorted(shards.iterdir())) == before


@pytest.mark.parametrize("kind", ["empty", "with a run", "a link"])
def test_a_folder_for_shards_of_somebody_else_is_refused(scene, kind):
    needs_root("be attacked by somebody else")
    scene.file(scene.home / "prices.csv", prices_text())
    out = scene.shared / "charts.h5"
    shards = scene.shared / "charts.h5.shards"
    private = scene.folder(scene.home / "private")
    if kind == "a link":
        shards.symlink_to(private)
        os.chown(shards, ATTACKER, ATTACKER, follow_symlinks=False)
    else:
        if kind == "with a run":
            cut_off(scene, "hdf5", scene.home / "charts.h5")
            shutil.copytree(scene.home / "charts.h5.shards", shards)
        else:
            shards.mkdir()
        shards.chmod(0o777)
        (shards / "whole.h5.part").unlink(missing_ok=True)
        (shards / "whole.h5.part").symlink_to(scene.precious)
        scene.theirs(shards)
    before = state(scene.shared), state(private), state(scene.precious)
    scene.run(*render(scene, "hdf5", out)).refused("charts.h5.shards")
    assert (state(scene.shared), state(private), state(scene.precious)) == before
    scene.run(*render(scene, "hdf5", scene.home / "fresh.h5")).fine()


@pytest.mark.parametrize("kind", ["a link in it", "a link to it", "somebody else's", "names that lead out"])
@pytest.mark.parametrize("store", ["hdf5", "npy", "png", "zarr"])
def test_parts_from_elsewhere_are_looked_at_first(scene, store, kind):
    """millrace finish --from: a folder that an enemy has made, or has put something into."""
    scene.file(scene.home / "prices.csv", prices_text())
    for disk, part in (("one", "1/2"), ("two", "2/2")):
        scene.folder(scene.home / disk)
        scene.run(*render(scene, store, scene.home / disk / "charts", "--part", part)).fine()
    shards = scene.home / "two/charts.shards"
    if kind == "a link in it":
        (shards / "1.rows").unlink(missing_ok=True)
        (shards / "1.rows").symlink_to(scene.precious)
    elif kind == "a link to it":
        shards.rename(scene.home / "away")
        shards.symlink_to(scene.home / "away")
    elif kind == "somebody else's":
        needs_root("be given what somebody else has made")
        scene.theirs(shards)
    else:
        for folder in (shards, scene.home / "one/charts.shards"):
            text = (folder / "parts.json").read_text()
            (folder / "parts.json").write_text(text.replace('"images"', '"../../images"').replace('"index', '"../index'))
    before = state(scene.precious), sorted(scene.home.iterdir())
    done = scene.run("finish", scene.home / "one/charts", "--from", shards)
    assert done.code == 1 and (state(scene.precious), sorted(scene.home.iterdir())) == before, done.words
    assert not (scene.home / "one/charts").exists()


@pytest.mark.parametrize("kind", ["precious.txt", "private", "nothing"])
def test_a_store_that_is_a_link_is_not_replaced(scene, kind):
    scene.file(scene.home / "prices.csv", prices_text())
    scene.folder(scene.home / "private")
    for store in STORES:
        link = scene.home / f"{store}.link"
        link.symlink_to(scene.home / kind)
        before = {p: row for p, row in state(scene.home).items() if p != "."}
        assert scene.run(*render(scene, store, link)).code == 1
        after = {p: row for p, row in state(scene.home).items() if p != "."}
        assert after == before, store


@pytest.mark.parametrize("prefix", [".millrace-partial-", ".millrace-thumbs-"])
def test_links_under_the_names_of_temporary_files(scene, prefix):
    """The number of the process is in the name: somebody puts links under every one that may come."""
    inputs = Inputs(scene)
    before = state(scene.precious)

    def plant():
        for k in range(4):
            os.symlink(scene.precious, scene.shared / f"{prefix}{os.getpid()}-{k}")

    for words in (
        ["dedupe", inputs.photos, "--json", "found.json", "--csv", "found.csv", "--report", "page.html"],
        ["join", inputs.codes, "--radius", "3", "-o", "pairs.npy", "--json", "pairs.json"],
        ["render", inputs.prices, "--window", "20", "--sample", "3", "-o", "sheet.png"],
        ["doctor", "--json", "doctor.json"],
    ):
        scene.run(*words, cwd=scene.shared, before=plant).fine()
        assert state(scene.precious) == before, words
        made = [word for word in words if os.path.splitext(str(word))[1] and not str(word).startswith("/")]
        for name in made:
            assert (scene.shared / name).is_file() and not (scene.shared / name).is_symlink(), name


def test_a_folder_to_set_aside_that_somebody_made(scene):
    """Its name can be worked out: what is set aside goes to a folder of the user's own."""
    needs_root("be attacked by somebody else")
    folder = scene.folder(scene.shared / "photos", 0o777)
    first = scene.mine(picture(folder / "a.png", 1))
    scene.mine(copied(first, folder / "b.png"))
    decisions = scene.decide(scene.search(folder))
    dry = scene.home / "dry.json"
    scene.apply(decisions, "delete", "--json", dry).fine()
    planted = folder / f".millrace-removed-{json.loads(dry.read_text())['id']}"
    planted.mkdir()
    planted.chmod(0o777)
    scene.theirs(planted)
    before = state(planted)
    result = scene.home / "done.json"
    scene.apply(decisions, "delete", "--go", "--json", result).fine()
    (item,) = (i for i in json.loads(result.read_text())["items"] if i["state"] == "done")
    there = os.stat(os.path.dirname(item["to"]))
    assert there.st_uid == scene.uid and there.st_mode & 0o077 == 0
    assert state(planted) == before
    scene.undo(json.loads(result.read_text())["journal"], "--go").fine()
    assert sorted(p.name for p in folder.glob("*.png")) == ["a.png", "b.png"] and planted.exists()


@pytest.mark.parametrize(
    "kind", ["raw", "raw pipe", "raw endless", "link", "link to a pipe", "virtual", "virtual pipe"]
)
def test_a_store_of_numbers_reads_no_other_file(scene, kind):
    """An HDF5 file can say that its numbers lie elsewhere."""
    h5py = pytest.importorskip("h5py")
    numbers = scene.file(scene.home / "numbers.bin", b"\0\0\0\0\0\0\xf0\x3f" * 200)
    pipe = scene.home / "pipe"
    os.mkfifo(pipe)
    with h5py.File(scene.home / "other.h5", "w") as file:
        file["x"] = [float(k) for k in range(200)]
    target = {"raw": numbers, "raw endless": "/dev/zero"}.get(kind, pipe if "pipe" in kind else scene.home / "other.h5")
    path = scene.home / "sent.h5"
    with h5py.File(path, "w") as file:
        if kind.startswith("raw"):
            file.create_dataset("x", shape=(200,), dtype="f8", external=[(str(target), 0, 1600)])
        elif kind.startswith("link"):
            file["x"] = h5py.ExternalLink(str(target), "/x")
        else:
            layout = h5py.VirtualLayout((200,), "f8")
            layout[:] = h5py.VirtualSource(str(target), "x", (200,))
            file.create_virtual_dataset("x", layout)
        file["own"] = [float(k) for k in range(200)]
    scene.mine(path)
    words = ["--window", "20", "--size", "40x30", "-o", scene.home / "charts.h5", "-q"]
    scene.run("render", f"{path}:/x", *words, seconds=10, memory=256 << 20).refused("sent.h5")
    scene.run("render", f"{path}:/own", *words).fine()
