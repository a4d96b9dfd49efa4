"""`video` over folders of films: one of them that cannot be used costs no other anything."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import onnx_model as onnx
from films import X264, frames, made, needs_ffmpeg, same_frames
from program import PROGRAM, content_of, millrace
from segmenting import needs_runtime, runtime

pytestmark = [needs_ffmpeg]


def video(*inputs_and_output, check=True):
    """Inputs, the output, and options."""
    paths = list(inputs_and_output)
    options = next((k for k, one in enumerate(paths) if str(one).startswith("--")), len(paths))
    return millrace("video", *paths[:options - 1], "-o", paths[options - 1], "--progress", "none", *paths[options:],
                    check=check)


def state_of(folder):
    """But for the records of the films, of which tests of their own tell."""
    return {name: contents for name, contents in content_of(folder).items() if not name.endswith(".video.json")}


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    made(folder / "a.mp4", *X264)
    made(folder / "b.MOV", *X264, source="testsrc")
    made(folder / "deep" / "er" / "c.avi", "-c:v", "mpeg4")
    made(folder / "deep" / "a.mp4", *X264, source="smptebars")
    (folder / "broken.mkv").write_bytes(b"\x1a\x45\xdf\xa3 and nothing behind it")
    (folder / "component.ts").write_text("export const answer: number = 42;\n" * 50)
    (folder / "notes.txt").write_text("no film\n")
    made(folder / "named.bin", *X264, "-f", "mp4")
    return folder


NAMES = ["a.mp4", "b.MOV", "deep/a.mp4", "deep/er/c.avi.mkv"]


def test_a_folder_of_films(films, tmp_path):
    before = state_of(films)
    done = video(films, tmp_path / "out", "--json", tmp_path / "r.json")
    assert done.returncode == 3 and "broken.mkv" in done.stderr.decode()
    made_now = state_of(tmp_path / "out")
    assert sorted(made_now) == sorted([*NAMES, "run.json"])
    said = json.loads((tmp_path / "r.json").read_text())
    assert [os.path.relpath(one["film"]["path"], films) for one in said["films"]] == ["a.mp4", "b.MOV", "deep/a.mp4",
                                                                                    "deep/er/c.avi"]
    assert [one["frames"] for one in said["films"]] == [20] * 4
    assert [os.path.basename(one["path"]) for one in said["unusable"]] == ["broken.mkv"]
    # As each would be by itself.
    video(films / "deep" / "a.mp4", tmp_path / "alone.mp4")
    assert made_now["deep/a.mp4"] == (tmp_path / "alone.mp4").read_bytes()
    # Once more there is nothing to do; a film that is another one by now is made anew, and no other.
    again = video(films, tmp_path / "out", "--json", tmp_path / "r.json")
    assert "4 were already complete" in again.stderr.decode() and state_of(tmp_path / "out") == made_now
    assert all(one["made_before"] for one in json.loads((tmp_path / "r.json").read_text())["films"])
    made(films / "a.mp4", *X264, source="rgbtestsrc")
    video(films, tmp_path / "out")
    later = state_of(tmp_path / "out")
    assert {name for name in later if later[name] != made_now[name]} == {"a.mp4"}
    (films / "a.mp4").write_bytes(before["a.mp4"])
    assert state_of(films) == before


def test_several_that_are_named(films, tmp_path):
    (tmp_path / "x").mkdir()
    output = f"{tmp_path}/x/../out/"  # as people type
    video(films / "named.bin", films / "a.mp4", output, "--container", "mkv", "--quality", "lossless")
    assert sorted(state_of(tmp_path / "out")) == ["a.mp4.mkv", "named.bin.mkv", "run.json"]
    assert same_frames(frames(films / "a.mp4", "yuv420p"), frames(tmp_path / "out" / "a.mp4.mkv", "yuv420p"))


@pytest.mark.parametrize("more, word", [
    (["--sample", "3"], "--sample"), (["--benchmark"], "--benchmark"), (["--write", "overlay"], "model"),
    (["--codec", "h266"], "--codec")])
def test_what_is_wrong_for_all_of_them_makes_nothing(films, tmp_path, more, word):
    done = video(films, tmp_path / "out", *more, check=False)
    assert done.returncode == 2 and word in done.stderr.decode()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_of_this_job_or_otherwise_made_is_left_alone(films, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "holiday.txt").write_text("mine")
    for output, why in ((tmp_path / "mine", "not empty"), (films, "inside the results folder")):
        before = state_of(output)
        refused = video(films, output, check=False)
        assert refused.returncode == 1 and why in refused.stderr.decode()
        assert state_of(output) == before
    video(films / "deep", tmp_path / "out")
    before = state_of(tmp_path / "out")
    refused = video(films / "deep", tmp_path / "out", "--quality", "low", check=False)
    assert refused.returncode == 1 and "--quality was 'high', is 'low'" in refused.stderr.decode()
    assert state_of(tmp_path / "out") == before


def test_what_somebody_put_among_the_results_stays(films, tmp_path):
    video(films / "deep", tmp_path / "out")
    (tmp_path / "out" / "a.mp4").write_bytes(b"mine now")
    (tmp_path / "out" / "er" / "c.avi.mkv").unlink()
    (tmp_path / "out" / "er" / "c.avi.mkv").symlink_to(tmp_path / "nowhere")
    done = video(films / "deep", tmp_path / "out")
    assert done.returncode == 3 and done.stderr.decode().count("is not an unchanged output of an earlier run") >= 2
    assert (tmp_path / "out" / "a.mp4").read_bytes() == b"mine now"
    assert (tmp_path / "out" / "er" / "c.avi.mkv").is_symlink() and not (tmp_path / "nowhere").exists()


def test_two_of_one_name_are_told(films, tmp_path):
    done = video(films / "a.mp4", films / "deep" / "a.mp4", tmp_path / "out", check=False)
    assert done.returncode == 2 and "would have the same name" in done.stderr.decode() and not list(tmp_path.iterdir())


def test_results_inside_of_the_folder_are_no_films_of_it(films, tmp_path):
    made(tmp_path / "a.mp4", *X264)
    video(tmp_path, tmp_path / "out")
    first = state_of(tmp_path)
    video(tmp_path, tmp_path / "out")
    assert state_of(tmp_path) == first and sorted(first) == ["a.mp4", "out/a.mp4", "out/run.json"]


def test_parts_are_films(films, tmp_path):
    video(films, tmp_path / "one")
    for which in ("2/3", "3/3", "1/3"):
        done = video(films, tmp_path / "three", "--part", which, "--json", tmp_path / "r.json")
        said = json.loads((tmp_path / "r.json").read_text())
        assert len(said["films"]) + len(said["unusable"]) + said["left_to_other_parts"] == 5, done.stderr
    assert state_of(tmp_path / "three") == state_of(tmp_path / "one")


@needs_runtime
def test_masks_of_each_and_films_made_of_them(films, tmp_path):
    model = ["--model", tmp_path / "m.onnx", "--activation", "sigmoid"]
    (tmp_path / "m.onnx").write_bytes(onnx.color([[60, -60, -60]], [-15], 32, 48))
    video(films / "deep", tmp_path / "direct", *model, "--write", "overlay", "--codec", "ffv1", "--container", "mkv")
    video(films / "deep", tmp_path / "masks", *model, "--write", "matte-files")
    assert (tmp_path / "masks" / "er" / "c.avi.mattes" / "times.csv").exists()
    masks = state_of(tmp_path / "masks")
    assert "2 were already complete" in video(films / "deep", tmp_path / "masks", *model, "--write", "matte-files").stderr.decode()
    assert state_of(tmp_path / "masks") == masks
    video(films / "deep", tmp_path / "anew", "--masks", tmp_path / "masks", "--write", "overlay", "--codec", "ffv1",
          "--container", "mkv")
    for name in ("a.mp4.mkv", "er/c.avi.mkv"):
        pairs = zip(frames(tmp_path / "direct" / name, "yuv444p"), frames(tmp_path / "anew" / name, "yuv444p"), strict=True)
        # Files hold 256 levels of a mask.
        assert max(np.abs(a.astype(int) - b).max() for one, other in pairs for a, b in zip(one, other)) <= 1


def test_a_plan_of_all_of_them(films, tmp_path):
    done = video(films, tmp_path / "out", "--plan")
    said = done.stdout.decode()
    assert "about 80" in said and "broken.mkv" in said and not list(tmp_path.iterdir())
    done = video(films, tmp_path / "out", "--plan", "--json", "-")
    plan = json.loads(done.stdout)["plan"]
    assert plan["frames"] == 80 and plan["unusable"] == 1 and plan["seconds"] > 0 and plan["bytes"] > 0


def test_killed_it_goes_on(tmp_path):
    folder = tmp_path / "films"
    for name in "abc":
        made(folder / f"{name}.mp4", *X264, size="640x360", rate=30, seconds=6)
    video(folder, tmp_path / "whole", "--segment", "1", "--profile", "balanced")
    run = subprocess.Popen([str(PROGRAM), "video", folder, "-o", tmp_path / "out", "--segment", "1", "--profile", "balanced",
                            "--progress", "none"], stderr=subprocess.DEVNULL)
    while not list((tmp_path / "out").glob("b.mp4.shards/*.packets")) and run.poll() is None:
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    video(folder, tmp_path / "out", "--segment", "1", "--profile", "balanced", "--json", tmp_path / "r.json")
    assert state_of(tmp_path / "out") == state_of(tmp_path / "whole")
    said = json.loads((tmp_path / "r.json").read_text())["films"]
    assert said[0]["made_before"] and (said[1]["taken"] > 0 or said[1]["made_before"])


def test_a_link_among_the_results_leads_no_film_elsewhere(films, tmp_path):
    folder = tmp_path / "films"
    made(folder / "sub" / "a.mp4", *X264)
    video(films / "deep", tmp_path / "out")
    (tmp_path / "elsewhere").mkdir()
    for target in ("../films/sub", "../elsewhere"):
        (tmp_path / "out" / "sub").symlink_to(target)
        before = state_of(folder)
        done = video(folder, tmp_path / "out")
        assert done.returncode == 3 and "link that leads elsewhere" in done.stderr.decode()
        assert state_of(folder) == before and not list((tmp_path / "elsewhere").iterdir())
        (tmp_path / "out" / "sub").unlink()


def test_an_input_that_is_an_output_by_a_second_name_stays(films, tmp_path):
    folder = tmp_path / "films"
    made(folder / "a.mp4", *X264)
    video(films / "deep", tmp_path / "out")
    (tmp_path / "out" / "a.mp4").unlink()
    os.link(folder / "a.mp4", tmp_path / "out" / "a.mp4")
    before = (folder / "a.mp4").read_bytes()
    done = video(folder, tmp_path / "out")
    assert done.returncode == 3 and "one of the input videos" in done.stderr.decode()
    assert (folder / "a.mp4").read_bytes() == before


def test_what_takes_a_films_name_meanwhile_stays(tmp_path):
    folder = tmp_path / "films"
    made(folder / "a.mp4", *X264)
    video(folder, tmp_path / "out", "--segment", "1", "--profile", "quality")
    made(folder / "a.mp4", *X264, size="640x360", rate=30, seconds=6)
    run = subprocess.Popen([str(PROGRAM), "video", folder, "-o", tmp_path / "out", "--segment", "1", "--profile", "quality",
                            "--progress", "none"], stderr=subprocess.PIPE)
    while not list((tmp_path / "out").glob("a.mp4.shards/*.packets")) and run.poll() is None:
        time.sleep(0.01)
    (tmp_path / "mine").write_bytes(b"mine")
    os.rename(tmp_path / "mine", tmp_path / "out" / "a.mp4")
    said = run.communicate()[1].decode()
    assert run.returncode == 3 and "created or replaced it during this run" in said
    assert (tmp_path / "out" / "a.mp4").read_bytes() == b"mine"


def test_a_film_of_another_command_is_not_replaced(films, tmp_path):
    video(films / "deep", tmp_path / "out")
    other = tmp_path / "out" / "b.MOV"
    video(films / "b.MOV", other, "--crf", "30")
    before = other.read_bytes()
    done = video(films, tmp_path / "out")
    assert done.returncode == 3 and "made differently" in done.stderr.decode() and other.read_bytes() == before


def test_masks_of_a_film_that_has_changed_are_made_anew(tmp_path):
    folder = tmp_path / "films"
    made(folder / "a.mp4", *X264)
    (tmp_path / "m.onnx").write_bytes(onnx.color([[60, -60, -60]], [-15], 32, 48))
    masks = ["--write", "matte-files", "--model", tmp_path / "m.onnx", "--activation", "sigmoid"]
    first = video(folder, tmp_path / "out", *masks, check=False)
    if first.returncode == 4:
        pytest.skip("what runs models is not installed")
    before = state_of(tmp_path / "out")
    made(folder / "a.mp4", *X264, source="testsrc", seconds=1)
    video(folder, tmp_path / "out", *masks)
    after = state_of(tmp_path / "out")
    assert len(after) == len(before) - 10 and after["a.mp4.mattes/00000001.png"] != before["a.mp4.mattes/00000001.png"]
    # One that is not whole any more is told, and left as it is.
    (tmp_path / "out" / "a.mp4.mattes" / "00000003.png").unlink()
    done = video(folder, tmp_path / "out", *masks)
    assert done.returncode == 3 and "not an unchanged output" in done.stderr.decode()


def test_pieces_of_a_film_that_has_changed_go(tmp_path):
    folder = tmp_path / "films"
    made(folder / "a.mp4", *X264, size="640x360", rate=30, seconds=6)
    command = ["--segment", "1", "--profile", "quality"]
    run = subprocess.Popen([str(PROGRAM), "video", folder, "-o", tmp_path / "out", *command, "--progress", "none"],
                           stderr=subprocess.DEVNULL)
    while not list((tmp_path / "out").glob("a.mp4.shards/*.packets")) and run.poll() is None:
        time.sleep(0.01)
    run.kill()
    run.wait()
    made(folder / "a.mp4", *X264, source="testsrc")
    done = video(folder, tmp_path / "out", *command)
    assert done.returncode == 0
    video(folder / "a.mp4", tmp_path / "alone.mp4", *command)
    assert (tmp_path / "out" / "a.mp4").read_bytes() == (tmp_path / "alone.mp4").read_bytes()


def test_one_film_that_has_no_place_ends_no_other(films, tmp_path):
    folder = tmp_path / "films"
    made(folder / "a.mp4", *X264)
    made(folder / "run.json" / "b.mp4", *X264)
    made(folder / ("n" * 250 + ".mp4"), *X264)
    made(folder / "z.mp4", *X264)
    done = video(folder, tmp_path / "out", "--json", tmp_path / "r.json")
    said = json.loads((tmp_path / "r.json").read_text())
    assert done.returncode == 3 and len(said["unusable"]) == 2
    assert (tmp_path / "out" / "a.mp4").exists() and (tmp_path / "out" / "z.mp4").exists()


def test_damage_is_remembered(films, tmp_path):
    folder = tmp_path / "films"
    film = made(folder / "a.mp4", *X264, "-bf", "0", "-g", "1000", size="320x240", seconds=3)
    data = bytearray(film.read_bytes())
    at = data.index(b"mdat")
    for k in range(at + 9000, at + 9400):
        data[k] ^= 0x55
    film.write_bytes(data)
    for output in (tmp_path / "out", tmp_path / "alone.mp4"):
        inputs = folder if output.suffix == "" else film
        codes = [video(inputs, output, "--decoder-threads", "1").returncode for _ in range(2)]
        assert codes[0] == codes[1]
        if codes[0] != 3:
            pytest.skip("the decoder takes no notice")


def test_a_named_film_inside_of_the_results_is_told(films, tmp_path):
    video(films / "deep", tmp_path / "out")
    done = video(tmp_path / "out" / "a.mp4", films / "b.MOV", tmp_path / "out")
    assert done.returncode == 3 and "it is inside the results folder" in done.stderr.decode()
    (tmp_path / "empty").mkdir()
    assert "no videos were found" in video(tmp_path / "empty", tmp_path / "none").stderr.decode()
    assert not (tmp_path / "none").exists()


def test_a_plan_refuses_what_the_run_would(films, tmp_path):
    assert video(films, tmp_path / "out", "--plan", "--write", "overlay", check=False).returncode == 2
    video(films / "deep", tmp_path / "out")
    assert video(films / "deep", tmp_path / "out", "--plan", "--quality", "low", check=False).returncode == 1
    assert video(films, films, "--plan", check=False).returncode == 1
