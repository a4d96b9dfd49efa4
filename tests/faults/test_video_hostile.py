"""Films whose bytes are anything: an outcome each time, in bounded time, and nothing beside the output.

MILLRACE_FUZZ_SECONDS says for how long; a few unless told. A failure names the film, which is kept.
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from films import X264, ffmpeg, needs_ffmpeg  # noqa: E402
from program import PROGRAM  # noqa: E402

pytestmark = [needs_ffmpeg]

SECONDS = float(os.environ.get("MILLRACE_FUZZ_SECONDS", 5))
SOUND = ["-f", "lavfi", "-i", "sine=duration=1"]
FILMS = {
    "a.mp4": [*SOUND, *X264, "-c:a", "aac"], "b.mkv": [*SOUND, *X264, "-bf", "2", "-c:a", "flac"],
    "c.webm": ["-c:v", "libvpx-vp9", "-deadline", "realtime"], "d.avi": [*SOUND, "-c:v", "mpeg4", "-c:a", "mp3"],
    "e.ts": [*SOUND, "-c:v", "mpeg2video", "-c:a", "mp2"], "f.mov": ["-c:v", "prores_ks"],
    "g.mkv": ["-c:v", "libx265", "-x265-params", "log-level=none"], "h.flv": ["-c:v", "flv1"],
    "i.mxf": ["-c:v", "mpeg2video"], "j.mkv": ["-c:v", "ffv1", "-level", "3"]}
# Done; partly done; it cannot be read or made; what was asked for does not go.
OUTCOMES = {0, 1, 2, 3}


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    out = {}
    for name, how in FILMS.items():
        done = subprocess.run(["ffmpeg", "-v", "quiet", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1",
                               *how, folder / name])
        if done.returncode == 0:
            out[name] = (folder / name).read_bytes()
    return out


def mutated(rng, films):
    """A film with some of its bytes others, cut out, doubled, or those of another."""
    name = rng.choice(sorted(films))
    data = bytearray(films[name])
    other = films[rng.choice(sorted(films))]
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        # Where containers keep what they know: at the front and at the end.
        at = min(int(rng.choice([rng.random() ** 4, 1 - rng.random() ** 4, rng.random()]) * len(data)), max(len(data) - 1, 0))
        size = rng.choice([1, 2, 4, 8, 64, 1000])
        how = rng.randrange(7)
        if not data:
            break
        if how == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[at:at + size] = rng.randbytes(size)
        elif how == 2:
            data[at:at + size] = bytes([rng.choice([0, 0xFF, 0x7F, 0x80])]) * min(size, 8)
        elif how == 3:
            del data[at:at + size]
        elif how == 4:
            data[at:at] = data[at:at + size]
        elif how == 5:
            where = rng.randrange(len(other))
            data[at:at + size] = other[where:where + size]
        else:
            del data[at + size * 50:]
    return name, bytes(data)


def orphans():
    """Helpers whose program has gone. Those of programs that other tests kill go a moment later."""
    out = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "comm").read_text().startswith("millrace-film"):
                    parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                    if not (pathlib.Path("/proc") / parent / "comm").read_text().startswith("millrace"):
                        out.append(entry.name)
            except OSError:
                pass
    return out


def helpers_go():
    for _ in range(100):
        if not orphans():
            return True
        time.sleep(0.1)
    return False


def test_every_film_has_an_outcome(films, tmp_path):
    seed = int(os.environ.get("MILLRACE_FUZZ_SEED", 11))
    rng = random.Random(seed)
    end = time.monotonic() + SECONDS
    count, done_well = 0, 0
    kept = pathlib.Path(os.environ.get("MILLRACE_FUZZ_KEEP", tmp_path / "kept"))
    while time.monotonic() < end:
        name, data = mutated(rng, films)
        film = tmp_path / f"film-{name}"
        film.write_bytes(data)
        folder = tmp_path / "out"
        folder.mkdir()
        output = folder / rng.choice(["out.mkv", "out.mp4", "out.mov"])
        more = rng.choice([[], ["--segment", "0.3"], ["--start", "0.2", "--end", "0.7"], ["--part", "2/2", "--segment", "0.3"],
                           ["--plan"], ["--quality", "lossless"]])

        def fail(why, said=b""):
            kept.mkdir(exist_ok=True)
            shutil.copy(film, kept / f"{seed}-{count}-{name}")
            pytest.fail(f"{kept}/{seed}-{count}-{name} {more} {output.name}: {why}\n{said.decode(errors='replace')[-2000:]}")

        try:
            run = subprocess.run([PROGRAM, "video", film, "-o", output, "--memory", "500M", "--progress", "none", *more],
                                 capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            fail("it does not end", error.stderr or b"")
        if run.returncode not in OUTCOMES:
            fail(f"exit {run.returncode}", run.stderr)
        if b"please report" in run.stderr or b"internal error" in run.stderr:
            fail("it blames itself", run.stderr)
        if run.returncode in (1, 2) and not run.stderr.strip():
            fail("it says nothing")
        left = {path.name for path in folder.iterdir()} - {output.name, output.name + ".shards"}
        if left:
            fail(f"it left {left}")
        if output.exists() and run.returncode not in (0, 3):
            fail("it made a film and says it failed", run.stderr)
        if not helpers_go():
            fail("a helper outlives it")
        if film.read_bytes() != data:
            fail("it changed its input")
        shutil.rmtree(folder)
        film.unlink()
        count += 1
        done_well += run.returncode == 0
    print(f"{count} films, {done_well} of them made")
    assert count > 0
