"""The report page in a headless Chromium, as the tests drive it: what a person sees and presses."""

import json
import os
import pathlib
import shutil
import subprocess
import time

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MILLRACE_BUILD", ROOT / "build" / "release"))
CHROMIUM = shutil.which("chromium")
CHROMEDRIVER = shutil.which("chromedriver")


def available():
    return bool(CHROMIUM and CHROMEDRIVER)


def write_page(folder, *arguments):
    program = BUILD / "page_sample"
    assert program.exists(), f"{program} is not built; MILLRACE_BUILD names another build folder"
    page = folder / "report.html"
    subprocess.run([program, page, *arguments], check=True)
    return page


def start_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1280,900")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(CHROMEDRIVER))


class Page:
    def __init__(self, browser, path):
        self.browser = browser
        self.path = path
        browser.get(path.as_uri())
        self.drawn()

    def reload(self):
        self.browser.refresh()
        self.drawn()

    def drawn(self):
        """Groups are filled when the browser has found out which of them are near: after a frame that it drew, or
        later, where others keep the machine busy."""
        self.browser.execute_async_script("""const done = arguments[0];
            const filled = () => [...document.querySelectorAll('.group')].every((one) => {
              const {top, bottom} = one.getBoundingClientRect();
              return bottom < 0 || top > innerHeight || one.querySelector('.name');
            });
            const look = () => filled() ? done() : setTimeout(look, 20);
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(look)));""")

    def keys(self, *keys):
        for key in keys:
            ActionChains(self.browser).send_keys(key).perform()

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def click(self, selector):
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.one(selector))
        self.one(selector).click()

    def say_yes(self):
        """To what is asked before a whole group goes: until that is done, or asked for once more."""
        self.browser.execute_script("""window.answered = false;
            document.querySelector('#whole').addEventListener('close', () => setTimeout(() => { window.answered = true; }), {once: true});""")
        self.one("#whole-yes").click()
        self.browser.execute_async_script("""const done = arguments[0];
            const look = () => window.answered ? done() : setTimeout(look, 5);
            look();""")

    def group(self, index):
        return f'.group[data-g="{index}"]'

    def member(self, group, m):
        return f'{self.group(group)} .member[data-m="{m}"]'

    def removed(self):
        """(group, member) of every picture that shows as marked for removal."""
        script = """return [...document.querySelectorAll('.member.removed')].map(
            (one) => [Number(one.closest('.group').dataset.g), Number(one.dataset.m)])"""
        return sorted(tuple(pair) for pair in self.browser.execute_script(script))

    def text(self, selector):
        return self.browser.execute_script("return arguments[0].textContent", self.one(selector))

    def shown(self):
        script = "return [...document.querySelectorAll('.group')].map((one) => Number(one.dataset.g))"
        return self.browser.execute_script(script)

    def focus(self):
        return self.browser.execute_script("return document.activeElement.getAttribute('aria-label')")

    def export(self, folder):
        folder.mkdir(exist_ok=True)
        command = {"behavior": "allow", "downloadPath": str(folder)}
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", command)
        self.click("#export")
        target = folder / "decisions.json"
        for _ in range(200):
            if target.exists() and not list(folder.glob("*.crdownload")):
                break
            time.sleep(0.05)
        text = target.read_text(encoding="utf-8")
        target.unlink()
        return json.loads(text)

    def errors(self):
        return [one for one in self.browser.get_log("browser") if one["level"] in ("SEVERE", "WARNING")]
