"""The report page of `dedupe` with 5,000 groups in Chromium: when it is first painted, and how long every key takes until
what it did is drawn; from a file, and served by `dedupe review`; light, dark and 380 pixels wide.

  page.py PROGRAM WORK_FOLDER [GROUPS]

The pictures are made up in WORK_FOLDER, once: two of each scene, one of half its sides.
"""

import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

from PIL import Image, ImageDraw
from selenium import webdriver

VIEWS = (("light", 1280, 900), ("dark", 1280, 900), ("light", 380, 800))
KEYS = ("j", "j", "a", "u", "n", "n", " ", "ArrowRight", "k", "z", "/", "Escape", "r", "Escape", "x", "c")
COMPARE_KEYS = ("w", "ArrowRight", "f", "d", "s", "+", "1", "ArrowRight", "0", "x", " ", "]", "j", "k", "z", "c")

# Presses each key and waits until the next frame is drawn.
PRESS = """
const [keys, done] = arguments;
(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const out = [];
  for (const key of keys) {
    const start = performance.now();
    const target = document.activeElement || document.body;
    target.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
    await frame();
    out.push([key, performance.now() - start]);
    const whole = document.getElementById('whole');
    if (whole.open) whole.close();
    if (key === '/' || key === 'r') document.activeElement.blur();
  }
  done(out);
})();
"""
WORK = """
const [work, done] = arguments;
(async () => {
  const start = performance.now();
  const told = () => document.querySelectorAll('.group').length + document.getElementById('toast').textContent;
  const before = told();
  if (work === 'accept all') document.getElementById('accept-all').click();
  if (work === 'score') {
    document.getElementById('score').value = 0.97;
    document.getElementById('score').dispatchEvent(new Event('input'));
  }
  if (work === 'rule') {
    document.getElementById('rule-path').value = '*-small.jpg';
    document.getElementById('rule-form').requestSubmit();
  }
  do {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  } while (told() === before && performance.now() - start < 5000);
  done(performance.now() - start);
})();
"""


def make(task):
    folder, number = task
    at = random.Random(number)
    image = Image.new("RGB", (8, 6))
    image.putdata([tuple(at.randrange(256) for _ in range(3)) for _ in range(48)])
    image = image.resize((320, 240), Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    for _ in range(6):
        x, y = at.randrange(320), at.randrange(240)
        pen.ellipse((x, y, x + at.randrange(20, 90), y + at.randrange(20, 90)), fill=tuple(at.randrange(256) for _ in range(3)))
    image.save(folder / f"{number:05}.jpg", quality=92)
    image.resize((160, 120), Image.Resampling.LANCZOS).save(folder / f"{number:05}-small.jpg", quality=90)


def browser_of(mode, width, height):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    browser.set_window_size(width, height)
    features = [{"name": "prefers-color-scheme", "value": mode}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.set_script_timeout(120)
    return browser


def measure(what, address, view):
    browser = browser_of(*view)
    browser.get(address)
    while not browser.execute_script("return document.querySelectorAll('.group').length"):
        time.sleep(0.02)
    browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))")
    # Of a served page: when its groups were drawn, on the clock of the first visit.
    drawn = browser.execute_script("return performance.now()")
    first = browser.execute_script("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    time.sleep(1)
    keys = browser.execute_async_script(PRESS, KEYS)
    compared = browser.execute_async_script(PRESS, COMPARE_KEYS)
    works = {work: browser.execute_async_script(WORK, work) for work in ("accept all", "rule", "score")}
    browser.quit()
    slowest = max(keys, key=lambda one: one[1])
    in_compare = max(compared, key=lambda one: one[1])
    print(f"{what} {view[0]} {view[1]}: first paint {first:.0f} ms, groups drawn by {drawn:.0f} ms; slowest key {slowest[0]!r} "
          f"{slowest[1]:.0f} ms; comparing {in_compare[0]!r} {in_compare[1]:.0f} ms; "
          + ", ".join(f"{work} {ms:.0f} ms" for work, ms in works.items()), flush=True)


def main():
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 5000
    folder = work / f"page-{count}"
    if not folder.exists():
        started = work / f"page-{count}.part"
        shutil.rmtree(started, ignore_errors=True)
        started.mkdir(parents=True)
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            list(pool.map(make, [(started, number) for number in range(count)], chunksize=64))
        started.rename(folder)
    home = work / "page-home"
    home.mkdir(mode=0o700, exist_ok=True)
    env = dict(os.environ) | {"XDG_DATA_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    page, result = work / "page.html", work / "page.json"
    subprocess.run([program, "dedupe", folder, "--report", page, "--json", result], check=True, env=env, stdout=subprocess.DEVNULL)
    print(f"{page.stat().st_size / 2**20:.1f} MiB of page", flush=True)
    for view in VIEWS:
        measure("from a file", page.absolute().as_uri(), view)
    for view in VIEWS:
        review = subprocess.Popen([program, "dedupe", "review", result, "--action", "delete"], env=env, stdout=subprocess.PIPE, text=True)
        measure("served", review.stdout.readline().strip(), view)
        review.terminate()
        review.wait()


if __name__ == "__main__":
    main()
