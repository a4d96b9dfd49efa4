"""join in blocks: the pairs of one join, whatever the blocks, runs and ends between them."""

import json
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import end_held, hold_when  # noqa: E402
from program import PROGRAM, content_of, millrace  # noqa: E402

RADIUS = {64: "6", 256: "40"}


@pytest.fixture(scope="module", params=[64, 256])
def codes(request, tmp_path_factory):
    """3,000 of 64 or 256 bits: groups that are near, and 200 that are equal, spread over all blocks."""
    folder = tmp_path_factory.mktemp(f"codes{request.param}")
    rng = np.random.default_rng(request.param)
    made = rng.integers(0, 256, (3000, request.param // 8), dtype=np.uint8)
    for row in rng.integers(0, 3000, 900):
        made[row] = made[rng.integers(0, 3000)]
        made[row, rng.integers(0, made.shape[1])] ^= np.uint8(1 << rng.integers(0, 8))
    made[rng.permutation(3000)[:200]] = made[0]
    path = folder / "codes.npy"
    np.save(path, made)
    millrace("join", path, "--radius", RADIUS[request.param], "-o", folder / "one.npy")
    pairs = np.load(folder / "one.npy")
    assert len(pairs) > 200 * 199 // 2
    return path, RADIUS[request.param], (folder / "one.npy").read_bytes(), len(pairs)


@pytest.mark.parametrize("block", ["auto", "3000", "2999", "700", "251"])
def test_blocks_are_one_join(codes, tmp_path, block):
    path, radius, one, count = codes
    done = millrace("join", path, "--radius", radius, "--block", block, "-o", tmp_path / "out", "--json", tmp_path / "said.json")
    assert int(done.stdout) == count
    assert sorted(content_of(tmp_path / "out")) == ["pairs.npy", "run.json"]
    assert (tmp_path / "out/pairs.npy").read_bytes() == one
    said = json.loads((tmp_path / "said.json").read_text())
    size = 3000 if block == "auto" else int(block)
    blocks = -(-3000 // size)
    assert (said["pairs"], said["blocks"], said["tasks"]) == (count, blocks, blocks * (blocks + 1) // 2)
    assert int(millrace("join", path, "--radius", radius, "--block", block).stdout) == count
    again = millrace("join", path, "--radius", radius, "--block", "auto", "-o", tmp_path / "out")
    assert b"nothing to do" in again.stderr and int(again.stdout) == count


def test_little_memory_makes_blocks(codes, tmp_path):
    path, radius, one, count = codes
    done = millrace("join", path, "--radius", radius, "--block", "auto", "--memory", "150K", "--threads", "1", "--json", tmp_path / "said.json")
    assert int(done.stdout) == count
    assert json.loads((tmp_path / "said.json").read_text())["blocks"] > 1


@pytest.mark.parametrize("how", [["--threads", "1"], ["--algorithm", "brute"], ["--algorithm", "index", "--threads", "3"]])
def test_threads_and_ways_change_no_byte(codes, tmp_path, how):
    path, radius, one, _ = codes
    millrace("join", path, "--radius", radius, "--block", "999", "-o", tmp_path / "out", *how)
    assert (tmp_path / "out/pairs.npy").read_bytes() == one


def test_parts_in_any_order_and_on_two_disks(codes, tmp_path):
    path, radius, one, count = codes
    for disk in ("a", "b"):
        (tmp_path / disk).mkdir()
    copy = tmp_path / "b" / "copy.npy"
    shutil.copyfile(path, copy)
    last = millrace("join", path, "--radius", radius, "--block", "800", "-o", tmp_path / "a/out", "--part", "3/3")
    assert last.stdout == b"" and b"(runs 1-2 of 3)" in last.stderr, last.stderr
    millrace("join", copy, "--radius", radius, "--block", "800", "-o", tmp_path / "b/out", "--part", "1/3")
    refused = millrace("finish", tmp_path / "a/out", "--from", tmp_path / "b/out.shards", check=False)
    assert refused.returncode == 1 and b"--array=2" in refused.stderr, refused.stderr
    # Blocks that nobody names are those of the others.
    millrace("join", path, "--radius", radius, "-o", tmp_path / "a/out", "--part", "2/3")
    millrace("finish", tmp_path / "a/out", "--from", tmp_path / "b/out.shards")
    assert (tmp_path / "a/out/pairs.npy").read_bytes() == one
    assert not (tmp_path / "a/out.shards").exists()
    assert b"nothing to do" in millrace("finish", tmp_path / "a/out").stderr


def test_other_codes_radii_and_blocks_are_refused(codes, tmp_path):
    path, radius, _, _ = codes
    out = tmp_path / "out"
    millrace("join", path, "--radius", radius, "--block", "800", "-o", out, "--part", "1/2")
    other = np.load(path)
    other[-1] ^= 1
    np.save(tmp_path / "other.npy", other)
    for codes_, radius_, block, said in ((path, "3", "800", b"--radius was"), (path, radius, "900", b"--block was '800', is '900'"),
                                         (tmp_path / "other.npy", radius, "800", b"inputs have changed")):
        done = millrace("join", codes_, "--radius", radius_, "--block", block, "-o", out, "--part", "2/2", check=False)
        assert done.returncode == 1 and said in done.stderr, done.stderr
    done = millrace("join", path, "--radius", radius, "--block", "800", "-o", out, "--part", "2/3", check=False)
    assert done.returncode == 1 and b"shared by 2 runs" in done.stderr


def test_one_that_is_stopped_goes_on_at_its_next_task(codes, tmp_path):
    path, radius, one, _ = codes
    out = tmp_path / "out"
    command = ["join", path, "--radius", radius, "--block", "251", "-o", out, "--progress", "none"]
    marks = out.with_name("out.shards") / "whole.part"
    running = subprocess.Popen([PROGRAM, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert hold_when(running, lambda: (marks / "00003.done").exists())
    there = sorted(p.name for p in marks.glob("*.done"))
    end_held(running, signal.SIGKILL)
    running.communicate()
    assert not out.exists()
    done = millrace(*command, "-v")
    assert f"{78 - len(there)} of 78 tasks" in done.stderr.decode().replace(",", ""), done.stderr
    assert (out / "pairs.npy").read_bytes() == one


def test_a_plan_says_blocks_and_tasks(codes, tmp_path):
    path, radius, _, count = codes
    done = millrace("join", path, "--radius", radius, "--block", "800", "-o", tmp_path / "out", "--part", "1/3", "--plan", "--json", tmp_path / "plan.json")
    lines = dict(line.split(":", 1) for line in done.stdout.decode().splitlines()) if done.stdout else {}
    said = json.loads((tmp_path / "plan.json").read_text())
    figures = said["plan"]
    assert (figures["blocks"], figures["tasks"], figures["part_tasks"]) == (4, 10, 4), (said, lines)
    assert abs(figures["pairs"] - count) < 0.1 * count
    assert not list(tmp_path.glob("out*"))


def test_what_blocks_cannot_do_is_said(codes, tmp_path):
    path, radius, _, _ = codes
    for words, said in (
            (["--block", "800", "-o", tmp_path / "p.npy"], b"-o " + str(tmp_path / "p").encode()),
            (["--block", "800", "-o", tmp_path / "p", "--collapsed"], b"--collapsed"),
            (["--part", "1/2"], b"add -o FOLDER"),
            (["--block", "0"], b"is not off, auto or a number of rows"),
            (["--block", "5M"], b"is not off, auto or a number of rows")):
        done = millrace("join", path, "--radius", radius, *words, check=False)
        assert done.returncode == 2 and said in done.stderr, (words, done.stderr)
    assert not list(tmp_path.iterdir())


def test_a_part_that_is_damaged_is_made_again(codes, tmp_path):
    """One that was cut, is empty, or is missing beside its mark; one of other bytes, or of another task, is told."""
    path, radius, one, _ = codes
    out = tmp_path / "out"
    parts = out.with_name("out.shards") / "whole.part"
    command = ["join", path, "--radius", radius, "--block", "1500", "-o", out, "--part"]
    for k in ("1/3", "2/3"):
        millrace(*command, k)
    first = (parts / "00000.pairs.pairs").read_bytes()
    last = parts / "00002.pairs.pairs"
    for text in (first[:-1], first[:-25], b"", None, bytes([first[0] ^ 1]) + first[1:], first):
        last.unlink(missing_ok=True)
        if text is not None:
            last.write_bytes(text)
        (parts / "00002.done").write_bytes(b"")
        done = millrace("finish", out, check=False)
        assert done.returncode == 1 and b"--array=3" in done.stderr, done.stderr
        assert not out.exists()
    last.unlink()
    millrace(*command, "3/3")
    assert (out / "pairs.npy").read_bytes() == one and not parts.exists()


def test_codes_that_change_meanwhile_end_it(codes, tmp_path):
    path, radius, one, _ = codes
    mine, out = tmp_path / "codes.npy", tmp_path / "out"
    shutil.copyfile(path, mine)
    np.save(tmp_path / "new.npy", np.load(path)[::-1])

    def written_to():
        with open(mine, "r+b") as file:
            file.seek(-8, 2)
            file.write(b"12345678")

    # What was opened is joined, whatever has its name by then; what is written to is not.
    for change in (written_to, lambda: (tmp_path / "new.npy").rename(mine)):
        running = subprocess.Popen([PROGRAM, "join", mine, "--radius", radius, "--block", "100", "-o", out, "--progress", "none", "--threads", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        marks = out.with_name("out.shards") / "whole.part"
        assert hold_when(running, lambda: (marks / "00003.done").exists())
        change()
        running.send_signal(signal.SIGCONT)
        said = running.communicate(timeout=60)[1]
        if change is written_to:
            assert running.returncode == 1 and b"it was changed during the run" in said, said
            assert not out.exists()
            shutil.rmtree(out.with_name("out.shards"))
        else:
            assert running.returncode == 0 and (out / "pairs.npy").read_bytes() == one, said
            shutil.rmtree(out)
        shutil.copyfile(path, mine)
    millrace("join", mine, "--radius", radius, "--block", "100", "-o", out)
    assert (out / "pairs.npy").read_bytes() == one


def test_no_codes_have_no_pairs(tmp_path):
    for shape in ((0, 8), (0, 32), (1, 8)):
        np.save(tmp_path / "none.npy", np.zeros(shape, dtype=np.uint8))
        millrace("join", tmp_path / "none.npy", "--radius", "3", "-o", tmp_path / "one.npy")
        for block in ("auto", "7"):
            done = millrace("join", tmp_path / "none.npy", "--radius", "3", "--block", block, "-o", tmp_path / "out")
            assert done.stdout == b"0\n"
            assert (tmp_path / "out/pairs.npy").read_bytes() == (tmp_path / "one.npy").read_bytes()
            millrace("join", tmp_path / "none.npy", "--radius", "3", "--block", block, "--plan")
            shutil.rmtree(tmp_path / "out")
        (tmp_path / "one.npy").unlink()


def test_codes_in_the_output_stay(codes, tmp_path):
    path, radius, _, _ = codes
    for place in ("out", "out.shards/whole.part"):
        (tmp_path / place).mkdir(parents=True)
        mine = tmp_path / place / "pairs.npy"
        shutil.copyfile(path, mine)
        before = content_of(tmp_path)
        done = millrace("join", mine, "--radius", radius, "--block", "700", "-o", tmp_path / "out", check=False)
        assert done.returncode == 2 and b"inside the output" in done.stderr, done.stderr
        assert content_of(tmp_path) == before


def test_a_folder_of_somebody_s_gives_no_blocks(codes, tmp_path):
    path, radius, _, _ = codes
    (tmp_path / "out").mkdir()
    (tmp_path / "out/run.json").write_text('{"block": "7"}')
    done = millrace("join", path, "--radius", radius, "--block", "auto", "-o", tmp_path / "out", check=False)
    assert done.returncode == 1 and b"not an output of this job" in done.stderr, done.stderr


def test_an_output_in_the_output_is_refused(codes, tmp_path):
    path, radius, _, _ = codes
    millrace("join", path, "--radius", radius, "--block", "1500", "-o", tmp_path / "out")
    (tmp_path / "out.shards").mkdir()
    before = content_of(tmp_path)
    for name in ("out/run.json", "out.shards/run.json", "out/whole"):
        for words in (["--json", tmp_path / name, "-o", tmp_path / "out"], ["-o", f"{tmp_path}/out/", "--trace", tmp_path / name, "--overwrite"]):
            done = millrace("join", path, "--radius", radius, "--block", "1500", *words, check=False)
            assert done.returncode == 2 and b"inside another output" in done.stderr, (words, done.stderr)
    assert content_of(tmp_path) == before


def test_a_link_to_codes_is_codes(codes, tmp_path):
    path, radius, one, _ = codes
    (tmp_path / "link.npy").symlink_to(path)
    millrace("join", tmp_path / "link.npy", "--radius", radius, "--block", "700", "-o", tmp_path / "out")
    assert (tmp_path / "out/pairs.npy").read_bytes() == one


def test_a_plan_of_parts_counts_what_was_cut_as_missing(codes, tmp_path):
    path, radius, _, _ = codes
    for k in ("1/3", "2/3"):
        millrace("join", path, "--radius", radius, "--block", "1500", "-o", tmp_path / "out", "--part", k)
    (tmp_path / "out.shards/whole.part/00001.pairs.pairs").write_bytes(b"")
    said = json.loads(millrace("finish", tmp_path / "out", "--plan", "--json", "-").stdout)["plan"]
    assert said["missing"] == [1, 2] and said["array"] == "2-3"
