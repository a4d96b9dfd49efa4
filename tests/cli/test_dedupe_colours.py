"""`dedupe` compares colours, not numbers: what a picture's profile says they mean."""

import io
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from searches import searched  # noqa: E402

pytest.importorskip("PIL")
from holdings import ADOBE_RGB, DISPLAY_P3, GRAY, SRGB, STARS, jpeg, matrix_profile, with_profile, with_xmp  # noqa: E402
from PIL import Image, ImageChops, ImageCms, ImageDraw, ImageFont  # noqa: E402
from variants import scene  # noqa: E402

ADOBE, P3, PLAIN = matrix_profile(ADOBE_RGB, b"A camera's"), matrix_profile(DISPLAY_P3, b"A phone's"), matrix_profile(SRGB, b"A plain one")


@pytest.fixture(scope="module")
def picture():
    return scene(960, 720, 3)


def converted(image, one, other):
    """As programs convert it."""
    return ImageCms.profileToProfile(image, io.BytesIO(one), io.BytesIO(other), renderingIntent=1)


def groups(tmp_path, files):
    found, _, _ = searched(tmp_path, files)
    name = lambda m: os.path.relpath(m["path"], tmp_path / "pictures")  # noqa: E731
    return [(g["kind"], {name(m): m["keep"] for m in g["members"]}) for g in found["groups"]]


def encoded(image, kind, profile):
    out = io.BytesIO()
    image.save(out, kind, icc_profile=profile, **({"quality": 95} if kind in ("JPEG", "WEBP") else {}), **({"subsampling": 0} if kind == "JPEG" else {}))
    return out.getvalue()


@pytest.mark.parametrize("kind, name", [("JPEG", "a.jpg"), ("PNG", "a.png"), ("TIFF", "a.tif"), ("WEBP", "a.webp")])
@pytest.mark.parametrize("profile", [ADOBE, P3], ids=["Adobe RGB", "Display P3"])
def test_an_export_in_srgb_goes_for_its_original(tmp_path, picture, profile, kind, name):
    original = converted(picture, PLAIN, profile)
    assert max(high for _, high in ImageChops.difference(original, picture).getextrema()) > 15
    export = jpeg(converted(original, profile, PLAIN), quality=90, qtables=None)
    original = encoded(original, kind, profile)
    assert groups(tmp_path, {f"camera/{name}": original, "export/b.jpg": export}) == [
        ("similar", {f"camera/{name}": True, "export/b.jpg": False})
    ]


@pytest.mark.parametrize("profile", [ADOBE, P3], ids=["Adobe RGB", "Display P3"])
def test_the_same_numbers_of_other_colours_are_another_picture(tmp_path, picture, profile):
    still = jpeg(picture)
    files = {"a/1.jpg": with_profile(still, bytes_of_it=profile), "b/1.jpg": with_xmp(still, STARS)}
    assert groups(tmp_path, files) == [("recoloured", {"a/1.jpg": True, "b/1.jpg": True})]


def written(colour, on, profile):
    image = Image.new("RGB", (1200, 900), on)
    font = ImageFont.load_default(60)
    if colour:
        ImageDraw.Draw(image).text((200, 400), "Tuesday, not Monday", fill=colour, font=font)
    ImageDraw.Draw(image).rectangle((100, 100, 1100, 300), outline=(20, 20, 20), width=12)
    return with_profile(jpeg(image, quality=95, qtables=None, subsampling=0), bytes_of_it=profile)


@pytest.mark.parametrize("profile", [P3, matrix_profile(GRAY), None], ids=["Display P3", "gray", "none"])
def test_what_srgb_cannot_show_is_compared_too(tmp_path, profile):
    """Two pages of one profile: what is written differs in colours that sRGB lacks, or in hue alone."""
    text, ground = ((255, 0, 0), (236, 48, 30)) if profile == P3 else ((90, 90, 200), (200, 90, 90))
    files = {"a/1.jpg": written(None, ground, profile or PLAIN), "b/1.jpg": written(text, ground, profile or PLAIN)}
    assert all(keep for _, members in groups(tmp_path, files) for keep in members.values())


def test_profiles_that_mean_the_same_are_one(tmp_path, picture):
    still = jpeg(picture)
    files = {
        "a/1.jpg": with_profile(still, bytes_of_it=P3),
        "b/1.jpg": with_xmp(with_profile(still, bytes_of_it=matrix_profile(DISPLAY_P3, b"Another phone's")), STARS),
    }
    assert groups(tmp_path, files) == [("same pixels", {"a/1.jpg": False, "b/1.jpg": True})]
    plain = {"a/1.jpg": with_profile(still, bytes_of_it=PLAIN), "b/1.jpg": with_xmp(still, STARS)}
    assert groups(tmp_path / "plain", plain) == [("same pixels", {"a/1.jpg": False, "b/1.jpg": True})]


def test_one_profile_in_two_formats_is_one(tmp_path, picture):
    files = {"a/1.png": encoded(picture, "PNG", ADOBE), "b/1.tif": encoded(picture, "TIFF", ADOBE), "c/1.tif": encoded(picture, "TIFF", P3)}
    told = groups(tmp_path, files)
    assert ("same pixels", {"a/1.png": False, "b/1.tif": True}) in told or ("same pixels", {"a/1.png": True, "b/1.tif": False}) in told
    assert all(keep for _, members in told for name, keep in members.items() if name == "c/1.tif")


def test_a_profile_that_is_broken_keeps_its_file(tmp_path, picture):
    still = jpeg(picture)
    for i, broken in enumerate((ADOBE[:200], ADOBE[:-30], b"\xff" * 400, ADOBE[:128] + b"\xff" * 300)):
        files = {"a/1.jpg": with_profile(still, bytes_of_it=broken), "b/1.jpg": with_xmp(still, STARS)}
        assert all(keep for _, members in groups(tmp_path / str(i), files) for name, keep in members.items() if name == "a/1.jpg")
