"""Jobs on a GPU: the simulated NVIDIA driver, and OpenCL where a driver for it is here. Results are the CPU's, whatever a
device does."""

import json
import pathlib
import shutil
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from devices import opencl, simulated, told  # noqa: E402
from program import BUILD, millrace  # noqa: E402
from variants import scene  # noqa: E402

def photograph(path, seed):
    scene(320, 240, seed).save(path)
    return path


@pytest.fixture
def codes(tmp_path):
    rng = np.random.default_rng(7)
    wide = rng.integers(0, 256, (1500, 32), dtype=np.uint8)
    wide[100:400] = wide[600:900]
    wide[100:400, 5] ^= 0x91
    wide[1200:1250] = wide[0]
    np.save(tmp_path / "wide.npy", wide)
    np.save(tmp_path / "codes.npy", wide[:, :8].copy().view(np.uint64)[:, 0])
    return tmp_path


def join(folder, name, radius, out, *arguments, **more):
    return millrace("join", folder / name, "--radius", str(radius), "-o", folder / out, "--overwrite", *arguments, **more)


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
@pytest.mark.parametrize("name,radius", [("codes.npy", 5), ("wide.npy", 90)])
def test_pairs_are_the_cpus_byte_for_byte(codes, order, name, radius):
    join(codes, name, radius, "cpu.npy", "--device", "cpu")
    for algorithm in ("brute", "index"):
        done = join(codes, name, radius, "gpu.npy", "--device", "cuda", "--algorithm", algorithm, "--json", codes / "out.json",
                    env=simulated(FAKE_CUDA_ORDER=order))
        assert (codes / "cpu.npy").read_bytes() == (codes / "gpu.npy").read_bytes()
        device = json.loads((codes / "out.json").read_text())["device"]
        assert device["used"] and not device["struck_out"] and not device["reason"] and device["verified"] > 0 and device["fell_back"] == 0
        assert device["uploads"]["bytes"] > 0 and device["downloads"]["count"] > 0 and device["peak_memory"] > 0
        assert "VIOLATION" not in told(done)
        assert "cuda:0 (Fake GPU A)" in told(done)


def test_opencl_gives_the_same(codes):
    devices, reason = opencl()
    if not devices:
        pytest.skip(reason)
    for name, radius in (("codes.npy", 5), ("wide.npy", 90)):
        join(codes, name, radius, "cpu.npy", "--device", "cpu")
        join(codes, name, radius, "gpu.npy", "--device", "opencl:0")
        assert (codes / "cpu.npy").read_bytes() == (codes / "gpu.npy").read_bytes()


def test_memory_limits_and_batches_change_nothing_but_time(codes):
    join(codes, "wide.npy", 90, "cpu.npy")
    for more in (["--device-memory", "200K"], ["--device-memory", "40K"], ["--batch", "7"], ["--verify-device", "all"],
                 ["--verify-device", "none"], ["--threads", "1"]):
        join(codes, "wide.npy", 90, "gpu.npy", "--gpu", *more, "--json", codes / "out.json", env=simulated())
        assert (codes / "cpu.npy").read_bytes() == (codes / "gpu.npy").read_bytes(), more
        device = json.loads((codes / "out.json").read_text())["device"]
        assert device["used"] or "40K" in more


@pytest.mark.parametrize("fail", ["alloc:1+=memory", "alloc:1+=lost", "launch:12=lost", "launch:12=late", "launch:1+=memory",
                                  "copy:9=lost", "copy:9+=memory", "stream:1=lost", "module:1=lost", "launch:1+=wrong",
                                  "sync:11=lost"])
def test_a_device_that_fails_costs_time_and_is_told(codes, fail):
    join(codes, "codes.npy", 5, "cpu.npy")
    done = join(codes, "codes.npy", 5, "gpu.npy", "--device", "cuda", "--batch", "300", "--json", codes / "out.json",
                env=simulated(FAKE_CUDA_FAIL=fail))
    assert done.returncode == 0
    assert (codes / "cpu.npy").read_bytes() == (codes / "gpu.npy").read_bytes()
    device = json.loads((codes / "out.json").read_text())["device"]
    assert device["reason"] if device["struck_out"] or not device["used"] else device["halved"] > 0
    assert any(word in told(done) for word in ("was no longer used: ", "was not used: the known-answer test does not fit", "did not fit into its memory"))


def test_a_launch_that_does_nothing_is_seen(codes):
    """One, or all from one on: what lies there is no answer."""
    done = join(codes, "codes.npy", 5, "right.npy", "--device", "cuda", env=simulated())
    seen = 0
    for more in ("", "+"):
        for launch in range(1, 200):
            done = join(codes, "codes.npy", 5, "gpu.npy", "--device", "cuda", "--batch", "300",
                        env=simulated(FAKE_CUDA_FAIL=f"launch:{launch}{more}=wrong"))
            assert (codes / "right.npy").read_bytes() == (codes / "gpu.npy").read_bytes(), launch
            if "was no longer used" not in told(done):
                break  # the run has fewer launches than that
            seen += 1
    assert seen > 20


def test_without_a_device_it_says_so_or_goes_on(codes):
    none = simulated(FAKE_CUDA="no device")
    done = join(codes, "codes.npy", 5, "x.npy", "--device", "cuda", env=none, check=False)
    assert done.returncode == 4 and "lists no device" in told(done) and not (codes / "x.npy").exists()
    done = join(codes, "codes.npy", 5, "x.npy", "--device", "cuda", "--device-fallback", "-q", "--json", codes / "out.json", env=none)
    assert "the CPU is used" in told(done) and (codes / "x.npy").exists()
    device = json.loads((codes / "out.json").read_text())["device"]
    assert device["name"] == "cpu" and "lists no device" in device["reason"]
    done = join(codes, "codes.npy", 5, "x.npy", "--device", "cuda:7", env=simulated(), check=False)
    assert done.returncode == 4 and "found 2 devices" in told(done)
    done = join(codes, "codes.npy", 5, "x.npy", "--gpu", "--device", "cpu", check=False)
    assert done.returncode == 2 and "contradicts --gpu" in told(done)
    done = join(codes, "codes.npy", 5, "x.npy", "--gpu", "--device-order", "metal", check=False)
    assert done.returncode == 2 and "'metal'" in told(done)


def test_a_job_without_a_gpu_version_refuses_one(tmp_path):
    picture = photograph(tmp_path / "a.png", 1)
    done = millrace("hash", picture, "--device", "cuda", env=simulated(), check=False)
    assert done.returncode == 4 and "cannot use a GPU" in told(done)
    # A wish for every job of a shell is not for this one.
    assert millrace("hash", picture, env=simulated(MILLRACE_GPU="1")).returncode == 0


def test_what_is_said_nearer_is_meant(codes):
    def device(*arguments, **variables):
        join(codes, "codes.npy", 5, "x.npy", *arguments, "--json", codes / "out.json", env=simulated(**variables))
        return json.loads((codes / "out.json").read_text()).get("device", {"name": "cpu"})["name"]

    (codes / "gpu.yaml").write_text("gpu: true\n")
    assert device("--device", "cpu", MILLRACE_GPU="1") == "cpu"
    assert device("--device", "cpu", "--config", codes / "gpu.yaml") == "cpu"
    assert device("--no-gpu", MILLRACE_DEVICE="cuda") == "cpu"
    assert device("--gpu", MILLRACE_DEVICE="cpu") == "cuda:0"
    assert device("--gpu", "--no-gpu") == "cpu"
    assert device("--no-gpu", "--gpu") == "cuda:0"
    assert device(MILLRACE_DEVICE="cuda:1") == "cuda:1"


def test_auto_takes_nothing_that_nobody_attested(codes):
    """Not even a driver is opened: devices/attested.json is empty."""
    opened = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(codes / "opened")}
    join(codes, "codes.npy", 5, "x.npy", "--json", codes / "out.json", env=simulated(**opened))
    assert "device" not in json.loads((codes / "out.json").read_text())
    text = "".join(path.read_text() for path in codes.glob("opened*"))
    assert "libc.so" in text and "libcuda" not in text and "libOpenCL" not in text


def test_auto_moves_what_gains_where_it_is_attested(codes, tmp_path):
    """A program in which the kernels are attested for compute capability 9.0, which is the second card's."""
    attested = BUILD / "millrace-attested"
    cache = tmp_path / "cache" / "millrace"
    cache.mkdir(parents=True)

    def planned(name, *more):
        done = millrace("join", name, "--radius", "90", "--plan", "--json", tmp_path / "plan.json", *more, program=attested,
                        env=simulated(XDG_CACHE_HOME=tmp_path / "cache"))
        plan = json.loads((tmp_path / "plan.json").read_text())["plan"]
        return plan["device"], plan.get("where", ""), done

    np.save(tmp_path / "many.npy", np.random.default_rng(4).integers(0, 256, (200_000, 32), dtype=np.uint8))
    many = tmp_path / "many.npy"
    device, where, _ = planned(codes / "wide.npy")
    assert where.startswith("on the CPU: ") and "below 0.5 s" in where and "cuda:1" in where
    _, where, _ = planned(many)
    assert where.startswith("on the CPU: ") and "cuda:1 was not measured" in where
    card = json.loads(millrace("doctor", "--json", "-", program=attested, env=simulated()).stdout)["cuda"]["devices"]
    assert [[kernel["source"] for kernel in one["kernels"] if kernel["attested"]] for one in card] == [[], ["hamming", "chart", "deflate", "latents"]]
    kernel = card[1]["kernels"][0]["ptx_sha256"]
    for rate, side in ((1e13, "on cuda:1: "), (1e9, "on the CPU: ")):
        rates = {"begin_s": 0.1, "up_bytes_s": 1e9, "down_bytes_s": 1e9,
                 "operations": {"hamming.brute256": {"kernel": kernel, "amount_s": rate}}}
        (cache / "rates.json").write_text(json.dumps({"millrace": "rates", "devices": {card[1]["uuid"]: rates}}))
        _, where, _ = planned(many)
        assert where.startswith(side) and "the CPU takes" in where and ", cuda:1 " in where
    # Nor does it run there what does not gain, or what nobody attested for the card that is meant.
    for more in ([], ["--device", "auto"]):
        done = join(codes, "codes.npy", 5, "x.npy", *more, "--json", codes / "out.json", env=simulated(), program=attested)
        device = json.loads((codes / "out.json").read_text())["device"]
        assert device["name"] == "cuda:1" and not device["used"] and device["launches"]["count"] == 0, told(done)


def test_a_file_can_say_it_all(codes):
    (codes / "gpu.yaml").write_text("gpu: true\ndevice-order: opencl,cuda\nbatch: 500\ndevice-memory: 1M\ndevice-fallback: true\n")
    env = simulated()
    done = join(codes, "codes.npy", 5, "x.npy", "--config", codes / "gpu.yaml", "--json", codes / "out.json", env=env)
    assert json.loads((codes / "out.json").read_text())["device"]["name"] == "cuda:0", told(done)
    shown = millrace("join", codes / "codes.npy", "--config", codes / "gpu.yaml", "--print-config").stdout.decode()
    assert "opencl,cuda" in shown and "gpu = true" in shown.replace(":", " =")


def test_a_plan_says_which_side_and_why(codes):
    said = millrace("join", codes / "codes.npy", "--radius", "5", "--device", "cuda", "--plan", env=simulated()).stdout.decode()
    line = next(line for line in said.splitlines() if line.startswith("device:"))
    assert "on cuda:0, as requested" in line and "the CPU takes" in line


def test_the_trace_has_lanes_of_the_device(codes):
    join(codes, "codes.npy", 5, "x.npy", "--device", "cuda", "--trace", codes / "trace.json", env=simulated())
    events = json.loads((codes / "trace.json").read_text())["traceEvents"]
    lanes = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert {"to device", "on device", "from device"} <= lanes
    assert all(event["dur"] >= 0 for event in events if event["ph"] == "X")
    totals = {event["name"]: event["args"] for event in events if event["ph"] == "C"}
    assert totals["to device totals"]["bytes"] > 0 and totals["from device totals"]["bytes"] > 0


def test_tune_measures_what_is_here_and_plans_follow_it(codes, tmp_path):
    devices, reason = opencl()
    if not devices:
        pytest.skip(reason)
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = millrace("tune", "--device", "opencl:0", "--json", tmp_path / "rates.json", env=env)
    assert b"hamming.brute64" in done.stdout
    rates = json.loads((tmp_path / "rates.json").read_text())["devices"][0]["operations"]
    kinds = ["ahash", "dhash", "dhash_vertical", "phash", "whash", "colorhash", "pdq"]
    assert {rate["operation"] for rate in rates} == {"hamming.brute64", "hamming.brute256", "hamming.index64", "hamming.index256",
                                                     "chart.line", "chart.candle", "deflate.charts", "latents.all",
                                                     *(f"hash.{kind}" for kind in kinds)}
    plan = ["join", codes / "codes.npy", "--radius", "5", "--device", "opencl:0", "--plan"]
    assert "was not measured" not in millrace(*plan, env=env).stdout.decode()
    kept = tmp_path / "cache" / "millrace" / "rates.json"
    # Of other kernels, or no rates at all: as if nothing had been measured.
    text = kept.read_text()
    for damaged in (text.replace('"kernel": "', '"kernel": "0'), text[: len(text) // 2], "[]", "{" * 100_000,
                    text.replace('"amount_s": ', '"amount_s": -'), '{"devices": 3}'):
        kept.write_text(damaged)
        assert "was not measured" in millrace(*plan, env=env).stdout.decode(), damaged[:50]


def test_tune_without_devices_measures_nothing(tmp_path):
    done = millrace("tune", env=simulated(FAKE_CUDA="no device", XDG_CACHE_HOME=tmp_path))
    assert "no device was measured" in told(done) and not list(tmp_path.rglob("rates.json"))
    done = millrace("tune", "--device", "cuda", env=simulated(FAKE_CUDA="no device"), check=False)
    assert done.returncode == 4


def dedupe(folder, *arguments, fail=""):
    """The result without what the device did, what that was, and the page; of a catalogue that is new."""
    for catalogue in folder.parent.glob("catalog.sqlite*"):
        catalogue.unlink()
    out, page = folder.parent / "out.json", folder.parent / "report.html"
    done = millrace("dedupe", folder, "--catalog", folder.parent / "catalog.sqlite", "--json", out, "--report", page, *arguments,
                    env=simulated(FAKE_CUDA_FAIL=fail))
    assert done.returncode == 0, fail
    result = json.loads(out.read_text())
    return result, result.pop("device", None), page.read_bytes()


@pytest.fixture
def photographs(tmp_path):
    folder = tmp_path / "photographs"
    folder.mkdir()
    for seed in range(5):
        photograph(folder / f"{seed}.png", seed)
        shutil.copy(folder / f"{seed}.png", folder / f"copy of {seed}.png")
    return folder


def test_duplicates_are_the_same_on_a_device(photographs):
    alone, none, page = dedupe(photographs, "--device", "cpu")
    assert none is None
    result, device, page_of_device = dedupe(photographs, "--device", "cuda")
    assert device["used"] and not device["struck_out"]
    assert (result, page_of_device) == (alone, page)


def test_duplicates_are_the_same_on_a_device_that_fails(photographs):
    alone, _, _ = dedupe(photographs, "--device", "cpu")
    for fail in (*(f"launch:{n}=lost" for n in (1, 20, 70, 120)), "launch:60+=wrong", *(f"alloc:{n}=memory" for n in (1, 12, 60)),
                 "copy:200=lost"):
        result, device, _ = dedupe(photographs, "--device", "cuda", fail=fail)
        assert result == alone, fail
        assert not device["struck_out"] or device["reason"], fail
