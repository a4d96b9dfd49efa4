"""hash -o FOLDER: lines in shards that runs share, from folders or from an inventory; inventory itself."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM, content_of, millrace  # noqa: E402

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    top = tmp_path_factory.mktemp("photos") / "photos"
    (top / "in").mkdir(parents=True)
    rng = random.Random(3)
    for i in range(53):
        image = Image.new("L", (24, 20))
        image.putdata([rng.randrange(256) for _ in range(480)])
        image.save(top / ("in" if i % 3 else ".") / f"{i:02}.png")
    (top / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    (top / "words.txt").write_text("no picture")
    os.rename(top / "in/01.png", os.fsencode(top) + b"/caf\xe9.png")
    return top


def hash_of(*more, cwd, **options):
    return millrace("hash", "--kinds", "dhash,phash", "--shard", "7", "--progress", "none", *more, cwd=cwd, **options)


@pytest.fixture(scope="module", params=["csv", "jsonl"])
def whole(request, photos, tmp_path_factory):
    """What one run makes; and the lines that go to stdout."""
    top = tmp_path_factory.mktemp("whole")
    done = hash_of(photos, "--format", request.param, "-o", top / "h", cwd=photos.parent, check=False)
    assert done.returncode == 3, "one cannot be read"
    printed = hash_of(photos, "--format", request.param, cwd=photos.parent, check=False).stdout
    return request.param, content_of(top / "h"), printed


def test_the_output_holds_the_lines_that_are_printed(whole):
    form, files, printed = whole
    assert sorted(files) == [f"hashes.{form}", "run.json"]
    assert files[f"hashes.{form}"] == printed and printed.count(b"\n") == (55 if form == "csv" else 54)


@pytest.mark.parametrize("runs", [1, 3, 20])
@pytest.mark.parametrize("listed", [False, True])
def test_runs_that_share_it_make_the_same(whole, photos, tmp_path, runs, listed):
    form, files, _ = whole
    what = [photos]
    if listed:
        millrace("inventory", photos, "-o", tmp_path / "list.jsonl")
        what = ["--inventory", tmp_path / "list.jsonl"]
    for k in range(runs, 0, -1):
        env = {"SLURM_ARRAY_TASK_ID": str(k)}
        done = hash_of(*what, "--format", form, "-o", tmp_path / "h", "--part", f"slurm/{runs}", cwd=photos.parent, env=env,
                       check=False)
        assert done.returncode in (0, 3), done.stderr
        if k > 1:
            assert not (tmp_path / "h").exists()
    assert content_of(tmp_path / "h") == files and not (tmp_path / "h.shards").exists()


@pytest.mark.parametrize("words", [["--exclude", "in"], ["--hidden"], ["--follow-symlinks"]])
def test_a_list_says_what_is_walked(photos, tmp_path, words):
    millrace("inventory", photos, "-o", tmp_path / "list.jsonl")
    done = hash_of("--inventory", tmp_path / "list.jsonl", *words, cwd=tmp_path, check=False)
    assert done.returncode == 2 and b"to millrace inventory" in done.stderr and not done.stdout


def test_what_is_missing_is_an_array_that_can_be_submitted(whole, photos, tmp_path):
    form, files, _ = whole
    run = [photos, "--format", form, "-o", tmp_path / "h", "--part"]
    for k in (1, 3, 4, 8):
        last = hash_of(*run, f"{k}/8", cwd=photos.parent, check=False)
    assert b"runs 2,5-7 of 8" in last.stderr
    asked = json.loads(hash_of(*run, "8/8", "--plan", "--json", "-", cwd=photos.parent).stdout)["plan"]
    assert (asked["shards"], asked["part_shards"]) == (8, 1)
    refused = millrace("finish", tmp_path / "h", check=False)
    assert refused.returncode == 1 and b"--array=2,5-7)" in refused.stderr
    plan = json.loads(millrace("finish", tmp_path / "h", "--plan", "--json", "-").stdout)
    assert plan["plan"]["array"] == "2,5-7"
    foreign = hash_of(*run, "2/5", cwd=photos.parent, check=False)
    assert foreign.returncode == 1 and b"shared by 8 runs, and this is one of 5" in foreign.stderr
    for k in (2, 5, 6):
        hash_of(*run, f"{k}/8", cwd=photos.parent, check=False)
    # Who is left takes what is left.
    hash_of(*run[:-1], cwd=photos.parent, check=False)
    assert content_of(tmp_path / "h") == files


def test_parts_of_two_disks_are_put_together(whole, photos, tmp_path):
    form, files, _ = whole
    for k in (1, 2):
        (tmp_path / str(k)).mkdir()
        hash_of(photos, "--format", form, "-o", tmp_path / str(k) / "h", "--part", f"{k}/2", cwd=photos.parent, check=False)
    millrace("finish", tmp_path / "h", "--from", tmp_path / "1/h.shards", "--from", tmp_path / "2/h.shards")
    assert content_of(tmp_path / "h") == files


def test_other_options_and_files_are_another_output(photos, tmp_path):
    copy = tmp_path / "photos"
    subprocess.run(["cp", "-a", photos, copy], check=True)
    hash_of(copy, "-o", tmp_path / "h", "--part", "1/2", cwd=tmp_path, check=False)
    refused = hash_of(copy, "-o", tmp_path / "h", "--part", "2/2", "--size", "16", cwd=tmp_path, check=False)
    assert refused.returncode == 1 and b"--size was '8', is '16'" in refused.stderr
    os.utime(copy / "00.png", (1, 1))
    refused = hash_of(copy, "-o", tmp_path / "h", "--part", "2/2", cwd=tmp_path, check=False)
    assert refused.returncode == 1 and b"the inputs have changed" in refused.stderr


def test_a_file_that_changed_since_it_was_listed_is_said(photos, tmp_path):
    copy = tmp_path / "photos"
    subprocess.run(["cp", "-a", photos, copy], check=True)
    millrace("inventory", copy, "-o", tmp_path / "list.jsonl")
    os.utime(copy / "00.png", (1, 1))
    (copy / "03.png").unlink()
    Image.new("L", (9, 9)).save(copy / "new.png")
    done = hash_of("--inventory", tmp_path / "list.jsonl", "--format", "jsonl", cwd=tmp_path, check=False)
    told = {pathlib.Path(line["path"]).name: line for line in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 3 and "changed since it was listed" in told["00.png"]["error"]
    assert "error" in told["03.png"] and "new.png" not in told and "dhash" in told["06.png"]


@pytest.mark.parametrize("spoil", [
    lambda text: text[: len(text) // 2],
    lambda text: text.replace('"bytes":', '"bytes":1', 3),
    lambda text: text.replace("00.png", "0a.png"),
    lambda text: text + '{"path": "/etc/passwd", "bytes": 1, "mtime_ns": "1"}\n',
    lambda text: "[" * 100_000,
    lambda text: "",
    lambda text: '{"millrace": "hash"}\n',
])
def test_an_inventory_that_was_spoiled_is_refused(photos, tmp_path, spoil):
    millrace("inventory", photos, "-o", tmp_path / "list.jsonl")
    (tmp_path / "list.jsonl").write_text(spoil((tmp_path / "list.jsonl").read_text()))
    refused = hash_of("--inventory", tmp_path / "list.jsonl", cwd=tmp_path, check=False)
    assert refused.returncode == 1 and b"not an inventory" in refused.stderr and not refused.stdout


def test_what_cannot_be_meant(photos, tmp_path):
    millrace("inventory", photos, "-o", tmp_path / "list.jsonl")
    for wrong in (["--inventory", tmp_path / "list.jsonl", photos], [], [photos, "--part", "1/2"]):
        refused = hash_of(*wrong, cwd=tmp_path, check=False)
        assert refused.returncode == 2, refused.stderr
    refused = millrace("inventory", photos, check=False)
    assert refused.returncode == 2 and b"-o" in refused.stderr
    # The list is no output of a run that reads it, and a file that somebody wrote is no list to replace.
    (tmp_path / "mine.txt").write_text("mine")
    assert millrace("inventory", photos, "-o", tmp_path / "mine.txt", check=False).returncode == 1
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert hash_of("--inventory", tmp_path / "list.jsonl", "--json", tmp_path / "list.jsonl", cwd=tmp_path, check=False).returncode == 1


def test_an_output_of_something_else_stays(photos, tmp_path):
    (tmp_path / "h").mkdir()
    (tmp_path / "h/mine.txt").write_text("mine")
    refused = hash_of(photos, "-o", tmp_path / "h", cwd=tmp_path, check=False)
    assert refused.returncode == 1 and sorted(os.listdir(tmp_path / "h")) == ["mine.txt"]


def test_a_run_that_is_killed_is_gone_on_with(whole, photos, tmp_path):
    form, files, _ = whole
    for moment in (0.02, 0.04, 0.06, 0.1):
        run = subprocess.Popen(
            [os.fspath(PROGRAM), "hash", photos, "--kinds", "dhash,phash", "--shard", "7", "--format", form, "-o", tmp_path / "h",
             "--threads", "1", "-q"], cwd=photos.parent, stderr=subprocess.DEVNULL)
        try:
            run.wait(moment)
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()
    hash_of(photos, "--format", form, "-o", tmp_path / "h", cwd=photos.parent, check=False)
    assert content_of(tmp_path / "h") == files and not (tmp_path / "h.shards").exists()


def test_who_is_interrupted_leaves_no_shard_without_a_line(tmp_path):
    """The first picture takes long; those behind it are hashed by the time of Ctrl-C, and are the shard's last."""
    photos = tmp_path / "photos"
    photos.mkdir()
    Image.linear_gradient("L").resize((14000, 14000)).save(photos / "0.png", compress_level=1)
    for i in (1, 2):
        Image.new("L", (9, 9), 80 * i).save(photos / f"{i}.png")
    hash_of(photos, "-o", tmp_path / "whole", cwd=tmp_path)
    shards = tmp_path / "h.shards/whole.part"
    run = subprocess.Popen([os.fspath(PROGRAM), "hash", photos, "--kinds", "dhash,phash", "--shard", "7", "-o", tmp_path / "h",
                            "--threads", "2", "-q"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not shards.exists() and run.poll() is None:
        time.sleep(0.002)
    time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    if run.wait() == 130:  # else it was done before
        assert not (tmp_path / "h").exists() and not list(shards.glob("*.done"))
    hash_of(photos, "-o", tmp_path / "h", cwd=tmp_path)
    assert content_of(tmp_path / "h") == content_of(tmp_path / "whole")


def test_a_list_is_not_of_itself_and_replaces_no_picture(photos, tmp_path):
    copy = tmp_path / "photos"
    subprocess.run(["cp", "-a", photos, copy], check=True)
    for _ in range(2):
        millrace("inventory", copy, "-o", copy / "list.jsonl")
        made = (copy / "list.jsonl").read_bytes()
        assert b"list.jsonl" not in made
    before = (copy / "00.png").read_bytes()
    refused = millrace("inventory", copy, "-o", copy / "00.png", "--overwrite", check=False)
    assert refused.returncode in (1, 2) and (copy / "00.png").read_bytes() == before
    millrace("inventory", copy, "-o", copy / "list.jsonl")
    assert (copy / "list.jsonl").read_bytes() == made


def test_an_inventory_of_an_enemy_reads_files_alone(photos, tmp_path):
    """Pipes and devices that somebody has named are said to be none."""
    (tmp_path / "p").mkdir()
    for name in ("a.png", "b.png"):
        (tmp_path / "p" / name).write_bytes(b"x")
        os.utime(tmp_path / "p" / name, ns=(5, 5))
    millrace("inventory", tmp_path / "p", "-o", tmp_path / "list.jsonl")
    (tmp_path / "p/a.png").unlink()
    os.mkfifo(tmp_path / "p/a.png")
    (tmp_path / "p/b.png").unlink()
    (tmp_path / "p/b.png").symlink_to("/dev/zero")
    done = hash_of("--inventory", tmp_path / "list.jsonl", "--format", "jsonl", cwd=tmp_path, check=False, timeout=60)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 3 and len(told) == 2 and all("not a regular file" in line["error"] for line in told)
