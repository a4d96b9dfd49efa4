"""What `latents` measures, against float64; what it makes of folders that are not as they should be."""

import json
import os
import shutil
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from latent_files import a_collection, put, results_of, smooth, table, values
from latents_reference import metrics, patch_variances, trajectory
from program import content_of, millrace

# Of these the difference counts, not its share: docs/latents.md.
CORRELATIONS = {
    "spatial.autocorrelation", "spatial.autocorrelation_valid", "temporal.frame_correlation",
    "temporal.autocorrelation", "temporal.autocorrelation_centered", "channel.correlation",
    "channel.cross_interaction", "global.symmetry", "global.symmetry_published",
}
RANDOM = np.random.default_rng(14)


def with_holes(x):
    x = x.copy()
    x.flat[[3, 77]] = np.nan, np.inf
    return x


WAVE = np.repeat(smooth((16, 1, 30, 44)), 5, axis=1)
KINDS = {
    "random": RANDOM.normal(size=(16, 4, 30, 44)).astype(np.float16),
    "random float32": RANDOM.normal(size=(16, 4, 30, 44)).astype(np.float32),
    "the fast shape": smooth((16, 3, 60, 106)).astype(np.float16),
    "correlated": smooth((16, 6, 30, 44)).astype(np.float32),
    "offset": (smooth((16, 4, 40, 44)) + 1000).astype(np.float32),
    "offset float16": (smooth((16, 4, 40, 44)) + 1000).astype(np.float16),
    "static": WAVE.astype(np.float16),
    "constant": np.full((16, 4, 30, 44), 0.7, np.float16),
    "zero": np.zeros((16, 4, 30, 44), np.float32),
    "one frame constant": np.concatenate([WAVE[:, :2], np.full((16, 1, 30, 44), 2.0)], 1).astype(np.float16),
    "image": smooth((4, 64, 64)).astype(np.float16),
    "three channels": smooth((3, 5, 33, 47)).astype(np.float32),
    "odd sides": smooth((5, 3, 37, 29)).astype(np.float16),
    "many channels": RANDOM.normal(size=(37, 2, 24, 33)).astype(np.float16),
    "large primes": smooth((4, 2, 53, 61)).astype(np.float16),
    "narrow": RANDOM.normal(size=(4, 3, 2, 200)).astype(np.float16),
    "tiny": RANDOM.normal(size=(3, 2, 2, 2)).astype(np.float16),
    "one number": RANDOM.normal(size=(1, 1, 1, 1)).astype(np.float32),
    "float64": smooth((4, 3, 32, 32)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_is_that_of_float64(tmp_path, kind):
    latent = KINDS[kind]
    put(tmp_path, latent)
    millrace("latents", tmp_path, "-o", tmp_path / "out")
    found = values(tmp_path / "out" / "metrics.csv")
    # What float64 files hold is rounded to float32 first.
    expected = metrics(latent.astype(np.float32) if latent.dtype == np.float64 else latent)
    assert set(found) == set(expected)
    for name, value in expected.items():
        if name in CORRELATIONS:
            assert abs(found[name] - value) <= 1e-7, name
        else:
            assert found[name] == pytest.approx(value, rel=1e-5, abs=1e-300), name


@pytest.mark.parametrize("latent", [smooth((16, 3, 37, 50), 5), 1e-3 * smooth((19, 2, 16, 24), 6) + 5,
                                    np.zeros((4, 2, 8, 8))], ids=["smooth", "small, offset", "zeros"])
def test_histograms_count_every_patch_and_every_place_in_them(tmp_path, latent):
    latent = latent.astype(np.float32)
    put(tmp_path, latent)
    millrace("latents", tmp_path, "-o", tmp_path / "out", "--metrics", "patch.*")
    expected = patch_variances(latent)
    with h5py.File(tmp_path / "out" / "arrays.h5") as file:
        edges = np.array(json.loads(file.attrs["histogram_edges"]))
        assert edges[0] == 2.0**-24 and edges[-1] == 2.0**16 and edges[1] == 1.25 * edges[0]
        assert {name for name in file if name.endswith("histogram")} == set(expected)
        for name, variances in expected.items():
            found = file[name][0].astype(np.int64)
            assert found.sum() == variances.size, name
            # What lies on an edge but for rounding may lie on either side.
            room = 1e-4 * edges + 1e-6 * latent.var((1, 2, 3)).max()
            below = np.cumsum(found)[:-1]
            assert (below >= [(variances < at).sum() for at in edges - room]).all(), name
            assert (below <= [(variances < at).sum() for at in edges + room]).all(), name


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return a_collection(tmp_path_factory.mktemp("collection"))


@pytest.fixture(scope="module")
def result(collection, tmp_path_factory):
    out = tmp_path_factory.mktemp("result") / "out"
    millrace("latents", collection, "-o", out)
    return results_of(out)


@pytest.mark.parametrize("how", [["--threads", "1"], ["--threads", "5"], ["--memory", "64M"]])
def test_the_result_is_the_same_however_it_is_made(collection, result, tmp_path, how):
    millrace("latents", collection, "-o", tmp_path / "out", *how)
    assert results_of(tmp_path / "out") == result


@pytest.mark.parametrize("level", ["baseline", "avx2"])
def test_the_result_is_the_same_at_every_level(collection, result, tmp_path, level):
    done = millrace("latents", collection, "-o", tmp_path / "out", env={"MILLRACE_CPU": level}, check=False)
    if done.returncode == 2:
        pytest.skip(done.stderr.decode())
    assert results_of(tmp_path / "out") == result


def test_parts_make_the_same_result(collection, result, tmp_path):
    for part in (3, 1, 2):
        done = millrace("latents", collection, "-o", tmp_path / "out", "--part", f"{part}/3")
        assert done.returncode == 0
    assert results_of(tmp_path / "out") == result


def test_a_part_that_comes_late_has_nothing_to_do(tmp_path):
    a_collection(tmp_path / "in")
    for part in (1, 2):
        millrace("latents", tmp_path / "in", "-o", tmp_path / "out", "--part", f"{part}/2")
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in (tmp_path / "out").iterdir()}
    done = millrace("latents", tmp_path / "in", "-o", tmp_path / "out", "--part", "1/2", "--json", tmp_path / "said.json")
    assert "nothing to do" in done.stderr.decode() and json.loads((tmp_path / "said.json").read_text())["published"] is True
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in (tmp_path / "out").iterdir()} == before
    # One that was ended before it had written all that lies beside the arrays.
    (tmp_path / "out/performance.json").unlink()
    (tmp_path / "out/metrics.csv").unlink()
    millrace("latents", tmp_path / "in", "-o", tmp_path / "out", "--part", "2/2")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {path.name for path in before}


def test_the_table_is_in_order_and_complete(collection, result):
    rows = [line.split(",") for line in result["metrics.csv"].decode().splitlines()]
    assert rows[0] == ["group", "video", "step", "metric", "value"]
    # What is said of a video comes behind its last step.
    keys = [(group, video, int(step or 1_000)) for group, video, step, _, _ in rows[1:]]
    assert keys == sorted(keys)
    assert len(set(keys)) == 20 + 4
    assert len({(*key, row[3]) for key, row in zip(keys, rows[1:])}) == len(keys)
    assert {row[3].startswith("trajectory.") for row in rows[1:] if not row[2]} == {True}
    assert not any(row[3].startswith("trajectory.") for row in rows[1:] if row[2])


def test_arrays_hold_what_the_numbers_are_means_of(collection, result, tmp_path):
    (tmp_path / "arrays.h5").write_bytes(result["arrays.h5"])
    with h5py.File(tmp_path / "arrays.h5") as file:
        names = file.attrs["metrics"].decode().split(",")
        numbers = dict(zip(names, file["metrics"][0]))
        assert np.nanmean(file["spatial.variance"][0]) == pytest.approx(numbers["spatial.variance"], rel=1e-6)
        assert np.nanmean(file["temporal.motion"][0]) == pytest.approx(numbers["temporal.motion"], rel=1e-6)
        latent = np.load(collection / "latents" / "prompt_000" / "vid_001" / "step_002.npy").astype(np.float64)
        row = 7
        index = file["index"][row]
        assert (index["group"], index["video"], index["step"]) == (b"prompt_000", b"vid_001", 2)
        assert file["spatial.variance"][row][:, :2] == pytest.approx(latent.var((2, 3), ddof=1), rel=1e-5)
        # A frame that this video does not have.
        assert np.isnan(file["spatial.variance"][row][:, 2]).all()
        upper = np.corrcoef(latent.reshape(4, -1))[np.triu_indices(4, 1)]
        assert file["channel.correlation"][row] == pytest.approx(upper, abs=1e-6)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_trajectories_are_those_of_float64(tmp_path, kind):
    random = np.random.default_rng(6)
    start, direction = smooth((4, 3, 13, 11), 1), smooth((4, 3, 13, 11), 2)
    videos = {
        # Longer than what one thread measures in a row.
        "curved": [start + np.sin(t / 20) * direction + 0.05 * random.normal(size=start.shape) for t in range(47)],
        "straight": [start + 0.25 * t for t in range(4)],
        "still": [start] * 3,
        "and back": [start, direction, start],
        "two": [start, direction],
        "one": [start],
    }
    for name, latents in videos.items():
        videos[name] = [latent.astype(kind) for latent in latents]
        for step, latent in enumerate(videos[name]):
            put(tmp_path, latent, video=name, step=3 * step)
    millrace("latents", tmp_path, "-o", tmp_path / "out")
    for name, latents in videos.items():
        found, expected = values(tmp_path / "out" / "metrics.csv", video=name, step=""), trajectory(latents)
        assert set(found) == set(expected), name
        for metric, value in expected.items():
            # An angle near 0 or pi is known as well as the root of what its cosine is.
            room = 1e-3 if metric == "trajectory.turning_angle" else 1e-300
            assert found[metric] == pytest.approx(value, rel=1e-5, abs=room), (name, metric)


def test_a_video_with_holes_has_no_trajectory(tmp_path):
    for step in range(3):
        put(tmp_path, with_holes(KINDS["random"]) if step == 1 else KINDS["random"], step=step)
    millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert values(tmp_path / "out" / "metrics.csv", step="") == {}


def test_what_is_there_is_gone_on_with(collection, result, tmp_path):
    millrace("latents", collection, "-o", tmp_path / "out", "--part", "1/2")
    done = millrace("latents", collection, "-o", tmp_path / "out", "--json", tmp_path / "json")
    assert json.loads((tmp_path / "json").read_bytes())["latents"] == 20
    assert results_of(tmp_path / "out") == result
    done = millrace("latents", collection, "-o", tmp_path / "out")
    assert b"20 latents were measured by a previous run" in done.stderr
    assert results_of(tmp_path / "out") == result


def test_other_latents_do_not_join_an_output(collection, tmp_path):
    other = shutil.copytree(collection, tmp_path / "other", copy_function=shutil.copy2)
    millrace("latents", other, "-o", tmp_path / "out")
    before = results_of(tmp_path / "out")
    put(other, np.zeros((4, 3, 12, 20), np.float16), step=9)
    done = millrace("latents", other, "-o", tmp_path / "out", check=False)
    assert done.returncode == 1
    assert b"the inputs have changed" in done.stderr
    assert results_of(tmp_path / "out") == before


def test_a_latent_that_has_changed_does_not_join_an_output(tmp_path):
    put(tmp_path, KINDS["random"])
    path = put(tmp_path, KINDS["random"], step=1)
    millrace("latents", tmp_path, "-o", tmp_path / "out")
    before = results_of(tmp_path / "out")
    put(tmp_path, -KINDS["random"], step=1)
    os.utime(path, ns=(0, 1))
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", check=False)
    assert done.returncode == 1
    assert b"the inputs have changed" in done.stderr
    assert results_of(tmp_path / "out") == before


def test_names_that_would_look_alike_are_refused(tmp_path):
    latent = put(tmp_path, KINDS["random"]).read_bytes()
    for end in (b"\xe9", b"\xff"):
        folder = os.fsencode(tmp_path) + b"/latents/caf" + end + b"/vid_000"
        os.makedirs(folder)
        with open(folder + b"/step_000.npy", "wb") as file:
            file.write(latent)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert done.returncode == 3
    assert done.stderr.count(b"not UTF-8") == 2
    assert {row["group"] for row in table(tmp_path / "out" / "metrics.csv")} == {"prompt_000"}


def test_what_is_no_latent_is_told_and_costs_nothing(tmp_path):
    random = np.random.default_rng(5)
    good = random.normal(size=(4, 3, 12, 20)).astype(np.float16)
    for step in range(4):
        put(tmp_path, good, step=step)
    refused = {
        "sides": put(tmp_path, good[:, :, :10], step=10),
        "channels": put(tmp_path, good[:3], step=11),
        "type": put(tmp_path, good.astype(np.float32), step=12),
        "frames": put(tmp_path, good[:, :2], step=13),
        "integers": put(tmp_path, np.zeros((4, 3, 12, 20), np.int16), step=14),
        "dimensions": put(tmp_path, np.zeros((20, 12), np.float16), step=15),
        "none of it": put(tmp_path, np.zeros((4, 0, 12, 20), np.float16), step=16),
    }
    refused["cut"] = put(tmp_path, good, step=17)
    refused["cut"].write_bytes(refused["cut"].read_bytes()[:-1])
    refused["text"] = put(tmp_path, good, step=18)
    refused["text"].write_bytes(b"not a latent")
    refused["twice"] = refused["text"].with_name("step_3.npy")
    np.save(refused["twice"], good)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--json", tmp_path / "json")
    assert done.returncode == 3
    found = json.loads((tmp_path / "json").read_bytes())
    assert found["latents"] == 4
    assert {entry["path"] for entry in found["unusable"]} == {str(path) for path in refused.values()}
    assert all(entry["reason"] for entry in found["unusable"])
    assert {row["step"] for row in table(tmp_path / "out" / "metrics.csv")} == {"0", "1", "2", "3", ""}


def test_a_video_of_which_nothing_is_used_is_not_counted(tmp_path):
    for v in range(3):
        put(tmp_path, KINDS["random"], video=f"vid_{v}")
    put(tmp_path, KINDS["three channels"], video="vid_3")
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--json", tmp_path / "json")
    assert done.returncode == 3
    assert json.loads((tmp_path / "json").read_bytes())["videos"] == 3
    assert json.loads((tmp_path / "out" / "summary.json").read_bytes())["groups"]["prompt_000"]["videos"] == 3


def test_what_is_not_finite_is_counted_and_not_spread(tmp_path):
    put(tmp_path, with_holes(KINDS["random"]), step=0)
    put(tmp_path, KINDS["random"], step=1)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--json", tmp_path / "json")
    assert done.returncode == 3
    assert json.loads((tmp_path / "json").read_bytes())["not_finite"] == 1
    assert {row["step"] for row in table(tmp_path / "out" / "metrics.csv")} == {"1"}
    with h5py.File(tmp_path / "out" / "arrays.h5") as file:
        assert list(file["not_finite"]) == [2, 0]


def test_groups_and_steps_choose(collection, tmp_path):
    millrace("latents", collection, "-o", tmp_path / "out", "--groups", "*_001", "--steps", "1:5:2")
    rows = table(tmp_path / "out" / "metrics.csv")
    assert {(row["group"], row["step"]) for row in rows if row["step"]} == {("prompt_001", "1"), ("prompt_001", "3")}
    done = millrace("latents", collection, "-o", tmp_path / "none", "--groups", "other", check=False)
    assert done.returncode == 1
    assert b"no latents were found" in done.stderr
    done = millrace("latents", tmp_path / "nowhere", "-o", tmp_path / "none", check=False)
    assert done.returncode == 1
    assert b"no such file" in done.stderr.lower()
    assert not (tmp_path / "none").exists()
    for steps in ("x", "3:1", "::0", "1:2:3:4", "-1", ""):
        assert millrace("latents", collection, f"--steps={steps}", check=False).returncode == 2, steps


def test_axes_in_the_other_order(tmp_path):
    latent = KINDS["correlated"]
    put(tmp_path / "a", latent)
    put(tmp_path / "b", np.ascontiguousarray(latent.swapaxes(0, 1)))
    put(tmp_path / "c", latent[None])
    for name, more in (("a", []), ("b", ["--layout", "FCHW"]), ("c", [])):
        millrace("latents", tmp_path / name, "-o", tmp_path / name / "out", *more)
    tables = [(tmp_path / name / "out" / "metrics.csv").read_bytes() for name in "abc"]
    assert tables[0] == tables[1] == tables[2]


def test_what_is_not_its_own_is_not_replaced(collection, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "metrics.csv").write_text("mine\n")
    done = millrace("latents", collection, "-o", out, check=False)
    assert done.returncode == 1
    assert (out / "metrics.csv").read_text() == "mine\n"
    assert os.listdir(out) == ["metrics.csv"]
    (tmp_path / "file").write_text("mine\n")
    assert millrace("latents", collection, "-o", tmp_path / "file", check=False).returncode == 1
    assert (tmp_path / "file").read_text() == "mine\n"


def test_an_output_may_lie_in_the_folder_of_latents(collection, result, tmp_path):
    folder = shutil.copytree(collection, tmp_path / "all", copy_function=shutil.copy2)
    before = content_of(folder / "latents")
    for _ in range(2):
        millrace("latents", folder, "-o", folder / "out")
    assert results_of(folder / "out") == result
    assert content_of(folder / "latents") == before
