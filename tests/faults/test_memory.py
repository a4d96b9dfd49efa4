"""--memory holds for the program and its helpers together, and what cannot fit says how much it needs."""

import json
import pathlib
import shutil
import subprocess
import sys

import h5py
import numpy
import pytest
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import run_and_watch  # noqa: E402
from program import PROGRAM, lines_of, millrace  # noqa: E402

SIDE = 10_000
LIMIT = 256 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if shutil.disk_usage(tmp_path_factory.getbasetemp()).free < 2 << 30:
        pytest.skip("less than 2 GiB of disk")
    return tmp_path_factory.mktemp("large")


@pytest.fixture(scope="module")
def picture():
    y, x = numpy.mgrid[0:SIDE, 0:SIDE].astype(numpy.uint16)
    array = numpy.empty((SIDE, SIDE, 3), dtype=numpy.uint8)
    array[..., 0] = x // 40
    array[..., 1] = y // 40
    array[..., 2] = (x // 700 + y // 900) % 2 * 200
    return Image.fromarray(array)


def by_vips(folder, picture, name):
    if not shutil.which("vips"):
        pytest.skip("no vips program (libvips-tools) to write it with")
    base = folder / "base.ppm"
    if not base.exists():
        picture.save(base)
    done = subprocess.run(["vips", "copy", base, f"{folder}/{name}"], capture_output=True)
    if done.returncode != 0:
        pytest.skip(f"this vips cannot write {name}: {done.stderr.decode(errors='replace')}")
    return folder / name.split("[")[0]


def hashed(path):
    done, peak = run_and_watch([PROGRAM, "hash", path, "--memory", "256M", "--format", "jsonl", "--progress", "none", "--kinds", "dhash,pdq"])
    assert done.returncode in (0, 3), done.stderr
    (line,) = lines_of(done)
    assert peak <= LIMIT, f"{peak >> 20} MiB"
    return line


@pytest.mark.parametrize("name", ["plain.jpg", "plain.png", "plain.ppm"])
def test_streamed_formats_fit(folder, picture, name):
    picture.save(folder / name, **({"compress_level": 1} if name.endswith("png") else {}))
    line = hashed(folder / name)
    assert "error" not in line, line
    assert (line["width"], line["height"]) == (SIDE, SIDE)


@pytest.mark.parametrize("name", ["tiled.tif[tile,compression=deflate]", "strips.tif[compression=lzw]"])
def test_tiff_fits(folder, picture, name):
    line = hashed(by_vips(folder, picture, name))
    assert "error" not in line, line
    assert line["width"] == SIDE


@pytest.mark.parametrize("name", ["interlaced.png[interlace,compression=1]", "large.webp[Q=40,effort=0]"])
def test_what_does_not_fit_names_its_need(folder, picture, name):
    line = hashed(by_vips(folder, picture, name))
    assert "needs" in line["error"] and "iB" in line["error"] and "--memory" in line["error"], line


def test_progressive_jpeg_names_its_need(folder, picture):
    picture.save(folder / "progressive.jpg", progressive=True)
    line = hashed(folder / "progressive.jpg")
    assert "needs" in line["error"] and "--memory" in line["error"], line


def test_bmp_needs_little_and_a_tiff_of_one_strip_names_its_need(folder, picture):
    picture.save(folder / "large.bmp")
    assert "error" not in hashed(folder / "large.bmp")
    picture.save(folder / "one.tif", compression="tiff_adobe_deflate", tiffinfo={278: SIDE})
    assert "needs" in hashed(folder / "one.tif")["error"]


def test_memory_does_not_grow_with_the_number_of_charts(tmp_path):
    peaks = []
    for length in (3000, 12000):
        series = tmp_path / f"{length}.npy"
        numpy.save(series, numpy.cumsum(numpy.random.default_rng(1).normal(0, 1, length)))
        done, peak = run_and_watch([PROGRAM, "render", series, "-o", tmp_path / f"{length}.h5", "--size", "400x250",
                                    "--shard", "200", "--progress", "none"])
        assert done.returncode == 0, done.stderr
        peaks.append(peak)
    assert max(peaks) < 200 << 20 and peaks[1] < peaks[0] + (24 << 20), peaks


def planned(*arguments):
    done, peak = run_and_watch([PROGRAM, "render", *arguments, "--plan"])
    assert done.returncode == 0, done.stderr
    return done.stdout.decode(), peak


def test_ten_million_windows_are_planned_in_little_memory(tmp_path):
    array = numpy.cumsum(numpy.random.default_rng(1).normal(0, 1, 10_000_099))
    numpy.save(tmp_path / "p.npy", array)
    said, peak = planned(tmp_path / "p.npy")
    assert "10,000,000 of 800 x 500 pixels" in said and peak < 64 << 20, peak
    # The helper that reads HDF5 is counted too.
    for name, how in {"flat": {}, "packed": {"chunks": True, "compression": "gzip", "compression_opts": 1}}.items():
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file.create_dataset("close", data=array, **how)
        there, most = planned(tmp_path / f"{name}.h5")
        assert "10,000,000 of 800 x 500 pixels" in there and most < 96 << 20, most
    # Ten times fewer take as much.
    numpy.save(tmp_path / "q.npy", array[:1_000_099])
    assert peak < planned(tmp_path / "q.npy")[1] + (8 << 20)


def test_tables_are_paid_for(tmp_path):
    rows = b"2020-01-01 10:00:00,100.25,101.5,99.125,100.5,123456\n" * 60_000
    tables = [tmp_path / f"{i}.csv" for i in range(8)]
    for table in tables:
        table.write_bytes(b"Date,Open,High,Low,Close,Volume\n" + rows * 18)  # 59 MB
    said, peak = planned(*tables, "--duplicates", "keep")
    assert peak < 420 << 20, peak
    # Held: a close and a date for each of 8.6 million rows.
    done, peak = run_and_watch([PROGRAM, "render", *tables, "--plan", "--duplicates", "keep", "--memory", "128M"])
    assert done.returncode == 1 and peak < 128 << 20, (done.stderr, peak)
    assert b".csv: its columns need about" in done.stderr and b"raise --memory" in done.stderr
    done, peak = run_and_watch([PROGRAM, "render", *tables, "--plan", "--duplicates", "keep", "--memory", "512M", "--style", "candle"])
    assert done.returncode == 0 and peak < 512 << 20, (done.stderr, peak)


def test_a_picture_that_needs_a_little_too_much_is_refused_and_not_waited_for(tmp_path):
    # Whatever the limit: what a picture may have is less than the limit by what the run itself holds.
    rng = numpy.random.default_rng(1)
    Image.fromarray(rng.integers(0, 255, (3000, 4000, 3), numpy.uint8)).save(tmp_path / "p.jpg", progressive=True, quality=60)
    Image.new("RGB", (64, 64), "red").save(tmp_path / "small.png")
    said = set()
    for limit in (*range(30, 60, 2), 60, 80, 120):
        done = millrace("hash", tmp_path, "--memory", f"{limit}M", "--threads", "2", check=False, timeout=60)
        assert done.returncode in (0, 3) and b"small.png" in done.stdout, done.stderr
        said.add(done.returncode)
    assert said == {0, 3}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Something to do for every job."""
    folder = tmp_path_factory.mktemp("inputs")
    rng = numpy.random.default_rng(2)
    (folder / "pictures").mkdir()
    for i in range(8):
        coarse = Image.fromarray(rng.integers(0, 255, (30, 40, 3), numpy.uint8))
        coarse.resize((4000, 3000), Image.BICUBIC).save(folder / "pictures" / f"{i}.jpg", quality=85)
    codes = rng.integers(0, 2**64, 1_000_000, dtype=numpy.uint64)
    codes[500_000:] = codes[:500_000] ^ (numpy.uint64(1) << rng.integers(0, 64, 500_000, dtype=numpy.uint64))
    numpy.save(folder / "codes.npy", codes)
    numpy.save(folder / "series.npy", numpy.cumsum(rng.normal(0, 1, 4000)) + 500)
    return folder


JOBS = {
    "hash": lambda i, o: [i / "pictures", "--kinds", "dhash,phash,pdq"],
    "join": lambda i, o: [i / "codes.npy", "--radius", "4", "-o", o / "pairs.npy"],
    "dedupe": lambda i, o: [i / "pictures", "--catalog", o / "c.sqlite"],
    "render": lambda i, o: [i / "series.npy", "--size", "400x250", "-o", o / "c.h5"],
}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_job_takes_what_its_plan_says(inputs, tmp_path, job, threads):
    tmp_path.chmod(0o700)
    command = [job, *JOBS[job](inputs, tmp_path), "--threads", str(threads)]
    plan = json.loads(millrace(*command, "--plan", "--json", "-").stdout)["plan"]
    needed = plan["memory"]["needed"]
    assert needed == sum(plan["memory"]["purposes"].values()) <= plan["memory"]["allowed"]
    done, peak = run_and_watch([PROGRAM, *command, "--memory", str(needed), "--progress", "none"])
    assert done.returncode == 0, done.stderr
    # What the system counts has the program's code and the C library's reserves in it.
    assert needed / 4 < peak < needed * 1.1 + (8 << 20), f"{peak >> 20} MiB of {needed >> 20}: {plan['memory']}"
