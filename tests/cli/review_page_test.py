"""The page of `millrace dedupe review` in a real browser: compared, decided, carried out and taken back with keys."""

import base64
import io
import pathlib
import signal
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
pytest.importorskip("selenium", reason="selenium is not installed")
pytest.importorskip("PIL")

import report_page  # noqa: E402
from PIL import Image, ImageDraw  # noqa: E402
from program import content_of, millrace  # noqa: E402
from report_page import Page, start_browser  # noqa: E402
from reviewing import Review  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from test_dedupe import scene  # noqa: E402

if not report_page.available():
    pytest.skip("chromium or chromedriver is not installed", allow_module_level=True)


class Served(Page):
    """The page that a review serves, once its data is there."""

    def __init__(self, browser, review):
        self.browser = browser
        self.address = review.address
        browser.get(review.address)
        self.wait("document.querySelectorAll('.group').length > 0")
        self.drawn()

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not self.browser.execute_script(f"return Boolean({condition})"):
            assert time.monotonic() < end, condition
            time.sleep(0.05)

    def compare(self):
        self.keys("c")
        self.loaded()

    def loaded(self):
        self.wait("document.getElementById('lens').getAttribute('aria-busy') === 'false'")
        self.drawn()

    def words(self):
        return self.text("#compare-words")

    def pixel(self, x, y):
        """Of the canvas, at shares of its sides."""
        width, height, data = self.pixels()
        at = 4 * (int(y * height) * width + int(x * width))
        return list(data[at:at + 4])

    def pixels(self):
        self.drawn()
        url = self.browser.execute_script("return document.getElementById('lens').toDataURL()")
        image = Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))).convert("RGBA")
        return *image.size, image.tobytes()

    def swipe_line(self):
        """Where it is, as a share of the canvas."""
        width, _, data = self.pixels()
        return next(x / width for x in range(width) if data[4 * x:4 * x + 3] == bytes((255, 61, 46)))

    def current(self):
        return int(self.one(".group.current").get_attribute("data-g"))

    def brightest(self):
        """What the canvas shows at its brightest, of red, green and blue."""
        data = self.pixels()[2]
        return max(max(data[i:i + 3]) for i in range(0, len(data), 4) if data[i + 3])

    def carried(self, title):
        self.wait(f"document.getElementById('carry-title').textContent === {title!r}")
        return self.text("#carry-words")


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A large picture and a small one; one with a mark; the same bytes twice; a TIFF. By group: large, small."""
    folder = tmp_path_factory.mktemp("reviewed")
    pictures = folder / "pictures"
    pictures.mkdir()
    one = scene(2400, 1800, 11)
    one.save(pictures / "one.tif")
    one.resize((1200, 900)).save(pictures / "one-small.jpg", quality=94)
    two = scene(2800, 2100, 12)
    two.save(pictures / "two.jpg", quality=94)
    (pictures / "two-again.jpg").write_bytes((pictures / "two.jpg").read_bytes())
    marked = scene(1600, 1200, 13)
    marked.save(pictures / "three.jpg", quality=95)
    ImageDraw.Draw(marked).rectangle((1200, 300, 1300, 380), fill=(250, 40, 30))
    marked.save(pictures / "three-marked.jpg", quality=95)
    four = scene(1600, 1200, 14)
    four.save(pictures / "four.jpg", quality=95)
    four.crop((220, 100, 1500, 1060)).save(pictures / "four-crop.jpg", quality=95)
    four.resize((1200, 900)).transpose(Image.Transpose.ROTATE_90).save(pictures / "four-turned.jpg", quality=95)
    four.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(pictures / "four-mirrored.jpg", quality=94)
    env = {"XDG_DATA_HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home")}
    (folder / "home").mkdir()
    millrace("dedupe", pictures, "--json", folder / "result.json", env=env)
    return folder, pictures, env


def forget_marks(folder):
    for kept in (folder / "home" / "millrace" / "reviews").glob("*"):
        kept.unlink()


@pytest.fixture
def opened(searched):
    folder, pictures, env = searched
    forget_marks(folder)
    with Review(folder / "result.json", "--action", "delete", env=env) as review:
        browser = start_browser()
        try:
            page = Served(browser, review)
            page.review = review
            yield page
            assert page.errors() == []
        finally:
            browser.quit()


def group_of(page, name):
    """Once all groups are filled, which the browser does when it finds that they are near."""
    page.wait("[...document.querySelectorAll('.group')].every((one) => one.querySelector('.name'))")
    return next(g for g in page.shown() if name in [one.text for one in page.all(page.group(g) + " .name")])


def go_to(page, name):
    """With keys alone."""
    wanted = group_of(page, name)
    page.keys("j")
    while page.current() != wanted:
        page.keys("j" if page.shown().index(page.current()) < page.shown().index(wanted) else "k")
    return wanted


def test_the_address_is_for_one_visit(opened):
    page = opened
    assert page.browser.current_url == f"http://{page.review.host}/"
    assert len(page.shown()) == 4
    # Loaded again it is the same visit; who comes with the address alone is told.
    page.reload()
    page.wait("document.querySelectorAll('.group').length === 4")
    other = start_browser()
    try:
        other.get(page.review.address)
        for _ in range(100):
            if "opens a review once" in other.execute_script("return document.body.innerText"):
                break
            time.sleep(0.05)
        text = other.execute_script("return document.body.innerText")
        assert "opens a review once" in text and "one.tif" not in text
    finally:
        other.quit()


def test_two_pictures_are_compared_with_keys(opened, searched):
    page = opened
    go_to(page, "one.tif")
    page.compare()
    assert "fits" in page.words() and "one.tif" in page.text("#compare-one") and "one-small.jpg" in page.text("#compare-two")
    assert "2400 × 1800" in page.text("#compare-one") and "1200 × 900" in page.text("#compare-two")
    first, second = page.pixel(0.25, 0.5), page.pixel(0.75, 0.5)
    assert first[3] == 255 and max(abs(a - b) for a, b in zip(first, second)) < 40
    for key, mode in (("w", "swipe"), ("f", "flicker"), ("d", "difference"), ("s", "side")):
        page.keys(key)
        pressed = page.all("#compare-modes [aria-pressed=true]")
        assert [one.get_attribute("data-mode") for one in pressed] == [mode]
    page.keys("w")
    page.drawn()
    before = page.swipe_line()
    page.keys(Keys.ARROW_LEFT)
    page.drawn()
    assert page.swipe_line() < before - 0.02
    # To the pixel: what is in sight then is the picture's own, not its preview's.
    page.keys("s", "1")
    with Image.open(searched[1] / "one.tif") as image:
        original = image.convert("RGB")

    def shows_the_middle():
        """Of the picture, exactly, in the middle of the first pane."""
        around = {original.getpixel((1200 + x, 900 + y)) for x in (-1, 0, 1) for y in (-1, 0, 1)}
        return tuple(page.pixel(0.2496, 0.5)[:3]) in around

    for _ in range(200):
        if shows_the_middle():
            break
        time.sleep(0.05)
    assert shows_the_middle() and "100 %" in page.words()
    before = page.pixels()
    page.keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    page.drawn()
    assert page.pixels() != before
    page.keys("0")
    assert "fits" in page.words()
    page.keys("x")
    page.wait("document.getElementById('compare-one').textContent.includes('one-small')")
    page.keys("c")
    assert not page.browser.execute_script("return document.getElementById('compare').open")


def test_the_difference_of_the_same_bytes_is_none_and_a_mark_is_where_it_is(opened):
    page = opened
    go_to(page, "two.jpg")
    page.compare()
    page.keys("d")
    page.drawn()
    assert page.brightest() == 0
    # Enlarged, where parts of both in full lie over what was loaded of all of them.
    page.keys("1")
    page.wait("performance.getEntriesByType('resource').filter((one) => one.name.includes('/region/')).length >= 2")
    for _ in range(100):
        if page.brightest() == 0:
            break
        time.sleep(0.05)
    assert page.brightest() == 0
    page.keys("0", "p")
    assert "No area is marked" in page.text("#toast")
    assert page.browser.execute_script("return document.getElementById('compare').contains(document.getElementById('toast'))")
    page.keys("c")
    go_to(page, "three.jpg")
    page.compare()
    page.keys("d", "m")  # without the frame around the place
    page.drawn()
    assert page.brightest() == 255
    page.keys("m", "p")
    page.drawn()
    # The mark fills the middle, and little of it is beyond the frame around it.
    assert "marks where" in page.words() and max(page.pixel(0.5, 0.5)[:3]) > 100 > max(page.pixel(0.02, 0.02)[:3])
    page.keys("s")
    page.drawn()
    sides = [page.pixel(x, 0.5)[:3] for x in (0.25, 0.75)]
    assert any(max(abs(a - b) for a, b in zip(side, (250, 40, 30))) < 30 for side in sides) and sides[0] != sides[1]


@pytest.mark.parametrize("other", ["four-crop.jpg", "four-turned.jpg", "four-mirrored.jpg"])
def test_what_was_cut_and_turned_is_laid_where_it_meets(opened, other):
    page = opened
    go_to(page, "four.jpg")
    page.compare()
    for _ in range(4):
        if other in page.text("#compare-two"):
            break
        page.keys("]")
        page.loaded()
    assert other in page.text("#compare-two") and "four.jpg" in page.text("#compare-one")
    assert "· aligned" in page.words() and ("rotated or mirrored" in page.words()) == (other != "four-crop.jpg")
    page.keys("d", "m")
    width, height, data = page.pixels()
    # In the middle both are; what differs there is compression alone.
    levels = [max(data[i:i + 3]) for y in range(height // 2 - 60, height // 2 + 60, 3)
              for i in range(4 * (y * width + width // 2 - 100), 4 * (y * width + width // 2 + 100), 12)]
    assert sum(levels) / len(levels) < 40, sum(levels) / len(levels)
    # To the pixel too, as the review turns and cuts it.
    page.keys("1")
    for _ in range(200):
        width, height, data = page.pixels()
        levels = [max(data[i:i + 3]) for y in range(height // 2 - 60, height // 2 + 60, 3)
                  for i in range(4 * (y * width + width // 2 - 100), 4 * (y * width + width // 2 + 100), 12)]
        if sum(levels) / len(levels) < 50:
            break
    assert sum(levels) / len(levels) < 50, sum(levels) / len(levels)
    page.keys("x")
    page.loaded()
    assert "· aligned" in page.words()


def test_from_picture_to_picture_and_group_to_group(opened):
    page = opened
    seen = []
    page.keys("j")
    page.compare()
    for _ in range(4):
        seen.append(page.text("#compare-one") + page.text("#compare-two"))
        page.keys("j")
        page.loaded()
    assert len(set(seen)) == 4 and "last group" in page.text("#toast")
    page.keys(" ")
    assert "remove" in page.text("#compare-two")
    page.keys("x")
    page.loaded()
    page.keys(" ")
    assert "remove" not in page.text("#compare-two") and "At least one picture" in page.text("#toast")
    page.keys("u", Keys.ESCAPE)
    assert page.removed() == []


def test_it_is_carried_out_listed_first_and_taken_back(opened, searched):
    page, pictures = opened, searched[1]
    before = content_of(pictures)
    page.click("#accept-all")
    marked = page.removed()
    assert len(marked) == 5
    page.one("#carry-open").click()
    assert "5 files" in page.carried("What would be done")
    assert "one-small.jpg" in page.text("#carry-items") and content_of(pictures) == before
    page.one("#carry-go").click()
    page.carried("Done")
    assert not (pictures / "one-small.jpg").exists() and (pictures / "one.tif").exists()
    page.one("#carry-back").click()
    page.carried("Restored")
    assert content_of(pictures) == before
    page.one("#carry-close").click()
    assert page.removed() == marked


def test_what_was_carried_away_shows_so_and_is_not_decided_again(opened, searched):
    page, pictures = opened, searched[1]
    before = content_of(pictures)
    page.click("#accept-all")
    page.one("#carry-open").click()
    page.carried("What would be done")
    page.one("#carry-go").click()
    page.carried("Done")
    page.one("#carry-close").click()
    assert len(page.all(".member.gone")) == 5
    page.reload()
    page.wait("document.querySelectorAll('.member.gone').length === 5")
    group = go_to(page, "one.tif")
    # What is decided there goes on; what is gone is no part of it.
    for key in ("a", "n", "n", "u", " "):
        page.keys(key)
    assert page.errors() == [] and "not checked in detail" not in page.text("#toast")
    page.keys("u", "x")
    assert not page.browser.execute_script("return document.getElementById('whole').open")
    assert "already removed" in page.text("#toast") and (group, 0) not in page.removed()
    page.one("#carry-open").click()
    assert page.carried("Nothing to do") is not None
    page.one("#carry-close").click()
    journal = max((searched[0] / "home").rglob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    millrace("dedupe", "undo", journal, "--go", env=searched[2])
    assert content_of(pictures) == before


def test_it_is_taken_back_after_a_reload_and_the_marks_stand(opened, searched):
    page, pictures = opened, searched[1]
    before = content_of(pictures)
    page.click("#accept-all")
    marked = page.removed()
    page.one("#carry-open").click()
    page.carried("What would be done")
    page.one("#carry-go").click()
    page.carried("Done")
    page.one("#carry-close").click()
    page.reload()
    page.wait("document.querySelectorAll('.member.gone').length === 5")
    page.one("#carry-open").click()
    page.carried("Nothing to do")
    assert "5 files" in page.text("#carry-back")
    page.one("#carry-back").click()
    page.carried("Restored")
    page.one("#carry-close").click()
    assert content_of(pictures) == before and page.removed() == marked
    page.reload()
    page.wait("document.querySelectorAll('.group').length === 4")
    page.drawn()
    assert page.removed() == marked


def test_keys_do_nothing_while_pictures_load(opened):
    page = opened
    go_to(page, "one.tif")
    page.keys("c", "+", "-", "=", "1", "2", "0", Keys.ARROW_RIGHT, "p", "x", "]", "[", "j", "k", "d", "f", "+")
    page.loaded()
    page.keys(Keys.ESCAPE)
    assert page.errors() == []


def test_a_whole_group_goes_asked_for_twice_and_comes_back(opened, searched):
    page, pictures = opened, searched[1]
    before = content_of(pictures)
    go_to(page, "three.jpg")
    page.keys("x")
    page.say_yes()
    page.say_yes()
    page.one("#carry-open").click()
    page.carried("What would be done")
    page.one("#carry-go").click()
    page.carried("Done")
    assert not (pictures / "three.jpg").exists() and not (pictures / "three-marked.jpg").exists()
    page.one("#carry-back").click()
    page.carried("Restored")
    assert content_of(pictures) == before


def test_marks_come_back_and_the_review_says_when_it_is_over(searched):
    folder, pictures, env = searched
    forget_marks(folder)
    for wanted in ([], [1]):
        with Review(folder / "result.json", "--action", "delete", env=env) as review:
            browser = start_browser()
            try:
                page = Served(browser, review)
                if not wanted:
                    page.click("#accept-all")
                assert len(page.removed()) == 5
                page.one("#end-review").click()
                page.wait("document.getElementById('storage-warning').textContent.includes('ended')")
                assert review.process.wait(timeout=60) == 0
            finally:
                browser.quit()


def test_who_is_interrupted_is_told(opened):
    page = opened
    page.review.process.send_signal(signal.SIGINT)
    page.wait("document.getElementById('storage-warning').textContent.includes('has ended')")
    assert page.review.process.wait(timeout=60) in (0, 130)
    page.errors()  # the request that was cut off
