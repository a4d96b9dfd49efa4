"""What `dedupe` suggests to remove, and what it never does: the close look, times, the keep rule."""

import json
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402

pytest.importorskip("PIL")
from PIL import Image, ImageDraw, ImageFont  # noqa: E402
from variants import scene  # noqa: E402

STARS = (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
         b'<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="5"/></rdf:RDF></x:xmpmeta>')
SUGGEST = ("identical", "same pixels", "similar")
TABLES = [[min(255, 3 + k // 3) for k in range(64)], [min(255, 4 + k // 2) for k in range(64)]]  # not libjpeg's


def search(tmp_path, folder, *options):
    out = tmp_path / "found.json"
    out.unlink(missing_ok=True)
    millrace("dedupe", folder, "--catalog", tmp_path / "catalog.sqlite", "--json", out, "-q", *options)
    return json.loads(out.read_text())


def name(member):
    return os.path.basename(member["path"])


def removed(result):
    return sorted(name(m) for g in result["groups"] for m in g["members"] if not m["keep"])


def kinds_of(result, *names):
    """The kinds of groups that hold all of these."""
    groups = result["groups"] + result["related"]
    return {g["kind"] for g in groups if set(names) <= {name(m) for m in g["members"]}}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "pictures"
    made.mkdir()
    return made


def camera(time="2024:05:01 12:30:10", **more):
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "Example", "One"
    inner = exif.get_ifd(0x8769)
    inner[0x9003] = time
    inner[0x927C] = b"notes of the camera"
    for tag, value in more.items():
        inner[int(tag[1:], 16)] = value
    return exif


def page(digit, size=(1240, 1754)):
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(17)
    for row in range(60):
        draw.text((90, 90 + 26 * row), f"{row:02} quantity {row * 7 % 13} at {row * 31 % 97}.50 each, as agreed", "black", font)
    draw.text((900, 90 + 26 * 33), f"sum 48{digit}1.20", "black", font)
    return image


def test_one_digit_of_a_page_keeps_both(tmp_path, folder):
    page(3).save(folder / "three.png")
    page(8).save(folder / "eight.jpg", quality=90)
    page(3).save(folder / "three copy.jpg", quality=80)
    # In a frame, which is no content, the digit counts all the same.
    framed = Image.new("RGB", (1400, 1914), "black")
    framed.paste(page(5), (80, 80))
    framed.save(folder / "five.png")
    result = search(tmp_path, folder)
    gone = set(removed(result))
    assert gone <= {"three.png", "three copy.jpg"} and len(gone) == 1
    assert "altered" in kinds_of(result, "eight.jpg")
    (place,) = {tuple(m["place"]) for g in result["groups"] for m in g["members"] if name(m) == "eight.jpg" and "place" in m}
    assert place[0] < 0.76 < place[2] + 0.03 and place[1] < 0.546 < place[3]


def test_a_mark_is_never_suggested_and_its_place_is_told(tmp_path, folder):
    original = scene(900, 700, 5)
    original.save(folder / "original.png")
    original.save(folder / "copy.jpg", quality=60)
    marked = original.copy()
    ImageDraw.Draw(marked).ellipse((450, 350, 468, 368), fill=(255, 0, 0))
    marked.save(folder / "marked.jpg", quality=85)
    result = search(tmp_path, folder)
    assert removed(result) in (["copy.jpg"], ["original.png"])
    assert "altered" in kinds_of(result, "marked.jpg")
    places = [m["place"] for g in result["groups"] for m in g["members"] if name(m) == "marked.jpg" and "place" in m]
    assert places and all(p[0] < 0.51 < p[2] and p[1] < 0.515 < p[3] for p in places)


def test_a_whole_never_goes_for_its_part(tmp_path, folder):
    whole = scene(900, 700, 6)
    whole.save(folder / "a longer name of the whole.png")
    whole.crop((0, 0, 840, 660)).save(folder / "part.png")
    for keep in ("pixels", "shortest", "bytes"):
        assert "a longer name of the whole.png" not in removed(search(tmp_path, folder, "--keep", keep)), keep


@pytest.mark.parametrize("options", [["--look", "thumbnail"], ["--no-verify"]])
def test_without_the_close_look_only_equal_files_are_suggested(tmp_path, folder, options):
    original = scene(640, 480, 7)
    original.save(folder / "a.png")
    original.save(folder / "b.jpg", quality=80)
    (folder / "c.jpg").write_bytes((folder / "b.jpg").read_bytes())
    assert len(removed(search(tmp_path, folder, *options))) == 1
    assert removed(search(tmp_path, folder, *options))[0] in ("b.jpg", "c.jpg")
    assert len(removed(search(tmp_path, folder))) == 2


def test_looks_are_kept_and_threads_and_memory_change_nothing(tmp_path, folder):
    for seed in (8, 9):
        image = scene(700, 500, seed)
        image.save(folder / f"{seed}.png")
        image.resize((350, 250)).save(folder / f"{seed} small.jpg")
        marked = image.copy()
        ImageDraw.Draw(marked).rectangle((100, 100, 130, 130), fill="white")
        marked.save(folder / f"{seed} marked.jpg")
    told = {}
    for number, options in enumerate((["--threads", "1"], ["--threads", "4"], ["--memory", "400M"])):
        work = tmp_path / str(number)
        work.mkdir(mode=0o700)
        told[number] = search(work, folder, *options)
        assert search(work, folder) == told[number]
        again = millrace("dedupe", folder, "--catalog", work / "catalog.sqlite")
        assert b"pairs compared" not in again.stdout + again.stderr or b" 0 checked in detail" in again.stdout + again.stderr
    assert told[0] == told[1] == told[2]


def test_other_presses_of_the_shutter(tmp_path, folder):
    image = scene(800, 600, 10)
    image.save(folder / "one.jpg", quality=90, exif=camera("2024:05:01 12:30:10"))
    image.crop((1, 0, 800, 600)).save(folder / "two.jpg", quality=90, exif=camera("2024:05:01 12:30:12"))
    assert removed(search(tmp_path, folder)) == []
    assert "series" in kinds_of(search(tmp_path, folder), "one.jpg", "two.jpg")
    # The same pixels with another date are one picture whose date was rewritten.
    image.save(folder / "three.jpg", quality=90, exif=camera("2024:06:09 08:00:00"))
    assert len(removed(search(tmp_path, folder))) == 1


def test_the_cameras_own_file_stays(tmp_path, folder):
    """What the trial lost: the original in favour of its upscaled, converted, saved again, framed or edited copy."""
    image = scene(1200, 800, 11)
    sides = {"xA002": 1200, "xA003": 800}
    derived = {
        "upscaled.jpg": lambda p: image.resize((2400, 1600), Image.BICUBIC).save(p, quality=95, exif=camera(**sides)),
        "converted.png": lambda p: image.save(p),
        "saved again.jpg": lambda p: image.save(p, quality=100, exif=camera(**sides)),
        "bare.jpg": lambda p: image.save(p, quality=98),
        "original-edited.jpg": lambda p: image.save(p, quality=98, exif=camera(**sides)),
    }
    for number, (other, save) in enumerate(derived.items()):
        one = folder / str(number)
        one.mkdir()
        image.save(one / "original.jpg", qtables=TABLES, exif=camera(**sides))
        save(one / other)
        result = search(tmp_path, one)
        assert removed(result) == [other], (other, result["groups"])


def test_a_warning_where_the_one_to_keep_is_worse(tmp_path, folder):
    image = scene(1200, 800, 13)
    sides = {"xA002": 1200, "xA003": 800}
    image.save(folder / "camera.jpg", qtables=TABLES, exif=camera(**sides))
    image.save(folder / "tagged.jpg", quality=90, xmp=STARS)
    members = {name(m): m for g in search(tmp_path, folder)["groups"] for m in g["members"]}
    assert members["camera.jpg"]["keep"] and not members["tagged.jpg"]["keep"]
    assert members["camera.jpg"]["warning"] == "tagged.jpg has more stars, keywords, names or places"
    assert "warning" not in members["tagged.jpg"]


def test_more_detail_never_goes(tmp_path, folder):
    """Whatever the rule prefers: the camera's own small file, a thumbnail in a reference folder."""
    image = scene(1600, 1200, 14)
    sides = {"xA002": 400, "xA003": 300}
    image.resize((400, 300)).save(folder / "camera.jpg", qtables=TABLES, exif=camera(**sides))
    image.save(folder / "large.jpg", quality=95)
    assert removed(search(tmp_path, folder)) == []
    (folder / "camera.jpg").unlink()
    reference = tmp_path / "reference"
    reference.mkdir()
    image.resize((400, 300)).save(reference / "tiny.jpg", quality=60)
    assert removed(search(tmp_path, folder, "--reference", reference)) == []


def test_what_people_gave_counts(tmp_path, folder):
    image = scene(800, 600, 12)
    words = STARS
    image.save(folder / "tagged.jpg", quality=90, xmp=words)
    image.save(folder / "aaa plain.jpg", quality=95)
    assert removed(search(tmp_path, folder)) == ["aaa plain.jpg"]
    beside = folder / "beside"
    beside.mkdir()
    image.save(beside / "zz.jpg", quality=90)
    image.save(beside / "a.jpg", quality=90)
    (beside / "zz.xmp").write_bytes(words)
    assert removed(search(tmp_path, beside)) == ["a.jpg"], "its sidecar would have gone along"


def test_detail_before_pixels(tmp_path, folder):
    """An enlarged copy has more pixels and shows no more, and nothing in the files tells."""
    for seed, (side, way) in enumerate([(2, Image.BICUBIC), (1.5, Image.LANCZOS), (1.4, Image.BILINEAR)]):
        one = folder / str(seed)
        one.mkdir()
        image = scene(800, 600, 20 + seed)
        image.save(one / "original.jpg", quality=90)
        image.resize((int(800 * side), int(600 * side)), way).save(one / "enlarged.jpg", quality=95)
        image.resize((400, 300), Image.LANCZOS).save(one / "small.jpg", quality=90)
        result = search(tmp_path, one)
        assert removed(result) == ["enlarged.jpg", "small.jpg"], result["groups"]
        why = {name(m): m["why"] for g in result["groups"] for m in g["members"]}
        assert why["enlarged.jpg"] == "an enlargement of original.jpg"


def test_what_nobody_looks_at_is_not_taken_for_the_same(tmp_path, folder):
    """Alpha, further frames and pages."""
    image, other, third = (scene(800, 600, seed) for seed in (30, 31, 32))
    for number, words in enumerate(["the garden was green", "some other text about"]):
        text = Image.new("L", (900, 700), 0)
        font = ImageFont.load_default(60)
        ImageDraw.Draw(text).text((60, 300), words, fill=255, font=font)
        hidden = Image.new("RGBA", (900, 700), (0, 0, 0, 0))
        hidden.putalpha(text)
        hidden.save(folder / f"text {number}.png")
        cut = image.convert("RGBA")
        cut.putalpha(text.resize((800, 600)))
        cut.save(folder / f"cut {number}.png")
    image.save(folder / "whole.png")
    image.save(folder / "pages 1.tif", save_all=True, append_images=[other])
    image.save(folder / "pages 2.tif", save_all=True, append_images=[third, other])
    image.save(folder / "frames 1.gif", save_all=True, append_images=[other], duration=100)
    image.save(folder / "frames 2.gif", save_all=True, append_images=[third, other], duration=100)
    image.save(folder / "frames 1.webp", save_all=True, append_images=[other], lossless=True, duration=100)
    image.save(folder / "frames 2.webp", save_all=True, append_images=[third, other], lossless=True, duration=100)
    image.save(folder / "frames 1.png", save_all=True, append_images=[other], duration=100)
    assert removed(search(tmp_path, folder)) == ["whole.png"], "the first of the pages 1"
    # Alpha that is opaque everywhere hides nothing, and equal bytes are equal.
    image.convert("RGBA").save(folder / "opaque.png")
    (folder / "frames 3.gif").write_bytes((folder / "frames 1.gif").read_bytes())
    assert len(removed(search(tmp_path, folder))) == 3


def test_recordings_have_copies_or_stay(tmp_path, folder):
    """A film of other bytes, a voice, a RAW that no program here can decode."""
    raw = b"II*\0\x10\0\0\0CR\2\0" + bytes(200)
    for seed, (kind, one, other) in enumerate([("mov", b"film", b"FILM"), ("wav", b"voice", b"VOICE"), ("cr2", raw, raw + b"1"),
                                               ("cr2", None, raw), ("mov", b"film", b"film")]):
        for side, (quality, data) in enumerate([(95, one), (70, other)]):
            place = folder / f"{seed}{side}"
            place.mkdir()
            scene(800, 600, 40 + seed).save(place / "IMG_1.jpg", quality=quality)
            if data is not None:
                (place / f"IMG_1.{kind}").write_bytes(data)
    result = search(tmp_path, folder)
    gone = [os.path.basename(os.path.dirname(m["path"])) for g in result["groups"] for m in g["members"] if not m["keep"]]
    assert sorted(gone) == ["30", "41"], "only what has no recording, or where each has a copy"
    # A decision that says otherwise, and that nobody chose, moves none of them.
    entries = [{"group": g["id"], "action": "keep" if at == 0 else "remove",
                **{key: m[key] for key in ("path", "size", "mtime_ns", "hash")}}
               for g in result["groups"] for at, m in enumerate(g["members"])]
    decisions = tmp_path / "decisions.json"
    decisions.write_text(json.dumps({"millrace_decisions": 1, "decisions": entries}))
    done = millrace("dedupe", "apply", decisions, "--action", "delete", "--go", "--catalog", tmp_path / "catalog.sqlite",
                    "--journal", tmp_path / "journal.jsonl", "--json", tmp_path / "done.json")
    assert done.returncode == 3
    assert sorted(p.parent.name for p in folder.glob("*/IMG_1.*")) == sorted(
        ["00", "00", "01", "01", "10", "10", "11", "11", "20", "20", "21", "21", "31", "31", "40", "40"])
