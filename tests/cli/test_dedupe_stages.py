"""dedupe --stage: pictures read, compared, and looked at closely, by runs that share them; and taken into a search with --from."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM, content_of, millrace  # noqa: E402

pytest.importorskip("PIL")
from variants import scene  # noqa: E402


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    top = tmp_path_factory.mktemp("stages") / "photos"
    (top / "in").mkdir(parents=True)
    for i in range(7):
        image = scene(480, 360, 70 + i)
        image.save(top / f"{i}.png")
        image.save(top / "in" / f"{i}.jpg", quality=82)
        if i < 4:
            image.crop((20, 15, 470, 350)).save(top / "in" / f"{i} cropped.jpg", quality=90)
        if i % 3 == 0:
            image.rotate(90, expand=True).save(top / f"{i} turned.png")
    shutil.copy(top / "1.png", top / "copy of 1.png")
    scene(300, 300, 99).save(top / "alone.png")
    (top / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    (top / "copy of broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    (top / "words.txt").write_text("no picture")
    os.rename(top / "2.png", os.fsencode(top) + b"/caf\xe9.png")
    return top


def search(photos, out, *more, check=True):
    """The result of a search with a new catalogue, and what it says."""
    done = millrace("dedupe", photos, "--catalog", f"{out}.sqlite", "--json", f"{out}.json", "--csv", f"{out}.csv", "--progress",
                    "none", *more, check=False)
    assert not check or done.returncode == 3, done.stderr
    return (pathlib.Path(f"{out}.json").read_bytes(), pathlib.Path(f"{out}.csv").read_bytes()) if check else None, done.stderr.decode()


def compared(said):
    """Of what a search says, how many pairs it has compared by their thumbnails."""
    found = re.search(r"([\d,]+) pairs compared by their thumbnails", said)
    return int(found[1].replace(",", "")) if found else 0


def stage(kind, photos, out, *more, **options):
    return millrace("dedupe", photos, "--stage", kind, "-o", out, "--shard", "3", "--progress", "none", *more, check=False, **options)


@pytest.fixture(scope="module")
def whole(photos, tmp_path_factory):
    """What a search finds, and what stages make that one run does."""
    top = tmp_path_factory.mktemp("whole")
    result, _ = search(photos, top / "one")
    assert stage("read", photos, top / "read").returncode == 3, "one cannot be used"
    for kind in ("compare", "look"):
        made = stage(kind, photos, top / kind, "--from", top / "read", "--catalog", top / f"{kind}.sqlite")
        assert made.returncode == 0, made.stderr
    return top, result


def test_stages_find_what_one_run_finds_and_nothing_is_done_twice(photos, whole, tmp_path):
    top, result = whole
    kinds = [group["kind"] for group in json.loads(result[0])["groups"]]
    assert kinds.count("similar") >= 6, kinds
    again, said = search(photos, tmp_path / "r", "--from", top / "read", "--from", top / "look")
    assert again == result
    assert "0 decoded" in said and " 0 looked at closely" in said, said
    everything = [word for kind in ("look", "compare", "read") for word in ("--from", top / kind)]
    again, said = search(photos, tmp_path / "q", *everything)
    # What a grouping asks for on top is its own.
    assert again == result and compared(said) <= 2 < 5 < compared(search(photos, tmp_path / "p")[1]), said
    # Nor for looks.
    stage("look", photos, tmp_path / "look", "--from", top / "read", "--from", top / "compare", "--catalog", tmp_path / "l.sqlite")
    assert content_of(tmp_path / "look") == content_of(top / "look")
    # Without the looks they are made, and nothing is decoded for a catalogue.
    again, said = search(photos, tmp_path / "s", "--from", top / "read")
    assert again == result and "0 decoded" in said and " 0 looked at closely" not in said, said
    # What was taken over is known from then on.
    again, said = search(photos, tmp_path / "r")
    assert again == result and "0 decoded" in said and "closely" not in said, said


@pytest.mark.parametrize("runs", [2, 5])
@pytest.mark.parametrize("listed", [False, True])
def test_runs_that_share_a_stage_make_the_same(photos, whole, tmp_path, runs, listed):
    top, _ = whole
    where = []
    if listed:
        # By the names that somebody types: they are those of the walk in the end.
        millrace("inventory", "photos", "-o", tmp_path / "list.jsonl", cwd=photos.parent)
        where = ["--inventory", tmp_path / "list.jsonl"]
    for k in range(runs, 0, -1):
        env = {"SLURM_ARRAY_TASK_ID": str(k)}
        done = stage("read", photos, tmp_path / "read", *where, "--part", f"slurm/{runs}", "--threads", str(1 + k % 2), env=env, cwd=photos.parent)
        assert done.returncode in (0, 3), done.stderr
    assert content_of(tmp_path / "read") == content_of(top / "read")
    take = ["--from", tmp_path / "read"]
    for kind in ("compare", "look"):
        for k in range(1, runs + 1):
            done = stage(kind, photos, tmp_path / kind, *where, "--part", f"{k}/{runs}", "--threads", str(1 + k % 2), *take,
                         "--catalog", tmp_path / f"{kind}{k}" / "c.sqlite", cwd=photos.parent)
            assert done.returncode == 0, done.stderr
            assert k > 1 or not (tmp_path / kind).exists()
        assert content_of(tmp_path / kind) == content_of(top / kind)
        take += ["--from", tmp_path / kind]


@pytest.mark.parametrize("kind", ["read", "compare", "look"])
def test_what_is_missing_is_named_and_made(photos, whole, tmp_path, kind):
    top, _ = whole
    more = ["--from", top / "read", "--catalog", tmp_path / "c.sqlite"] if kind != "read" else []
    stage(kind, photos, tmp_path / "o", "--part", "2/3", *more)
    refused = millrace("finish", tmp_path / "o", check=False)
    assert refused.returncode != 0 and b"sbatch --array=1,3" in refused.stderr, refused.stderr
    other = stage(kind, photos, tmp_path / "o", "--part", "1/4", *more)
    assert other.returncode == 2 or b"shared by 3 runs" in other.stderr
    for k in (3, 1):
        stage(kind, photos, tmp_path / "o", "--part", f"{k}/3", *more)
    assert content_of(tmp_path / "o") == content_of(top / kind)
    assert b"nothing to do" in stage(kind, photos, tmp_path / "o", *more).stderr


def test_a_killed_stage_goes_on(photos, whole, tmp_path):
    top, _ = whole
    known = ["--from", top / "read", "--catalog", tmp_path / "c.sqlite"]
    for kind, more in (("read", []), ("compare", known), ("look", known)):
        for wait in (0.05, 0.1, 0.2, 0.3):
            running = subprocess.Popen([PROGRAM, "dedupe", photos, "--stage", kind, "-o", tmp_path / kind, "--shard", "3", "--threads", "1",
                                        "--progress", "none", *more], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            try:
                running.wait(wait)
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGKILL)
                running.wait()
        stage(kind, photos, tmp_path / kind, *more)
        assert content_of(tmp_path / kind) == content_of(top / kind)


def test_other_pictures_or_choices_are_another_output(photos, whole, tmp_path):
    top, _ = whole
    known = ["--from", top / "read", "--catalog", tmp_path / "c.sqlite"]
    for kind, more in (("read", ["--max-pixels", "100"]), ("look", [*known, "--no-parts"]), ("compare", [*known, "--no-parts"]),
                       ("compare", [*known, "--match", "dhash<=3"])):
        done = stage(kind, photos, top / kind, *more)
        assert done.returncode not in (0, 3) and b"made of other things" in done.stderr, done.stderr


def test_a_file_that_changed_since_it_was_listed_is_read_by_the_search(photos, tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(photos, mine)
    millrace("inventory", mine, "-o", tmp_path / "list.jsonl")
    scene(480, 360, 1234).save(mine / "alone.png")
    (mine / "in/5.jpg").unlink()
    stage("read", mine, tmp_path / "read", "--inventory", tmp_path / "list.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "read/read.jsonl").read_text().splitlines()]
    errors = {os.path.basename(line["path"]): line["error"]["reason"] for line in lines if "error" in line}
    assert set(errors) == {"alone.png", "5.jpg"} and "changed since it was listed" in errors["alone.png"]
    taken, said = search(mine, tmp_path / "a", "--from", tmp_path / "read")
    assert "1 decoded" in said and taken == search(mine, tmp_path / "b")[0]


def test_pictures_that_a_line_calls_equal_are_compared(photos, whole, tmp_path):
    """Who writes the lines may say that two pictures are one: neither goes for the other."""
    top, _ = whole
    shutil.copytree(top / "read", tmp_path / "read")
    lines = [json.loads(line) for line in (tmp_path / "read/read.jsonl").read_text().splitlines()]
    alone, other = (next(line for line in lines if line["path"].endswith(name)) for name in ("alone.png", "in/5.jpg"))
    other["content"], other["picture"] = alone["content"], alone["picture"]
    (tmp_path / "read/read.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (result, _), _ = search(photos, tmp_path / "r", "--from", tmp_path / "read")
    result = json.loads(result)
    assert not any(m["path"].endswith("alone.png") for g in result["groups"] for m in g["members"])
    assert any(u["path"].endswith("in/5.jpg") and "its bytes are not" in u["reason"] for u in result["unreadable"]), result["unreadable"]
    # Nor later, when nobody tells of them any more: the file is read again.
    again, _ = search(photos, tmp_path / "r")
    assert again == search(photos, tmp_path / "fresh")[0]


def test_what_a_catalogue_knows_counts_before_what_a_line_says(photos, whole, tmp_path):
    top, result = whole
    search(photos, tmp_path / "r")
    shutil.copytree(top / "read", tmp_path / "read")
    lines = [json.loads(line) for line in (tmp_path / "read/read.jsonl").read_text().splitlines()]
    for line in lines:
        if "picture" in line:
            line["picture"]["codes"] = ["0"] * 6
    (tmp_path / "read/read.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    again, said = search(photos, tmp_path / "r", "--from", tmp_path / "read")
    assert again == result and "0 decoded" in said


def test_what_is_known_of_a_content_stays_whoever_tells_of_it(photos, tmp_path):
    """A file that the catalogue has not seen is said to be one that it knows, and that one to look otherwise."""
    mine = tmp_path / "mine"
    shutil.copytree(photos, mine)
    search(mine, tmp_path / "r")
    scene(200, 150, 777).save(mine / "new.png")
    stage("read", mine, tmp_path / "read")
    lines = [json.loads(line) for line in (tmp_path / "read/read.jsonl").read_text().splitlines()]
    new, known = (next(line for line in lines if line["path"].endswith(name)) for name in ("new.png", "in/1.jpg"))
    new["content"] = known["content"]
    (tmp_path / "read/read.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (result, _), _ = search(mine, tmp_path / "r", "--from", tmp_path / "read")
    assert any(u["path"].endswith("new.png") and "its bytes are not" in u["reason"] for u in json.loads(result)["unreadable"])
    assert search(mine, tmp_path / "r")[0] == search(mine, tmp_path / "fresh")[0]


def test_what_decodes_under_one_name_is_no_failure_under_another(tmp_path):
    """TIFFs whose copies are named like RAWs: before them, behind them, and where nothing decodes them."""
    (tmp_path / "p").mkdir()
    for k in range(8):
        scene(200, 150, 5 + k).save(tmp_path / f"p/{k} d.tif")
        for name in ("a.nef", "z.nef") if k % 2 else ("z.nef",):
            shutil.copy(tmp_path / f"p/{k} d.tif", tmp_path / f"p/{k} {name}")
    for name in ("y.nef", "y.tif", "x.dng"):
        (tmp_path / "p" / name).write_bytes(b"II*\0\x08\0\0\0")
    search(tmp_path / "p", tmp_path / "a", "--threads", "1")
    stage("read", tmp_path / "p", tmp_path / "read")
    search(tmp_path / "p", tmp_path / "b", "--from", tmp_path / "read")
    wanted = (tmp_path / "a.json").read_bytes()
    assert wanted == (tmp_path / "b.json").read_bytes()
    found = json.loads(wanted)
    assert sorted(len(group["members"]) for group in found["groups"]) == [2] * 4 + [3] * 4
    assert len(found["unreadable"]) == 3
    for k in range(4):
        search(tmp_path / "p", tmp_path / f"t{k}", "--threads", "4")
        assert (tmp_path / f"t{k}.json").read_bytes() == wanted


def test_pixels_that_a_line_makes_up_decide_nothing(photos, whole, tmp_path):
    """Who has more pixels stays: of one that says so and has not, no look tells."""
    top, _ = whole
    shutil.copytree(top / "read", tmp_path / "read")
    lines = [json.loads(line) for line in (tmp_path / "read/read.jsonl").read_text().splitlines()]
    small = next(line for line in lines if line["path"].endswith("in/1.jpg"))
    small["picture"].update(width=4800, height=3600)
    (tmp_path / "read/read.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (result, _), _ = search(photos, tmp_path / "r", "--from", tmp_path / "read")
    for group in json.loads(result)["groups"]:
        if any(m["path"].endswith("in/1.jpg") and m["keep"] for m in group["members"]):
            assert all(m["keep"] for m in group["members"]), group


@pytest.mark.parametrize("option", ["--csv", "--json", "--report", "--trace"])
@pytest.mark.parametrize("name", ["read.jsonl", "run.json", "new"])
def test_no_output_replaces_what_stages_have_made(photos, whole, tmp_path, option, name):
    top, _ = whole
    shutil.copytree(top / "read", tmp_path / "read")
    if name == "new":
        (tmp_path / "read/new").write_text("mine")
    before = content_of(tmp_path / "read")
    done = millrace("dedupe", photos, "--from", tmp_path / "read", "--catalog", tmp_path / "c.sqlite", option, tmp_path / "read" / name,
                    "--overwrite", check=False)
    assert done.returncode not in (0, 3) and content_of(tmp_path / "read") == before, done.stderr


def test_a_list_is_looked_at_by_a_search(photos, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    scene(200, 150, 3).save(mine / "a.png")
    for name in ("b.png", "c.png", "d.png"):
        shutil.copy(mine / "a.png", mine / name)
    (mine / "sub").mkdir()
    shutil.copy(mine / "a.png", mine / "sub/a.png")
    os.link(mine / "d.png", mine / "linked.png")
    millrace("inventory", ".", "-o", tmp_path / "list.jsonl", cwd=mine)
    how = ["--catalog", tmp_path / "c.sqlite", "--json", tmp_path / "r.json", "--inventory", tmp_path / "list.jsonl"]

    def members():
        result = json.loads((tmp_path / "r.json").read_text())
        return sorted(os.path.relpath(m["path"], mine) for g in result["groups"] for m in g["members"])

    millrace("dedupe", ".", *how, cwd=mine)
    assert members() == ["a.png", "b.png", "c.png", "d.png", "sub/a.png"], "a second name is no copy"
    stage("read", mine, tmp_path / "read", "--inventory", tmp_path / "list.jsonl", cwd=mine)
    (mine / "a.png").unlink()
    scene(200, 150, 4).save(mine / "b.png")
    shutil.rmtree(mine / "sub")
    (mine / "sub").symlink_to(mine)
    for more in ([], ["--from", tmp_path / "read"]):
        done = millrace("dedupe", ".", *how, *more, "--overwrite", cwd=mine, check=False)
        assert done.returncode == 3 and members() == ["c.png", "d.png"], done.stderr
        assert b"b.png: it has changed since it was listed" in done.stderr


@pytest.mark.parametrize("words", [["--exclude", "in"], ["--hidden"], ["--follow-symlinks"], ["--reference", "other"]])
def test_a_list_says_what_is_walked(photos, tmp_path, words):
    (tmp_path / "other").mkdir()
    millrace("inventory", photos, "-o", tmp_path / "list.jsonl")
    done = millrace("dedupe", photos, "--inventory", tmp_path / "list.jsonl", "--catalog", tmp_path / "c.sqlite", *words, cwd=tmp_path, check=False)
    assert done.returncode == 2 and b"inventory" in done.stderr, done.stderr


def test_names_that_lead_out_of_a_folder_are_not_in_it(photos, tmp_path):
    (tmp_path / "q").mkdir()
    shutil.copy(photos / "1.png", tmp_path / "q/a.png")
    shutil.copy(photos / "1.png", tmp_path / "out.png")
    millrace("inventory", "q/../out.png", "q", "-o", tmp_path / "list.jsonl", cwd=tmp_path)
    (tmp_path / "q/sub").mkdir()
    millrace("dedupe", "q", "--inventory", tmp_path / "list.jsonl", "--catalog", tmp_path / "c.sqlite", "--json", tmp_path / "r.json", cwd=tmp_path)
    assert not json.loads((tmp_path / "r.json").read_text())["groups"]


def test_what_could_not_be_looked_at_is_said(photos, whole, tmp_path):
    top, _ = whole
    mine = tmp_path / "mine"
    shutil.copytree(photos, mine)
    stage("read", mine, tmp_path / "read")
    state = os.stat(mine / "in/1.jpg")
    # What was read is no picture any more, of the same size and time.
    (mine / "in/1.jpg").write_bytes(b"x" * state.st_size)
    os.utime(mine / "in/1.jpg", ns=(state.st_atime_ns, state.st_mtime_ns))
    done = stage("look", mine, tmp_path / "look", "--from", tmp_path / "read", "--catalog", tmp_path / "c.sqlite")
    assert done.returncode == 3 and b"could not be looked at" in done.stderr, done.stderr


@pytest.mark.parametrize("edit", [
    lambda line: line.replace('"width":480', '"width":-1'),
    lambda line: line.replace('"width":480', '"width":480.5'),
    lambda line: line.replace('"codes":[', '"codes":["1",'),
    lambda line: line.replace('"content":"', '"content":"0'),
    lambda line: line.replace('"thumbnail":"', '"thumbnail":"' + "AAAA" * 2000),
    lambda line: line.replace('"mtime_ns":"', '"mtime_ns":"x'),
    lambda line: line.replace('"bytes":', '"bytes":-'),
    lambda line: line + " " * 200_000,
    lambda line: line[: len(line) // 2],
    lambda line: "[" * 100_000,
    lambda line: line.replace('"path":"', '"path":"\\u0000'),
])
def test_a_line_that_no_run_writes_is_refused(photos, whole, tmp_path, edit):
    top, _ = whole
    shutil.copytree(top / "read", tmp_path / "read")
    path = tmp_path / "read/read.jsonl"
    lines = path.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if "in/5.jpg" in line)
    lines[at] = edit(lines[at])
    path.write_text("\n".join(lines) + "\n")
    _, said = search(photos, tmp_path / "r", "--from", tmp_path / "read", check=False)
    assert "read.jsonl holds a line that no run writes" in said and not (tmp_path / "r.json").exists()


def test_what_others_could_have_written_is_not_believed(photos, whole, tmp_path):
    top, _ = whole
    for kind, name in (("read", "read.jsonl"), ("look", "looks.jsonl"), ("read", "run.json"), ("compare", "compared.jsonl")):
        folder = tmp_path / f"{kind}-{name}"
        shutil.copytree(top / kind, folder)
        os.chmod(folder / name, 0o666)
        _, said = search(photos, tmp_path / "r", "--from", folder, check=False)
        assert name in said and not (tmp_path / "r.json").exists(), said
    search(photos, tmp_path / "t", "--from", tmp_path / "read-read.jsonl", "--trust-files")


def test_what_is_no_stage_is_not_taken(photos, whole, tmp_path):
    top, _ = whole
    stage("read", photos, tmp_path / "some", "--part", "1/2")
    _, said = search(photos, tmp_path / "r", "--from", tmp_path / "some", check=False)
    assert "it is not finished" in said and "millrace finish" in said
    shutil.copytree(top / "read", tmp_path / "cut")
    lines = (tmp_path / "cut/read.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut/read.jsonl").write_bytes(b"".join(lines[:-2]))
    _, said = search(photos, tmp_path / "r", "--from", tmp_path / "cut", check=False)
    assert "lines for" in said and not (tmp_path / "r.json").exists()
    (tmp_path / "empty").mkdir()
    shutil.copytree(top / "read", tmp_path / "old")
    run = (tmp_path / "old/run.json").read_text()
    (tmp_path / "old/run.json").write_text(run.replace("decoders ", "decoders 0"))
    shutil.copytree(top / "compare", tmp_path / "many")
    (tmp_path / "many/run.json").write_text((top / "compare/run.json").read_text().replace('"shards\\":', '"shards\\":99999999999999999999999'))
    for folder, why in ((tmp_path / "empty", "not what a stage"), (photos, "not what a stage"), (tmp_path / "none", "it is not there"),
                        (tmp_path / "old", "decodes or hashes otherwise"), (tmp_path / "many", "of how many shards")):
        _, said = search(photos, tmp_path / "r", "--from", folder, check=False)
        assert why in said and not (tmp_path / "r.json").exists(), said


@pytest.mark.parametrize("words, why", [
    (["--part", "1/2"], "--stage"),
    (["-o", "x"], "--stage read"),
    (["--stage", "read"], "-o FOLDER"),
    (["--stage", "read", "-o", "x", "--csv", "y"], "finds no groups"),
    (["--stage", "read", "-o", "x", "--from", "y"], "takes nothing over"),
    (["--stage", "look", "-o", "x", "--part", "1/2"], "--catalog"),
    (["--stage", "compare", "-o", "x", "--part", "1/2"], "--catalog"),
    (["--stage", "compare", "-o", "x", "--no-verify"], "nothing but hashes"),
    (["--stage", "look", "-o", "x", "--look", "thumbnail"], "nothing is looked at closely"),
    (["--stage", "read", "-o", "photos"], "photos"),
    (["--stage", "read", "-o", "photos/in"], "in"),
])
def test_what_does_not_go_together_is_said_before_anything_is_made(photos, tmp_path, words, why):
    before = content_of(photos)
    done = millrace("dedupe", photos, *words, cwd=photos.parent, check=False, env={"XDG_DATA_HOME": str(tmp_path)})
    assert done.returncode != 0 and why in done.stderr.decode(), done.stderr
    assert content_of(photos) == before and not (photos.parent / "x").exists() and not list(tmp_path.iterdir())


def test_a_list_of_other_folders_is_refused(photos, tmp_path):
    (tmp_path / "other").mkdir()
    scene(50, 50, 1).save(tmp_path / "other/a.png")
    millrace("inventory", tmp_path / "other", "-o", tmp_path / "list.jsonl")
    done = stage("read", photos, tmp_path / "o", "--inventory", tmp_path / "list.jsonl")
    assert b"it lists no file in" in done.stderr and not (tmp_path / "o").exists()


def test_nothing_that_looks_alike_is_nothing_to_look_at(tmp_path):
    (tmp_path / "p").mkdir()
    scene(300, 200, 1).save(tmp_path / "p/a.png")
    done = stage("look", tmp_path / "p", tmp_path / "o", "--catalog", tmp_path / "c.sqlite")
    assert done.returncode == 0 and (tmp_path / "o/looks.jsonl").read_bytes() == b""
    millrace("dedupe", tmp_path / "p", "--from", tmp_path / "o", "--catalog", tmp_path / "d.sqlite")


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Nearly the same picture, hundreds of times: not every two are compared."""
    top = tmp_path_factory.mktemp("crowd") / "photos"
    top.mkdir()
    image = scene(96, 72, 11)
    for i in range(700):
        one = image.copy()
        one.putpixel((i % 96, i // 96 * 7), (i % 251, 255 - i % 199, i % 83))
        one.save(top / f"{i}.png")
    for i in range(9):
        scene(96, 72, 400 + i).save(top / f"other {i}.png")
        scene(96, 72, 400 + i).save(top / f"other {i}.jpg", quality=80)
    return top


def test_crowds_are_compared_in_parts(crowd, tmp_path):
    result, said = search(crowd, tmp_path / "one", check=False)
    by_itself = compared(said)
    assert by_itself > 5000
    stage("read", crowd, tmp_path / "read", "--shard", "200")
    for k in (1, 2, 3):
        done = stage("compare", crowd, tmp_path / "compare", "--shard", "90", "--part", f"{k}/3", "--from", tmp_path / "read", "--catalog",
                     tmp_path / f"{k}.sqlite")
        assert done.returncode == 0, done.stderr
    assert '"scores"' in (tmp_path / "compare/compared.jsonl").read_text()
    _, said = search(crowd, tmp_path / "two", "--from", tmp_path / "read", "--from", tmp_path / "compare", check=False)
    for name in ("json", "csv"):
        assert (tmp_path / f"two.{name}").read_bytes() == (tmp_path / f"one.{name}").read_bytes()
    # What a grouping asks for on top is its own.
    assert compared(said) * 5 < by_itself, said


def test_pictures_that_came_since_are_compared_with_all(photos, whole, tmp_path):
    top, _ = whole
    mine = tmp_path / "mine"
    shutil.copytree(photos, mine)
    for kind, more in (("read", []), ("compare", ["--from", tmp_path / "read", "--catalog", tmp_path / "c.sqlite"])):
        stage(kind, mine, tmp_path / kind, *more)
    scene(480, 360, 73).save(mine / "3 again.jpg", quality=60)
    again, said = search(mine, tmp_path / "a", "--from", tmp_path / "read", "--from", tmp_path / "compare")
    assert "1 decoded" in said and again == search(mine, tmp_path / "b")[0]
    assert 0 < compared(said) < compared(search(mine, tmp_path / "d")[1])


def test_what_a_catalogue_compared_is_not_mixed_with_what_others_have(photos, whole, tmp_path):
    """Of pictures that it has compared and a list that it has not, each meets each."""
    top, result = whole
    other = tmp_path / "other"
    other.mkdir()
    for i in range(20):
        scene(90, 70, 900 + i).save(other / f"{i}.png")
    scene(480, 360, 71).save(other / "like 1.png")
    search(other, tmp_path / "r", check=False)
    again, _ = search(photos, tmp_path / "r", "--from", top / "read", "--from", top / "compare", "--from", top / "look")
    assert again == result
    both, said = search(photos, tmp_path / "r", "--reference", other)
    assert both == search(photos, tmp_path / "fresh", "--reference", other)[0]


@pytest.mark.parametrize("order", [("read", "compare"), ("compare", "read")])
def test_what_was_compared_of_files_that_are_gone_hides_nothing_that_comes(photos, tmp_path, order):
    """A picture that the catalogue has not read cannot be compared with one that comes, and must be when it is back."""
    mine, away = tmp_path / "mine", tmp_path / "away.png"
    mine.mkdir()
    for name in ("1.png", "3.png", "in/4.jpg"):
        shutil.copy2(photos / name, mine / os.path.basename(name))
    for kind, more in (("read", []), ("compare", ["--from", tmp_path / "read", "--catalog", tmp_path / "c.sqlite"])):
        stage(kind, mine, tmp_path / kind, *more)
    os.rename(mine / "1.png", away)
    shutil.copy2(photos / "in/1.jpg", mine / "new.jpg")
    search(mine, tmp_path / "r", *[word for kind in order for word in ("--from", tmp_path / kind)], check=False)
    os.rename(away, mine / "1.png")
    again, _ = search(mine, tmp_path / "r", check=False)
    assert (tmp_path / "r.json").read_bytes() == (search(mine, tmp_path / "f", check=False), (tmp_path / "f.json").read_bytes())[1]
    assert len(json.loads((tmp_path / "r.json").read_text())["groups"]) == 1


def test_a_name_that_comes_later_may_decode_what_failed(tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    for k in range(2):
        scene(200, 150, 60 + k).save(mine / f"{k}.tif")
        shutil.move(mine / f"{k}.tif", mine / f"{k} z.nef")
    stage("read", mine, tmp_path / "read")
    search(mine, tmp_path / "own")
    shutil.copy2(mine / "0 z.nef", mine / "0.tif")
    os.rename(mine / "1 z.nef", mine / "1.tif")
    for name, more in (("fresh", []), ("staged", ["--from", tmp_path / "read"]), ("own", [])):
        search(mine, tmp_path / name, *more, check=False)
        assert (tmp_path / f"{name}.json").read_bytes() == (tmp_path / "fresh.json").read_bytes()
    found = json.loads((tmp_path / "fresh.json").read_text())
    assert len(found["groups"]) == 1 and not found["unreadable"]
    # And is known from then on.
    assert "0 decoded" in search(mine, tmp_path / "own", check=False)[1]


@pytest.mark.parametrize("edit", [
    lambda lines: [line.replace('"end":[', '"end":[1') for line in lines],
    lambda lines: [line.replace('"links":"', '"links":"AAAA') for line in lines],
    lambda lines: [line.replace('"rule":"', '"rule":"x') for line in lines],
    lambda lines: lines[::-1],
    lambda lines: [line for line in lines if '"end"' not in line],
    lambda lines: [line for line in lines if '"joined"' not in line],
    lambda lines: lines + lines,
    lambda lines: lines[:-1],
    lambda lines: lines[: next(i for i, line in enumerate(lines) if '"shard"' in line) + 1],
    lambda lines: ["[]"] + lines,
    lambda lines: [line[:-2] for line in lines],
    lambda lines: [line.replace('"joined":"', '"joined" :"') for line in lines],
    lambda lines: [line.replace('"shard":0', '"shard":0.0') for line in lines],
    lambda lines: lines[: next(i for i, line in enumerate(lines) if '"shard"' in line)] + lines,
])
def test_lines_of_a_comparison_that_no_run_writes_are_refused(photos, whole, tmp_path, edit):
    top, result = whole
    shutil.copytree(top / "compare", tmp_path / "compare")
    path = tmp_path / "compare/compared.jsonl"
    path.write_text("".join(line + "\n" for line in edit(path.read_text().splitlines())))
    _, said = search(photos, tmp_path / "r", "--from", top / "read", "--from", tmp_path / "compare", check=False)
    assert ("compared.jsonl holds a line that no run writes" in said or "shards" in said) and not (tmp_path / "r.json").exists(), said
    # Nothing of it decides what is found later.
    again, _ = search(photos, tmp_path / "r", "--from", top / "read")
    assert again == result


def test_a_comparison_of_another_rule_is_not_used(photos, whole, tmp_path):
    top, _ = whole
    done = stage("compare", photos, tmp_path / "compare", "--from", top / "read", "--catalog", tmp_path / "c.sqlite", "--match", "dhash<=1", "--no-parts")
    assert done.returncode == 0, done.stderr
    again, _ = search(photos, tmp_path / "r", "--from", top / "read", "--from", tmp_path / "compare")
    assert again == whole[1]


def test_a_plan_knows_what_stages_have_read(photos, whole, tmp_path):
    top, _ = whole
    for kind in ("compare", "look"):
        done = stage(kind, photos, tmp_path / "o", "--part", "2/4", "--from", top / "read", "--catalog", tmp_path / "c.sqlite", "--plan", "--json", "-")
        plan = json.loads(done.stdout)["plan"]
        assert plan["read_by_stages"] == 25 and (plan["part"], plan["parts"]) == (2, 4), done.stdout
    done = stage("look", photos, tmp_path / "o", "--from", top / "none", "--catalog", tmp_path / "c.sqlite", "--plan", "--json", "-")
    assert done.returncode == 1 and b"it is not there" in done.stderr


def test_a_plan_tells_this_runs_part(photos, tmp_path):
    done = stage("read", photos, tmp_path / "o", "--part", "2/4", "--plan", "--json", "-")
    plan = json.loads(done.stdout)["plan"]
    assert (plan["shards"], plan["part_shards"], plan["pictures"]) == (9, 2, 25), plan
    assert not (tmp_path / "o").exists() and not (tmp_path / "o.shards").exists()
