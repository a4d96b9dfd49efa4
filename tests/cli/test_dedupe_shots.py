"""Pictures that look alike and are no copies: frames of a stack, shots of a burst, mirrored drawings, what a camera wrote twice."""

import io
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from searches import goes, searched  # noqa: E402

pytest.importorskip("PIL")
import numpy  # noqa: E402
from holdings import jpeg  # noqa: E402
from PIL import Image, ImageDraw, ImageFilter  # noqa: E402
from raw import dng  # noqa: E402
from variants import scene  # noqa: E402

PICTURE = scene(1200, 900, 7)
TAKEN = "2024:05:01 12:30:05"


def exif(taken=TAKEN, subsecond=None, note=True, camera=("Maker", "Model")):
    out = Image.Exif()
    out[271], out[272] = camera
    inner = out.get_ifd(0x8769)
    inner[36867] = taken
    if subsecond:
        inner[37521] = subsecond
    if note:
        inner[37500] = b"as the camera writes it" * 9
    return out


def kinds_of(found):
    return sorted(group["kind"] for group in found["groups"])


def halves(left, right):
    out = left.copy()
    middle = left.width // 2
    out.paste(right.crop((middle, 0, right.width, right.height)), (middle, 0))
    return out


@pytest.mark.parametrize("sigma", [0.8, 1.5, 3])
def test_frames_of_a_focus_stack_both_stay(tmp_path, sigma):
    soft = PICTURE.filter(ImageFilter.GaussianBlur(sigma))
    files = {"1.jpg": jpeg(halves(PICTURE, soft)), "2.jpg": jpeg(halves(soft, PICTURE)), "3.jpg": jpeg(halves(soft, PICTURE), quality=80, qtables=None)}
    found, members, _ = searched(tmp_path, files)
    assert goes(members) == ["3.jpg"] and "altered" in kinds_of(found)


def test_a_softer_copy_goes(tmp_path):
    files = {"1.jpg": jpeg(PICTURE), "2.jpg": jpeg(PICTURE.filter(ImageFilter.GaussianBlur(0.8)), qtables=None, quality=85)}
    assert goes(searched(tmp_path, files)[1]) == ["2.jpg"]


def letter(turned=None):
    image = Image.new("RGB", (800, 800), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((250, 100, 320, 700), fill="black")
    pen.ellipse((250, 400, 560, 710), outline="black", width=70)
    return image if turned is None else image.transpose(turned)


TURNS = [Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_90]


@pytest.mark.parametrize("turned", TURNS, ids=str)
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_mirrored_or_turned_drawings_are_shown_and_stay(tmp_path, turned, kind):
    def saved(image):
        out = io.BytesIO()
        image.save(out, kind)
        return out.getvalue()

    _, members, _ = searched(tmp_path, {f"b.{kind.lower()}": saved(letter()), f"d.{kind.lower()}": saved(letter(turned))})
    assert len(members) == 2 and goes(members) == []


@pytest.mark.parametrize("turned", TURNS, ids=str)
def test_mirrored_or_turned_photographs_go(tmp_path, turned):
    files = {"a.jpg": jpeg(PICTURE, exif=exif()), "b.jpg": jpeg(PICTURE.transpose(turned), quality=85, qtables=None)}
    assert goes(searched(tmp_path, files)[1]) == ["b.jpg"]


def test_a_drawing_turned_by_its_exif_goes(tmp_path):
    lies = Image.Exif()
    lies[274] = 8  # shown turned by a quarter
    out = io.BytesIO()
    letter(Image.Transpose.ROTATE_270).save(out, "JPEG", quality=80, exif=lies)
    assert goes(searched(tmp_path, {"a.jpg": jpeg(letter()), "b.jpg": out.getvalue()})[1]) == ["b.jpg"]


LARGE = scene(2000, 1500, 5)
SMALL = LARGE.resize((1400, 1050))
RAW = dng(numpy.asarray(LARGE), preview=(1400, 1050, jpeg(SMALL, qtables=None, quality=90)), taken=TAKEN)
OWN = jpeg(SMALL, exif=exif())


def test_raw_and_the_cameras_jpeg_both_stay_in_two_folders(tmp_path):
    files = {"raw/IMG_7.DNG": RAW, "jpg/IMG_7.JPG": OWN, "web/small.jpg": jpeg(SMALL.resize((900, 675)), qtables=None, quality=70)}
    _, members, _ = searched(tmp_path, files)
    assert goes(members) == ["web/small.jpg"]


@pytest.mark.parametrize("name, picture", [
    ("jpg/IMG_8.JPG", OWN),
    ("jpg/IMG_7.JPG", jpeg(SMALL, exif=exif("2024:05:01 12:30:06"))),
    ("jpg/IMG_7.JPG", jpeg(SMALL, exif=exif(camera=("Maker", "Other")))),
], ids=["stem", "time", "camera"])
def test_what_is_not_of_one_shot_is_not_told_as_one(tmp_path, name, picture):
    _, members, _ = searched(tmp_path, {"raw/IMG_7.DNG": RAW, name: picture})
    assert not any("the same shot" in member.get("why", "") for member in members.values())


def test_a_saved_export_goes_for_its_raw(tmp_path):
    export = jpeg(SMALL, qtables=None, quality=80, exif=exif(note=False))
    assert goes(searched(tmp_path, {"raw/IMG_7.DNG": RAW, "export/IMG_7.JPG": export})[1]) == ["export/IMG_7.JPG"]


def test_copies_of_a_burst_stand_with_their_shots(tmp_path):
    files = {}
    for k in range(5):
        shot = PICTURE.copy()
        pen = ImageDraw.Draw(shot)
        pen.ellipse((500 + 4 * k, 300, 640 + 4 * k, 440), fill=(200, 40, 40))
        files[f"card/IMG_{k}.JPG"] = jpeg(shot, exif=exif(subsecond=f"{k}00"))
        files[f"sent/{k}.jpg"] = jpeg(shot.resize((480, 360), Image.Resampling.LANCZOS), qtables=None, quality=50)
    found, members, _ = searched(tmp_path, files)
    assert goes(members) == [f"sent/{k}.jpg" for k in range(5)]
    for group in found["groups"]:
        if any(not member["keep"] for member in group["members"]):
            assert {pathlib.Path(m["path"]).stem[-1] for m in group["members"]} in [{str(k)} for k in range(5)]


def test_reasons_tell_files_of_one_name_apart(tmp_path):
    files = {"card/IMG_1.JPG": jpeg(PICTURE, exif=exif()), "phone/IMG_1.JPG": jpeg(PICTURE.resize((600, 450)), qtables=None, quality=70)}
    _, members, _ = searched(tmp_path, files)
    assert "card/IMG_1.JPG" in members["phone/IMG_1.JPG"]["why"]
