"""`video` with a model: what it sees, what becomes of its masks, and what the new film shows."""

import json
import os
import sys

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import onnx_model as onnx
from films import X264, ffmpeg, frames, from_numbers, made, needs_ffmpeg, same_frames, streams, times, video
from program import millrace
from segmenting import needs_runtime, runtime

pytestmark = [needs_ffmpeg]


# ---- with a model

RED = onnx.color([[60, -60, -60]], [-15], 64, 96)  # sigmoid of it: red, and nothing else


@pytest.fixture(scope="module")
def square(tmp_path_factory):
    """A red square that moves over gray, exactly so: 4:4:4, and nothing lost."""
    folder = tmp_path_factory.mktemp("square")
    (folder / "m.onnx").write_bytes(RED)
    (folder / "m.json").write_text('{"activation": "sigmoid", "classes": [{"name": "red", "color": "#00ff00"}]}')
    where = np.zeros((12, 64, 96), bool)
    for n in range(12):
        where[n, 16:36, 10 + 4 * n:30 + 4 * n] = True
    # Gray, and red of BT.601.
    from_numbers(folder / "film.mkv", [[np.where(one, red, gray).astype(np.uint8) for gray, red in
                                        ((126, 81), (128, 90), (128, 240))] for one in where], "yuv444p")
    return folder, where


def shown(square, tmp_path, what, *more, name="out.mkv"):
    video(square[0] / "film.mkv", tmp_path / name, "--model", square[0] / "m.onnx", "--write", what, "--codec", "ffv1",
          *more)
    return tmp_path / name


@needs_runtime
def test_a_mask(square, tmp_path):
    film = frames(shown(square, tmp_path, "mask"), "yuv444p")
    assert len(film) == 12
    for (y, u, v), where in zip(film, square[1]):
        assert (y == np.where(where, 235, 16)).all() and (u == 128).all() and (v == 128).all()


@needs_runtime
def test_what_a_mask_leaves_alone_is_the_film(square, tmp_path):
    film = frames(square[0] / "film.mkv", "yuv444p")
    for before, after, where in zip(film, frames(shown(square, tmp_path, "overlay"), "yuv444p"), square[1]):
        for plane, (x, y) in enumerate(zip(before, after)):
            assert (x[~where] == y[~where]).all()
            # Half of it is the class's own green: 145, 54 and 34 in BT.601.
            assert np.abs((x[where].astype(int) + [145, 54, 34][plane]) / 2 - y[where]).max() <= 1
    kept = frames(shown(square, tmp_path, "background=#0000ff", name="blue.mkv"), "yuv444p")
    for before, after, where in zip(film, kept, square[1]):
        for plane, (x, y) in enumerate(zip(before, after)):
            assert (x[where] == y[where]).all()
            assert np.abs(y[~where].astype(int) - [41, 240, 110][plane]).max() <= 1


@needs_runtime
def test_a_background_picture_covers_the_film(square, tmp_path):
    # Twice as wide as high, as the film is one and a half times: its sides are cut off, not squeezed.
    picture = np.zeros((40, 80, 3), np.uint8)
    picture[:, :10] = picture[:, 70:] = [255, 255, 255]
    Image.fromarray(picture).save(tmp_path / "stage.png")
    for y, _, _ in frames(shown(square, tmp_path, f"background={tmp_path / 'stage.png'}"), "yuv444p"):
        assert (y[0] == [235] * 0 + [16] * 96).sum() > 80
        assert y[0, 0] == y[0, 95] and abs(int(y[0, 48]) - 16) <= 1
    blurred = frames(shown(square, tmp_path, "blur", name="blur.mkv"), "yuv444p")
    film = frames(square[0] / "film.mkv", "yuv444p")
    for before, after, where in zip(film, blurred, square[1]):
        assert (before[0][where] == after[0][where]).all()


@needs_runtime
def test_alpha_and_side_by_side(square, tmp_path):
    film = frames(square[0] / "film.mkv", "yuv444p")
    for before, after, where in zip(film, frames(shown(square, tmp_path, "alpha"), "yuva444p"), square[1]):
        assert all((x == y).all() for x, y in zip(before, after))
        assert (after[3] == np.where(where, 255, 0)).all()
    for before, after, where in zip(film, frames(shown(square, tmp_path, "side-by-side", name="both.mkv"), "yuv444p"), square[1]):
        assert all((x == y[:, :96]).all() for x, y in zip(before, after))
        assert (after[0][:, 96:] == np.where(where, 235, 16)).all()
    webm = tmp_path / "cut-out.webm"
    ffmpeg("-i", square[0] / "film.mkv", "-pix_fmt", "yuv420p", "-c:v", "ffv1", tmp_path / "half.mkv")
    video(tmp_path / "half.mkv", webm, "--model", square[0] / "m.onnx", "--write", "alpha", "--crf", "10")
    assert streams(webm)[0]["tags"]["alpha_mode"] == "1"
    alpha = ffmpeg("-c:v", "libvpx-vp9", "-i", webm, "-f", "rawvideo", "-pix_fmt", "yuva420p", "-")
    alpha = np.frombuffer(alpha, np.uint8).reshape(12, -1)[:, -96 * 64:].reshape(12, 64, 96)
    assert np.abs(alpha.astype(int) - np.where(square[1], 255, 0)).mean() < 4


@needs_runtime
def test_a_model_sees_a_turned_film_upright(tmp_path):
    """A film that lies on its side: what is at its top as it is shown, the model finds there."""
    ramp = onnx.ramps(1, 96, 64)[0]  # 64 wide and 96 high, as the film is shown
    (tmp_path / "m.onnx").write_bytes(ramp)
    made(tmp_path / "lying.mkv", "-c:v", "libx264", "-qp", "0", "-pix_fmt", "yuv444p")
    turned, upright = tmp_path / "turned.mp4", tmp_path / "upright.mkv"
    ffmpeg("-i", tmp_path / "lying.mkv", "-c", "copy", tmp_path / "lying.mp4")
    ffmpeg("-i", tmp_path / "lying.mp4", "-c", "copy", "-metadata:s:v:0", "rotate=90", turned)
    ffmpeg("-i", turned, "-c:v", "ffv1", "-pix_fmt", "yuv444p", upright)  # which turns it
    quarters = streams(turned)[0]["side_data_list"][0]["rotation"] // 90  # to the left
    assert quarters % 4 in (1, 3)
    for film, out in ((upright, "a.mkv"), (turned, "b.mkv")):
        video(film, tmp_path / out, "--model", tmp_path / "m.onnx", "--activation", "sigmoid", "--codec", "ffv1")
    for (a, *_), (b, *_) in zip(frames(tmp_path / "a.mkv", "yuv444p"), frames(tmp_path / "b.mkv", "yuv444p")):
        assert (a == np.rot90(b, quarters)).all() and a.std() > 20


CONVERSIONS = {
    "601": (["-colorspace", "smpte170m", "-color_range", "tv"], "yuv420p", "96x64", "m=170m:r=tv"),
    "709": (["-colorspace", "bt709", "-color_range", "tv"], "yuv420p", "96x64", "m=709:r=tv"),
    "full": (["-colorspace", "bt709", "-color_range", "pc"], "yuv420p", "96x64", "m=709:r=pc"),
    "422": (["-colorspace", "smpte170m", "-color_range", "tv"], "yuv422p", "96x64", "m=170m:r=tv"),
    "10": (["-colorspace", "bt709", "-color_range", "tv"], "yuv420p10le", "96x64", "m=709:r=tv"),
}


@needs_runtime
@pytest.mark.parametrize("name", CONVERSIONS)
def test_what_a_model_sees_is_what_zscale_gives(tmp_path, name):
    tags, samples, size, told = CONVERSIONS[name]
    film = made(tmp_path / "film.mkv", "-vf", f"format={samples}", "-c:v", "ffv1", *tags, size=size, seconds=0.5)
    raw = ffmpeg("-i", film, "-f", "rawvideo", "-vf", f"zscale={told.replace('m=', 'min=').replace('r=', 'rin=')}:c=left:m=gbr:r=pc:f=bilinear,format=gbrp",
                 "-pix_fmt", "gbrp", "-")
    wanted = np.frombuffer(raw, np.uint8).reshape(-1, 3, 64, 96)
    for channel, plane in enumerate((2, 0, 1)):  # red, green and blue, of green, blue, red
        weights = np.zeros((1, 3))
        weights[0, channel] = 1
        (tmp_path / "m.onnx").write_bytes(onnx.color(weights, [0], 64, 96))
        out = tmp_path / f"{channel}.mkv"
        video(film, out, "--model", tmp_path / "m.onnx", "--write", "alpha", "--codec", "ffv1")
        deep = samples.endswith("10le")
        found = frames(out, samples.replace("yuv", "yuva"))
        for k, planes in enumerate(found):
            alpha = np.rint(planes[3].astype(float) * 255 / (1023 if deep else 255)).astype(int)
            assert (alpha == wanted[k, plane]).all()


def rolled_off(linear):
    """What brighter than white becomes, in sRGB of 8 bits: docs/video.md."""
    one, knee, peak = np.float32(1), np.float32(0.6), np.float32(1000) / np.float32(203)
    most = (peak - knee) / (one - knee)
    x = np.clip(linear, np.float32(0), peak)
    over = (x - knee) / (one - knee)
    x = np.where(x > knee, knee + (one - knee) * over * (one + over / (most * most)) / (one + over), x)
    level = np.floor(x * np.float32(16384) + np.float32(0.5)).astype(float) / 16384
    return np.floor(255 * np.where(level <= 0.0031308, 12.92 * level, 1.055 * level ** (1 / 2.4) - 0.055) + 0.5).astype(int)


@needs_runtime
@pytest.mark.parametrize("transfer", ["smpte2084", "arib-std-b67"])
def test_what_a_model_sees_of_hdr_is_what_zscale_gives_rolled_off(tmp_path, transfer):
    """The conversion is zscale's, in floating point and light of 203 cd/m2 for white; the rest is this definition."""
    tags = ["-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc", transfer, "-color_range", "tv"]
    film = made(tmp_path / "film.mkv", "-vf", "format=yuv420p10le", "-c:v", "ffv1", *tags, seconds=0.3)
    raw = ffmpeg("-i", film, "-f", "rawvideo", "-vf",
                 f"zscale=min=2020_ncl:rin=tv:tin={transfer}:pin=2020:c=left:m=gbr:r=pc:t=linear:p=709:npl=203:agamma=0:f=bilinear,"
                 "format=gbrpf32le", "-pix_fmt", "gbrpf32le", "-")
    wanted = rolled_off(np.frombuffer(raw, np.float32).reshape(-1, 3, 64, 96))
    assert wanted.min() == 0 and wanted.max() > 200
    for channel, plane in enumerate((2, 0, 1)):
        weights = np.zeros((1, 3))
        weights[0, channel] = 1
        (tmp_path / "m.onnx").write_bytes(onnx.color(weights, [0], 64, 96))
        video(film, tmp_path / f"{channel}.mkv", "--model", tmp_path / "m.onnx", "--write", "alpha", "--codec", "ffv1")
        for k, planes in enumerate(frames(tmp_path / f"{channel}.mkv", "yuva420p10le")):
            assert (np.rint(planes[3].astype(float) * 255 / 1023).astype(int) == wanted[k, plane]).all()


def test_the_bytes_depend_on_nothing_else(square, tmp_path):
    made(tmp_path / "film.mp4", *X264, seconds=3)
    seen = set()
    model = ["--model", square[0] / "m.onnx", "--write", "overlay"] if needs_runtime.args[0] is False else []
    for k, more in enumerate((["--threads", "1"], ["--threads", "2", "--requests", "3"], ["--threads", "4"],
                              ["--decoder-threads", "1"], ["--decoder-threads", "5"])):
        out = tmp_path / f"{k}.mp4"
        video(tmp_path / "film.mp4", out, "--segment", "0.7", *model, *more)
        seen.add(out.read_bytes())
    assert len(seen) == 1


# ---- what is done to masks, and how often a network is asked

def masks_of(folder):
    import csv
    rows = list(csv.DictReader(open(folder / "times.csv")))
    return [np.array(Image.open(folder / row["file"])) for row in rows], rows


def files(film, model, out, *more):
    done = video(film, out, "--model", model, "--write", "matte-files", "--json", f"{out}.json", *more)
    return masks_of(out)[0], json.loads(open(f"{out}.json").read()), done


@needs_runtime
def test_masks_as_files_and_a_film_made_of_them_without_a_model(square, tmp_path):
    film = square[0] / "film.mkv"
    found, said, _ = files(film, square[0] / "m.onnx", tmp_path / "masks")
    assert said["frames"] == 12 and all((one == np.where(where, 255, 0)).all() for one, where in zip(found, square[1]))
    rows = masks_of(tmp_path / "masks")[1]
    assert [float(row["seconds"]) for row in rows] == pytest.approx(times(film))
    direct = shown(square, tmp_path, "background=#0000ff", name="direct.mkv")
    video(film, tmp_path / "anew.mkv", "--masks", tmp_path / "masks", "--write", "background=#0000ff", "--codec", "ffv1")
    assert same_frames(frames(direct, "yuv444p"), frames(tmp_path / "anew.mkv", "yuv444p"))
    # A folder that is there is nobody's to replace, and not made once more.
    again = ["--model", square[0] / "m.onnx", "--write", "matte-files"]
    before = sorted((one.name, one.stat().st_mtime_ns) for one in (tmp_path / "masks").iterdir())
    assert "nothing to do" in video(film, tmp_path / "masks", *again).stderr.decode()
    refused = video(film, tmp_path / "masks", *again, "--smooth", "3", check=False)
    assert refused.returncode == 1 and "--smooth was '1', is '3'" in refused.stderr.decode()
    assert sorted((one.name, one.stat().st_mtime_ns) for one in (tmp_path / "masks").iterdir()) == before
    # Masks of another film.
    other = made(tmp_path / "other.mp4", *X264, rate=7)
    done = video(other, tmp_path / "wrong.mkv", "--masks", tmp_path / "masks", "--write", "overlay", check=False)
    assert done.returncode == 1 and "has no mask" in done.stderr.decode()
    (tmp_path / "masks" / "times.csv").write_text("file,seconds,time\n../film.mkv,0,0\n")
    done = video(film, tmp_path / "wrong.mkv", "--masks", tmp_path / "masks", "--write", "overlay", check=False)
    assert done.returncode == 1 and "line 2" in done.stderr.decode()


@needs_runtime
def test_cleaning(tmp_path):
    """Dust goes, a hole is filled, an edge is softened; in the film's own pixels, whatever the network's are."""
    (tmp_path / "m.onnx").write_bytes(RED)
    where = np.zeros((64, 96), bool)
    where[10:50, 20:70] = True
    where[28:31, 40:43] = False
    where[58:60, 5:7] = True
    from_numbers(tmp_path / "film.mkv", [[np.where(where, red, gray).astype(np.uint8) for gray, red in
                                          ((126, 81), (128, 90), (128, 240))]] * 3, "yuv444p")
    of = [tmp_path / "film.mkv", tmp_path / "m.onnx"]
    assert (files(*of, tmp_path / "as-is", "--activation", "sigmoid")[0][0] == np.where(where, 255, 0)).all()
    whole = where.copy()
    whole[28:31, 40:43] = True
    whole[58:60, 5:7] = False
    cleaned = files(*of, tmp_path / "cleaned", "--activation", "sigmoid", "--clean", "area=20,holes=20")[0][0]
    assert (cleaned == np.where(whole, 255, 0)).all()
    soft = files(*of, tmp_path / "soft", "--activation", "sigmoid", "--clean", "area=20,holes=20", "--feather", "3")[0][0]
    assert (soft[30, 60:80] < 255).any() and soft[30, 45] == 255 and soft[2, 2] == 0
    assert (np.diff(soft[30, 50:90].astype(int)) <= 0).all()


@needs_runtime
def test_smoothing_lags_and_says_so(square, tmp_path):
    film = square[0] / "film.mkv"
    plain = files(film, square[0] / "m.onnx", tmp_path / "plain")[0]
    smooth, _, done = files(film, square[0] / "m.onnx", tmp_path / "smooth", "--smooth", "3")
    assert "lag" in done.stderr.decode()
    weights = np.array([4096, 2867, 2007])  # 0.7 as much for each frame back
    for n, found in enumerate(smooth):
        before = [plain[n - k].astype(float) for k in range(3) if n >= k]
        wanted = np.tensordot(weights[:len(before)] / weights[:len(before)].sum(), np.array(before), 1)
        assert np.abs(found - wanted).max() <= 1
    # Pieces do not show: each begins with the frames before it.
    pieces = files(film, square[0] / "m.onnx", tmp_path / "pieces", "--smooth", "3", "--segment", "0.4")[0]
    assert all((a == b).all() for a, b in zip(smooth, pieces))


@needs_runtime
def test_a_mask_stands_while_nothing_moves(square, tmp_path):
    _, where = square
    still = [where[0]] * 6 + [where[5]] * 6
    from_numbers(tmp_path / "still.mkv", [[np.where(one, red, gray).astype(np.uint8) for gray, red in
                                           ((126, 81), (128, 90), (128, 240))] for one in still], "yuv444p")
    found, said, done = files(tmp_path / "still.mkv", square[0] / "m.onnx", tmp_path / "still", "--reuse", "0.03",
                              "--segment", "100")
    assert said["reused"] == 10 and "10 frames" in done.stderr.decode()
    assert all((one == np.where(wanted, 255, 0)).all() for one, wanted in zip(found, still))
    # The first of a piece is always looked at.
    assert files(tmp_path / "still.mkv", square[0] / "m.onnx", tmp_path / "pieces", "--reuse", "0.03", "--segment",
                 "0.3")[1]["reused"] == 12 - 4  # what moves does so where one begins
    # A change below the threshold does not add up unseen: it is measured from the last one that was looked at.
    slow = [[np.full((64, 96), 126 + 2 * n, np.uint8), np.full((64, 96), 128, np.uint8), np.full((64, 96), 128, np.uint8)]
            for n in range(12)]
    from_numbers(tmp_path / "slow.mkv", slow, "yuv444p")
    assert 5 <= files(tmp_path / "slow.mkv", square[0] / "m.onnx", tmp_path / "slow", "--reuse", "0.03", "--segment",
                      "100")[1]["reused"] <= 9


@needs_runtime
def test_a_fast_model_is_asked_first(square, tmp_path):
    film = square[0] / "film.mkv"
    (tmp_path / "unsure.onnx").write_bytes(onnx.color([[0, 0, 0]], [0.2], 64, 96))
    (tmp_path / "unsure.json").write_text('{"activation": "sigmoid"}')
    (tmp_path / "sure.onnx").write_bytes(onnx.color([[0, 0, 0]], [-20], 64, 96))
    (tmp_path / "sure.json").write_text('{"activation": "sigmoid"}')
    plain = files(film, square[0] / "m.onnx", tmp_path / "plain")[0]
    unsure, said, _ = files(film, square[0] / "m.onnx", tmp_path / "by-both", "--fast-model", tmp_path / "unsure.onnx")
    assert said["by_fast_model"] == 0 and all((a == b).all() for a, b in zip(plain, unsure))
    sure, said, _ = files(film, square[0] / "m.onnx", tmp_path / "by-one", "--fast-model", tmp_path / "sure.onnx")
    assert said["by_fast_model"] == 12 and not any(one.any() for one in sure)


@needs_runtime
def test_where_a_network_looks(square, tmp_path):
    film = square[0] / "film.mkv"
    where = square[1]
    for more in (["--scales", "2"], ["--scales", "1,2"], ["--region", "0,0,96,64"], ["--region", "auto"],
                 ["--stereo", "side-by-side"], ["--region", "0,8,48,32", "--region", "48,8,48,32"]):
        out = tmp_path / "-".join(more).replace(",", "_")
        found = files(film, square[0] / "m.onnx", out, *more)[0]
        for one, wanted in zip(found, where):
            if more[0] == "--stereo":
                continue  # eyes that see other things do not agree
            assert ((one >= 128) == wanted).mean() > 0.985, more
    # Outside of regions nothing is found.
    left = files(film, square[0] / "m.onnx", tmp_path / "left", "--region", "0,0,40,64")[0]
    for one, wanted in zip(left, where):
        assert not one[:, 44:].any() and ((one[:, :36] >= 128) == wanted[:, :36]).mean() > 0.98
    for refused in (["--region", "90,0,20,20"], ["--region", "1,2,3"], ["--region", "auto", "--scales", "2"],
                    ["--stereo", "left", "--region", "auto"], ["--fast-model", "x.onnx", "--region", "auto"]):
        done = video(film, tmp_path / "no.mkv", "--model", square[0] / "m.onnx", *refused, check=False)
        assert done.returncode == 2, refused


@needs_runtime
def test_two_eyes_agree(tmp_path):
    """What the right eye sees is further left; it misses a part, and has one that is not there."""
    (tmp_path / "m.onnx").write_bytes(onnx.color([[60, -60, -60]], [-15], 64, 48))
    (tmp_path / "m.json").write_text('{"activation": "sigmoid"}')
    left, right = np.zeros((64, 48), bool), np.zeros((64, 48), bool)
    left[20:50, 20:36] = True
    right[20:50, 15:31] = True  # moved by 5
    left[40:50, 28:36] = False  # the left eye misses a corner
    right[4:8, 40:44] = True    # the right eye sees dust
    for name, layout, axis in (("side-by-side", np.concatenate([left, right], 1), 1),
                               ("over-under", np.concatenate([left, right], 0), 0)):
        from_numbers(tmp_path / f"{name}.mkv", [[np.where(layout, red, gray).astype(np.uint8) for gray, red in
                                                 ((126, 81), (128, 90), (128, 240))]] * 2, "yuv444p")
        both = {}
        for how in ("average", "cross-check", "weighted"):
            one = files(tmp_path / f"{name}.mkv", tmp_path / "m.onnx", tmp_path / f"{name}-{how}", "--stereo", name,
                        "--eyes", how)[0][0]
            both[how] = np.split(one, 2, axis)
        assert both["cross-check"][0][42:48, 30:34].max() == 0
        assert both["cross-check"][1][5, 41] == 0  # dust goes
        assert both["cross-check"][1][42:48, 25:29].max() == 0  # what the left eye misses
        assert 120 <= both["average"][0][45, 32] <= 135 and 120 <= both["average"][1][5, 41] <= 135
        assert both["average"][0][30, 25] == 255 and both["average"][1][30, 20] == 255
    only = files(tmp_path / "side-by-side.mkv", tmp_path / "m.onnx", tmp_path / "left-only", "--stereo", "left")[0][0]
    assert (only[:, :48] == np.where(left, 255, 0)).all() and not only[:, 48:].any()


@needs_runtime
def test_a_sheet_and_a_benchmark_leave_no_film(square, tmp_path):
    film = square[0] / "film.mkv"
    video(film, tmp_path / "sheet.png", "--model", square[0] / "m.onnx", "--write", "overlay", "--sample", "5")
    sheet = np.array(Image.open(tmp_path / "sheet.png"))
    tinted = (sheet[:, :, 1] > 120) & (sheet[:, :, 0].astype(int) - sheet[:, :, 2] > 40)  # red and green, half and half
    assert abs(int(tinted.sum()) - 5 * 400) < 300
    done = millrace("video", film, "--model", square[0] / "m.onnx", "--benchmark", "--progress", "none", "--tune",
                    tmp_path / "fast.yaml", "--json", tmp_path / "b.json")
    said = json.loads((tmp_path / "b.json").read_text())
    assert said["frames"] == 12 and {"decode", "network", "composite", "encode"} <= set(said["stages_cpu_ms"])
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b.json", "fast.yaml", "sheet.png"]
    video(film, tmp_path / "out.mkv", "--model", square[0] / "m.onnx", "--config", tmp_path / "fast.yaml")
    assert "requests" in (tmp_path / "fast.yaml").read_text() and done.returncode == 0
