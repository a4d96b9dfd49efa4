"""What every job makes of one fixture, to the letter. Where a change is meant, `./dev golden` writes the expected outputs
anew, and the commit names the change."""

import base64
import difflib
import json
import os
import pathlib
import platform
import re
import shutil
import stat
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from program import millrace  # noqa: E402

numpy = pytest.importorskip("numpy")
pytest.importorskip("PIL")
pytest.importorskip("h5py")
pytest.importorskip("zarr")
sys.path.insert(0, str(HERE))
import contents  # noqa: E402

EXPECTED = HERE / "expected"
WRITE = os.environ.get("MILLRACE_GOLDEN") == "write"
OPTIONS = ["--threads", "2", "--memory", "1G", "--progress", "none"]
NOON = 1_600_000_000_000_000_000  # ns


def same_encoders():
    """Whether bytes are to be the same, and not only what they say: where the expected outputs were made."""
    try:
        release = pathlib.Path("/etc/os-release").read_text()
    except OSError:
        return False
    return platform.machine() == "x86_64" and "VERSION_CODENAME=bookworm" in release


class Workshop:
    """A folder with the fixture in it, at set times, where a case runs its commands."""

    def __init__(self, top):
        self.top = top
        self.told = {}
        self.numbers = {}  # of groups, journals and pages, whose names hang on where the files lie
        pictures, tables = top / "pictures", top / "tables"
        (pictures / "copies").mkdir(parents=True)
        tables.mkdir()
        (top / "home").mkdir(mode=0o700)
        for path in sorted((HERE / "fixture").iterdir()):
            shutil.copyfile(path, (tables if path.suffix == ".csv" else pictures) / path.name)
        for name in ("harbour.jpg", "hill.png"):
            shutil.copyfile(pictures / name, pictures / "copies" / name)
        shutil.copyfile(pictures / "tower.tif", os.fsencode(pictures) + b"/caf\xe9.tif")
        os.link(pictures / "plain.png", pictures / "plain again.png")
        (pictures / "garden-gray.xmp").write_text("of garden-gray.jpg")
        (pictures / "empty.png").touch()
        for i, path in enumerate(sorted(os.fsencode(p) for p in pictures.rglob("*"))):
            os.utime(path, ns=(NOON, NOON + i * 1_000_000_123))
        numpy.save(tables / "walk.npy", numpy.cumsum(numpy.arange(400) * 7919 % 23 - 11) / 8 + 500)
        random = numpy.random.default_rng(8)
        codes = random.integers(0, 2**64, 400, dtype=numpy.uint64)
        codes[300:] = codes[:100] ^ (numpy.uint64(1) << random.integers(0, 64, 100, dtype=numpy.uint64))
        numpy.save(tables / "codes.npy", codes)

    def run(self, job, *arguments, name=None):
        """Runs a command; what it said becomes part of what is told."""
        done = millrace(job, *arguments, cwd=self.top, env={"XDG_DATA_HOME": str(self.top / "home")}, check=False)
        told = [f"exit {done.returncode}", "-- stdout", done.stdout.decode(errors="backslashreplace").rstrip(),
                "-- stderr", done.stderr.decode(errors="backslashreplace").rstrip(), ""]
        self.told[f"{name or job}.txt"] = self.settled("\n".join(told))

    def settled(self, text):
        """Without the folder, what it makes of names, and what is measured."""
        text = text.replace(str(self.top), "@")
        text = re.sub(r"\d[\d.,]* (m?s)\b", r"# \1", text)
        text = re.sub(r'("seconds": )[-\d.e]+', r"\1#", text)
        # Of bytes the unit, too, hangs on how fast it was.
        text = re.sub(r"\d[\d.,]* [KMGT]?i?B/s\b", "# B/s", text)
        text = re.sub(r"\d[\d.,]*( codes| latents| windows)?/s\b", r"#\1/s", text)
        text = re.sub(r'([a-z]-|journals/|"id": ")([0-9a-f]{12,32})\b', self.numbered, text)
        return re.sub(r'(_base64": ")([^"]+)', lambda m: m[1] + self.without_top(m[2]), text)

    def numbered(self, match):
        return f"{match[1]}{self.numbers.setdefault(match[2], len(self.numbers) + 1)}"

    def without_top(self, encoded):
        return base64.b64decode(encoded).replace(os.fsencode(self.top), b"@").decode(errors="backslashreplace")

    def take(self, name, told):
        if not isinstance(told, str):
            told = json.dumps(told, indent=1, sort_keys=True) + "\n"
            told = re.sub(r"\[\s+([^][{}]{0,100}?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m[1]) + "]", told)
        self.told[name] = self.settled(told)

    def take_files(self, folder):
        """Everything in a folder, by its content."""
        told = {}
        for path in sorted((self.top / folder).rglob("*")):
            if path.name == "zarr.json" and path.parent.parent == self.top / folder:
                told[path.parent.name] = contents.of_zarr(path.parent)
            if path.is_file():
                name = str(path.relative_to(self.top / folder))
                told[name] = contents.of_hdf5(path) if path.suffix == ".h5" else contents.of_bytes(name, path.read_bytes())
                told[name]["bytes"] = contents.digest(path.read_bytes())
        self.take("files.json", told)

    def take_disk(self, folder):
        """Names, sizes and times: what a person sees there."""
        told = []
        for path in sorted((self.top / folder).rglob("*")):
            info = path.lstat()
            size = "" if path.is_dir() else f" {info.st_size} {info.st_mtime_ns}"
            told.append(os.fsencode(path.relative_to(self.top)).decode(errors="backslashreplace") + size)
        return "\n".join(told) + "\n"


def hash_pictures(shop):
    kinds = "ahash,dhash,dhash_vertical,phash,whash,colorhash,pdq"
    shop.run("hash", "pictures", "--kinds", kinds, "--format", "jsonl", "--json", "out.json", *OPTIONS)
    shop.take("out.json", json.loads((shop.top / "out.json").read_text()))
    shop.run("hash", "pictures", "--kinds", "dhash,phash", "--size", "16", "--orientation", "exif", "--decode", "fast",
             "--format", "csv", *OPTIONS, name="upright")


def join_codes(shop):
    (shop.top / "out").mkdir()
    shop.run("join", "tables/codes.npy", "--radius", "3", "-o", "out/pairs.npy", "--json", "out.json", *OPTIONS)
    shop.run("join", "tables/codes.npy", "--radius", "3", "--collapsed", "-o", "out/collapsed.npy", *OPTIONS, name="collapsed")
    shop.take("out.json", json.loads((shop.top / "out.json").read_text()))
    shop.take_files("out")


def find_duplicates(shop):
    shop.run("dedupe", "pictures", "--catalog", "home/catalog.sqlite", "--report", "page.html",
             "--json", "out.json", "--csv", "out.csv", *OPTIONS)
    shop.take("out.json", json.loads((shop.top / "out.json").read_text()))
    shop.take("out.csv", (shop.top / "out.csv").read_bytes().decode(errors="backslashreplace"))
    shop.take("page.json", contents.of_page((shop.top / "page.html").read_text()))
    if same_encoders():  # looks are named by their thumbnails' bytes
        shop.take("catalog.json", contents.of_catalog(shop.top / "home/catalog.sqlite"))
    shop.run("dedupe", "pictures", "--group", "connected", "--look", "thumbnail", "--match", "dhash<=10",
             "--catalog", "home/catalog.sqlite", "--csv", "-", *OPTIONS, name="connected")


def act_on_duplicates(shop):
    shop.run("dedupe", "pictures", "--catalog", "home/catalog.sqlite", "--json", "out.json", *OPTIONS)
    groups = json.loads((shop.top / "out.json").read_text())["groups"]
    keys = ("path", "path_base64", "size", "mtime_ns", "hash")
    decisions = [{"group": g["id"], "action": "keep" if m["keep"] else "remove"} | {k: m[k] for k in keys if k in m}
                 for g in groups for m in g["members"]]
    (shop.top / "decisions.json").write_text(json.dumps({"millrace_decisions": 1, "decisions": decisions}))
    apply = ["apply", "decisions.json", "--catalog", "home/catalog.sqlite", "--action", "move=gone"]
    shop.run("dedupe", *apply, "--json", "dry.json", name="dry")
    shop.run("dedupe", *apply, "--go", "--json", "done.json", name="done")
    shop.take("dry.json", json.loads((shop.top / "dry.json").read_text()))
    shop.take("done.json", json.loads((shop.top / "done.json").read_text()))
    shop.take("disk.txt", shop.take_disk("pictures") + shop.take_disk("gone"))
    journal = json.loads((shop.top / "done.json").read_text())["journal"]
    shop.run("dedupe", "undo", journal, "--go", name="undo")
    shop.take("after.txt", shop.take_disk("pictures"))


def charts(*options, table="prices.csv"):
    def draw(shop):
        (shop.top / "out").mkdir()
        shop.run("render", f"tables/{table}", *options, "--stride", "7", "--shard", "6", *OPTIONS, "--json", "out.json")
        shop.take("out.json", json.loads((shop.top / "out.json").read_text()))
        shop.take_files("out")
        assert stat.S_ISDIR((shop.top / "out").stat().st_mode)

    return draw


def measure_latents(shop):
    for video, (group, frames) in enumerate((("calm", 3), ("calm", 2), ("calm", 3), ("wild", 3), ("wild", 3))):
        for step in range(2):
            folder = shop.top / "latents" / group / f"vid_{video:03d}"
            folder.mkdir(parents=True, exist_ok=True)
            wave = numpy.arange(4 * frames * 34 * 21) * (7919 + 1009 * video + step) % 4093
            strength = (1.25 if group == "wild" else 1) * (1 + video / 100)
            numpy.save(folder / f"step_{step:03d}.npy",
                       ((wave / 512 - 4) * strength).astype(numpy.float16).reshape(4, frames, 34, 21))
            os.utime(folder / f"step_{step:03d}.npy", ns=(NOON, NOON))
    shop.run("latents", "latents", "-o", "out", "--report", "--json", "out.json", *OPTIONS)
    shop.take("out.json", json.loads((shop.top / "out.json").read_text()))
    for name in ("metrics.csv", "comparisons.csv"):
        shop.take(name, (shop.top / "out" / name).read_text())
    # What is about one run.
    (shop.top / "out" / "performance.json").unlink()
    shop.take_files("out")
    for how in (["--print-config"], ["--plan"], ["--plan", "--json", "-"]):
        shop.run("latents", "latents", *OPTIONS, *how, name="latents-" + "-".join(how).strip("-").replace("---", "-"))


def say_settings(shop):
    for job, inputs in (("hash", ["pictures"]), ("join", ["tables/codes.npy", "--radius", "3"]),
                        ("dedupe", ["pictures", "--catalog", "home/c.sqlite"]), ("render", ["tables/prices.csv", "-o", "c.h5"])):
        shop.run(job, *inputs, *OPTIONS, "--print-config", name=f"{job}-settings")
        shop.run(job, *inputs, *OPTIONS, "--plan", name=f"{job}-plan")
        shop.run(job, *inputs, *OPTIONS, "--plan", "--json", "-", name=f"{job}-plan-json")


OHLC = ["--size", "auto", "--window", "20", "--labels", "1,5"]
CASES = {
    "hash": hash_pictures,
    "join": join_codes,
    "dedupe": find_duplicates,
    "dedupe-apply": act_on_duplicates,
    "latents": measure_latents,
    "settings": say_settings,
    "render-hdf5": charts("--window", "40", "--size", "96x64", "--labels", "1,5", "-o", "out/charts.h5"),
    "render-hdf5-virtual": charts("--style", "jkx", "--labels", "5", "--dtype", "bit", "--virtual", "-o", "out/charts.h5"),
    "render-hdf5-f32": charts("--style", "ohlc", *OHLC, "--dtype", "f32", "--ink", "#204080", "-o", "out/charts.h5"),
    "render-zarr": charts("--style", "candle", *OHLC, "--channels", "rgb", "--store", "zarr", "-o", "out/charts"),
    "render-png": charts("--style", "ohlc", *OHLC, "--ma", "5", "--volume", "--store", "png", "-o", "out/charts"),
    "render-jpeg": charts("--window", "30", "--size", "80x60", "--labels", "2", "--store", "jpeg", "-o", "out/charts"),
    "render-npy": charts("--window", "30", "--size", "80x60", "--labels", "2", "--scale", "log", "--store", "npy", "-o", "out/charts"),
    "render-dat": charts("--style", "jkx", "--labels", "20", "--store", "dat", "-o", "out/charts"),
    "render-tar": charts("--window", "30", "--size", "80x60", "--labels", "2", "--store", "webdataset", "-o", "out/charts"),
    "render-symbols": charts("--window", "30", "--size", "80x60", "--labels", "2", "--by", "symbol", "--store", "npy",
                             "-o", "out/charts", table="symbols.csv"),
    "render-numbers": charts("--window", "50", "--size", "96x64", "--scale", "global", "-o", "out/charts.h5", table="walk.npy"),
    "render-sheet": charts("--window", "40", "--size", "96x64", "--sample", "6", "-o", "out/sheet.png"),
}


def without_bytes(text):
    return re.sub(r'"bytes": "[0-9a-f]{24}",?', "", text)


@pytest.mark.parametrize("name", CASES)
def test_a_job_makes_what_it_made(tmp_path, name):
    shop = Workshop(tmp_path)
    CASES[name](shop)
    folder = EXPECTED / name
    if WRITE:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file, text in shop.told.items():
            (folder / file).write_text(text)
        return
    expected = {path.name: path.read_text() for path in sorted(folder.iterdir())}
    if not same_encoders():
        expected.pop("catalog.json", None)
    assert sorted(shop.told) == sorted(expected), "this makes other outputs than it did"
    for file, text in shop.told.items():
        made, was = (text, expected[file]) if same_encoders() else (without_bytes(text), without_bytes(expected[file]))
        if made != was:
            lines = difflib.unified_diff(was.splitlines(), made.splitlines(), "was", "is", n=1, lineterm="")
            pytest.fail(f"{name}/{file}:\n" + "\n".join(list(lines)[:60]))
