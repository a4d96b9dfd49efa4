"""What a person with a folder of photographs relies on when they run `millrace dedupe`."""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM, millrace  # noqa: E402

pytest.importorskip("PIL")
from PIL import Image  # noqa: E402
from variants import scene  # noqa: E402


def dedupe(tmp_path, *arguments, catalog="catalog.sqlite", **options):
    out = tmp_path / "result.json"
    done = millrace("dedupe", *arguments, "--catalog", tmp_path / catalog, "--json", out, "-q", **options)
    return json.loads(out.read_text()), done


def names(group):
    return sorted(os.path.basename(m["path"]) for m in group["members"])


def groups(result, *kinds):
    return sorted(names(g) for g in result["groups"] if g["kind"] in (kinds or ("identical", "same pixels", "similar")))


def kept(group):
    return sorted(os.path.basename(m["path"]) for m in group["members"] if m["keep"])


def exif(taken=None, subsecond=None, camera="Example One", orientation=None):
    block = Image.Exif()
    if camera:
        block[0x010F], block[0x0110] = camera.split()
    if orientation:
        block[0x0112] = orientation
    if taken:
        block.get_ifd(0x8769)[0x9003] = taken
    if subsecond:
        block.get_ifd(0x8769)[0x9291] = subsecond
    return block


@pytest.fixture
def folder(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    return pictures


def test_copies_versions_and_strangers(tmp_path, folder):
    for index in range(3):
        image = scene(900, 600, 40 + index)
        image.save(folder / f"p{index}.png")
        image.save(folder / f"p{index}.jpg", quality=88)
        image.resize((450, 300), Image.LANCZOS).save(folder / f"p{index}_small.webp", quality=80)
    shutil.copy(folder / "p0.jpg", folder / "p0 again.jpg")
    shutil.copy(folder / "p0.jpg", folder / "elsewhere.jpg")
    scene(500, 500, 99).save(folder / "alone.png")
    shutil.copy(folder / "alone.png", folder / "alone2.png")
    result, done = dedupe(tmp_path, folder)
    assert done.returncode == 0
    assert groups(result, "similar") == [
        ["elsewhere.jpg", "p0 again.jpg", "p0.jpg", "p0.png", "p0_small.webp"],
        ["p1.jpg", "p1.png", "p1_small.webp"],
        ["p2.jpg", "p2.png", "p2_small.webp"],
    ]
    assert groups(result, "identical") == [["alone.png", "alone2.png"]]
    for group in result["groups"]:
        assert len(kept(group)) == 1
        assert all(m["why"] for m in group["members"])
        for pair in group["pairs"]:
            assert set(pair["distances"]) == {"dhash", "ahash", "dhash_vertical", "phash"}
    first = next(g for g in result["groups"] if "p0.png" in names(g))
    assert kept(first) == ["p0.png"]
    freed = sum(m["bytes"] for g in result["groups"] for m in g["members"] if not m["keep"])
    assert result["totals"]["reclaimable_bytes"] == freed


def test_the_same_bytes_out_for_any_order_threads_and_level(tmp_path, folder):
    for index in range(6):
        image = scene(400, 300, index // 2)
        image.save(folder / f"f{index}.jpg", quality=60 + 5 * index)
    shutil.copy(folder / "f1.jpg", folder / "z.jpg")
    expected = None
    for number, (threads, level) in enumerate([(1, ""), (2, ""), (7, ""), (2, "baseline"), (2, "avx2")]):
        result = tmp_path / f"out{number}.json"
        env = {"MILLRACE_CPU": level} if level else {}
        done = millrace("dedupe", folder, "--catalog", tmp_path / f"c{number}.sqlite", "--json", result, "-q",
                        "--threads", str(threads), env=env, check=False)
        if done.returncode == 4:
            continue  # this machine has no such level
        assert done.returncode == 0, done.stderr
        expected = expected or result.read_bytes()
        assert result.read_bytes() == expected
    other, _ = dedupe(tmp_path, folder / "z.jpg", folder / "f3.jpg", folder, catalog="c9.sqlite")
    assert json.loads(expected)["groups"] == other["groups"]


def test_a_second_run_decodes_only_what_changed(tmp_path, folder):
    for index in range(5):
        scene(300, 200, index).save(folder / f"{index}.jpg")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 not a picture")
    arguments = ["dedupe", folder, "--catalog", tmp_path / "c.sqlite", "--progress", "none"]
    assert b"6 decoded, 0 unchanged" in millrace(*arguments).stderr
    again = millrace(*arguments)
    assert b"0 decoded, 6 unchanged" in again.stderr
    assert again.returncode == 3 and b"broken.jpg" in again.stderr  # remembered, not tried again
    scene(300, 200, 77).save(folder / "2.jpg")
    assert b"1 decoded, 5 unchanged" in millrace(*arguments).stderr
    # A drive that is not plugged in is not forgotten: the folder moves away, another run happens, it comes back.
    folder.rename(tmp_path / "unplugged")
    other = tmp_path / "other"
    other.mkdir()
    millrace("dedupe", other, "--catalog", tmp_path / "c.sqlite", "-q")
    (tmp_path / "unplugged").rename(folder)
    assert b"0 decoded, 6 unchanged" in millrace(*arguments).stderr
    # The same bytes under other names, or with another time, are known.
    moved = tmp_path / "moved"
    folder.rename(moved)
    os.utime(moved / "3.jpg", (1, 1))
    arguments[1] = moved
    assert b"0 decoded" in millrace(*arguments).stderr


@pytest.mark.parametrize("options", [[], ["--match", "dhash<=10"], ["--no-verify"]])
def test_what_came_when_does_not_show(tmp_path, folder, options):
    """Folders searched one after another, in parts, and again: the same bytes as all at once with nothing known."""
    for index in range(4):
        image = scene(640, 480, 60 + index)
        part = folder / f"part{index % 2}"
        other = folder / f"part{1 - index % 2}"
        part.mkdir(exist_ok=True)
        other.mkdir(exist_ok=True)
        image.save(part / f"s{index}.png")
        image.save(other / f"s{index}.jpg", quality=70)
        image.transpose(Image.Transpose.ROTATE_90).save(part / f"s{index} turned.jpg", quality=90)
        image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(other / f"s{index} mirrored.jpg", quality=85)
        image.crop((20, 15, 620, 465)).save(other / f"s{index} cropped.jpg", quality=90)
    once, _ = dedupe(tmp_path, folder, *options, catalog="once.sqlite")
    assert groups(once), "there is something to find"
    first, _ = dedupe(tmp_path, folder / "part0", *options)
    second, _ = dedupe(tmp_path, folder / "part1", *options)
    assert not any("part0" in m["path"] for g in second["groups"] for m in g["members"])
    for _ in range(2):
        together, _ = dedupe(tmp_path, folder, *options)
        assert together == once
    again, _ = dedupe(tmp_path, folder / "part0", *options)
    assert again == first


def test_the_limit_of_pixels_is_this_runs(tmp_path, folder):
    """What an earlier run with another limit left in the catalogue does not show."""
    image = scene(640, 480, 80)
    image.save(folder / "large.png")
    image.transpose(Image.Transpose.ROTATE_90).save(folder / "turned.jpg", exif=exif(camera=None, orientation=6))
    image.resize((320, 240)).save(folder / "small.png")
    image.resize((300, 225)).save(folder / "smaller.jpg", quality=90)
    shutil.copy(folder / "turned.jpg", folder / "turned again.jpg")
    low = ["--max-pixels", "100000"]
    expected, done = dedupe(tmp_path, folder, *low, catalog="low.sqlite")
    assert done.returncode == 3 and groups(expected) == [["small.png", "smaller.jpg"]]
    assert [u["reason"] for u in expected["unreadable"]].count("too large (480 x 640 pixels; the limit is 100,000 pixels)") == 2
    everything, _ = dedupe(tmp_path, folder, catalog="high.sqlite")
    assert len(groups(everything)[0]) == 5
    assert dedupe(tmp_path, folder, catalog="low.sqlite")[0] == everything
    assert dedupe(tmp_path, folder, *low, catalog="high.sqlite")[0] == expected
    # A copy under another name, of a content that is known.
    for name in ("high.sqlite", "new.sqlite"):
        shutil.copy(folder / "large.png", tmp_path / "moved.png")
        result, _ = dedupe(tmp_path, tmp_path / "moved.png", *low, catalog=name)
        assert len(result["unreadable"]) == 1
    again = millrace("dedupe", folder, "--catalog", tmp_path / "high.sqlite")
    assert b"0 decoded, 5 unchanged" in again.stderr, "what the larger limit taught stays"


def test_told_apart_though_they_look_the_same(tmp_path, folder):
    """Only their EXIF differs: one look, two contents. What a person decided holds all the same."""
    image = scene(640, 480, 70)
    image.save(folder / "a.jpg", quality=90, exif=exif("2024:05:01 12:30:10"))
    image.save(folder / "b.jpg", quality=90, exif=exif("2024:05:02 12:30:10"))
    result, _ = dedupe(tmp_path, folder)
    assert groups(result, "same pixels") == [["a.jpg", "b.jpg"]]
    with contextlib.closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
        contents = sorted(content for (content,) in catalog.execute("SELECT content FROM files"))
        catalog.execute("INSERT INTO not_duplicates VALUES (?, ?)", contents)
        catalog.commit()
    result, _ = dedupe(tmp_path, folder)
    assert groups(result) == []
    image.save(folder / "c.jpg", quality=90, exif=exif("2024:05:03 12:30:10"))
    result, _ = dedupe(tmp_path, folder)
    assert len(groups(result)) == 1 and len(groups(result)[0]) == 2, "the third goes with one of them"


def test_reference_folders_are_never_marked(tmp_path, folder):
    archive = tmp_path / "archive"
    archive.mkdir()
    image = scene(600, 400, 3)
    image.save(archive / "small.jpg", quality=60)
    image.save(folder / "large.png")
    other = scene(300, 300, 4)
    other.save(archive / "a.png")
    other.save(archive / "b.jpg", quality=90)
    result, _ = dedupe(tmp_path, folder, "--reference", archive)
    assert groups(result) == [["large.png", "small.jpg"]]  # a group wholly inside references is not shown
    assert kept(result["groups"][0]) == ["small.jpg"]
    removed = next(m for m in result["groups"][0]["members"] if not m["keep"])
    assert "reference" in removed["why"]


def test_damaged_pictures_are_shown_and_nothing_goes_for_them(tmp_path, folder):
    image = scene(800, 600, 8)
    image.save(folder / "whole.jpg", quality=80)
    image.resize((1200, 900)).save(folder / "large.jpg", quality=95)
    data = (folder / "large.jpg").read_bytes()
    (folder / "large.jpg").write_bytes(data[: len(data) * 93 // 100])
    result, _ = dedupe(tmp_path, folder)
    shown = [g for g in result["groups"] + result["related"] if len(g["members"]) == 2]
    assert shown and all(kept(g) == ["large.jpg", "whole.jpg"] for g in shown)
    assert next(m for m in shown[0]["members"] if m["damaged"])["path"].endswith("large.jpg")


def test_orientation_is_applied_once_and_turned_copies_are_found_unless_told_not_to(tmp_path, folder):
    image = scene(640, 480, 12)
    image.save(folder / "upright.jpg", quality=92)
    image.transpose(Image.ROTATE_90).save(folder / "tagged.jpg", quality=92, exif=exif(camera=None, orientation=6))
    result, _ = dedupe(tmp_path, folder)
    assert groups(result) == [["tagged.jpg", "upright.jpg"]]
    image.transpose(Image.ROTATE_180).save(folder / "turned.jpg", quality=92)
    image.transpose(Image.FLIP_LEFT_RIGHT).save(folder / "mirrored.png")
    result, _ = dedupe(tmp_path, folder, "--no-orientations")
    assert groups(result) == [["tagged.jpg", "upright.jpg"]]
    result, _ = dedupe(tmp_path, folder)
    assert groups(result) == [["mirrored.png", "tagged.jpg", "turned.jpg", "upright.jpg"]]


def test_tight_groups_without_a_look_hold_the_rule_in_every_pair(tmp_path, folder):
    """Each step from one picture to another is within the rule, the ends are not."""
    first, last = scene(640, 480, 110), scene(640, 480, 111)
    for step in range(13):
        Image.blend(first, last, step / 12).save(folder / f"{step:02}.png")
    first.transpose(Image.Transpose.ROTATE_90).save(folder / "turned.png")
    rule = ["--no-verify", "--match", "dhash<=8"]
    chain, _ = dedupe(tmp_path, folder, "--group", "connected", *rule)
    assert any({"00.png", "12.png"} <= set(g) for g in groups(chain))
    result, _ = dedupe(tmp_path, folder, *rule)
    assert len(groups(result)) > 1
    for group in result["groups"]:
        members = [os.path.basename(m["path"]) for m in group["members"]]
        for pair in group["pairs"]:
            assert pair["distances"]["dhash"] <= 8
        assert "turned.png" not in members, "the rule is of pictures as they stand"


def test_bursts_stay_apart(tmp_path, folder):
    base = scene(800, 600, 21)
    for index, (second, fraction) in enumerate([("10", "0"), ("10", "3"), ("11", "1"), ("11", "95")]):
        shifted = base.crop((index, index, 780 + index, 580 + index))
        shifted.save(folder / f"burst{index}.jpg", quality=90, exif=exif(f"2024:05:01 12:30:{second}", fraction))
    base.crop((0, 0, 780, 580)).resize((390, 290)).save(folder / "resized.jpg", exif=exif("2024:05:01 12:30:10"))
    result, _ = dedupe(tmp_path, folder)
    bursts = [g for g in result["groups"] if g["kind"] == "burst"]
    assert len(bursts) == 1 and all(m["keep"] for m in bursts[0]["members"])
    for group in groups(result):
        assert len([n for n in group if n.startswith("burst")]) <= 1
    joined, _ = dedupe(tmp_path, folder, "--bursts", "join")
    frames = [[m for m in g["members"] if os.path.basename(m["path"]).startswith("burst")] for g in joined["groups"]]
    assert any(len(of_group) == 4 for of_group in frames)
    assert all(m["keep"] for of_group in frames for m in of_group)


def test_sidecars_and_film_belong_to_their_picture(tmp_path, folder):
    image = scene(640, 480, 30)
    image.save(folder / "IMG_1.JPG", quality=90)
    (folder / "IMG_1.xmp").write_text("<x/>")
    (folder / "IMG_1.MOV").write_bytes(b"film")
    image.save(folder / "copy.jpg", quality=80)
    result, _ = dedupe(tmp_path, folder)
    assert groups(result) == [["IMG_1.JPG", "copy.jpg"]]
    member = next(m for m in result["groups"][0]["members"] if m["path"].endswith("IMG_1.JPG"))
    assert sorted(os.path.basename(c["path"]) for c in member["companions"]) == ["IMG_1.MOV", "IMG_1.xmp"]


def test_hard_links_are_one_file(tmp_path, folder):
    scene(300, 300, 31).save(folder / "a.png")
    os.link(folder / "a.png", folder / "b.png")
    result, _ = dedupe(tmp_path, folder)
    assert result["groups"] == [] and result["totals"]["files"] == 1


def test_names_that_are_not_utf8(tmp_path, folder):
    scene(300, 300, 32).save(folder / "a.png")
    odd = os.fsencode(folder) + b"/caf\xe9.png"
    shutil.copy(folder / "a.png", odd)
    result, _ = dedupe(tmp_path, folder)
    member = next(m for m in result["groups"][0]["members"] if "path_base64" in m)
    import base64

    assert base64.b64decode(member["path_base64"]) == odd


def test_blank_pictures_do_not_explode(tmp_path, folder):
    for index in range(300):
        # Blank, all of different bytes.
        Image.new("RGB", (64, 64), (255, 255, 255)).save(folder / f"{index}.jpg", comment=f"{index}".encode())
    result, _ = dedupe(tmp_path, folder)
    assert len(result["groups"]) == 1 and len(result["groups"][0]["members"]) == 300


def test_recoloured_is_not_the_same(tmp_path, folder):
    image = scene(600, 400, 50)
    image.save(folder / "design.png")
    red, green, blue = image.split()
    Image.merge("RGB", (blue, red, green)).save(folder / "recoloured.png")
    result, _ = dedupe(tmp_path, folder, "--match", "dhash<=24,ahash<=24")
    assert groups(result) == []


def test_search_changes_nothing_on_disk(tmp_path, folder):
    for index in range(3):
        scene(200, 200, 5).save(folder / f"{index}.png")
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()}
    dedupe(tmp_path, folder)
    assert {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()} == before


def test_wrong_input_is_named(tmp_path, folder):
    done = millrace("dedupe", tmp_path / "nowhere", check=False)
    assert done.returncode == 2 and b"nowhere" in done.stderr
    done = millrace("dedupe", folder, "--match", "dhsh<=5", check=False)
    assert done.returncode == 2 and b"dhash<=5,ahash<=5" in done.stderr
    done = millrace("dedupe", folder, "--device", "cuda", check=False)
    assert done.returncode in (0, 4) and (done.returncode == 0 or b"doctor" in done.stderr)
    (tmp_path / "notes.txt").write_text("hello")
    done = millrace("dedupe", folder, "--catalog", tmp_path / "notes.txt", check=False)
    assert done.returncode == 1 and b"notes.txt" in done.stderr
    assert (tmp_path / "notes.txt").read_text() == "hello"
    done = millrace("dedupe", folder, "--catalog", ":memory:", check=False, cwd=tmp_path)
    assert done.returncode == 2 and b"mktemp" in done.stderr and not (tmp_path / ":memory:").exists()


@pytest.mark.parametrize("kind", ["whash", "colorhash", "pdq"])
def test_a_hash_that_the_catalogue_does_not_keep_is_no_rule(folder, kind):
    done = millrace("dedupe", folder, "--match", f"phash<=8|dhash<=5,{kind}<=9", check=False)
    words = done.stderr.decode()
    assert done.returncode == 2
    assert f"'{kind}<=9' is not a valid term" in words and f"--kinds {kind}" in words
    assert "dhash, ahash, dhash_vertical and phash" in words
    assert f"millrace hash --kinds {kind} computes {kind}" in words


def test_settings_come_from_file_environment_and_flag(tmp_path, folder):
    config = tmp_path / "config.yaml"
    config.write_text("match: dhash<=3\ngroup: connected\n")
    done = millrace("dedupe", folder, "--config", config, "--group", "tight", "--print-config", env={"MILLRACE_THREADS": "1"})
    lines = done.stdout.decode().splitlines()
    assert any(line.startswith("match: dhash<=3") and line.endswith("# file") for line in lines)
    assert any(line.startswith("group: tight") and line.endswith("# flag") for line in lines)
    assert any(line.startswith("threads: 1") and line.endswith("# environment") for line in lines)
    assert any(line.startswith("verify: true") and line.endswith("# default") for line in lines)


def test_plan_stops_before_the_work(tmp_path, folder):
    scene(200, 200, 1).save(folder / "a.png")
    done = millrace("dedupe", folder, "--catalog", tmp_path / "c.sqlite", "--plan")
    assert b"1, of which 1" in done.stdout
    assert b"1 decoded" in millrace("dedupe", folder, "--catalog", tmp_path / "c.sqlite").stderr


def test_trace_opens(tmp_path, folder):
    scene(200, 200, 1).save(folder / "a.png")
    millrace("dedupe", folder, "--catalog", tmp_path / "c.sqlite", "--trace", tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert any(e.get("name") == "read and decode" and e["ph"] == "X" for e in events)


def test_a_full_disk_leaves_no_half_result(tmp_path, folder):
    for index in range(4):
        scene(300, 200, index % 2).save(folder / f"{index}.png")
    out = tmp_path / "result.json"
    old = '{\n "millrace": "dedupe",\n "groups": []\n}\n'
    out.write_text(old)
    script = f'ulimit -f 1; exec "{PROGRAM}" dedupe "{folder}" --catalog "{tmp_path}/c.sqlite" --json "{out}" --report "{tmp_path}/r.html" -q'
    done = subprocess.run(["bash", "-c", script], capture_output=True)
    assert done.returncode not in (0, 3)
    assert out.read_text() == old and not (tmp_path / "r.html").exists()
    result, done = dedupe(tmp_path, folder)
    assert done.returncode == 0 and len(result["groups"]) == 2


@pytest.mark.parametrize("options", [[], ["--no-verify"]])
def test_a_picture_without_a_thumbnail_is_remembered_too(tmp_path, folder, options):
    for index in range(2):
        scene(640, 480, 90 + index).save(folder / f"{index}.png")
        scene(640, 480, 90 + index).resize((320, 240)).save(folder / f"{index}.jpg", quality=90)
    dedupe(tmp_path, folder, "--no-parts", "--no-orientations")
    with contextlib.closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
        catalog.execute("DELETE FROM thumbnails WHERE look = (SELECT min(look) FROM thumbnails)")
        catalog.commit()
    result, _ = dedupe(tmp_path, folder, *options)
    # What was found of it stays found; of its parts nothing can be told.
    assert len(groups(result)) == 2
    again, _ = dedupe(tmp_path, folder, *options, "--trace", tmp_path / "trace.json")
    assert again == result
    if not options:
        stages = {e.get("name") for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
        assert "read catalog" in stages and not stages & {"hash crops", "find crops", "find candidates"}, "nothing is new"
