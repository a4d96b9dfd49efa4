"""join: what it counts, plans, writes and refuses."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import millrace  # noqa: E402


@pytest.fixture
def codes(tmp_path):
    """300 codes around each of 40, none further than 4 bits from another of its group."""
    rng = np.random.default_rng(1)
    middle = rng.integers(0, 2**63, 40, dtype=np.uint64)
    near = np.repeat(middle, 300) ^ (np.uint64(1) << rng.integers(0, 64, 12_000).astype(np.uint64))
    np.save(tmp_path / "codes.npy", near)
    return tmp_path / "codes.npy"


def test_counting_and_writing_agree(codes, tmp_path):
    counted = millrace("join", codes, "--radius", "4", "--json", tmp_path / "out.json")
    millrace("join", codes, "--radius", "4", "-o", tmp_path / "pairs.npy")
    pairs = np.load(tmp_path / "pairs.npy")
    assert int(counted.stdout) == len(pairs) == 40 * 300 * 299 // 2
    assert json.loads((tmp_path / "out.json").read_text())["pairs"] == len(pairs)


def test_a_plan_says_what_will_come(codes, tmp_path):
    said = millrace("join", codes, "--radius", "4", "-o", tmp_path / "pairs.npy", "--plan").stdout.decode()
    lines = dict(line.split(":", 1) for line in said.splitlines())
    assert lines["pairs"].split()[1] == "1,794,000" and "15 MiB" in lines["output"], said
    assert " of " in lines["memory"] and "allowed" in lines["memory"]
    assert not (tmp_path / "pairs.npy").exists()


def test_pairs_that_do_not_fit_say_how_many_they_are(codes, tmp_path):
    rng = np.random.default_rng(2)
    np.save(codes, rng.integers(0, 2**63, 6000, dtype=np.uint64))
    done = millrace("join", codes, "--radius", "64", "-o", tmp_path / "pairs.npy", "--memory", "40M", check=False)
    assert done.returncode == 1 and b"about 17,997,000 pairs of different codes would need" in done.stderr, done.stderr
    assert not (tmp_path / "pairs.npy").exists()
    assert int(millrace("join", codes, "--radius", "64", "--memory", "40M").stdout) == 17_997_000


def test_progress_and_traces_are_of_this_job_too(codes, tmp_path):
    done = millrace("join", codes, "--radius", "4", "-o", tmp_path / "pairs.npy", "--progress", "json", "--trace", tmp_path / "t.json", "-v")
    told = [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("{")]
    assert {"comparing codes", "writing pairs"} <= {line["progress"] for line in told}, told
    names = {event.get("name") for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"]}
    assert {"read", "join", "write"} <= names, names
    assert b"limited by" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="mounts a small disk, which takes root")
def test_an_output_that_has_no_room_is_not_begun(codes, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small], check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        for options in ([], ["--collapsed"]):
            done = millrace("join", codes, "--radius", "4", "-o", small / "pairs.npy", *options, check=False)
            if options:  # pairs of different codes are few
                assert done.returncode == 0, done.stderr
                continue
            assert done.returncode == 1 and b"15 MiB needed" in done.stderr, done.stderr
            assert not list(small.iterdir())
    finally:
        subprocess.run(["umount", small], check=True)
