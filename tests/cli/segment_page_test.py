"""The page of `millrace segment` in a real browser: photographs with their masks, what is pressed, and what strangers named."""

import json
import pathlib
import shutil
import sys

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
pytest.importorskip("selenium", reason="selenium is not installed")

import onnx_model as onnx  # noqa: E402
import report_page  # noqa: E402
from program import content_of, millrace  # noqa: E402
from report_page import Page, start_browser  # noqa: E402
from segmenting import needs_openvino, runtime  # noqa: E402, F401

if not report_page.available():
    pytest.skip("chromium or chromedriver is not installed", allow_module_level=True)
pytestmark = needs_openvino

HOSTILE = "'\"><img src=x onerror=window.broken=1><b>\u202egnp.png"
CLASSES = ["<i>red</i>", "blue"]


def painted(path, red=0, blue=0, width=400, height=300):
    """So many columns of red from the left, but for a margin; and of blue."""
    pixels = np.full((height, width, 3), 40, np.uint8)
    pixels[20:-20, 20 : 20 + red] = (250, 0, 0)
    pixels[20:-20, 200 : 200 + blue] = (0, 0, 250)
    Image.fromarray(pixels).save(path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    photos = folder / "photos"
    photos.mkdir()
    for k in range(9):
        painted(photos / f"{k}.png", red=30 + 2 * k, blue=40)
    painted(photos / "much.png", red=150, blue=40)
    painted(photos / "edge.png", red=30, blue=200)
    painted(photos / "nothing.png")
    painted(photos / HOSTILE, red=30, blue=40)
    painted(folder / "whole.jpg", red=30, blue=40)
    whole = (folder / "whole.jpg").read_bytes()
    (photos / "broken.jpg").write_bytes(whole[: len(whole) * 3 // 4])
    (photos / "text.png").write_text("no picture")
    (folder / "m.onnx").write_bytes(onnx.color([[4, -4, -4], [-4, -4, 4]], [-2, -2], 64, 64))
    (folder / "m.json").write_text(json.dumps({"activation": "sigmoid", "classes": [{"name": each} for each in CLASSES]}))
    done = millrace("segment", photos, "--model", folder / "m.onnx", "-o", folder / "out", "--report", "--write", "csv")
    assert done.returncode == 3 and b"report: " in done.stderr
    return folder


@pytest.fixture(scope="module")
def browser():
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, made):
    browser.get_log("browser")
    yield Page(browser, made / "out" / "report.html")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def titles(page):
    return page.browser.execute_script(
        "return [...document.querySelectorAll('.picture')].filter((one) => one.checkVisibility()).map("
        "(one) => one.querySelector('b').textContent)")


def marks(page, title):
    return page.browser.execute_script(
        "return [...document.querySelectorAll('.picture')].filter((one) => one.querySelector('b').textContent === arguments[0])"
        ".flatMap((one) => [...one.querySelectorAll('.mark')].map((mark) => mark.textContent))", title)


def test_what_looks_wrong_comes_first_with_why(page):
    assert page.errors() == []
    shown = titles(page)
    assert len(shown) == 14
    # What is damaged, what has nothing, what has more than the others; then what reaches the edge.
    assert shown[0] == "broken.jpg" and marks(page, "broken.jpg")[0].startswith("damaged")
    assert shown[1] == "nothing.png" and marks(page, "nothing.png") == ["nothing found"]
    assert any("covers" in mark for mark in marks(page, "much.png"))
    assert any("reaches the edge" in mark for mark in marks(page, "edge.png"))
    assert set(shown[2:4]) == {"much.png", "edge.png"} and marks(page, "4.png") == []
    assert "text.png" in page.text("main table")


def test_strangers_names_are_names(page):
    assert page.browser.execute_script("return typeof window.broken") == "undefined"
    assert any("onerror=window.broken" in title for title in titles(page))
    assert page.text(".picture-tools").count("<i>red</i>") == 2  # a class, and an order
    assert page.all("main i") == [] and page.all("img[src=x]") == []


def layers(page, title):
    return page.browser.execute_script(
        "return [...document.querySelectorAll('.picture')].filter((one) => one.querySelector('b').textContent === arguments[0])"
        ".flatMap((one) => [...one.querySelectorAll('.drawn img')].map((img) => [Number(img.dataset.layer), img.checkVisibility(),"
        "img.naturalWidth, img.naturalHeight]))", title)


def test_classes_are_hidden_and_shown(page):
    assert layers(page, "4.png") == [[0, True, 400, 300], [1, True, 400, 300]]
    assert layers(page, "nothing.png") == []
    page.click('.picture-tools input[data-layer="0"]')
    assert layers(page, "4.png") == [[0, False, 400, 300], [1, True, 400, 300]]
    page.click('.picture-tools input[data-layer="0"]')
    assert layers(page, "4.png")[0][1]


def pixel(page, title, x, y):
    """What is seen there, from 0 to 1 of the photograph."""
    stage = page.browser.execute_script(
        "const one = [...document.querySelectorAll('.picture')].find((one) => one.querySelector('b').textContent === arguments[0]);"
        "const stage = one.querySelector('.stage'); stage.scrollIntoView({block: 'center'}); return stage", title)
    page.drawn()
    import io
    image = np.array(Image.open(io.BytesIO(stage.screenshot_as_png)).convert("RGB")).astype(int)
    return image[int(y * image.shape[0]), int(x * image.shape[1])]


def test_the_mask_lies_on_the_photograph_as_far_as_the_slider_says(page):
    red, orange = np.array([250, 0, 0]), np.array([230, 159, 0])
    seen = pixel(page, "much.png", 0.2, 0.5)
    assert np.abs(seen - (0.4 * red + 0.6 * orange)).max() < 12, seen
    # Where nothing was found the photograph is as it is.
    assert np.abs(pixel(page, "much.png", 0.9, 0.5) - 40).max() < 12
    slider = page.browser.execute_script(
        "const one = [...document.querySelectorAll('.picture')].find((one) => one.querySelector('b').textContent === 'much.png');"
        "const slider = one.querySelector('.slider input'); slider.value = 10; slider.dispatchEvent(new Event('input'));"
        "return slider.getAttribute('aria-label')")
    assert "mask" in slider
    assert np.abs(pixel(page, "much.png", 0.2, 0.5) - red).max() < 12
    assert np.abs(pixel(page, "much.png", 0.08, 0.5) - (0.4 * red + 0.6 * orange)).max() < 12


def test_a_picture_is_enlarged_and_moved_and_put_back(page):
    script = "return new DOMMatrix(getComputedStyle(document.querySelector('.picture .pan')).transform).a"
    assert page.browser.execute_script(script) == 1
    page.click('.picture .slider button[aria-label="Zoom in"]')
    assert page.browser.execute_script(script) == pytest.approx(1.5)
    page.browser.execute_script("document.querySelector('.picture .stage').focus()")
    page.keys("+")
    assert page.browser.execute_script(script) == pytest.approx(2.25)
    place = "return new DOMMatrix(getComputedStyle(document.querySelector('.picture .pan')).transform).e"
    before = page.browser.execute_script(place)
    page.keys("\ue014")  # to the right
    assert page.browser.execute_script(place) == pytest.approx(before - 40)
    # Never beyond its edge.
    for _ in range(30):
        page.keys("\ue014")
    width = page.browser.execute_script("return document.querySelector('.picture .stage').clientWidth")
    assert page.browser.execute_script(place) == pytest.approx(-1.25 * width, abs=1)
    page.keys("0")
    assert page.browser.execute_script(script) == 1 and page.browser.execute_script(place) == 0
    assert page.errors() == []


def test_orders_and_the_search(page):
    select = "const one = document.querySelector('.picture-order'); one.value = arguments[0]; one.dispatchEvent(new Event('change'))"
    page.browser.execute_script(select, "1")
    shown = titles(page)
    names = [each.replace("\\u202e", "\u202e") for each in shown]
    assert names == sorted(names)
    page.browser.execute_script(select, "3")  # most of blue
    assert titles(page)[0] == "edge.png"
    page.one('.picture-search input').send_keys("MUCH")
    assert titles(page) == ["much.png"] and page.text(".picture-count") == "1 of 14 pictures"


def test_any_width_and_without_the_script(page):
    for width in (390, 3840):
        page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        assert page.browser.execute_script("return document.documentElement.scrollWidth") <= width
    page.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page.browser.refresh()
    page.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    visible = "return [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility()).length"
    assert page.browser.execute_script(visible, ".photo") == 14
    assert page.browser.execute_script(visible, ".picture-tools") == 0


def test_the_page_is_written_again_and_strangers_pages_stay(made, tmp_path):
    """Of results that are there the networks are not asked again; the same bytes."""
    command = ["segment", made / "photos", "--model", made / "m.onnx", "-o", made / "out", "--write", "csv"]
    before = (made / "out" / "report.html").read_bytes()
    (made / "out" / "report.html").unlink()
    done = millrace(*command, "--report", "--threads", "1")
    assert b"14 were already complete" in done.stderr and (made / "out" / "report.html").read_bytes() == before
    # An own one is kept up to date unasked.
    painted(made / "photos" / "zz.png", red=30, blue=40)
    millrace(*command)
    assert b"zz.png" in (made / "out" / "report.html").read_bytes()
    (made / "photos" / "zz.png").unlink()
    millrace(*command)
    assert (made / "out" / "report.html").read_bytes() == before
    # What looks like none of ours is nobody's to replace.
    (made / "out" / "report.html").write_text("<!doctype html>mine")
    done = millrace(*command, "--report", check=False)
    assert done.returncode == 1 and b"report.html" in done.stderr
    assert (made / "out" / "report.html").read_text() == "<!doctype html>mine"
    millrace(*command)
    assert (made / "out" / "report.html").read_text() == "<!doctype html>mine"
    (made / "out" / "report.html").write_bytes(before)


def test_a_photograph_that_was_changed_is_not_shown_with_its_old_mask(made, tmp_path):
    """Between two parts of a run: its mask is of another picture, and the page does not put it on this one."""
    photos, out = tmp_path / "photos", tmp_path / "out"
    photos.mkdir()
    for k in range(4):
        painted(photos / f"{k}.png", red=30 + k, blue=40)
    (photos / "9.png").write_text("no picture")
    command = ["segment", photos, "--model", made / "m.onnx", "-o", out, "--report"]
    millrace(*command, "--part", "1/2")
    painted(photos / "0.png", red=100, blue=100)
    done = millrace(*command, "--part", "2/2")
    text = (out / "report.html").read_text()
    assert "<b>1.png</b>" in text and "<b>0.png</b>" not in text and b"1 belong to other shards" in done.stderr
    # What the other part made is there with its name and its photograph, and what it could not use is told.
    assert "<b>2.png</b>" in text and text.count("data:image/jpeg") == 3 and "9.png" in text
    shutil.rmtree(out)
    millrace(*command)
    whole = (out / "report.html").read_text()
    shutil.rmtree(out)
    for k in (2, 1):
        millrace(*command, "--part", f"{k}/2")
    assert (out / "report.html").read_text() == whole
