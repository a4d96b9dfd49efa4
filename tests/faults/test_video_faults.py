"""`video` killed, interrupted, paused or out of disk: the next run goes on where it stopped, and ends with the same bytes.
Films that are damaged, and pieces that are."""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import onnx_model as onnx  # noqa: E402
from films import ffmpeg, made, needs_ffmpeg, times  # noqa: E402
from processes import end_held, hold_when, often  # noqa: E402
from program import PROGRAM, millrace  # noqa: E402
from segmenting import RAMPS, needs_runtime, runtime  # noqa: E402

pytestmark = [needs_ffmpeg, needs_runtime]

KILLS = 3 if RAMPS.exists() else often(20)


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """Twelve seconds, with sound, groups of pictures that refer to each other across, and times that are uneven."""
    folder = tmp_path_factory.mktemp("film")
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30:duration=12", "-f", "lavfi", "-i", "sine=duration=12",
           "-vf", "select='not(eq(mod(n,5),2))'", "-vsync", "vfr", "-c:v", "libx264", "-preset", "veryfast", "-g", "48", "-x264-params",
           "open-gop=1:bframes=3", "-c:a", "aac", folder / "film.mp4")
    (folder / "m.onnx").write_bytes(onnx.color([[60, -60, -60]], [-15], 64, 96))
    return folder


def command(film, output):
    return ["video", film / "film.mp4", "-o", output, "--model", film / "m.onnx", "--activation", "sigmoid", "--write",
            "overlay", "--segment", "0.8", "--profile", "balanced", "--progress", "none"]


@pytest.fixture(scope="module")
def undisturbed(film, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed") / "out.mp4"
    begun = time.monotonic()
    millrace(*command(film, out))
    return out.read_bytes(), time.monotonic() - begun


def start(film, output, **options):
    return subprocess.Popen([str(PROGRAM), *map(str, command(film, output))], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, **options)


def pieces(output):
    return sorted(pathlib.Path(f"{output}.shards").glob("*.packets"))


def test_killed_at_any_moment_it_ends_the_same(film, undisturbed, tmp_path):
    wanted, seconds = undisturbed
    moments = random.Random(7)
    went_on = 0
    for k in range(KILLS):
        output = tmp_path / f"{k}.mp4"
        run = start(film, output)
        try:
            run.wait(timeout=seconds * moments.uniform(0.05, 1))
        except subprocess.TimeoutExpired:
            run.kill()
        run.communicate()
        if not output.exists():
            result = tmp_path / f"{k}.json"
            millrace(*command(film, output), "--json", result)
            went_on += json.loads(result.read_text())["taken"] > 0
        assert output.read_bytes() == wanted, k
        output.unlink()
        if pieces(output):
            # What a kill between the film's name and the end of its pieces has left is of no harm.
            millrace(*command(film, output))
            assert output.read_bytes() == wanted, k
            output.unlink()
        assert not pieces(output), k
    assert went_on >= KILLS // 4


def stopped_at(film, output, count):
    """A run that stands still with so many of its pieces made, of fifteen."""
    run = start(film, output)
    assert hold_when(run, lambda: len(pieces(output)) >= count, 0.005), "it has ended before"
    return run


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_goes_on(film, undisturbed, tmp_path, by):
    output = tmp_path / "out.mp4"
    run = stopped_at(film, output, 3)
    end_held(run, by)
    _, said = run.communicate()
    assert run.returncode == 130 and not output.exists(), said
    assert b"to resume" in said
    done = millrace(*command(film, output))
    assert b"earlier run" in done.stderr and output.read_bytes() == undisturbed[0]


def test_paused_it_goes_on(film, undisturbed, tmp_path):
    output = tmp_path / "out.mp4"
    run = stopped_at(film, output, 2)
    time.sleep(1)
    run.send_signal(signal.SIGCONT)
    assert run.wait(timeout=120) == 0
    assert output.read_bytes() == undisturbed[0]
    run.communicate()


def test_a_full_disk_costs_nothing_that_was_made(film, tmp_path):
    how = [*command(film, tmp_path / "out.mp4"), "--quality", "lossless"]
    whole = tmp_path / "whole.mp4"
    millrace(*[whole if one == tmp_path / "out.mp4" else one for one in how])
    output = tmp_path / "out.mp4"
    limit = whole.stat().st_size * 3 // 4  # more than any piece and what helpers share, less than the film

    def bounded():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    run = subprocess.Popen([str(PROGRAM), *map(str, how)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           preexec_fn=bounded)
    _, said = run.communicate()
    assert run.returncode == 1 and not output.exists() and pieces(output), said
    done = millrace(*how)
    assert b"earlier run" in done.stderr and output.read_bytes() == whole.read_bytes()


def test_damaged_pieces_are_made_again(film, undisturbed, tmp_path):
    output = tmp_path / "out.mp4"
    run = stopped_at(film, output, 6)
    run.kill()
    run.communicate()
    there = pieces(output)
    there[2].write_bytes(there[2].read_bytes()[:-7])
    there[3].write_bytes(b"")
    there[4].unlink()
    millrace(*command(film, output))
    assert output.read_bytes() == undisturbed[0]


def test_other_options_do_not_go_on_with_it(film, tmp_path):
    output = tmp_path / "out.mp4"
    run = stopped_at(film, output, 2)
    run.kill()
    run.communicate()
    there = {one.name: one.read_bytes() for one in pieces(output)}
    for more in (["--crf", "30"], ["--segment", "0.9"], ["--encoder-threads", "1"], ["--smooth", "2"]):
        done = millrace(*command(film, output), *more, check=False)
        assert done.returncode == 1 and "made differently" in done.stderr.decode()
    assert {one.name: one.read_bytes() for one in pieces(output)} == there


def test_hostile_films_end_in_an_outcome(tmp_path):
    """Bytes of containers and streams changed: whatever becomes of the helper, the program says it and leaves nothing."""
    source = {"a.mp4": ["-c:v", "libx264", "-bf", "2"], "a.mkv": ["-c:v", "libvpx-vp9"], "a.ts": ["-c:v", "mpeg2video"],
              "a.avi": ["-c:v", "mpeg4"], "a.mov": ["-c:v", "prores_ks"]}
    chance = random.Random(11)
    for name, how in source.items():
        whole = made(tmp_path / name, *how, seconds=0.6).read_bytes()
        for k in range(2 if RAMPS.exists() else 8):
            broken = bytearray(whole)
            for _ in range(chance.choice([1, 4, 40])):
                at = chance.randrange(len(broken)) if k % 2 else chance.randrange(min(len(broken), 800))
                broken[at] = chance.randrange(256)
            if k % 4 == 3:
                del broken[chance.randrange(len(broken)):]
            film = tmp_path / f"broken-{name}"
            film.write_bytes(broken)
            output = tmp_path / "out.mkv"
            done = millrace("video", film, "-o", output, "--quality", "low", "--progress", "none", check=False, timeout=120)
            assert done.returncode in (0, 1, 3), (name, k, done.stderr)
            assert output.exists() == (done.returncode != 1)
            if output.exists():
                assert times(output)
                output.unlink()
            assert not pieces(output) or done.returncode == 1
            for left in pieces(output):
                left.unlink()
