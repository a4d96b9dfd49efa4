"""dedupe killed at any moment goes on where it stopped, with the same result."""

import contextlib
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from PIL import ImageEnhance

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import catches, end_held, helpers_of, hold_when, often  # noqa: E402
from program import PROGRAM, millrace  # noqa: E402
from variants import scene  # noqa: E402

KILLS = often(50)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for index in range(8):
        image = scene(560 + 16 * index, 400, 300 + index)
        image.save(folder / f"{index:02d}_a.jpg", quality=90)
        image.resize((280, 200)).save(folder / f"{index:02d}_b.jpg", quality=70)
        ImageEnhance.Brightness(image).enhance(1.1).save(folder / f"{index:02d}_c.png", compress_level=1)
        image.resize((200, 140)).save(folder / f"{index:02d}_d.webp", quality=80)
    shutil.copy(folder / "03_a.jpg", folder / "copy.jpg")
    (folder / "broken.jpg").write_bytes((folder / "04_a.jpg").read_bytes()[:300])
    return folder


def command(photos, catalog, output):
    return [PROGRAM, "dedupe", photos, "--catalog", catalog, "--json", output, "--progress", "none"]


def run(photos, catalog, output):
    """Runs to the end: the result, and how many pictures were decoded and files were known."""
    done = millrace(*command(photos, catalog, output)[1:])
    counts = re.search(r"([\d,]+) decoded, ([\d,]+) unchanged", done.stderr.decode())
    assert counts, done.stderr.decode()
    decoded, unchanged = (int(n.replace(",", "")) for n in counts.groups())
    return output.read_bytes(), decoded, unchanged


@pytest.fixture(scope="module")
def undisturbed(photos, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    begin = time.monotonic()
    result, decoded, unchanged = run(photos, folder / "c.sqlite", folder / "out.json")
    assert decoded >= 32 and unchanged == 0
    return result, decoded, time.monotonic() - begin


def test_killed_at_any_moment_it_ends_the_same(photos, undisturbed, tmp_path):
    expected, all_decoded, length = undisturbed
    random.seed(9)
    killed = 0
    for attempt in range(KILLS):
        catalog, output = tmp_path / f"{attempt}.sqlite", tmp_path / f"{attempt}.json"
        running = subprocess.Popen(list(map(str, command(photos, catalog, output))), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            running.wait(random.uniform(0, length))
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            killed += running.wait() == -signal.SIGKILL
        if running.returncode == -signal.SIGKILL:
            assert not output.exists() or output.read_bytes() == expected, "half a result"
        result, decoded, unchanged = run(photos, catalog, output)
        assert result == expected, f"kill {attempt}"
        # Each file is known from what was flushed or read again, none is lost, none is read twice.
        assert decoded + unchanged >= all_decoded
        assert decoded <= all_decoded
        again, decoded, _ = run(photos, catalog, output)
        assert again == expected and decoded == 0
    assert killed >= KILLS // 3


def flushed(catalog):
    """Pictures that the catalogue holds now; 0 while there is none."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{catalog}?mode=ro", uri=True, timeout=10)) as db:
            return db.execute("SELECT count(*) FROM pictures").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def test_what_was_flushed_is_not_decoded_again(tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for index in range(40):
        scene(300, 200 + index, 700 + index).resize((1800, 1200)).save(photos / f"{index}.png", compress_level=1)
    catalog, output = tmp_path / "c.sqlite", tmp_path / "out.json"
    running = subprocess.Popen([*map(str, command(photos, catalog, output)), "--threads", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while running.poll() is None and flushed(catalog) == 0:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    kept = flushed(catalog)
    assert kept > 0
    _, decoded, unchanged = run(photos, catalog, output)
    assert (decoded, unchanged) == (40 - kept, kept)


def test_interrupt_says_so_and_resumes(photos, undisturbed, tmp_path):
    expected, _, _ = undisturbed
    catalog, output = tmp_path / "c.sqlite", tmp_path / "out.json"
    running = subprocess.Popen(list(map(str, command(photos, catalog, output))), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert hold_when(running, lambda: catches(running, signal.SIGINT) and helpers_of(running.pid)), "it has ended before"
    end_held(running, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130 and b"interrupted" in err and b"same command" in err, err
    assert not output.exists()
    assert run(photos, catalog, output)[0] == expected


def test_two_runs_share_a_catalogue(photos, undisturbed, tmp_path):
    expected, _, _ = undisturbed
    for attempt in range(3):
        catalog = tmp_path / f"{attempt}.sqlite"
        outputs = [tmp_path / f"{attempt}-{n}.json" for n in range(2)]
        both = [subprocess.Popen(list(map(str, command(photos, catalog, o))), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for o in outputs]
        for process, output in zip(both, outputs):
            _, err = process.communicate(timeout=120)
            assert process.returncode in (0, 3), err
            assert output.read_bytes() == expected
