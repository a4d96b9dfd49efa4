"""Parts of pictures found again: crops, what a frame or a screen encloses, and pictures that were turned."""

import contextlib
import os
import sqlite3

import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from test_dedupe import dedupe, groups, scene

W, H = 960, 640


def cropped(image, left, top, right, bottom):
    return image.crop((round(W * left), round(H * top), round(W * right), round(H * bottom)))


def on_phone(image):
    out = Image.new("RGB", (540, 1170), (0, 0, 0))
    picture = image.resize((540, 540 * image.height // image.width))
    out.paste(picture, (0, (1170 - picture.height) // 2))
    draw = ImageDraw.Draw(out)
    draw.text((30, 20), "12:34", fill=(230, 230, 230))
    draw.ellipse((250, 1090, 290, 1130), outline=(230, 230, 230), width=3)
    return out


def before_itself(image):
    out = ImageOps.fit(image, (W, W)).filter(ImageFilter.GaussianBlur(24))
    out.paste(image, (0, (W - H) // 2))
    return out


VERSIONS = {
    "crop": lambda image: cropped(image, 0.27, 0.04, 0.99, 0.76),
    "square": lambda image: cropped(image, 0.3, 0, 0.3 + H / W, 1),
    "cinema": lambda image: cropped(image, 0, 0.22, 1, 0.95),
    "letterbox": lambda image: ImageOps.pad(image, (W, W), color=(0, 0, 0)),
    "pillarbox": lambda image: ImageOps.pad(image, (1500, H), color=(0, 0, 0)),
    "polaroid": lambda image: ImageOps.expand(image, (48, 48, 48, 190), (250, 249, 244)),
    "blurred": before_itself,
    "phone": on_phone,
    "mirrored": lambda image: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    "turned": lambda image: image.transpose(Image.Transpose.ROTATE_270),
}
TURNED = ("mirrored", "turned")


def shown(result):
    """Every two file names that some group, or a related pair, names together."""
    out = set()
    for group in result["groups"] + result["related"]:
        names = sorted(os.path.basename(m["path"]) for m in group["members"])
        out |= {(a, b) for a in names for b in names if a < b}
    return out


@pytest.fixture
def library(tmp_path):
    """Some pictures, and one version of each."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number, (name, change) in enumerate(VERSIONS.items()):
        image = scene(W, H, 320 + number)
        image.save(folder / f"{name}-a.jpg", quality=93)
        change(image).save(folder / f"{name}-b.jpg", quality=88)
    return folder


def expected(*names):
    return {(f"{name}-a.jpg", f"{name}-b.jpg") for name in names}


def test_parts_and_turned_pictures_are_found_and_nothing_else(tmp_path, library):
    result, _ = dedupe(tmp_path, library)
    assert shown(result) == expected(*VERSIONS)
    for group in result["groups"]:
        for member in group["members"]:
            # A part may go for its whole, and what a plain frame or a screen encloses stays: a whole never goes.
            assert member["keep"] or not member["path"].endswith(("crop-a.jpg", "square-a.jpg", "cinema-a.jpg"))


def test_they_are_left_out_on_request(tmp_path, library):
    result, _ = dedupe(tmp_path, library, "--no-parts")
    assert expected(*TURNED) <= shown(result)
    assert not shown(result) & expected("crop", "square", "polaroid", "phone", "blurred")
    result, _ = dedupe(tmp_path, library, "--no-orientations")
    assert shown(result) == expected(*(set(VERSIONS) - set(TURNED)))
    result, _ = dedupe(tmp_path, library, "--no-parts", "--no-orientations")
    assert not shown(result) & expected("crop", "square", "polaroid", "phone", "blurred", *TURNED)


def test_what_is_found_never_depends_on_what_came_when(tmp_path, library):
    whole, _ = dedupe(tmp_path, library, "--threads", "1")
    late = tmp_path / "late"
    late.mkdir()
    files = sorted(library.iterdir())
    for file in files:
        file.rename(late / file.name)
    for catalog in tmp_path.glob("catalog.sqlite*"):
        catalog.unlink()
    # Originals after their versions, and the other way around.
    for step in ([f for f in files if f.name[0] in "cm"], files[1::2], files):
        for file in step:
            if (late / file.name).exists():
                (late / file.name).rename(file)
        result, _ = dedupe(tmp_path, library, "--threads", "3")
    assert result == whole
    # And nothing is looked for again.
    again, _ = dedupe(tmp_path, library)
    assert again == whole


@pytest.mark.parametrize("edit", [
    "UPDATE joined_codes SET codes = randomblob(length(codes))",
    "UPDATE joined_codes SET codes = zeroblob(length(codes))",
    "UPDATE joined_codes SET codes = x'00'",
    "DELETE FROM joined_codes",
    "DELETE FROM links",
    "DELETE FROM links WHERE a = (SELECT min(a) FROM links)",
    "UPDATE links SET kind = 2",
    "UPDATE links SET b = b + 1",
    "UPDATE joined SET looks = randomblob(length(looks))",
    "DELETE FROM joined_sums",
])
def test_rows_that_somebody_changed_cost_no_picture(tmp_path, library, edit):
    late = tmp_path / "late.jpg"
    (library / "crop-b.jpg").rename(late)
    dedupe(tmp_path, library)
    with contextlib.closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
        catalog.execute(edit)
        catalog.commit()
    late.rename(library / "crop-b.jpg")
    for _ in range(2):
        result, done = dedupe(tmp_path, library)
        assert done.returncode == 0
        assert shown(result) == expected(*VERSIONS)
        assert all(len(group) == 2 for group in groups(result))


@pytest.mark.parametrize("grey", [0, 230, 245])
def test_a_line_on_a_frame_keeps_the_framed_copy(tmp_path, grey):
    folder = tmp_path / "pictures"
    folder.mkdir()
    image = scene(1600, 1200, 411)
    image.save(folder / "a.jpg", quality=93)
    framed = ImageOps.expand(image, 96, (255, 255, 255))
    framed.save(folder / "plain.jpg", quality=90)
    ImageDraw.Draw(framed).text((700, 1324), "for Anna, 1998", fill=(grey, grey, grey), font_size=40)
    framed.save(folder / "noted.jpg", quality=90)
    result, _ = dedupe(tmp_path, folder)
    gone = {os.path.basename(m["path"]) for group in result["groups"] for m in group["members"] if not m["keep"]}
    assert gone == {"plain.jpg"}


def test_other_options_look_again(tmp_path, library):
    for options in ([], ["--no-parts"], [], ["--no-orientations"], ["--no-parts", "--no-orientations"], []):
        alone, _ = dedupe(tmp_path, library, *options, catalog=f"alone{len(options)}{options[:1]}.sqlite")
        result, _ = dedupe(tmp_path, library, *options)
        assert result == alone


def test_little_memory_finds_as_much(tmp_path, library):
    whole, _ = dedupe(tmp_path, library)
    for catalog in tmp_path.glob("catalog.sqlite*"):
        catalog.unlink()
    result, _ = dedupe(tmp_path, library, "--memory", "256M")
    assert result == whole
