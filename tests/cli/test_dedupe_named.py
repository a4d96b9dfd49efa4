"""dedupe: files that are not whole, not read, or were not read before are named, and tried again when it is asked for."""

import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import bytes_read_by, interrupt  # noqa: E402
from program import OWN_DATA, PROGRAM, millrace  # noqa: E402

pytest.importorskip("PIL")
from variants import scene  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    return pictures


def run(tmp_path, folder, *options):
    done = millrace("dedupe", folder, "--catalog", tmp_path / "c.sqlite", "--json", tmp_path / "out.json", *options)
    return json.loads((tmp_path / "out.json").read_text()), done


def reasons(files):
    return {os.path.basename(file["path"]): file["reason"] for file in files}


def test_pictures_that_are_empty_or_cut_are_named(tmp_path, folder):
    whole = scene(900, 600, 1)
    whole.save(folder / "whole.jpg", quality=90)
    data = (folder / "whole.jpg").read_bytes()
    (folder / "third.jpg").write_bytes(data[: len(data) // 3])
    whole.save(folder / "whole.bmp")
    data = (folder / "whole.bmp").read_bytes()
    (folder / "cut.bmp").write_bytes(data[: len(data) // 2])
    (folder / "empty.jpg").touch()
    for again in range(2):  # from the catalogue too
        result, done = run(tmp_path, folder, "--report", tmp_path / "page.html", "--overwrite")
        assert done.returncode == 3
        assert reasons(result["unreadable"]) == {"empty.jpg": "the file is empty"}
        assert set(reasons(result["damaged"])) == {"cut.bmp", "third.jpg"}, again
        assert result["totals"]["damaged"] == 2
        said = done.stderr.decode()
        assert "2 files damaged" in said and "third.jpg: " in said and "empty.jpg: " in said
    # Small files may be left out; ones without a byte are named all the same.
    result, _ = run(tmp_path, folder, "--min-size", "1M")
    assert reasons(result["unreadable"]) == {"empty.jpg": "the file is empty"} and not result["damaged"]


def test_a_file_beyond_the_limit_is_named_and_not_read(tmp_path, folder):
    scene(300, 200, 1).save(folder / "a.jpg")
    with open(folder / "huge.jpg", "wb") as file:
        file.truncate(1 << 43)  # takes no room; hashing it would take half an hour
    result, done = run(tmp_path, folder)
    assert "the limit is 64 GiB, set by --max-size" in reasons(result["unreadable"])["huge.jpg"]
    lines = [json.loads(line) for line in millrace("hash", folder, "--format", "jsonl").stdout.splitlines()]
    assert [("error" in line) for line in lines] == [False, True] and "--max-size" in lines[1]["error"]
    # Whoever says so has it read; and can stop it.
    for command in (["hash", folder], ["dedupe", folder, "--catalog", tmp_path / "c.sqlite"]):
        running = subprocess.Popen([PROGRAM, *map(str, command), "--max-size", "16000G"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=dict(os.environ, XDG_DATA_HOME=OWN_DATA.name))
        while running.poll() is None and bytes_read_by(running.pid) < 50_000_000:
            time.sleep(0.01)
        interrupt(running)
        _, err = running.communicate(timeout=30)
        assert running.returncode in (130, 3), err  # `hash` may know by then that it is no picture


def test_what_failed_is_tried_again_when_it_is_asked_for(tmp_path, folder):
    scene(300, 200, 1).save(folder / "a.jpg")
    picture = scene(300, 200, 2)
    picture.save(folder / "b.jpg")
    whole = (folder / "b.jpg").read_bytes()
    times = (1_600_000_000, 1_600_000_000)
    # Broken in a way that cannot be decoded, with the size and the time of the whole one.
    (folder / "b.jpg").write_bytes(whole[:2] + bytes(len(whole) - 2))
    os.utime(folder / "b.jpg", times)
    result, _ = run(tmp_path, folder)
    assert "b.jpg" in reasons(result["unreadable"])
    # The file is as it was, so its failure is remembered.
    result, _ = run(tmp_path, folder)
    assert "b.jpg" in reasons(result["unreadable"])
    (folder / "b.jpg").write_bytes(whole)
    os.utime(folder / "b.jpg", times)
    # The catalogue of an earlier version, or of a file system without times of change: nothing tells that it is another file.
    with contextlib.closing(sqlite3.connect(tmp_path / "c.sqlite")) as catalog, catalog:
        catalog.execute("UPDATE files SET inode = 0, ctime_ns = 0")
    result, _ = run(tmp_path, folder)
    assert "b.jpg" in reasons(result["unreadable"])
    assert "1 (" in millrace("dedupe", folder, "--catalog", tmp_path / "c.sqlite", "--plan", "--retry").stdout.decode()
    result, _ = run(tmp_path, folder, "--retry")
    assert not result["unreadable"]
    result, _ = run(tmp_path, folder)
    assert not result["unreadable"]


def test_a_file_written_again_with_its_size_and_time_is_read_again(tmp_path, folder):
    scene(300, 200, 1).save(folder / "b.jpg")
    whole = (folder / "b.jpg").read_bytes()
    times = (1_600_000_000, 1_600_000_000)
    (folder / "b.jpg").write_bytes(whole[:2] + bytes(len(whole) - 2))
    os.utime(folder / "b.jpg", times)
    result, _ = run(tmp_path, folder)
    assert "b.jpg" in reasons(result["unreadable"])
    (folder / "b.jpg").write_bytes(whole)
    os.utime(folder / "b.jpg", times)
    result, _ = run(tmp_path, folder)
    assert not result["unreadable"]


def test_a_plan_counts_what_a_run_reads(tmp_path, folder):
    scene(300, 200, 1).save(folder / "a.jpg")
    os.link(folder / "a.jpg", folder / "same.jpg")
    (folder / ".millrace-removed").mkdir()
    scene(300, 200, 2).save(folder / ".millrace-removed" / "b.jpg")
    said = millrace("dedupe", folder, "--catalog", tmp_path / "c.sqlite", "--hidden", "--plan").stdout.decode()
    result, _ = run(tmp_path, folder, "--hidden")
    assert result["totals"]["files"] == 1
    assert said.startswith("pictures:  1, of which 1 ")
