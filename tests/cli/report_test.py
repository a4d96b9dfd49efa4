"""Pages of src/report in a real browser, opened from a file as people open them: every block in several states, and the
page of `millrace latents`.

The pages are written by report_sample, which the build leaves in its folder: build/release, or the one that
MILLRACE_BUILD names.
"""

import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
pytest.importorskip("selenium", reason="selenium is not installed")

import report_page  # noqa: E402
from report_page import Page, start_browser  # noqa: E402

if not report_page.available():
    pytest.skip("chromium or chromedriver is not installed", allow_module_level=True)

NAMES = ["blocks", "differences", "alike", "single", "hostile"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def browser():
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    program = report_page.BUILD / "report_sample"
    assert program.exists(), f"{program} is not built; MILLRACE_BUILD names another build folder"
    for name in NAMES:
        subprocess.run([program, folder / f"{name}.html", name], check=True)
    return folder


@pytest.fixture
def opened(browser, written):
    def open_page(name):
        browser.get_log("browser")
        return Page(browser, written / f"{name}.html")

    yield open_page
    for command in ("Emulation.clearDeviceMetricsOverride", "Emulation.setEmulatedMedia"):
        browser.execute_cdp_cmd(command, {})
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def seen(page, selector):
    """How many of these can be seen."""
    script = "return [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility()).length"
    return page.browser.execute_script(script, selector)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_refused_and_no_stranger_is_obeyed(opened, name):
    page = opened(name)
    assert page.errors() == []
    assert page.browser.execute_script("return typeof window.broken") == "undefined"
    assert page.all("img") == []
    # The page's own script was let in by its hash.
    assert len(page.all("figure .save")) == len(page.all("figure")) > 0


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_is_a_document_of_its_own(written, name):
    text = (written / f"{name}.html").read_text(encoding="utf-8")
    pictures = re.findall(r"<svg .*?</svg>", text, re.S)
    assert len(pictures) == text.count("<figure ") == text.count("<summary>Numbers</summary>") > 0
    for picture in pictures:
        root = xml.etree.ElementTree.fromstring(picture)
        assert root[0].tag == SVG + "title" and root[0].text
        for element in root.iter():
            for key in ("d", "x", "y", "cx", "cy", "r", "width", "height", "points"):
                assert not re.search("nan|inf", element.get(key, ""), re.I)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [390, 3840])
def test_any_width(opened, name, width):
    page = opened(name)
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    assert page.browser.execute_script("return document.documentElement.scrollWidth") <= width
    # What is wider than the page is moved sideways within its own frame.
    script = """return [...document.querySelectorAll('.page *')].filter((one) => {
        const box = one.getBoundingClientRect();
        return box.width && box.right > innerWidth + 1 && !one.closest('.plot, .scroll');
    }).map((one) => one.outerHTML.slice(0, 200))"""
    assert page.browser.execute_script(script) == []


def test_a_press_on_a_head_sorts(opened):
    page = opened("blocks")
    # A function that reads numbers as they are written, by the order that it makes.
    column = """const table = document.querySelector('main > .scroll table');
        return [...table.tBodies[0].rows].map((row) => row.cells[arguments[0]].textContent)"""
    before = page.browser.execute_script(column, 1)
    head = "main > .scroll th:nth-child(2)"
    page.click(head + " button")
    assert page.one(head).get_attribute("aria-sort") == "ascending"
    values = page.browser.execute_script(column, 1)

    def value(text):
        power = {c: d for d, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
        number, _, exponent = text.replace("−", "-").replace(",", "").partition("×10")
        digits = "".join("-" if c == "⁻" else str(power[c]) for c in exponent)
        return float(number) * 10.0 ** int(digits or 0)

    assert sorted(values) == sorted(before) and values != before
    assert values[-1] == "–", "what is absent is last"
    numbers = [value(text) for text in values[:-1]]
    assert numbers == sorted(numbers)
    page.click(head + " button")
    values = page.browser.execute_script(column, 1)
    assert values[-1] == "–"
    assert [value(text) for text in values[:-1]] == sorted(numbers, reverse=True)
    assert page.errors() == []


def test_a_saved_picture_stands_alone_and_is_light(opened, tmp_path):
    page = opened("blocks")
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    page.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.click("#figure-2 .save")
    target = tmp_path / "six-groups-apart-from-each-other.svg"
    for _ in range(200):
        if target.exists() and not list(tmp_path.glob("*.crdownload")):
            break
        time.sleep(0.05)
    root = xml.etree.ElementTree.parse(target).getroot()
    assert root.tag == SVG + "svg" and "system-ui" in root.get("font-family")
    ground = root.find(SVG + "rect")
    assert ground.get("fill") == "#ffffff" and ground.get("width") == root.get("width")
    colours = set()
    for element in root.iter():
        assert not {"class", "style", "color"} & set(element.keys())
        colours |= {element.get("fill"), element.get("stroke")}
    assert "currentColor" not in colours and {"#0072b2", "#d55e00"} <= colours
    assert page.errors() == []


def test_dark_and_paper(opened):
    page = opened("differences")
    ground = "return getComputedStyle(document.body).backgroundColor"
    line = "return getComputedStyle(document.querySelector('svg .s0')).color"

    def media(**more):
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", more)
        return page.browser.execute_script(ground), page.browser.execute_script(line)

    light = media(features=[{"name": "prefers-color-scheme", "value": "light"}])
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    assert light[1] == "rgb(0, 114, 178)"
    assert media(features=dark)[0] != light[0] and media(features=dark)[1] != light[1]
    # Paper is light, whatever the screen is, and has nothing to press on it.
    on_paper = media(media="print", features=dark)
    assert on_paper == ("rgb(255, 255, 255)", "rgb(0, 114, 178)")
    assert seen(page, ".below button, .contents button") == 0
    mark = "return getComputedStyle(document.querySelector('th button'), '::after').content"
    assert page.browser.execute_script(mark) == "none", "heads are words alone"
    assert seen(page, "figure svg") > 10


def test_numbers_beside_plots(opened):
    page = opened("differences")
    assert seen(page, ".numbers table") == 0
    page.click(".numbers-toggle")
    shown = seen(page, ".numbers table")
    assert shown > 20 and page.one(".numbers-toggle").get_attribute("aria-pressed") == "true"
    page.click(".numbers-toggle")
    assert seen(page, ".numbers table") == 0
    assert page.errors() == []


def test_without_its_script_the_page_is_whole(opened, browser, written):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get((written / "differences.html").as_uri())
    assert len(browser.find_elements("css selector", "figure svg")) > 20
    assert len(browser.find_elements("css selector", "button")) == 0
    assert browser.find_element("css selector", ".lead p").text.startswith("12 of 35 metrics differ")
