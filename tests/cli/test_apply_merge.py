"""`millrace dedupe apply --merge-metadata`, on pictures that a search has found."""

import json
import os
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402
from test_dedupe import dedupe, scene  # noqa: E402

pytest.importorskip("PIL")
from PIL import Image  # noqa: E402
from PIL.TiffImagePlugin import IFDRational  # noqa: E402

XMP = "{http://ns.adobe.com/xap/1.0/}"
EXIF = "{http://ns.adobe.com/exif/1.0/}"
DC = "{http://purl.org/dc/elements/1.1/}"
RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"


def exif():
    block = Image.Exif()
    block[0x4746] = 4
    block.get_ifd(0x8769)[0x9003] = "2024:05:01 12:30:05"
    gps = block.get_ifd(0x8825)
    gps[1], gps[2] = "N", (IFDRational(48, 1), IFDRational(30, 1), IFDRational(0, 1))
    gps[3], gps[4] = "E", (IFDRational(11, 1), IFDRational(15, 1), IFDRational(0, 1))
    return block


@pytest.fixture
def found(tmp_path):
    """A large picture without a word, and a small one that knows all; the decisions keep the large one."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    image = scene(900, 600, 800)
    image.save(folder / "large.jpg", quality=95)
    image.resize((450, 300)).save(folder / "small.jpg", quality=92, exif=exif())
    result, _ = dedupe(tmp_path, folder)
    (group,) = result["groups"]
    entries = []
    for member in group["members"]:
        keep = member["path"].endswith("large.jpg")
        entries.append({"group": group["id"], "action": "keep" if keep else "remove", "path": member["path"],
                        "size": member["size"], "mtime_ns": member["mtime_ns"], "hash": member["hash"], "chosen": True})
    decisions = tmp_path / "decisions.json"
    decisions.write_text(json.dumps({"millrace_decisions": 1, "decisions": entries}))
    return folder, decisions


def apply(tmp_path, decisions, *arguments, **options):
    done = millrace("dedupe", "apply", decisions, "--action", "delete", "--catalog", tmp_path / "catalog.sqlite",
                    "--journal", tmp_path / "journal.jsonl", *arguments, **options)
    done.words = (done.stdout + done.stderr).decode()
    return done


def snapshot(folder):
    return {os.path.relpath(p, folder): (p.read_bytes(), p.stat().st_mtime_ns)
            for p in sorted(folder.rglob("*")) if p.is_file()}


def test_what_the_removed_copy_knows_is_written_beside_the_kept_one(tmp_path, found):
    folder, decisions = found
    before = snapshot(folder)
    dry = apply(tmp_path, decisions, "--merge-metadata")
    assert "rating 4, GPS position, taken 2024-05-01T12:30:05" in dry.words and snapshot(folder) == before
    assert "1 sidecar would be written" in dry.words
    done = apply(tmp_path, decisions, "--merge-metadata", "--go")
    assert done.returncode == 0 and "1 sidecar written" in done.words
    description = ElementTree.parse(folder / "large.jpg.xmp").getroot().find(f"{RDF}RDF/{RDF}Description")
    assert description.get(f"{XMP}Rating") == "4"
    assert description.get(f"{EXIF}GPSLatitude") == "48,30.000000N"
    assert description.get(f"{EXIF}DateTimeOriginal") == "2024-05-01T12:30:05"
    assert (folder / "large.jpg").read_bytes() == before["large.jpg"][0]
    assert not (folder / "small.jpg").exists()
    # The next search knows it, and the undo takes it back.
    millrace("dedupe", "undo", tmp_path / "journal.jsonl", "--go")
    assert snapshot(folder) == before and sorted(p.name for p in folder.iterdir()) == ["large.jpg", "small.jpg"]


def test_without_the_option_nothing_is_written(tmp_path, found):
    folder, decisions = found
    apply(tmp_path, decisions, "--go")
    assert [p.name for p in folder.iterdir() if p.is_file()] == ["large.jpg"]


def test_a_sidecar_that_is_there_stays_and_so_does_the_copy(tmp_path, found):
    folder, decisions = found
    (folder / "large.jpg.xmp").write_text("<x/>")
    before = snapshot(folder)
    done = apply(tmp_path, decisions, "--merge-metadata", "--go")
    assert done.returncode == 3 and "large.jpg.xmp already exists" in done.words
    assert snapshot(folder) == before


def test_words_that_are_markup_do_no_harm(tmp_path, found):
    folder, decisions = found
    (folder / "small.jpg.xmp").write_text(
        '<rdf:RDF><rdf:Description><dc:subject><rdf:Bag><rdf:li>&lt;/rdf:li&gt;&lt;script&gt; &amp; "x"</rdf:li>'
        "</rdf:Bag></dc:subject></rdf:Description></rdf:RDF>")
    apply(tmp_path, decisions, "--merge-metadata", "--go")
    items = ElementTree.parse(folder / "large.jpg.xmp").getroot().findall(f".//{DC}subject/{RDF}Bag/{RDF}li")
    assert [item.text for item in items] == ['</rdf:li><script> & "x"']


def test_json_tells_of_sidecars(tmp_path, found):
    folder, decisions = found
    out = tmp_path / "applied.json"
    apply(tmp_path, decisions, "--merge-metadata", "--go", "--json", out)
    items = json.loads(out.read_text())["items"]
    (sidecar,) = [i for i in items if i.get("sidecar")]
    assert sidecar["path"] == str(folder / "large.jpg.xmp") and sidecar["companion_of"] == str(folder / "large.jpg")
    assert [i["path"] for i in items if not i.get("sidecar")] == [str(folder / "small.jpg")]


def test_creator_and_rights_of_exif_are_carried_over(tmp_path, found):
    folder, decisions = found
    block = exif()
    block[0x013B], block[0x8298] = "Ada; Bea", "(c) Ada & Bea"
    with Image.open(folder / "small.jpg") as image:
        pixels = image.copy()
    state = (folder / "small.jpg").stat()
    pixels.save(folder / "small.jpg", quality=92, exif=block)
    os.utime(folder / "small.jpg", ns=(state.st_atime_ns, state.st_mtime_ns))
    result, _ = dedupe(tmp_path, folder)
    members = {m["path"]: m for m in result["groups"][0]["members"]}
    told = json.loads(decisions.read_text())
    for entry in told["decisions"]:
        entry.update({field: members[entry["path"]][field] for field in ("size", "mtime_ns", "hash")})
        entry["group"] = result["groups"][0]["id"]
    decisions.write_text(json.dumps(told))
    done = apply(tmp_path, decisions, "--merge-metadata", "--go")
    assert done.returncode == 0, done.words
    root = ElementTree.parse(folder / "large.jpg.xmp").getroot()
    assert [item.text for item in root.findall(f".//{DC}creator/{RDF}Seq/{RDF}li")] == ["Ada", "Bea"]
    assert [item.text for item in root.findall(f".//{DC}rights/{RDF}Alt/{RDF}li")] == ["(c) Ada & Bea"]


@pytest.mark.parametrize("make, reason", [
    (lambda path: path.with_suffix(".jpg.pp3").write_text("[Exposure]"), "has develop settings"),
    (lambda path: path.with_suffix(".jpg.json").write_text('{"favorited": true}'), "it is a favorite"),
    (lambda path: path.with_suffix(".jpg.xmp").symlink_to("/dev/null"), "is not a file"),
    (lambda path: os.mkfifo(path.with_suffix(".jpg.xmp")), "is not a file"),
    (lambda path: path.with_suffix(".jpg.xmp").write_text("<x/>"), "is not XMP"),
])
def test_what_cannot_be_written_down_stays(tmp_path, found, make, reason):
    folder, decisions = found
    make(folder / "small.jpg")
    before = snapshot(folder)
    done = apply(tmp_path, decisions, "--merge-metadata", "--go")
    assert done.returncode == 3 and reason in done.words, done.words
    assert snapshot(folder) == before


def test_undo_leaves_the_sidecar_of_what_was_purged(tmp_path, found):
    folder, decisions = found
    apply(tmp_path, decisions, "--merge-metadata", "--go")
    written = (folder / "large.jpg.xmp").read_bytes()
    millrace("dedupe", "purge", tmp_path / "journal.jsonl", "--go")
    done = millrace("dedupe", "undo", tmp_path / "journal.jsonl", "--go")
    assert done.returncode == 3 and b"small.jpg is not restored" in done.stdout + done.stderr
    assert (folder / "large.jpg.xmp").read_bytes() == written
