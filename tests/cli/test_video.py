"""`video` over films that FFmpeg makes: what of a film is kept, and what is refused."""

import json
import os
import sys

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from films import X264, ffmpeg, frames, looked_at, made, needs_ffmpeg, payload, same_frames, streams, times, video
from program import millrace
from segmenting import needs_runtime, runtime

pytestmark = [needs_ffmpeg]


def passed(film, output, *more):
    video(film, output, "--quality", "lossless", *more)
    return output


FILMS = {
    "b-frames.mp4": [*X264, "-bf", "3"],
    "b-frames.mkv": [*X264, "-bf", "3"],
    "variable.mp4": ["-vf", "select='not(mod(n,3))+lt(mod(n,7),2)'", "-vsync", "vfr", *X264, "-bf", "2"],
    "hours.mp4": ["-output_ts_offset", "360000", *X264],
    "hours.mkv": ["-output_ts_offset", "360000", *X264],
    "gap.mp4": ["-vf", r"setpts=PTS+if(gt(N\,9)\,400/TB\,0)", "-vsync", "vfr", *X264],
    "odd.mkv": ["-vf", "crop=95:63:0:0:exact=1", "-c:v", "ffv1", "-pix_fmt", "yuv420p"],
    "one.mp4": ["-frames:v", "1", *X264],
    "full.mov": ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"],
    "ten.mp4": ["-c:v", "libx265", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p10le"],
    "four.mkv": ["-c:v", "ffv1", "-pix_fmt", "yuv444p"],
    "two.avi": ["-c:v", "rawvideo", "-pix_fmt", "yuyv422"],
    "semi.avi": ["-c:v", "rawvideo", "-pix_fmt", "nv12"],
    "broadcast.ts": ["-c:v", "mpeg2video"],
    "free.webm": ["-c:v", "libvpx-vp9", "-b:v", "0"],
}
SAMPLES = {"ten.mp4": "yuv420p10le", "four.mkv": "yuv444p", "two.avi": "yuv422p", "full.mov": "yuvj420p"}


@pytest.mark.parametrize("container", ["mp4", "mkv"])
@pytest.mark.parametrize("name", FILMS)
def test_every_picture_and_its_time_is_kept(tmp_path, name, container):
    film = made(tmp_path / name, *FILMS[name])
    out = passed(film, tmp_path / f"out.{container}")
    samples = SAMPLES.get(name, "yuv420p")
    assert same_frames(frames(film, samples), frames(out, samples))
    exact = container == "mp4"
    found, wanted = times(out), times(film)
    assert len(found) == len(wanted) > 0
    assert np.abs(np.array(found) - wanted).max() <= (1e-6 if exact else 0.001)


def test_nothing_beside_the_pictures_is_lost(tmp_path):
    (tmp_path / "chapters.txt").write_text(";FFMETADATA1\ntitle=A walk\nartist=Nobody\n[CHAPTER]\nTIMEBASE=1/1000\n"
                                           "START=0\nEND=700\ntitle=One\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=700\n"
                                           "END=2000\ntitle=Two\n")
    (tmp_path / "words.srt").write_text("1\n00:00:00,100 --> 00:00:00,900\nHello\n\n"
                                        "2\n00:00:01,000 --> 00:00:01,500\nthere\n")
    tone = ["-f", "lavfi", "-i", "sine=frequency=440:duration=2", "-f", "lavfi", "-i", "sine=frequency=220:duration=2"]
    source = ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=2"]
    small = ["-f", "lavfi", "-i", "testsrc=size=32x32:rate=5:duration=2"]
    for name, words in (("film.mkv", "srt"), ("film.mp4", "mov_text")):
        film = tmp_path / name
        ffmpeg(*source, *tone, *small, "-i", tmp_path / "words.srt", "-i", tmp_path / "chapters.txt", "-map", "0", "-map",
               "1", "-map", "2", "-map", "3", "-map", "4", "-map_metadata", "5", "-map_chapters", "5", "-c:v", "libx264", "-c:a",
               "aac", "-c:s", words, "-metadata:s:a:0", "language=fin", "-metadata:s:a:1", "language=eng",
               "-disposition:a:1", "default", "-vf:v:0", "setsar=4/3", film)
        out = passed(film, tmp_path / f"out-{name}")
        before, after = looked_at(film), looked_at(out)
        assert [(one["codec_type"], one.get("tags", {}).get("language")) for one in after["streams"]] == [
            (one["codec_type"], one.get("tags", {}).get("language")) for one in before["streams"]]
        assert after["streams"][0]["sample_aspect_ratio"] == before["streams"][0]["sample_aspect_ratio"] == "4:3"
        for stream in range(1, len(before["streams"])):
            if before["streams"][stream]["codec_type"] == "data":
                continue  # MP4's chapters
            assert payload(out, stream) == payload(film, stream) != []
            assert np.abs(np.array(times(out, stream)) - times(film, stream)).max() <= (0.001 if name == "film.mkv" else 1e-6)
            assert after["streams"][stream]["disposition"] == before["streams"][stream]["disposition"]
        assert [(one["start_time"], one["end_time"], one["tags"]["title"]) for one in after["chapters"]] == [
            (one["start_time"], one["end_time"], one["tags"]["title"]) for one in before["chapters"]]
        assert len(after["chapters"]) == 2
        assert after["format"]["tags"]["title"] == "A walk"


def test_what_a_container_cannot_carry_is_said(tmp_path):
    (tmp_path / "words.srt").write_text("1\n00:00:00,100 --> 00:00:00,900\nHello\n")
    film = tmp_path / "film.mp4"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=1", "-i", tmp_path / "words.srt", *X264, "-c:s",
           "mov_text", film)
    plan = video(film, tmp_path / "out.mkv", "--plan").stdout.decode()
    assert "mov_text" in plan and not (tmp_path / "out.mkv").exists()
    done = video(film, tmp_path / "out.mkv", "--json", tmp_path / "r.json")
    assert "mov_text" in done.stderr.decode()
    assert [one["codec"] for one in json.loads((tmp_path / "r.json").read_text())["left_out"]] == ["mov_text"]
    assert json.loads((tmp_path / "r.json").read_text())["frames"] == 10


def test_a_film_stays_turned(tmp_path):
    made(tmp_path / "lying.mp4", *X264)
    film = tmp_path / "film.mp4"
    ffmpeg("-i", tmp_path / "lying.mp4", "-c", "copy", "-metadata:s:v:0", "rotate=90", film)
    turned = [one["rotation"] for one in streams(film)[0]["side_data_list"]]
    out = passed(film, tmp_path / "out.mp4")
    assert [one["rotation"] for one in streams(out)[0]["side_data_list"]] == turned
    assert same_frames(frames(film, "yuv420p"), frames(out, "yuv420p"))
    assert "turned" in video(film, tmp_path / "out.mkv").stderr.decode()


def test_colors_are_kept_and_what_nobody_says_is_filled_in_by_rule(tmp_path):
    tags = ["-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc", "-color_range", "tv"]
    film = made(tmp_path / "hdr.mp4", "-c:v", "libx265", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p10le", *tags)
    done = video(film, tmp_path / "out.mp4", "--json", tmp_path / "r.json")
    about = streams(tmp_path / "out.mp4")[0]
    assert (about["color_space"], about["color_transfer"], about["color_primaries"], about["pix_fmt"]) == (
        "bt2020nc", "smpte2084", "bt2020", "yuv420p10le")
    assert json.loads((tmp_path / "r.json").read_text())["filled_in"] == []
    for size, matrix in (("96x64", "smpte170m"), ("1280x720", "bt709"), ("720x576", "bt470bg")):
        film = made(tmp_path / f"{size}.mp4", *X264, size=size, seconds=0.3)
        done = video(film, tmp_path / f"out-{size}.mp4")
        assert "assumed" in done.stderr.decode()
        about = streams(tmp_path / f"out-{size}.mp4")[0]
        assert about["color_space"] == matrix and about["color_range"] == "tv"


def test_a_part_of_a_film(tmp_path):
    film = tmp_path / "film.mp4"
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=4", "-f", "lavfi", "-i", "sine=duration=4",
           *X264, "-bf", "2", "-g", "15", "-c:a", "aac", film)
    out = passed(film, tmp_path / "out.mkv", "--start", "1.2", "--end", "0:02.5")
    all_of, part = frames(film, "yuv420p"), frames(out, "yuv420p")
    assert len(part) == 13 and same_frames(part, all_of[12:25])
    assert np.abs(np.array(times(out)) - np.arange(13) / 10).max() <= 0.001
    sound = times(out, 1)
    assert 0 <= sound[0] < 0.05 and 1.2 < sound[-1] < 1.3
    wanted = payload(film, 1)
    found = payload(out, 1)
    assert found == wanted[wanted.index(found[0]):][:len(found)]
    assert video(film, tmp_path / "no.mkv", "--start", "2", "--end", "1", check=False).returncode == 2


def test_a_plan_says_what_it_takes_and_does_nothing(tmp_path):
    film = made(tmp_path / "film.mp4", *X264)
    plan = json.loads(video(film, tmp_path / "out.mp4", "--plan", "--json", "-").stdout)["plan"]
    assert plan["frames"] == 20 and plan["width"] == 96
    assert sorted(one.name for one in tmp_path.iterdir()) == ["film.mp4"]


# ---- what is refused, and what is said

def test_usage(tmp_path):
    film = made(tmp_path / "in" / "film.mkv", *X264)
    model = tmp_path / "in" / "m.onnx"
    model.write_bytes(b"is not looked at")

    def refused(*arguments, code=2):
        done = millrace("video", *arguments, check=False)
        assert done.returncode == code, done.stderr.decode()
        assert not list(tmp_path.glob("*.shards"))
        return done.stderr.decode()

    assert "-o" in refused(film)
    assert ".mp4" in refused(film, "-o", tmp_path / "out.txt")
    assert "--model" in refused(film, "-o", tmp_path / "out.mp4", "--write", "mask")
    assert "background" in refused(film, "-o", tmp_path / "out.mp4", "--write", "backdrop")
    assert ".mkv" in refused(film, "-o", tmp_path / "out.mov", "--codec", "vp9")
    assert "name a folder" in refused(film, film, "-o", tmp_path / "out.mp4")
    assert ".mov" in refused(film, "-o", tmp_path / "out.mp4", "--codec", "prores")
    assert ".mkv" in refused(film, "-o", tmp_path / "out.mp4", "--model", model, "--write", "alpha")
    assert "51" in refused(film, "-o", tmp_path / "out.mp4", "--crf", "60", "--codec", "h264")
    assert "lossless" in refused(film, "-o", tmp_path / "out.mp4", "--crf", "20", "--quality", "lossless")
    assert "--clean" in refused(film, "-o", tmp_path / "out.mp4", "--model", model, "--threshold", "0.2")
    # Options that change masks, where there are none: the message is about the one that was used.
    for option, value in ("--clean", "hard"), ("--smooth", "3"), ("--reuse", "0.1"), ("--scales", "0.5,1"), ("--stereo", "left"):
        words = refused(film, "-o", tmp_path / "out.mp4", option, value)
        assert words.startswith(f"millrace: {option}: "), words
    assert "--start" in refused(film, "-o", tmp_path / "out.mp4", "--start", "100")
    (tmp_path / "there.mp4").write_bytes(b"something of a person's")
    assert "there.mp4" in refused(film, "-o", tmp_path / "there.mp4", code=1)
    assert (tmp_path / "there.mp4").read_bytes() == b"something of a person's"
    own = tmp_path / "own.mkv"
    own.write_bytes(film.read_bytes())
    refused(own, "-o", own, code=1)
    refused(own, "-o", own, "--overwrite", code=1)
    assert own.read_bytes() == film.read_bytes()


def test_no_input_is_written_over_or_goes_with_the_pieces(tmp_path):
    """Whatever --overwrite says: the background, the model's card and the masks are inputs as the film is."""
    film = made(tmp_path / "film.mkv", *X264)
    beach = tmp_path / "beach.png"
    Image.new("RGB", (8, 8)).save(beach)
    model, card = tmp_path / "m.onnx", tmp_path / "m.json"
    model.write_bytes(b"is not looked at")
    card.write_text("{}")
    within = tmp_path / "out.mkv.shards" / "film.mkv"
    within.parent.mkdir()
    within.write_bytes(film.read_bytes())
    before = {one: one.read_bytes() for one in (film, beach, model, card, within)}
    masked = ["--model", model, "--overwrite"]

    def refused(*arguments):
        done = millrace("video", *arguments, "--progress", "none", check=False)
        assert done.returncode == 1, done.stderr.decode()
        assert {one: one.read_bytes() for one in before} == before
        return done.stderr.decode()

    assert "beach.png" in refused(film, "-o", beach, *masked, "--write", f"background={beach}", "--sample", "2")
    assert "m.json" in refused(film, *masked, "--benchmark", "--tune", card)
    assert "m.onnx" in refused(film, *masked, "--benchmark", "--tune", model)
    assert "folder for shards" in refused(within, "-o", tmp_path / "out.mkv", "--overwrite")
    assert "folder for shards" in refused(film, "-o", tmp_path / "out.mkv", *masked, "--write", f"background={within}")


def test_a_film_without_times(tmp_path):
    """A stream of its own, in no container: times are counted, and nobody says how long it is."""
    film = made(tmp_path / "film.h264", *X264, "-bf", "0", "-g", "5")
    out = passed(film, tmp_path / "out.mkv", "--start", "0.5", "--end", "1.5")
    assert same_frames(frames(out, "yuv420p"), frames(film, "yuv420p")[5:15])
    assert np.abs(np.array(times(out)) - np.arange(10) / 10).max() <= 0.001
    sheet = tmp_path / "sheet.png"
    done = video(film, sheet, "--sample", "2", check=False)
    assert done.returncode == 2 and b"--end" in done.stderr and not sheet.exists()
    video(film, sheet, "--sample", "2", "--end", "2")
    left, right = np.split(np.array(Image.open(sheet))[8:-8, 8:-8], 2, 1)
    assert (left[:, :80] != right[:, -88:-8]).any()


@needs_runtime
def test_a_model_that_keeps_a_state_is_refused_by_name(tmp_path):
    from onnx_fields import model as network, node, value_info
    (tmp_path / "m.onnx").write_bytes(network(
        [node("Add", "keep", ["src", "r1i"], "y"), node("Identity", "carry", ["y"], "r1o")], [],
        [value_info("src", [1, 3, 64, 96]), value_info("r1i", [1, 3, 64, 96])],
        [value_info("y", [1, 3, 64, 96]), value_info("r1o", [1, 3, 64, 96])]))
    made(tmp_path / "film.mp4", *X264)
    done = video(tmp_path / "film.mp4", tmp_path / "out.mp4", "--model", tmp_path / "m.onnx", check=False)
    assert done.returncode == 1 and "state" in done.stderr.decode() and "r1i" in done.stderr.decode()


def test_a_film_that_changes_in_the_middle_is_refused_with_the_place(tmp_path):
    for k, size in enumerate(("96x64", "64x64")):
        made(tmp_path / f"{k}.ts", "-c:v", "mpeg2video", "-output_ts_offset", 2 * k, size=size)
    film = tmp_path / "film.ts"
    film.write_bytes((tmp_path / "0.ts").read_bytes() + (tmp_path / "1.ts").read_bytes())
    done = video(film, tmp_path / "out.mp4", check=False)
    said = done.stderr.decode()
    assert done.returncode == 1 and "at 0:00:0" in said and "96 x 64" in said and "64 x 64" in said
    assert not (tmp_path / "out.mp4").exists()


def test_what_is_no_film(tmp_path):
    (tmp_path / "words.mp4").write_text("no film")
    (tmp_path / "empty.mp4").write_bytes(b"")
    ffmpeg("-f", "lavfi", "-i", "sine=duration=1", "-c:a", "aac", tmp_path / "sound.mp4")
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:duration=1", "-frames:v", "0", *X264, tmp_path / "nothing.mkv")
    for name in ("words.mp4", "empty.mp4", "sound.mp4", "nothing.mkv", "missing.mp4"):
        done = video(tmp_path / name, tmp_path / "out.mp4", check=False)
        assert done.returncode == 1 and name in done.stderr.decode(), name
        assert not (tmp_path / "out.mp4").exists() and not list(tmp_path.glob("*.shards"))


def test_a_film_that_is_cut_off_gives_what_it_holds(tmp_path):
    film = made(tmp_path / "film.ts", "-c:v", "mpeg2video", "-g", "5", seconds=3)
    whole = film.read_bytes()
    film.write_bytes(whole[:len(whole) // 2])
    done = video(film, tmp_path / "out.mp4", "--json", tmp_path / "r.json")
    made_of = json.loads((tmp_path / "r.json").read_text())
    assert 5 < made_of["frames"] < 30 and len(times(tmp_path / "out.mp4")) == made_of["frames"]
    assert done.returncode in (0, 3)


def test_without_its_helper(tmp_path):
    made(tmp_path / "film.mp4", *X264)
    (tmp_path / "none").mkdir()
    done = video(tmp_path / "film.mp4", tmp_path / "out.mp4", check=False, env={"MILLRACE_HELPERS": str(tmp_path / "none")})
    assert done.returncode == 4 and "millrace-film" in done.stderr.decode()


@pytest.mark.parametrize("container", ["mp4", "mkv", "mov", "webm"])
def test_a_film_that_was_made_is_known_again(tmp_path, container):
    film = made(tmp_path / "film.mp4", *X264)
    out = tmp_path / f"out.{container}"
    video(film, out)
    before = out.read_bytes(), out.stat().st_mtime_ns
    for more in ([], ["--plan"], ["--json", tmp_path / "r.json"]):
        assert "nothing" in (lambda done: done.stderr + done.stdout)(video(film, out, *more)).decode()
    said = json.loads((tmp_path / "r.json").read_text())
    assert said["made_before"] and said["published"] and said["frames"] == 20
    # Made otherwise, or of another film: neither taken for it nor replaced.
    refused = video(film, out, "--quality", "low", check=False)
    assert refused.returncode == 1 and "made differently" in refused.stderr.decode()
    made(film, *X264, source="testsrc")
    refused = video(film, out, check=False)
    assert refused.returncode == 1 and "made differently" in refused.stderr.decode()
    assert (out.read_bytes(), out.stat().st_mtime_ns) == before
    video(film, out, "--overwrite")
    assert out.read_bytes() != before[0]


def test_a_film_of_somebody_else_is_not_taken_for_a_made_one(tmp_path):
    film = made(tmp_path / "film.mp4", *X264)
    out = made(tmp_path / "out.mp4", *X264, "-metadata", "comment=Millrace 0123456789abcdef")
    before = out.read_bytes()
    refused = video(film, out, check=False)
    assert refused.returncode == 1 and "may not be an output of this program" in refused.stderr.decode()
    assert out.read_bytes() == before


def test_a_plan_says_how_long_and_how_much(tmp_path):
    film = made(tmp_path / "film.mp4", "-f", "lavfi", "-i", "sine=duration=20", *X264, "-c:a", "aac", size="320x180", rate=25,
                seconds=20)
    plan = json.loads(video(film, tmp_path / "out.mp4", "--plan", "--json", "-").stdout)["plan"]
    video(film, tmp_path / "out.mp4")
    assert plan["frames"] == 500 and plan["seconds"] > 0 and plan["frames_per_second"] > 0
    assert set(plan["stages_cpu_ms"]) == {"decode", "composite", "encode"}
    # A pattern that moves evenly: any part of it is as the whole.
    assert plan["bytes"] == pytest.approx((tmp_path / "out.mp4").stat().st_size, rel=0.5)
    part = json.loads(video(film, tmp_path / "part.mp4", "--plan", "--start", "5", "--end", "10", "--json", "-").stdout)["plan"]
    assert part["frames"] == 125
    # It is there: nothing is left to do, and nothing is measured.
    again = json.loads(video(film, tmp_path / "out.mp4", "--plan", "--json", "-").stdout)["plan"]
    assert again["seconds"] == 0 and "stages_cpu_ms" not in again
