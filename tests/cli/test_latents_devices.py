"""`latents` on a GPU: the simulated NVIDIA driver, and OpenCL where a driver for it is here. Every file of the results is
the CPU's, whatever a device does."""

import json
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from devices import opencl, simulated  # noqa: E402
from latent_files import a_collection, put  # noqa: E402
from program import BUILD, millrace  # noqa: E402

# Of performance.json every run's is another.
FILES = ("arrays.h5", "metrics.csv", "comparisons.csv", "summary.json")


@pytest.fixture(scope="module")
def latents(tmp_path_factory):
    """Of two numbers of frames; one latent holds NaN."""
    folder = tmp_path_factory.mktemp("latents")
    a_collection(folder / "in", videos=2, steps=4, frames=(3, 2), sides=(4, 8, 12), effect=0.5)
    broken = np.random.default_rng(5).normal(size=(4, 3, 8, 12)).astype(np.float16)
    broken[1, 2, 3, 4] = np.nan
    put(folder / "in", broken, "prompt_001", "vid_000", 2)
    measure(folder, "cpu", "--device", "cpu")
    return folder


def measure(folder, out, *arguments, **more):
    # A latent that is not finite is an outcome.
    done = millrace("latents", folder / "in", "-o", folder / out, "--json", folder / f"{out}.json", *arguments, check=False, **more)
    assert done.returncode == 3, done.stderr.decode()
    return done.stderr.decode()


def device_of(folder, out):
    return json.loads((folder / f"{out}.json").read_text())["device"]


def assert_same(folder, out, expected="cpu"):
    for name in FILES:
        assert (folder / expected / name).read_bytes() == (folder / out / name).read_bytes(), name


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_results_are_the_cpus_byte_for_byte(latents, order):
    told = measure(latents, order, "--device", "cuda", env=simulated(FAKE_CUDA_ORDER=order))
    assert_same(latents, order)
    device = device_of(latents, order)
    assert device["used"] and not device["struck_out"] and not device["reason"] and device["verified"] > 0
    assert device["uploads"]["bytes"] > 0 and device["downloads"]["count"] > 0 and device["peak_memory"] > 0
    assert "cuda:0 (Fake GPU A)" in told and "VIOLATION" not in told


def test_opencl_gives_the_same(latents):
    devices, reason = opencl()
    if not devices:
        pytest.skip(reason)
    measure(latents, "opencl", "--device", "opencl:0")
    assert_same(latents, "opencl")
    assert device_of(latents, "opencl")["used"]


@pytest.mark.parametrize("number,more", list(enumerate([
    ["--device-memory", "6M"], ["--device-memory", "40K"], ["--batch", "3"], ["--verify-device", "all"],
    ["--verify-device", "none"], ["--threads", "1"], ["--memory", "64M"]])))
def test_limits_and_batches_change_nothing_but_time(latents, number, more):
    out = f"limits{number}"
    measure(latents, out, "--gpu", *more, env=simulated())
    assert_same(latents, out)
    assert device_of(latents, out)["used"] or "40K" in more


@pytest.mark.parametrize("number,fail", list(enumerate([
    "alloc:1+=memory", "alloc:1+=lost", "launch:50=lost", "launch:50=late", "launch:1+=memory", "copy:9=lost", "copy:9+=memory",
    "stream:1=lost", "module:1=lost", "launch:1+=wrong", "launch:60=wrong", "sync:11=lost", "pinned:1+=memory"])))
def test_a_device_that_fails_costs_time_and_is_told(latents, number, fail):
    out = f"failing{number}"
    told = measure(latents, out, "--device", "cuda", "--batch", "5", env=simulated(FAKE_CUDA_FAIL=fail))
    assert_same(latents, out)
    device = device_of(latents, out)
    assert device["reason"] if device["struck_out"] or not device["used"] else device["halved"] > 0
    assert any(word in told for word in ("was no longer used: ", "was not used: the known-answer test does not fit", "did not fit into its memory"))


def test_parts_are_measured_by_whoever_is_there(latents):
    for part, device in (("1/3", "cuda"), ("2/3", "cpu"), ("3/3", "cuda")):
        millrace("latents", latents / "in", "-o", latents / "parts", "--part", part, "--device", device, env=simulated(), check=False)
    assert_same(latents, "parts")


@pytest.mark.parametrize("normalize", ["channel", "step"])
def test_what_is_made_alike_first_is_the_same(latents, normalize):
    for device in ("cpu", "cuda"):
        measure(latents, f"{normalize} {device}", "--normalize", normalize, "--device", device, "--metrics",
                "spatial.*,information.*,trajectory", env=simulated())
    assert_same(latents, f"{normalize} cuda", f"{normalize} cpu")


def test_a_plan_says_which_side_and_why(latents):
    done = millrace("latents", latents / "in", "--device", "cuda", "--plan", "--json", latents / "plan.json", env=simulated())
    plan = json.loads((latents / "plan.json").read_text())["plan"]
    assert plan["device"] == "cuda:0" and "on cuda:0, as requested" in plan["where"]
    assert b"on cuda:0" in done.stdout


def test_little_memory_is_the_cpus(latents):
    measure(latents, "little", "--device", "cuda", "--memory", "32M", "--metrics", "spatial.variance,global.*", env=simulated())
    measure(latents, "much", "--device", "cpu", "--metrics", "spatial.variance,global.*")
    assert_same(latents, "little", "much")


def test_sides_are_compared_on_the_same_latents(latents):
    done = millrace("latents", latents / "in", "--compare", "cpu,cuda,cuda:1", "--json", latents / "compared.json", "--threads", "2",
                    env=simulated())
    told = json.loads((latents / "compared.json").read_text())
    assert told["latents"] == 16 and told["measured"] == 0
    compared = told["compare"]
    assert compared["latents"] == 8 and compared["same_numbers"] and not compared["differences"]
    assert [side["name"] for side in compared["sides"]] == ["cpu", "cuda:0", "cuda:1"]
    assert all(side["same_numbers"] and side["seconds"] > 0 for side in compared["sides"])
    assert b"all numbers are equal, bit for bit" in done.stderr and b"upload" in done.stderr


def test_a_benchmark_has_the_device_too(latents):
    told = measure(latents, "benchmark", "--device", "cuda", "--benchmark", env=simulated())
    assert_same(latents, "benchmark")
    performance = json.loads((latents / "benchmark" / "performance.json").read_text())
    assert [side["name"] for side in performance["compare"]["sides"]] == ["cpu", "cuda:0"]
    assert performance["benchmark"]["rows"] and "all numbers are equal, bit for bit" in told


@pytest.mark.parametrize("sides,code,why", [
    ("cpu,cuda:7", 4, "found 2 devices"), ("cpu,metal", 2, "metal"), ("cpu,auto", 2, "is not the name of a device")])
def test_a_side_that_is_not_there_is_said_before_the_work(latents, sides, code, why):
    done = millrace("latents", latents / "in", "-o", latents / "never", "--compare", sides, env=simulated(), check=False)
    assert done.returncode == code and why in done.stderr.decode() and not (latents / "never").exists()


@pytest.mark.parametrize("fail", ["launch:1+=wrong", "launch:60=lost", "alloc:1+=memory"])
def test_a_side_that_the_cpu_would_have_to_do_is_no_side(latents, fail):
    done = millrace("latents", latents / "in", "--compare", "cpu,cuda", env=simulated(FAKE_CUDA_FAIL=fail), check=False)
    assert done.returncode == 4, done.stderr.decode()
    assert "cuda:0 (Fake GPU A)" in done.stderr.decode()


def test_auto_moves_what_gains_where_it_is_attested(latents, tmp_path):
    """A program in which the kernels are attested for the second card. Of so many numbers, which are holes in their files, a
    plan reads no more than the ends."""
    attested = BUILD / "millrace-attested"
    cache = tmp_path / "cache" / "millrace"
    cache.mkdir(parents=True)
    for video in range(8):
        path = tmp_path / "latents" / "prompt_000" / f"vid_{video:03d}" / "step_000.npy"
        path.parent.mkdir(parents=True)
        np.lib.format.open_memmap(path, "w+", np.float16, (16, 64, 512, 512))[0, 0, 0, 0] = video
    card = json.loads(millrace("doctor", "--json", "-", program=attested, env=simulated()).stdout)["cuda"]["devices"][1]
    kernel = next(kernel["ptx_sha256"] for kernel in card["kernels"] if kernel["source"] == "latents")

    def planned(folder):
        millrace("latents", folder, "--plan", "--json", tmp_path / "plan.json", program=attested,
                 env=simulated(XDG_CACHE_HOME=tmp_path / "cache"))
        return json.loads((tmp_path / "plan.json").read_text())["plan"]["where"]

    assert "cuda:1 was not measured" in planned(tmp_path)
    for rate, side in ((1e6, "on cuda:1: "), (1e2, "on the CPU: ")):
        rates = {"begin_s": 0.1, "up_bytes_s": 1e9, "down_bytes_s": 1e9,
                 "operations": {"latents.all": {"kernel": kernel, "amount_s": rate}}}
        (cache / "rates.json").write_text(json.dumps({"millrace": "rates", "devices": {card["uuid"]: rates}}))
        assert planned(tmp_path).startswith(side)
    assert "below 0.5 s" in planned(latents / "in")
