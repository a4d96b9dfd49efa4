"""`video --part K/N`: one film made by several runs, in any order, at once, one of them killed."""

import itertools
import json
import os
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import onnx_model as onnx
from films import X264, ffmpeg, made, needs_ffmpeg, video
from program import PROGRAM
from segmenting import needs_runtime, runtime

pytestmark = [needs_ffmpeg]

SOURCE = ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=6"]
FILMS = {
    "uneven.mp4": [*SOURCE, "-f", "lavfi", "-i", "sine=duration=6", "-vf", "select='not(eq(mod(n,5),2))'", "-vsync", "vfr",
                   "-c:v", "libx264", "-g", "17", "-x264-params", "open-gop=1:bframes=3"],
    "gap.mkv": [*SOURCE, "-vf", r"setpts=PTS+if(gt(N\,19)\,7/TB\,0)", "-vsync", "vfr", "-c:v", "libx264", "-g", "60"],
    "late.ts": [*SOURCE, "-c:v", "mpeg2video", "-bf", "2", "-g", "13"],
    "raw.h264": [*SOURCE, "-c:v", "libx264", "-bf", "2", "-g", "20"],
    "short-end.flv": ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=4.24", "-c:v", "flv1"],
    "no-times.avi": [*SOURCE, "-c:v", "mpeg4", "-bf", "2", "-g", "20"],
    "short.mp4": ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=0.4", *X264],
}


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    for name, how in FILMS.items():
        ffmpeg(*how, folder / name)
    (folder / "m.onnx").write_bytes(onnx.color([[60, -60, -60]], [-15], 32, 48))
    return folder


def part(film, output, which, *more, **options):
    return video(film, output, "--part", which, "--segment", "0.7", *more, **options)


def test_runs_of_another_number_are_refused(films, tmp_path):
    name = next(iter(FILMS))
    part(films / name, tmp_path / "out.mkv", "1/3")
    done = part(films / name, tmp_path / "out.mkv", "2/4", check=False)
    assert done.returncode == 1 and b"shared by 3 runs, and this is one of 4" in done.stderr, done.stderr


@pytest.mark.parametrize("name", FILMS)
def test_parts_in_any_order_are_the_same_as_one_run(films, tmp_path, name):
    more = {"uneven.mp4": ["--start", "0.25", "--end", "5.5"], "raw.h264": ["--start", "0.5"]}.get(name, [])
    video(films / name, tmp_path / "one.mkv", "--segment", "0.7", *more)
    wanted = (tmp_path / "one.mkv").read_bytes()
    for k, order in enumerate([(1, 2, 3), (3, 2, 1), (2, 3, 1)]):
        output = tmp_path / f"{k}.mkv"
        said = []
        for index in order:
            part(films / name, output, f"{index}/3", *more, "--json", tmp_path / "r.json")
            said.append(json.loads((tmp_path / "r.json").read_text()))
        assert output.read_bytes() == wanted
        assert not output.with_suffix(".mkv.shards").exists()
        if name != "short.mp4":
            assert [one["published"] for one in said] == [False, False, True]
            assert said[2]["taken"] > 0
            assert sum(one["frames"] for one in said[:2]) == said[2]["taken"]


@needs_runtime
@pytest.mark.parametrize("how", [["--smooth", "4"], ["--reuse", "0.05"], ["--smooth", "12", "--reuse", "0.02"]])
def test_what_looks_back_is_the_same_in_parts(films, tmp_path, how):
    model = ["--model", films / "m.onnx", "--activation", "sigmoid", "--write", "overlay", *how]
    film = films / "uneven.mp4"
    video(film, tmp_path / "one.mp4", "--segment", "0.7", *model)
    for index in (2, 1):
        part(film, tmp_path / "two.mp4", f"{index}/2", *model)
    assert (tmp_path / "two.mp4").read_bytes() == (tmp_path / "one.mp4").read_bytes()
    masks = ["--model", films / "m.onnx", "--activation", "sigmoid", "--write", "matte-files", *how]
    video(film, tmp_path / "masks", "--segment", "0.7", *masks)
    for index in (2, 1):
        part(film, tmp_path / "masks-2", f"{index}/2", *masks)
    one, two = ({each.name: each.read_bytes() for each in (tmp_path / name).iterdir()} for name in ("masks", "masks-2"))
    assert one == two


def test_parts_at_once(films, tmp_path):
    film = films / "uneven.mp4"
    video(film, tmp_path / "one.mp4", "--segment", "0.3")
    for k in range(3):
        output = tmp_path / f"{k}.mp4"
        runs = [subprocess.Popen([str(PROGRAM), "video", film, "-o", output, "--segment", "0.3", "--part", f"{index}/4",
                                  "--progress", "none"], stderr=subprocess.PIPE) for index in (1, 2, 3, 4)]
        said = [run.communicate()[1].decode() for run in runs]
        assert [run.returncode for run in runs] == [0] * 4, said
        assert output.read_bytes() == (tmp_path / "one.mp4").read_bytes()
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["one.mp4"] + [f"{i}.mp4" for i in range(k + 1)])


def test_a_part_that_is_missing_is_made_by_whoever_comes(films, tmp_path):
    film = films / "uneven.mp4"
    video(film, tmp_path / "one.mp4", "--segment", "0.7")
    for which in ("1/3", "3/3", "3/3"):
        done = part(film, tmp_path / "out.mp4", which)
        assert "shards are missing" in done.stderr.decode() and not (tmp_path / "out.mp4").exists()
    other = part(film, tmp_path / "out.mp4", "2/3", "--quality", "low", check=False)
    assert other.returncode == 1 and "made differently" in other.stderr.decode()
    # The same command without a part makes what is missing, and no more.
    done = video(film, tmp_path / "out.mp4", "--segment", "0.7", "--json", tmp_path / "r.json")
    said = json.loads((tmp_path / "r.json").read_text())
    assert 0 < said["taken"] < said["frames"] and "made by an earlier run" in done.stderr.decode()
    assert (tmp_path / "out.mp4").read_bytes() == (tmp_path / "one.mp4").read_bytes()
    # Who comes late has nothing to do.
    state = (tmp_path / "out.mp4").stat()
    late = part(film, tmp_path / "out.mp4", "2/3")
    assert "nothing to do" in late.stderr.decode()
    assert (tmp_path / "out.mp4").stat().st_mtime_ns == state.st_mtime_ns


def test_a_piece_that_does_not_go_with_the_others_is_made_once_more(films, tmp_path):
    """Somebody decoded it from its middle, and got other pictures: here it is of another film of the same times."""
    film, other = films / "uneven.mp4", tmp_path / "other.mp4"
    ffmpeg(*FILMS["uneven.mp4"][:-8], "-vf", "select='not(eq(mod(n,5),2))',hue=h=90", *FILMS["uneven.mp4"][-8:], other)
    video(film, tmp_path / "one.mp4", "--segment", "0.7")
    for which in ("1/3", "2/3"):
        part(film, tmp_path / "out.mp4", which)
    part(other, tmp_path / "foreign.mp4", "2/3")
    name = "00000004.packets"
    assert (tmp_path / "out.mp4.shards" / name).exists()
    shutil.copy(tmp_path / "foreign.mp4.shards" / name, tmp_path / "out.mp4.shards" / name)
    done = part(film, tmp_path / "out.mp4", "3/3")
    assert "shard 4 does not continue the one before it" in done.stderr.decode()
    assert (tmp_path / "out.mp4").read_bytes() == (tmp_path / "one.mp4").read_bytes()


@pytest.mark.parametrize("text", ["0/2", "3/2", "", "1", "1/0"])
def test_what_is_no_part_is_refused(films, tmp_path, text):
    done = part(films / "short.mp4", tmp_path / "out.mp4", text, check=False)
    assert done.returncode == 2 and not list(tmp_path.iterdir())


def test_a_part_keeps_out_who_would_make_all(films, tmp_path):
    """A run that shares the folder has it: one that does not waits for nobody, and changes nothing."""
    film = made(tmp_path / "long.mp4", *X264, size="640x480", rate=30, seconds=20)
    run = subprocess.Popen([str(PROGRAM), "video", film, "-o", tmp_path / "out.mp4", "--part", "1/2", "--segment", "1",
                            "--profile", "quality", "--progress", "none"], stderr=subprocess.DEVNULL)
    try:
        for _ in itertools.count():
            if (tmp_path / "out.mp4.shards" / "run.json").exists():
                break
            assert run.poll() is None
        done = video(film, tmp_path / "out.mp4", "--segment", "1", "--profile", "quality", check=False)
        assert done.returncode == 1 and "another run" in done.stderr.decode()
    finally:
        run.kill()
        run.wait()


@pytest.mark.parametrize("name, more", [("raw.h264", ["--start", "0.5"]), ("short-end.flv", []), ("late.ts", []),
                                        ("gap.mkv", ["--end", "20"])])
def test_any_piece_that_is_missing_is_made_as_it_was(films, tmp_path, name, more):
    """What a run that was killed leaves, whichever pieces those are."""
    video(films / name, tmp_path / "one.mkv", "--segment", "0.7", *more)
    wanted = (tmp_path / "one.mkv").read_bytes()
    # Two parts of three leave the pieces of these; all but one are then taken away.
    for keep in (0, 1):
        output = tmp_path / f"{keep}.mkv"
        for which in ("1/3", "2/3"):
            part(films / name, output, which, *more)
        for k, piece in enumerate(sorted((tmp_path / f"{keep}.mkv.shards").glob("*.packets"))):
            if k % 2 == keep:
                piece.unlink()
        video(films / name, output, "--segment", "0.7", *more)
        assert output.read_bytes() == wanted and not (tmp_path / f"{keep}.mkv.shards").exists()


def test_what_a_run_left_beside_a_whole_film_goes(films, tmp_path):
    """Killed between the film's name and the end; or come when the others had just ended."""
    film = films / "uneven.mp4"
    part(film, tmp_path / "out.mp4", "1/2")
    shutil.copytree(tmp_path / "out.mp4.shards", tmp_path / "kept")
    part(film, tmp_path / "out.mp4", "2/2")
    wanted = (tmp_path / "out.mp4").read_bytes()
    shutil.copytree(tmp_path / "kept", tmp_path / "out.mp4.shards")
    assert "nothing to do" in part(film, tmp_path / "out.mp4", "1/2").stderr.decode()
    assert (tmp_path / "out.mp4").read_bytes() == wanted and not (tmp_path / "out.mp4.shards").exists()
    # To replace what others have made is no part's to want.
    done = part(film, tmp_path / "out.mp4", "1/2", "--overwrite")
    assert "nothing to do" in done.stderr.decode() and (tmp_path / "out.mp4").read_bytes() == wanted
    assert not (tmp_path / "out.mp4.shards").exists()
    # Of something else nothing is taken away.
    part(film, tmp_path / "other.mp4", "1/2", "--quality", "low")
    os.rename(tmp_path / "other.mp4.shards", tmp_path / "out.mp4.shards")
    video(film, tmp_path / "out.mp4", "--segment", "0.7")
    assert (tmp_path / "out.mp4.shards").exists()


def test_a_piece_that_is_not_what_it_was_is_made_once_more(films, tmp_path):
    film = films / "uneven.mp4"
    video(film, tmp_path / "one.mp4", "--segment", "0.7")
    part(film, tmp_path / "out.mp4", "1/2")
    piece = sorted((tmp_path / "out.mp4.shards").glob("*.packets"))[1]
    data = bytearray(piece.read_bytes())
    data[50] ^= 1  # of a packet, which is looked at when it is needed
    piece.write_bytes(data)
    done = part(film, tmp_path / "out.mp4", "2/2")
    assert "has changed since it was made" in done.stderr.decode()
    assert (tmp_path / "out.mp4").read_bytes() == (tmp_path / "one.mp4").read_bytes()
