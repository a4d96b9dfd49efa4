"""Rules, thresholds and whole groups on the report page of `millrace dedupe`, in a real browser."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
pytest.importorskip("selenium", reason="selenium is not installed")

import report_page  # noqa: E402
from report_page import Page, start_browser, write_page  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

if not report_page.available():
    pytest.skip("chromium or chromedriver is not installed", allow_module_level=True)


def member(path, size, **more):
    entry = {"path": path, "size": size, "width": 40, "height": 30, "mtime_ns": "1700000000123456789"}
    return {**entry, "hash": path.encode().hex()[-16:], **more}


def pair(a, b, score):
    return {"a": a, "b": b, "score": score, "distances": {"dhash": 3}}


def model():
    two = [member("/p/inbox/a.jpg", 3000, keep=True, width=400, height=300, given=3),
           member("/p/sorted/2021/a.jpg", 2900, as_good=True)]
    three = [member("/p/inbox/b.jpg", 2000, keep=True), member("/p/sorted/b small.jpg", 500),
             member("/p/other/b.jpg", 1900, as_good=True)]
    shows_more = [member("/p/inbox/c.jpg", 800, keep=True), member("/p/sorted/c.jpg", 900, keep=True, why="shows more"),
                  member("/p/other/c.jpg", 700)]
    protected = [member("/ref/d.jpg", 900, reference=True, keep=True), member("/p/sorted/d.jpg", 901)]
    same = [dict(member("/p/sorted/e.jpg", 10, keep=True), hash="e" * 16), dict(member("/p/inbox/e.jpg", 10), hash="e" * 16)]
    altered = [member("/p/inbox/f.jpg", 10, keep=True), member("/p/sorted/f.jpg", 10, keep=True)]
    groups = [
        {"id": "g2", "kind": "similar", "members": two, "pairs": [pair(0, 1, 0.95)]},
        {"id": "g3", "kind": "similar", "members": three, "pairs": [pair(0, 1, 0.8), pair(0, 2, 0.9)]},
        {"id": "gm", "kind": "similar", "members": shows_more, "pairs": [pair(0, 1, 0.6)]},
        {"id": "gp", "kind": "similar", "members": protected, "pairs": [pair(0, 1, 0.7)]},
        {"id": "gi", "kind": "identical", "members": same, "pairs": []},
        {"id": "ga", "kind": "altered", "members": altered, "pairs": []},
    ]
    return {"header": {"title": "Rules", "folders": ["/p"], "totals": {}, "rule": ""}, "groups": groups}


@pytest.fixture
def page(tmp_path):
    browser = start_browser()
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model()), encoding="utf-8")
    page = Page(browser, write_page(tmp_path, path))
    yield page
    assert page.errors() == []
    browser.quit()


def rule(page, text):
    page.one("#rule-path").clear()
    page.one("#rule-path").send_keys(text, Keys.ENTER)


def decisions(page, folder):
    return {(one["group"], one["path"]): one for one in page.export(folder)["decisions"]}


def test_a_rule_keeps_what_lies_in_a_folder_where_a_look_allows_it(page, tmp_path):
    rule(page, "/p/sorted")
    # a: the first may go for the one in sorted. b: for the one in other, which stays, and not for the small one in
    # sorted. c: the first stays, since it shows what the one in sorted lacks. d: what is protected is never marked. e:
    # the same bytes.
    assert page.removed() == [(0, 0), (1, 0), (2, 2), (4, 1)]
    assert "2 other pictures kept" in page.text("#toast") and "--prefer" in page.text("#toast")
    wanted = decisions(page, tmp_path / "one")
    assert wanted["g2", "/p/inbox/a.jpg"]["action"] == "remove" and "chosen" not in wanted["g2", "/p/inbox/a.jpg"]
    assert not any(group == "ga" for group, _ in wanted)
    page.keys("z")
    assert page.removed() == [] and page.export(tmp_path / "two")["decisions"] == []


def test_a_rule_leaves_what_was_marked_by_hand(page, tmp_path):
    page.click(page.member(0, 1) + " .remove")  # against the rule: what lies in sorted goes
    page.click(page.member(1, 2) + " .keep")  # nothing goes, and a person said so of one
    marked = page.export(tmp_path / "before")["decisions"]
    for _ in range(2):
        rule(page, "/p/sorted")
        assert page.removed() == [(0, 1), (2, 2), (4, 1)]
        assert "2 groups with your own marks" in page.text("#toast")
        wanted = page.export(tmp_path / "after")["decisions"]
        assert [one for one in wanted if one["group"] in ("g2", "g3")] == marked
        page.keys("z")
        page.reload()  # what was kept by hand is kept in the browser too
    page.one("#filter").send_keys("a.jpg", Keys.ENTER)
    page.drawn()
    rule(page, "/p/sorted")
    assert "No other group" in page.text("#toast") and "1 group with your own marks" in page.text("#toast")
    assert page.removed() == [(0, 1)]
    page.keys(Keys.ESCAPE, "u")  # cleared: the rule has it again
    rule(page, "/p/sorted")
    assert page.removed() == [(0, 0)]


def test_what_stays_of_a_group_that_was_to_go_whole(tmp_path):
    """A file of two groups: what is said last of it holds in both, now and after a reload."""
    shared = member("/p/x.jpg", 100)
    first = [dict(shared, keep=True), member("/p/y.jpg", 90)]
    second = [dict(shared, keep=True), member("/p/z.jpg", 80)]
    groups = [{"id": "a", "kind": "similar", "members": first, "pairs": [pair(0, 1, 0.9)]},
              {"id": "b", "kind": "similar", "members": second, "pairs": [pair(0, 1, 0.9)]}]
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"header": {"title": "t", "folders": ["/p"], "totals": {}, "rule": ""}, "groups": groups}))
    browser = start_browser()
    try:
        page = Page(browser, write_page(tmp_path, path))
        page.click(page.group(0) + " .whole")
        page.say_yes()
        page.say_yes()
        assert page.removed() == [(0, 0), (0, 1), (1, 0)]
        page.click(page.member(1, 0) + " .marks .keep")
        page.click(page.member(1, 1) + " .remove")
        for _ in range(2):
            assert page.removed() == [(0, 1), (1, 1)]
            assert "keep 1" in page.text(page.group(0) + " .state")
            wanted = {(one["group"], one["path"][3]): one for one in page.export(tmp_path / "out")["decisions"]}
            assert {key: one["action"] for key, one in wanted.items()} == {
                ("a", "x"): "keep", ("a", "y"): "remove", ("b", "x"): "keep", ("b", "z"): "remove"}
            assert not any("whole_group" in one for one in wanted.values())
            page.reload()
        assert page.errors() == []
    finally:
        browser.quit()


def test_a_pair_of_a_whole_group_that_is_told_apart_stays(page, tmp_path):
    page.click(page.group(1) + " .whole")
    page.say_yes()
    page.say_yes()
    page.click(page.group(1) + " .pairs button")
    assert "keep none" not in page.text(page.group(1) + " .state")
    assert not any("whole_group" in one for one in page.export(tmp_path / "out")["decisions"])


@pytest.mark.parametrize("text, gone", [
    ("other", [(1, 0)]),                # b: the first for the one in other; the small one was not compared with that
    ("**/2021/**", [(0, 0)]),
    ("sorted/20*", [(0, 0)]),
    ("/p/inbox/", [(0, 1), (1, 1), (1, 2), (2, 2), (4, 0)]),
    ("*.png", []),
    ("/p/inb", []),
    (".*", []),
])
def test_patterns(page, text, gone):
    rule(page, text)
    assert page.removed() == gone


def test_a_rule_is_for_what_is_shown(page):
    page.one("#filter").send_keys("a.jpg", Keys.ENTER)
    page.drawn()
    rule(page, "/p/inbox")
    assert page.removed() == [(0, 1)]


def test_an_empty_rule_says_so(page):
    page.keys("r")
    page.keys(Keys.ENTER)
    assert "Enter a folder" in page.text("#toast") and page.removed() == []


def test_folders_are_offered(page):
    offered = page.browser.execute_script("return [...document.querySelectorAll('#rule-folders option')].map((o) => o.value)")
    assert offered[0] == "/p" and "/p/sorted" in offered and "/p/inbox" in offered


def test_the_slider_leaves_out_what_scores_less(page):
    page.browser.execute_script("const s = document.getElementById('score'); s.value = '0.75';"
                                "s.dispatchEvent(new Event('input'))")
    for _ in range(100):
        if page.shown() == [0, 1, 4] or len(page.shown()) == 3:
            break
    page.browser.execute_async_script("setTimeout(arguments[0], 150)")
    assert sorted(page.shown()) == [0, 1, 4] and page.text("#score-value") == "0.75"
    assert page.text("#accept-all") == "Accept all shown (3)"
    page.click("#accept-all")
    assert page.removed() == [(0, 1), (1, 1), (1, 2), (4, 1)]


def test_what_is_lost_by_a_choice_is_told(page):
    assert page.one(page.group(0) + " .loss").get_attribute("hidden") is not None
    page.click(page.group(0) + " .accept")
    assert page.text(page.group(0) + " .loss") == ""
    page.click(page.member(0, 1) + " .keep")
    page.click(page.member(0, 0) + " .remove")
    words = page.text(page.group(0) + " .loss")
    assert "a.jpg, marked for removal, has more pixels, 400 × 300, more stars" in words


def test_a_whole_group_goes_when_it_was_asked_for_twice(page, tmp_path):
    page.keys("j", "j", "x")
    assert page.one("#whole").get_attribute("open") is not None
    page.keys(Keys.ESCAPE)
    assert page.removed() == []
    # No key but the answer's does anything meanwhile; the first answer alone does nothing either.
    page.keys("x", "a", "n")
    page.say_yes()
    assert page.removed() == [] and "/p/inbox/b.jpg" in page.text("#whole-words")
    page.keys(Keys.ESCAPE)
    assert page.removed() == [] and page.export(tmp_path / "none")["decisions"] == []
    page.keys("x")
    page.say_yes()
    page.say_yes()
    assert page.removed() == [(1, 0), (1, 1), (1, 2)]
    assert "keep none, remove 3" in page.text(page.group(1) + " .state")
    wanted = page.export(tmp_path / "all")["decisions"]
    assert [(one["action"], one["chosen"], one["whole_group"]) for one in wanted] == [("remove", True, 3)] * 3
    page.reload()
    assert page.removed() == [(1, 0), (1, 1), (1, 2)]
    page.click(page.member(1, 2) + " .keep")
    assert not any("whole_group" in one for one in page.export(tmp_path / "kept")["decisions"])
    page.click(page.group(1) + " button:last-child")  # clear
    assert page.removed() == []


def test_a_protected_picture_keeps_its_group(page):
    assert page.one(page.group(3) + " .whole").get_attribute("hidden") is not None
    page.click(page.member(3, 1) + " .keep")
    page.keys("x")
    assert page.one("#whole").get_attribute("open") is None
    assert "protected" in page.text("#toast")
