"""dedupe --stage: pictures read, compared, and looked at closely, by runs that share them; and taken into a search with --from."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM, content_of, millrace  # noqa: E402
from stages import compared, photos, search, stage, whole  # noqa: E402, F401
from variants import scene  # noqa: E402


def test_stages_find_what_one_run_finds_and_nothing_is_done_twice(photos, whole, tmp_path):
    top, result = whole
    kinds = [group["kind"] for group in json.loads(result[0])["groups"]]
    assert kinds.count("similar") >= 6, kinds
    again, said = search(photos, tmp_path / "r", "--from", top / "read", "--from", top / "look")
    assert again == result
    assert "0 decoded" in said and " 0 checked in detail" in said, said
    everything = [word for kind in ("look", "compare", "read") for word in ("--from", top / kind)]
    again, said = search(photos, tmp_path / "q", *everything)
    # What a grouping asks for on top is its own.
    assert again == result and compared(said) <= 2 < 5 < compared(search(photos, tmp_path / "p")[1]), said
    # Nor for looks.
    stage("look", photos, tmp_path / "look", "--from", top / "read", "--from", top / "compare", "--catalog", tmp_path / "l.sqlite")
    assert content_of(tmp_path / "look") == content_of(top / "look")
    # Without the looks they are made, and nothing is decoded for a catalogue.
    again, said = search(photos, tmp_path / "s", "--from", top / "read")
    assert again == result and "0 decoded" in said and " 0 checked in detail" not in said, said
    # What was taken over is known from then on.
    again, said = search(photos, tmp_path / "r")
    assert again == result and "0 decoded" in said and "checked in detail" not in said, said


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
        assert done.returncode not in (0, 3) and b"other options or inputs" in done.stderr, done.stderr


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
    assert any(u["path"].endswith("in/5.jpg") and "but different bytes" in u["reason"] for u in result["unreadable"]), result["unreadable"]
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
    assert any(u["path"].endswith("new.png") and "but different bytes" in u["reason"] for u in json.loads(result)["unreadable"])
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
    assert done.returncode == 3 and b"could not be checked" in done.stderr, done.stderr


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
    assert "read.jsonl has an invalid line" in said and not (tmp_path / "r.json").exists()


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
    assert "the stage is not complete" in said and "millrace finish" in said
    shutil.copytree(top / "read", tmp_path / "cut")
    lines = (tmp_path / "cut/read.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut/read.jsonl").write_bytes(b"".join(lines[:-2]))
    _, said = search(photos, tmp_path / "r", "--from", tmp_path / "cut", check=False)
    assert "read.jsonl has " in said and ", expected " in said and not (tmp_path / "r.json").exists()
    (tmp_path / "empty").mkdir()
    shutil.copytree(top / "read", tmp_path / "old")
    run = (tmp_path / "old/run.json").read_text()
    (tmp_path / "old/run.json").write_text(run.replace("decoders ", "decoders 0"))
    shutil.copytree(top / "compare", tmp_path / "many")
    (tmp_path / "many/run.json").write_text((top / "compare/run.json").read_text().replace('"shards\\":', '"shards\\":99999999999999999999999'))
    for folder, why in ((tmp_path / "empty", "not the output of a dedupe stage"), (photos, "not the output of a dedupe stage"), (tmp_path / "none", "was not found"),
                        (tmp_path / "old", "decodes or hashes differently"), (tmp_path / "many", "number of shards is missing")):
        _, said = search(photos, tmp_path / "r", "--from", folder, check=False)
        assert why in said and not (tmp_path / "r.json").exists(), said


@pytest.mark.parametrize("words, why", [
    (["--part", "1/2"], "--stage"),
    (["-o", "x"], "--stage read"),
    (["--stage", "read"], "-o FOLDER"),
    (["--stage", "read", "-o", "x", "--csv", "y"], "does not form groups"),
    (["--stage", "read", "-o", "x", "--from", "y"], "remove --from"),
    (["--stage", "look", "-o", "x", "--part", "1/2"], "--catalog"),
    (["--stage", "compare", "-o", "x", "--part", "1/2"], "--catalog"),
    (["--stage", "compare", "-o", "x", "--no-verify"], "remove --no-verify"),
    (["--stage", "look", "-o", "x", "--look", "thumbnail"], "no detailed checks"),
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
    assert b"lists no file in" in done.stderr and not (tmp_path / "o").exists()


def test_nothing_that_looks_alike_is_nothing_to_look_at(tmp_path):
    (tmp_path / "p").mkdir()
    scene(300, 200, 1).save(tmp_path / "p/a.png")
    done = stage("look", tmp_path / "p", tmp_path / "o", "--catalog", tmp_path / "c.sqlite")
    assert done.returncode == 0 and (tmp_path / "o/looks.jsonl").read_bytes() == b""
    millrace("dedupe", tmp_path / "p", "--from", tmp_path / "o", "--catalog", tmp_path / "d.sqlite")


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


def test_a_plan_knows_what_stages_have_read(photos, whole, tmp_path):
    top, _ = whole
    for kind in ("compare", "look"):
        done = stage(kind, photos, tmp_path / "o", "--part", "2/4", "--from", top / "read", "--catalog", tmp_path / "c.sqlite", "--plan", "--json", "-")
        plan = json.loads(done.stdout)["plan"]
        assert plan["read_by_stages"] == 25 and (plan["part"], plan["parts"]) == (2, 4), done.stdout
    done = stage("look", photos, tmp_path / "o", "--from", top / "none", "--catalog", tmp_path / "c.sqlite", "--plan", "--json", "-")
    assert done.returncode == 1 and b"was not found" in done.stderr


def test_a_plan_tells_this_runs_part(photos, tmp_path):
    done = stage("read", photos, tmp_path / "o", "--part", "2/4", "--plan", "--json", "-")
    plan = json.loads(done.stdout)["plan"]
    assert (plan["shards"], plan["part_shards"], plan["pictures"]) == (9, 2, 25), plan
    assert not (tmp_path / "o").exists() and not (tmp_path / "o.shards").exists()
