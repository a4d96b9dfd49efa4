"""`millrace render` on a device: every store is the CPU's byte for byte, whatever the device does."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from devices import opencl, simulated, told  # noqa: E402
from program import BUILD, PROGRAM, content_of, millrace  # noqa: E402


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    """A table of open, high, low, close and volume, with gaps, flat stretches and steps."""
    path = tmp_path_factory.mktemp("prices") / "prices.csv"
    rng = np.random.default_rng(3)
    close = 100 + np.cumsum(rng.normal(0, 1, 150))
    close[40:60] = close[40]
    rows = ["date,open,high,low,close,volume"]
    for k, c in enumerate(close):
        open_ = close[max(k - 1, 0)]
        values = [open_, max(open_, c) + 0.5, min(open_, c) - 0.25, c, 1000 + 500 * rng.random()]
        cells = ["" if k in (20, 75) else f"{v:.4f}" for v in values]
        rows.append(f"{np.datetime64('2020-01-01') + k},{','.join(cells)}")
    path.write_text("\n".join(rows) + "\n")
    return path


def render(prices, out, *arguments, env=None, **more):
    size = [] if "jkx" in arguments else ["--size", "90x50"]
    done = millrace("render", prices, "-o", out, "--window", "20", *size, *arguments, env=env, **more)
    return content_of(out), done


def on_device(prices, folder, *arguments, device="cuda", fail="", name="of device"):
    """What it made, what the device did, and what was said."""
    out, result = folder / name, folder / f"{name}.json"
    env = None if device == "opencl" else simulated(FAKE_CUDA_FAIL=fail)
    made, done = render(prices, out, "--device", device, "--json", result, *arguments, env=env)
    return made, json.loads(result.read_text())["device"], told(done)


KINDS = [
    ["--store", "hdf5"], ["--store", "zarr", "--shard", "37"], ["--store", "npy"], ["--store", "dat"],
    ["--store", "png", "--dtype", "bit"], ["--store", "jpeg"], ["--store", "webdataset"],
    ["--style", "candle", "--volume", "--ma", "5"], ["--style", "ohlc", "--size", "x40"],
    ["--style", "jkx"], ["--scale", "global", "--channels", "rgb"],
    ["--scale", "log", "--dtype", "f32", "--ma", "7", "--volume"], ["--batch", "9"],
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: " ".join(kind))
def test_stores_are_the_cpus_byte_for_byte(prices, tmp_path, kind):
    alone, _ = render(prices, tmp_path / "of cpu", *kind)
    made, device, _ = on_device(prices, tmp_path, *kind)
    assert made == alone
    assert device["used"] and not device["struck_out"] and device["fell_back"] == 0


def test_opencl_gives_the_same(prices, tmp_path):
    devices, reason = opencl()
    if not devices:
        pytest.skip(reason)
    alone, _ = render(prices, tmp_path / "of cpu")
    made, device, _ = on_device(prices, tmp_path, device="opencl")
    assert made == alone and device["used"]


@pytest.mark.parametrize("store", ["hdf5", "npy"])
def test_a_device_that_fails_costs_time_and_no_chart(prices, tmp_path, store):
    """Every call of the driver fails once, the first of a kind, the second, and so on."""
    alone, _ = render(prices, tmp_path / "of cpu", "--store", store, "--limit", "30")
    struck = 0
    for call, end in (("launch", "lost"), ("launch", "wrong"), ("launch", "memory"), ("alloc", "memory"), ("alloc", "lost"),
                      ("copy", "lost"), ("copy", "memory"), ("sync", "lost")):
        for n in (1, 2, 5, 9, 14, 20, 33, 50, 80, 120, 150, 190, 215):
            made, device, said = on_device(prices, tmp_path, "--store", store, "--limit", "30", "--batch", "8",
                                           fail=f"{call}:{n}={end}", name=f"{call} {n} {end}")
            assert made == alone, (call, n, end)
            if device["struck_out"]:
                struck += 1
                assert device["reason"] and "was no longer used" in said
    assert struck > 20


def test_a_run_that_is_taken_up_again_may_change_its_device(prices, tmp_path):
    """Shards of both sides are one store."""
    alone, _ = render(prices, tmp_path / "of cpu.zarr", "--store", "zarr", "--shard", "20")
    kind = ["--store", "zarr", "--shard", "20"]
    for part, device in (("1/2", "cuda"), ("2/2", "cpu")):
        done = millrace("render", prices, "-o", tmp_path / "both.zarr", "--window", "20", "--size", "90x50", *kind, "--part", part,
                        "--device", device, env=simulated())
    assert content_of(tmp_path / "both.zarr") == alone, told(done)


@pytest.mark.parametrize("store", ["hdf5", "npy", "webdataset"])
def test_a_run_that_is_interrupted_leaves_no_half_charts(tmp_path, store):
    """What the CPU leaves out for it is neither kept nor told of the device."""
    np.save(tmp_path / "walk.npy", 100 + np.cumsum(np.random.default_rng(1).normal(0, 1, 1520)))
    kind = ["render", tmp_path / "walk.npy", "--window", "20", "--size", "64x48", "--shard", "100", "--store", store]
    millrace(*kind, "-o", tmp_path / "alone", "--device", "cpu")
    for pause in (0.2, 0.5, 0.9):
        for left in tmp_path.glob("stopped*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        run = subprocess.Popen([PROGRAM, *map(str, kind), "-o", tmp_path / "stopped", "--device", "cuda", "--batch", "16"],
                               env=os.environ | simulated(), stderr=subprocess.PIPE)
        time.sleep(pause)
        run.send_signal(signal.SIGINT)
        said = run.communicate()[1].decode()
        # Before it listens, the signal ends it as any program.
        assert run.returncode in (0, 130, -signal.SIGINT) and "was no longer used" not in said, said
        millrace(*kind, "-o", tmp_path / "stopped", "--device", "cpu")
        assert content_of(tmp_path / "stopped") == content_of(tmp_path / "alone"), pause


@pytest.mark.parametrize("fail", ["", "launch:120=lost"])
def test_what_is_enough_for_the_cpu_is_enough(prices, tmp_path, fail):
    """Of little memory, batches are small; of less, all is the CPU's."""
    kind = ["--size", "300x200", "--limit", "60"]
    alone, _ = render(prices, tmp_path / "of cpu", *kind, "--memory", "24M")
    made, device, _ = on_device(prices, tmp_path, *kind, "--memory", "24M", "--verify-device", "all", fail=fail)
    assert made == alone and device["used"]
    large = ["--size", "3000x2000", "--limit", "2", "--store", "npy", "--memory", "48M"]
    alone, _ = render(prices, tmp_path / "large", *large)
    made, device, _ = on_device(prices, tmp_path, *large, fail=fail, name="large of device")
    assert made == alone
    assert device["used"] or "too small for the device's batches" in device["reason"]


def test_what_is_the_cpus_says_so(prices, tmp_path):
    wide = ["--size", "7000x5", "--limit", "2"]
    alone, _ = render(prices, tmp_path / "of cpu", *wide)
    made, device, said = on_device(prices, tmp_path, *wide)
    assert made == alone and not device["used"]
    assert "charts wider than 6141 pixels" in device["reason"] and "charts wider than" in said
    # Gaps that are hardly wider than the line.
    narrow = ["--window", "60", "--size", "60x40"]
    alone, _ = render(prices, tmp_path / "narrow", *narrow)
    made, device, said = on_device(prices, tmp_path, *narrow, name="narrow of device")
    assert made == alone and device["used"] and "gaps hardly wider" in device["reason"]


def test_a_sheet_is_the_cpus(prices, tmp_path):
    alone, _ = render(prices, tmp_path / "sheet.png", "--sample", "4")
    made, device, _ = on_device(prices, tmp_path, "--sample", "4", name="other.png")
    assert made == alone and not device["used"] and "sheet" in device["reason"]


def test_plans_and_auto_follow_what_was_measured(tmp_path):
    """A program in which the kernels are attested for the second card."""
    attested = BUILD / "millrace-attested"
    cache = tmp_path / "cache" / "millrace"
    cache.mkdir(parents=True)
    np.save(tmp_path / "many.npy", 100 + np.sin(np.arange(120_000) / 30))
    env = simulated(XDG_CACHE_HOME=tmp_path / "cache")
    card = json.loads(millrace("doctor", "--json", "-", program=attested, env=env).stdout)["cuda"]["devices"][1]
    kernel = next(one["ptx_sha256"] for one in card["kernels"] if one["source"] == "deflate")

    def planned(*more):
        said = millrace("render", tmp_path / "many.npy", "-o", tmp_path / "x.h5", "--plan", *more, program=attested, env=env).stdout
        return re.search("device: +(.*)", said.decode()).group(1)

    assert "was not measured" in planned()
    assert "below 0.5 s" in planned("--limit", "100")
    for rate, side in ((1e9, "on cuda:1: "), (1e2, "on the CPU: ")):
        rates = {"begin_s": 0.1, "up_bytes_s": 1e10, "down_bytes_s": 1e10,
                 "operations": {"deflate.charts": {"kernel": kernel, "amount_s": rate}}}
        (cache / "rates.json").write_text(json.dumps({"millrace": "rates", "devices": {card["uuid"]: rates}}))
        where = planned()
        assert where.startswith(side) and "the CPU takes" in where and ", cuda:1 " in where
    # The CPU draws small charts as fast as they are written.
    where = planned("--size", "40x30", "--window", "12", "--threads", "64")
    assert where.startswith("on the CPU: "), where
