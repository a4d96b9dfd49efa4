"""The report page of `millrace dedupe` in a real browser, opened from a file as people open it.

The pages are written by page_sample, which the build leaves in its folder: build/release, or the one that
MILLRACE_BUILD names.
"""

import base64
import json
import pathlib
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
pytest.importorskip("selenium", reason="selenium is not installed")

import report_page  # noqa: E402
from report_page import Page, start_browser, write_page  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

if not report_page.available():
    pytest.skip("chromium or chromedriver is not installed", allow_module_level=True)

HOSTILE = "/p/evil/<img src=x onerror=\"window.broken=1\">\u202egpj</script>.jpg"
LATIN1 = b"/p/similar/caf\xe9.jpg"


def member(path, size, **more):
    entry = {"path": path, "size": size, "width": 40, "height": 30, "mtime_ns": "1700000000123456789"}
    entry["hash"] = path.encode().hex()[-16:]
    return {**entry, **more}


def model():
    """Five kinds of groups, small enough to say what every key must do."""
    identical = [member("/p/identical/a.jpg", 3000, keep=True, why="oldest"), member("/p/identical/b.jpg", 3000)]
    similar = [
        member("/p/similar/large.jpg", 2000, keep=True, why="most pixels"),
        member("/p/similar/small.jpg", 1000),
        member("/p/similar/caf\ufffd.jpg", 500, path_base64=base64.b64encode(LATIN1).decode()),
    ]
    protected = [member("/ref/a.jpg", 900, reference=True), member("/p/protected/b.jpg", 901, damaged=True)]
    burst = [member(f"/p/burst/{i}.jpg", 700 + i) for i in range(3)]
    hostile = [member(HOSTILE, 10, keep=True), member("/p/evil/b.jpg", 10)]
    pair = {"a": 0, "b": 1, "score": 0.9, "distances": {"dhash": 3}}
    other = {"a": 0, "b": 2, "score": 0.8, "distances": {"dhash": 4}}
    groups = [
        {"id": "gi", "kind": "identical", "members": identical, "pairs": []},
        {"id": "gs", "kind": "similar", "members": similar, "pairs": [pair, other]},
        {"id": "gp", "kind": "similar", "members": protected, "pairs": [pair]},
        {"id": "gh", "kind": "identical", "members": hostile, "pairs": []},
        {"id": "gb", "kind": "burst", "members": burst, "pairs": []},
    ]
    header = {
        "title": "Sample <b>page</b>",
        "folders": ["/p"],
        "totals": {"files": 20, "pictures": 19, "groups": len(groups), "reclaimable": 5411},
        "unreadable": [{"path": "/p/<i>broken</i>.jpg", "reason": "the file is empty"}],
        "damaged": [{"path": "/p/<i>cut</i>.jpg", "reason": "Premature end of JPEG file"}],
        "rule": "A rule.",
    }
    return {"header": header, "groups": groups}


@pytest.fixture
def browser():
    # One of its own for each test: a page's marks are kept by its contents, and one that is left writes them late.
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model()), encoding="utf-8")
    browser.get_log("browser")
    page = Page(browser, write_page(tmp_path, path))
    yield page
    assert page.errors() == []


def entry(group, m, action, **more):
    of = next(one for one in model()["groups"] if one["id"] == group)["members"][m]
    expected = {"group": group, "action": action, "path": of["path"]}
    if "path_base64" in of:
        expected["path_base64"] = of["path_base64"]
    return {**expected, "size": of["size"], "mtime_ns": of["mtime_ns"], "hash": of["hash"], **more}


def test_loads_and_shows_hostile_names_as_text(page):
    assert page.text("#title") == "Sample <b>page</b>"
    assert page.browser.title == "Sample <b>page</b>"
    assert page.shown() == [0, 1, 2, 3, 4]
    name = page.text(page.member(3, 0) + " .name")
    assert name == "script>.jpg"
    assert "\\u202egpj<" in page.text(page.member(3, 0) + " .folder")
    assert page.browser.execute_script("return window.broken") is None
    assert page.all("#groups img[src='x']") == []
    assert "1 file could not be read" in page.text("#notes")
    page.click("#notes summary")
    for _ in range(100):
        if "<i>broken</i>" in page.text("#notes"):
            break
        time.sleep(0.02)
    assert "<i>broken</i>" in page.text("#notes li")


def test_keyboard_marks(page, tmp_path):
    page.keys("j")
    assert page.focus().startswith("Picture 1 of 2, a.jpg")
    page.keys("a", "j", Keys.ARROW_RIGHT, " ")
    assert page.removed() == [(0, 1), (1, 1)]
    assert page.text("#sum-files") == "2"
    assert page.text("#sum-bytes") == "3.9 KiB"
    assert page.text("#sum-decided") == "2"
    page.keys(" ", Keys.ARROW_RIGHT, " ", "j", "j", "n", "k", "k", "k")
    assert page.focus().startswith("Picture 1 of 2, a.jpg")
    assert page.export(tmp_path / "out") == {
        "millrace_decisions": 1,
        "decisions": [
            entry("gi", 0, "keep"),
            entry("gi", 1, "remove"),
            entry("gs", 0, "keep"),
            entry("gs", 1, "keep"),
            entry("gs", 2, "remove", chosen=True),
            entry("gh", 0, "not_duplicates"),
            entry("gh", 1, "not_duplicates"),
        ],
    }


def test_mouse_marks(page, tmp_path):
    page.click(page.member(1, 1) + " .remove")
    page.click(page.member(4, 2) + " .remove")
    assert page.removed() == [(1, 1), (4, 2)]
    # The keys go on from the picture that the mouse marked.
    page.keys(" ")
    assert page.removed() == [(1, 1)]
    page.click(page.group(0) + " .accept")
    page.click("#undo")
    page.click(page.member(1, 1) + " .keep")
    actions = [(one["group"], one["action"]) for one in page.export(tmp_path / "out")["decisions"]]
    assert actions == [("gs", "keep")] * 3 + [("gb", "keep")] * 3


def test_a_suggestion_goes_with_the_one_it_was_compared_with(page, tmp_path):
    page.click(page.group(1) + " .accept")
    assert page.removed() == [(1, 1), (1, 2)]
    assert not any("chosen" in one for one in page.export(tmp_path / "one")["decisions"])
    # Another one is to stay: what was not compared with it stays, too, until a person marks it.
    page.click(page.member(1, 1) + " .keep")
    page.click(page.member(1, 0) + " .remove")
    assert page.removed() == [(1, 0)]
    assert "not checked in detail" in page.text("#toast")
    page.click(page.member(1, 2) + " .remove")
    wanted = [entry("gs", 0, "remove", chosen=True), entry("gs", 1, "keep"), entry("gs", 2, "remove", chosen=True)]
    assert page.export(tmp_path / "two")["decisions"] == wanted
    page.click("#undo")
    page.click("#undo")
    assert page.removed() == [(1, 2)], "one step back takes back all that it did"


def test_taking_back_a_choice(page, tmp_path):
    page.click(page.group(1) + " .accept")
    page.click(page.member(1, 1) + " .remove")  # it goes anyway; now by choice
    chosen = [one.get("chosen", False) for one in page.export(tmp_path / "one")["decisions"]]
    assert chosen == [False, True, False]
    page.click("#undo")
    assert page.removed() == [(1, 1), (1, 2)]
    assert not any("chosen" in one for one in page.export(tmp_path / "two")["decisions"])
    page.click(page.member(1, 1) + " .remove")
    page.reload()
    chosen = [one.get("chosen", False) for one in page.export(tmp_path / "three")["decisions"]]
    assert chosen == [False, True, False], "a page that was left comes back with its choices"


def test_refuses_to_remove_all(page):
    page.keys("j", " ", Keys.ARROW_RIGHT, " ")
    assert page.removed() == [(0, 0)]
    assert "At least one picture of a group is kept" in page.text("#toast")
    page.click(page.member(0, 1) + " .remove")
    assert page.removed() == [(0, 0)]


def test_never_marks_a_reference(page, tmp_path):
    assert page.all(page.member(2, 0) + " .remove") == []
    page.keys("j", "j", "j", " ")
    assert page.removed() == []
    assert "protected" in page.text("#toast")
    page.keys("a")
    assert page.removed() == [(2, 1)]


def test_accept_all_shown_respects_filter_and_decisions(page, tmp_path):
    page.keys("j", "n")  # decided by hand: the button must leave it alone
    page.keys("/")
    page.keys("/P/  jpg")
    page.keys(Keys.ENTER)
    page.click('#kinds [data-kind="identical"]')
    page.click('#kinds [data-kind="similar"]')
    assert page.shown() == [0, 1, 2, 3]
    assert page.text("#accept-all") == "Accept all shown (3)"
    page.click("#accept-all")
    assert page.removed() == [(1, 1), (1, 2), (2, 1), (3, 1)]
    page.click("#undecided")
    assert page.shown() == []
    page.click('#kinds [data-kind="identical"]')
    page.click('#kinds [data-kind="similar"]')
    assert page.shown() == [4]
    page.click("#undecided")
    page.keys("z")
    assert page.removed() == []
    assert page.text("#sum-decided") == "1"


def test_filter_and_sort(page):
    page.keys("/", "caf")
    for _ in range(100):
        if page.shown() == [1]:
            break
        time.sleep(0.02)
    assert page.shown() == [1]
    page.keys(Keys.ESCAPE)
    assert page.shown() == [0, 1, 2, 3, 4]
    page.click('#sort option[value="members"]')
    assert page.shown() == [1, 4, 0, 2, 3]
    page.click('#sort option[value="score"]')
    assert page.shown() == [0, 3, 2, 1, 4]
    page.click('#sort option[value="path"]')
    assert page.shown() == [4, 3, 0, 1, 2]


def test_a_pair_told_apart(page, tmp_path):
    page.click(page.group(1) + " .pairs li:nth-child(1) button")
    similar = model()["groups"][1]["members"]
    assert page.export(tmp_path / "out")["decisions"] == [
        entry("gs", 0, "not_duplicates", **{"with": similar[1]["hash"]})
    ]
    # What is no duplicate of the one that stays is not removed with the others.
    page.click(page.group(1) + " .accept")
    assert page.removed() == [(1, 2)]
    decisions = page.export(tmp_path / "out")["decisions"]
    assert [one["action"] for one in decisions] == ["keep", "keep", "remove", "not_duplicates"]
    # A pair is the whole of a group of two.
    page.click(page.group(2) + " .pairs button")
    assert page.export(tmp_path / "out")["decisions"][-2:] == [
        entry("gp", 0, "not_duplicates"),
        entry("gp", 1, "not_duplicates"),
    ]


def test_marks_survive_a_reload(page, tmp_path):
    page.keys("j", "a", "j", " ", "j", "n")
    before = page.export(tmp_path / "out")
    page.reload()
    assert page.removed() == [(0, 1), (1, 0)]
    assert page.text("#sum-decided") == "3"
    assert page.export(tmp_path / "out") == before
    page.browser.execute_script("scrollTo(0, 0)")
    page.keys("j", "u", "j", "u", "j", "u")
    assert page.export(tmp_path / "out") == {"millrace_decisions": 1, "decisions": []}


def test_names_lead_to_the_pictures(page):
    links = [page.one(page.member(1, m) + " a.name").get_attribute("href") for m in (1, 2)]
    assert links == ["file:///p/similar/small.jpg", "file:///p/similar/caf%E9.jpg"]


def test_help(page):
    page.keys("?")
    assert page.one("#help").is_displayed()
    page.keys("a")
    assert page.text("#sum-decided") == "0"
    page.keys(Keys.ESCAPE)
    assert not page.one("#help").is_displayed()
    page.click("#help-button")
    page.click("#help button")
    assert not page.one("#help").is_displayed()


def test_one_file_in_two_groups(browser, tmp_path):
    """It is counted once, goes out with every group that it stands in, and its removal never empties the other one."""
    shared = member("/p/shared.jpg", 100)
    groups = [
        {"id": "g0", "kind": "identical", "members": [member("/p/a.jpg", 100, keep=True), shared], "pairs": []},
        {"id": "g1", "kind": "burst", "members": [shared, member("/p/c.jpg", 100)], "pairs": []},
    ]
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"header": {}, "groups": groups}), encoding="utf-8")
    page = Page(browser, write_page(tmp_path, path))
    assert page.removed() == []
    page.click("#accept-all")
    assert page.removed() == [(0, 1), (1, 0)]
    assert page.text("#sum-files") == "1"
    page.click(page.member(1, 1) + " .remove")
    assert page.removed() == [(0, 1), (1, 0)]
    assert "At least one picture of a group is kept" in page.text("#toast")
    decisions = page.export(tmp_path / "out")["decisions"]
    assert [(one["group"], one["path"], one["action"]) for one in decisions] == [
        ("g0", "/p/a.jpg", "keep"),
        ("g0", "/p/shared.jpg", "remove"),
    ], "a burst suggests nothing, so nothing of it was accepted"
    # A mark is one mark wherever the file shows: kept in the one group, it is kept in the other.
    page.click(page.member(1, 0) + " .keep")
    assert page.removed() == []
    assert "kept" in page.one(page.member(0, 1)).get_attribute("aria-label")
    assert {one["action"] for one in page.export(tmp_path / "out")["decisions"]} == {"keep"}
    page.click("#undo")
    assert page.removed() == [(0, 1), (1, 0)]
    # The group that marked it gives it back, and no other one does.
    page.click(page.member(1, 1) + " .keep")
    page.click(page.group(1) + " .acts button:last-child")
    assert page.removed() == [(0, 1), (1, 0)]
    page.click(page.group(0) + " .acts button:last-child")
    assert page.removed() == []
    assert page.errors() == []


def test_a_group_that_others_empty_is_not_accepted(browser, tmp_path):
    """Somebody stays in every group that goes out: else the program would leave all of its removals alone."""
    first, second = member("/p/1.jpg", 100), member("/p/2.jpg", 100)
    groups = [
        {"id": "g0", "kind": "similar", "members": [member("/p/1 large.jpg", 200, keep=True), first], "pairs": []},
        {"id": "g1", "kind": "similar", "members": [member("/p/2 large.jpg", 200, keep=True), second], "pairs": []},
        {"id": "g2", "kind": "burst", "members": [first, second], "pairs": []},
    ]
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"header": {}, "groups": groups}), encoding="utf-8")
    page = Page(browser, write_page(tmp_path, path))
    page.click(page.group(0) + " .accept")
    page.click(page.group(1) + " .accept")
    assert page.removed() == [(0, 1), (1, 1), (2, 0), (2, 1)]
    assert page.text("#accept-all") == "Accept all shown (0)"
    page.click(page.group(2) + " .accept")
    assert "keep one of them first" in page.text("#toast")
    page.click(page.member(2, 0) + " .remove")
    assert "At least one picture" in page.text("#toast")
    assert page.text("#sum-decided") == "2"
    assert {one["group"] for one in page.export(tmp_path / "out")["decisions"]} == {"g0", "g1"}
    page.click(page.member(2, 1) + " .keep")
    assert page.removed() == [(0, 1), (2, 0)]
    assert page.text("#sum-decided") == "2", "of a burst there is nothing to decide"
    page.reload()
    assert page.removed() == [(0, 1), (2, 0)]
    assert page.errors() == []


def test_told_apart_in_one_group_and_removed_in_another(browser, tmp_path):
    shared = member("/p/shared.jpg", 100)
    pairs = [{"a": 0, "b": 1, "score": 0.9, "distances": {}}, {"a": 0, "b": 2, "score": 0.9, "distances": {}}]
    groups = [
        {"id": "g0", "kind": "similar", "members": [member("/p/large.jpg", 200, keep=True), shared], "pairs": []},
        {"id": "g1", "kind": "burst", "members": [shared, member("/p/c.jpg", 1), member("/p/d.jpg", 1)], "pairs": pairs},
    ]
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"header": {}, "groups": groups}), encoding="utf-8")
    page = Page(browser, write_page(tmp_path, path))
    page.click(page.group(0) + " .accept")
    page.click(page.group(1) + " .accept")
    for n in (1, 2):
        page.click(page.group(1) + f" .pairs li:nth-child({n}) button")
    assert page.removed() == [(0, 1), (1, 0)]
    # Nobody who stays in the second group is its duplicate: it goes because of the first alone.
    decisions = page.export(tmp_path / "out")["decisions"]
    assert [(one["group"], one["path"], one["action"]) for one in decisions] == [
        ("g0", "/p/large.jpg", "keep"),
        ("g0", "/p/shared.jpg", "remove"),
        ("g1", "/p/c.jpg", "keep"),
        ("g1", "/p/d.jpg", "keep"),
        ("g1", "/p/shared.jpg", "not_duplicates"),
        ("g1", "/p/shared.jpg", "not_duplicates"),
    ]
    assert page.errors() == []


def test_a_filter_taken_back_brings_the_groups_back(page):
    page.keys("/", "caf", Keys.ENTER)
    assert page.shown() == [1]
    page.keys("/", Keys.ESCAPE)
    assert page.shown() == [0, 1, 2, 3, 4]
    script = "return [...document.querySelectorAll('.group')].map((one) => one.offsetHeight)"
    assert min(page.browser.execute_script(script)) > 100


def test_a_damaged_store_does_not_stop_the_page(page):
    script = """localStorage.setItem('millrace:decisions:' + JSON.parse(
        document.getElementById('end').textContent).id, '{"groups": [[0, "marked", [1], []], [77], 5]}')"""
    page.browser.execute_script(script)
    page.reload()
    assert page.removed() == [(0, 1)]
    assert page.text("#sum-decided") == "1"


def test_long_names_on_a_narrow_screen(browser, tmp_path):
    long = "/p/" + "a folder with a long name/" * 9 + "name_without_any_space_" * 9 + ".jpg"
    first = member(long, 2000, keep=True, camera="Canon Canon PowerShot S80", date="2006:01:31 22:05:01")
    second = member(long + ".jpg", 1000, camera="NIKON NIKONOS", why="fewer pixels than " + long)
    far = {"ahash": 15, "dhash": 25, "dhash_vertical": 27, "phash": 12}
    pairs = [{"a": 0, "b": 1, "score": 0.5, "distances": far}]
    groups = [{"id": "g0", "kind": "similar", "members": [first, second], "pairs": pairs}]
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"header": {"rule": "a," * 90, "folders": [long]}, "groups": groups}), encoding="utf-8")
    page = Page(browser, write_page(tmp_path, path))
    words = page.text(page.member(0, 0) + " .words")
    assert "Canon PowerShot S80" in words and "Canon Canon" not in words
    assert "2006-01-31 22:05:01" in words
    assert "0.0 MP" not in words
    assert "NIKON NIKONOS" in page.text(page.member(0, 1) + " .words")
    assert page.text(page.group(0) + " .pairs .far b") == "0.500"
    metrics = {"width": 400, "height": 860, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        script = """return [...document.querySelectorAll('main *, .top *, .tools *, .bar *')].filter((one) => {
            const box = one.getBoundingClientRect();
            return box.width && (box.right > innerWidth + 1 || box.left < -1) && !one.closest('.folder');
        }).map((one) => one.outerHTML)"""
        assert browser.execute_script(script) == []
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert page.errors() == []


def test_an_empty_page(browser, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"header": {}, "groups": []}), encoding="utf-8")
    page = Page(browser, write_page(tmp_path, path))
    assert page.text("#nothing") == "No duplicates were found."
    page.keys("j", "a", " ", "n", "z")
    assert page.errors() == []


@pytest.mark.parametrize("limit", [[], ["--inline-limit", "100000"]], ids=["inline", "folder"])
def test_five_thousand_groups(browser, tmp_path, limit):
    page = Page(browser, write_page(tmp_path, "--groups", "5000", *limit))
    assert (tmp_path / "report.html.thumbs").exists() == bool(limit)
    assert len(page.all(".group")) == 5000

    def loaded_thumbnails():
        script = """return [...document.images].filter((image) => {
            const box = image.getBoundingClientRect();
            return box.bottom > 0 && box.top < innerHeight && image.complete && image.naturalWidth > 80;
        }).length"""
        for _ in range(200):
            if count := page.browser.execute_script(script):
                return count
            time.sleep(0.05)
        return 0

    assert loaded_thumbnails()
    for part in (0.5, 1):
        page.browser.execute_script(f"scrollTo(0, document.documentElement.scrollHeight * {part})")
        assert loaded_thumbnails()
    # Only the groups near the window hold elements.
    assert len(page.all(".member")) < 400
    page.click("#accept-all")
    assert page.text("#sum-decided") == "2,275", "those that suggest something"
    page.keys("j", "j", "j")
    assert len(page.export(tmp_path / "out")["decisions"]) == 7963
    assert page.errors() == []
