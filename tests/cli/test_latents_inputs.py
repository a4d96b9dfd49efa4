"""What `latents` reads: formats, keys, groups of a table, metadata; what it makes alike first, and what it chooses."""

import gzip
import json
import os
import pathlib
import pickle
import struct
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import torch_files  # noqa: E402
from latent_files import a_collection, path_of, put, results_of, smooth, table, values  # noqa: E402
from program import millrace  # noqa: E402

SHAPE = (4, 3, 32, 40)
LATENT = smooth(SHAPE, 2).astype(np.float16)


def stored(latent, kind="float16"):
    return torch_files.Tensor(torch_files.Storage(kind, latent.tobytes()), latent.shape)


def npy(latent):
    return torch_files.npy(latent.dtype.str, latent.shape, latent.tobytes())


ONE = stored(LATENT)
# A view as permute() leaves it: frames lie outermost.
TURNED = torch_files.Tensor(torch_files.Storage("float16", np.ascontiguousarray(LATENT.swapaxes(0, 1)).tobytes()), SHAPE,
                            (32 * 40, 4 * 32 * 40, 40, 1))
FORMATS = {
    ".npy.gz": gzip.compress(npy(LATENT)),
    ".npz": torch_files.npz({"arr_0": npy(LATENT)}),
    ".pt": torch_files.archive(ONE),
    ".pt.gz": gzip.compress(torch_files.archive(ONE)),
    ".safetensors": torch_files.safetensors({"latents": ONE}),
    "legacy.pt": torch_files.legacy(ONE),
    "turned.pt": torch_files.archive(TURNED),
    "batch.pt": torch_files.archive(torch_files.Tensor(ONE.storage, (1, *SHAPE))),
    "deflated.npz": torch_files.npz({"arr_0": npy(LATENT)}, 8),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("npy")
    put(folder, LATENT)
    millrace("latents", folder, "-o", folder / "out")
    return results_of(folder / "out")["metrics.csv"]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_numbers(tmp_path, expected, kind):
    path_of(tmp_path, ending=kind[kind.index("."):]).write_bytes(FORMATS[kind])
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert done.returncode == 0
    assert (tmp_path / "out" / "metrics.csv").read_bytes() == expected


def test_bfloat16_is_what_its_bits_say(tmp_path):
    upper = (LATENT.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    wide = (upper.astype(np.uint32) << 16).view(np.float32)
    put(tmp_path / "wide", wide)
    millrace("latents", tmp_path / "wide", "-o", tmp_path / "wide" / "out")
    for ending, content in ((".pt", torch_files.archive(stored(upper, "bfloat16"))),
                            (".safetensors", torch_files.safetensors({"x": stored(upper, "bfloat16")}))):
        folder = tmp_path / ending[1:]
        path_of(folder, ending=ending).write_bytes(content)
        millrace("latents", folder, "-o", folder / "out")
        assert (folder / "out" / "metrics.csv").read_bytes() == (tmp_path / "wide" / "out" / "metrics.csv").read_bytes()


def test_of_several_tensors_one_is_chosen(tmp_path, expected):
    other = stored(-LATENT)
    path_of(tmp_path, ending=".pt").write_bytes(torch_files.archive({"noise": other, "x": {"latents": ONE}, "fps": 24}))
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", check=False)
    assert done.returncode == 1
    assert b"2 tensors: noise, x.latents" in done.stderr and b"--key" in done.stderr
    assert not (tmp_path / "out").exists()
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--key", "latent", check=False)
    assert done.returncode == 1 and b"no tensor 'latent'" in done.stderr
    millrace("latents", tmp_path, "-o", tmp_path / "out", "--key", "x.latents")
    assert (tmp_path / "out" / "metrics.csv").read_bytes() == expected
    # Another choice is another result.
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--key", "noise", check=False)
    assert done.returncode == 1
    assert (tmp_path / "out" / "metrics.csv").read_bytes() == expected


class Runs:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def test_a_pickle_that_would_run_something_runs_nothing(tmp_path):
    mark = tmp_path / "it ran"
    put(tmp_path, LATENT)
    hostile = torch_files.archive(ONE)
    pickled = pickle.dumps(Runs(mark), 2)
    path_of(tmp_path, step=1, ending=".pt").write_bytes(
        torch_files.legacy(ONE).replace(torch_files.pickled(ONE, legacy=True)[0], pickled))
    path_of(tmp_path, step=2, ending=".pt").write_bytes(pickled)
    path_of(tmp_path, step=3, ending=".pt").write_bytes(hostile[: len(hostile) // 2])
    # Half a terabyte, as far as the file says.
    path_of(tmp_path, step=4, ending=".npy.gz").write_bytes(
        gzip.compress(torch_files.npy("<f2", (128, 4096, 1024, 512), b"")))
    path_of(tmp_path, step=5, ending=".safetensors").write_bytes(struct.pack("<Q", 2**40) + b"{}")
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--json", tmp_path / "json")
    assert done.returncode == 3
    told = json.loads((tmp_path / "json").read_bytes())
    assert told["latents"] == 1
    assert sorted(pathlib.Path(entry["path"]).name.partition(".")[0] for entry in told["unusable"]) == [
        f"step_{step:03d}" for step in (1, 2, 3, 4, 5)]
    assert not mark.exists()
    assert b"system" in done.stderr


def test_a_file_beside_the_one_that_is_taken_is_told(tmp_path, expected):
    put(tmp_path, LATENT)
    path_of(tmp_path, ending=".pt").write_bytes(torch_files.archive(stored(-LATENT)))
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert done.returncode == 0
    assert b"step_000.pt" in done.stderr and b"repeating a step" in done.stderr
    assert (tmp_path / "out" / "metrics.csv").read_bytes() == expected


def test_files_cut_short_anywhere_are_told(tmp_path):
    put(tmp_path, LATENT)
    for step, (kind, content) in enumerate(sorted(FORMATS.items())):
        for part in range(1, 8):
            path_of(tmp_path, video=f"vid_{part:03d}", step=step, ending=kind[kind.index("."):]).write_bytes(
                content[: len(content) * part // 8])
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--json", tmp_path / "json", check=False)
    assert done.returncode in (1, 3), done.stderr
    if done.returncode == 3:
        assert json.loads((tmp_path / "json").read_bytes())["latents"] >= 1


def test_a_table_says_groups(tmp_path):
    for video in ("a", "b", "c"):
        put(tmp_path, LATENT, "all", video)
    (tmp_path / "latents" / "d").mkdir()
    np.save(tmp_path / "latents" / "d" / "step_0.npy", LATENT)
    (tmp_path / "groups.csv").write_text("video,note,group\nall/a,x,red\nb,,blue\nd,,red\nnowhere,,blue\n")
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--json", tmp_path / "json")
    assert done.returncode == 3
    rows = table(tmp_path / "out" / "metrics.csv")
    assert {(row["group"], row["video"]) for row in rows} == {("red", "all/a"), ("blue", "all/b"), ("red", "d")}
    told = json.loads((tmp_path / "json").read_bytes())
    assert [entry["path"] for entry in told["unusable"]] == ["all/c"]
    assert any("nowhere" in note for note in told["notes"])
    assert (tmp_path / "groups.csv").read_text().startswith("video,note")


def test_a_table_names_videos_in_any_way_but_one_that_fits_two(tmp_path):
    for group in ("x", "y"):
        for video in ("a", "b"):
            put(tmp_path, LATENT, group, video)
    table_of_groups = tmp_path / "groups.csv"
    table_of_groups.write_text("video,group\n./latents/x/a/,red\nlatents/x/b,red\n/y/a,blue\ny/b,blue\n")
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert {(row["group"], row["video"]) for row in table(tmp_path / "out" / "metrics.csv")} == {
        ("red", "x/a"), ("red", "x/b"), ("blue", "y/a"), ("blue", "y/b")}
    table_of_groups.write_text("video,group\na,red\ny/b,blue\nx/b,red\n")
    done = millrace("latents", tmp_path, "-o", tmp_path / "other", check=False)
    assert done.returncode == 1 and b"can be x/a or y/a" in done.stderr, done.stderr
    done = millrace("latents", tmp_path / "latents", "-o", tmp_path / "inner")
    assert b"groups.csv is ignored" in done.stderr
    table_of_groups.unlink()
    table_of_groups.symlink_to("nowhere")
    done = millrace("latents", tmp_path, "-o", tmp_path / "other", check=False)
    assert done.returncode == 1 and b"groups.csv" in done.stderr
    assert not (tmp_path / "other").exists()


def test_what_lies_elsewhere_or_behind_a_link_is_told(tmp_path):
    path = put(tmp_path / "in", LATENT)
    deep = tmp_path / "in" / "latents" / "model" / "prompt_000" / "vid_000"
    deep.mkdir(parents=True)
    (deep / "step_000.npy").write_bytes(path.read_bytes())
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "step_000.npy").write_bytes(path.read_bytes())
    (tmp_path / "in" / "latents" / "prompt_000" / "vid_001").symlink_to(tmp_path / "store")
    done = millrace("latents", tmp_path / "in", "-o", tmp_path / "out", "--json", tmp_path / "json")
    assert json.loads((tmp_path / "json").read_bytes())["latents"] == 1
    assert b"1 tensor not in a folder GROUP/VIDEO" in done.stderr and b"model/prompt_000" in done.stderr
    assert b"1 symbolic link is not followed" in done.stderr and b"vid_001" in done.stderr
    done = millrace("latents", tmp_path / "in", "-o", tmp_path / "linked", "--follow-symlinks", "--json", tmp_path / "json")
    assert json.loads((tmp_path / "json").read_bytes())["latents"] == 2
    assert b"not followed" not in done.stderr
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "latents").symlink_to(tmp_path / "in" / "latents")
    done = millrace("latents", tmp_path / "only", "-o", tmp_path / "none", check=False)
    assert done.returncode == 1 and b"--follow-symlinks" in done.stderr


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "video,group\nall/a,x\nall/a,y\n", "video,group\n,x\n",
                                  "video,group\n\"never closed", "video,group,group\na,x,y\n",
                                  "video,group\nall/a," + 300 * "x" + "\n"])
def test_a_table_that_cannot_be_understood_stops_the_job(tmp_path, text):
    put(tmp_path, LATENT, "all", "a")
    (tmp_path / "groups.csv").write_text(text)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", check=False)
    assert done.returncode == 1, done.stderr
    assert not (tmp_path / "out").exists()


def test_tensors_of_other_names_are_told(tmp_path):
    path = put(tmp_path, LATENT)
    for name in ("step_1.0.npy", "latent_1.npy", "step_-1.pt"):
        path.with_name(name).write_bytes(path.read_bytes())
    for step in ("9223372036854775807", "1000000000000000"):
        np.save(path.with_name(f"step_{step}.npy"), LATENT)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert done.returncode == 0
    assert b"4 tensors not named step_NUMBER" in done.stderr
    assert {row["step"] for row in table(tmp_path / "out" / "metrics.csv") if row["step"]} == {"0", "1000000000000000"}


def test_metadata_that_is_missing_is_a_note(tmp_path):
    put(tmp_path, LATENT)
    beside = put(tmp_path, LATENT, step=1)
    beside.with_name("step_001_metadata.json").write_text('{"sigma": 2}')
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert done.returncode == 0
    assert b"1 of 2 latents have no metadata file" in done.stderr


def test_latents_are_made_alike(tmp_path):
    random = np.random.default_rng(8)
    latents = [(random.normal(size=SHAPE) * np.arange(1, 5)[:, None, None, None] + 3 * v).astype(np.float32)
               for v in range(3)]
    latents[0][2] = 5  # a constant channel
    sigmas = [0, 1.5, 3]
    for v, latent in enumerate(latents):
        path = put(tmp_path, latent, video=f"vid_{v}")
        path.with_name("step_000_metadata.json").write_text(json.dumps({"sigma": sigmas[v], "prompt": "x"}))
        put(tmp_path, latent[:, :2] if v else latent, video=f"vid_{v}", step=1)  # not asked about
    wide = np.stack(latents).astype(np.float64)

    def standard(x, axes):
        apart = x - x.mean(axes, keepdims=True)
        deviation = x.std(axes, ddof=1, keepdims=True)
        return apart / np.where(deviation == 0, 1, deviation)

    alike = {
        "channel": standard(wide, (2, 3, 4)),
        "step": standard(wide, (0, 2, 3, 4)),
        "snr": wide / np.sqrt(1 + np.array(sigmas)[:, None, None, None, None] ** 2),
    }
    for how, expected in alike.items():
        for v in range(3):
            put(tmp_path / how, expected[v].astype(np.float32), video=f"vid_{v}")
        millrace("latents", tmp_path / how, "-o", tmp_path / how / "out")
        millrace("latents", tmp_path, "-o", tmp_path / how / "found", "--normalize", how, "--steps", "0")
        for v in range(3):
            wanted = values(tmp_path / how / "out" / "metrics.csv", video=f"vid_{v}", step=0)
            found = values(tmp_path / how / "found" / "metrics.csv", video=f"vid_{v}", step=0)
            assert set(found) == set(wanted)
            for name, value in wanted.items():
                if name in ("global.mean", "complexity.effective_dimension", "global.structural_entropy"):
                    continue  # a mean of 0, and what turns on a last bit
                assert found[name] == pytest.approx(value, rel=1e-4, abs=1e-6), (how, name)


def test_without_a_sigma_there_is_no_signal_to_noise(tmp_path):
    put(tmp_path, LATENT).with_name("step_000_metadata.json").write_text('{"sigma": 1}')
    for step, text in enumerate(['{"sigma": "x"}', "not json", "[]", '{"sigma": -1}', "{}"], 1):
        put(tmp_path, LATENT, step=step).with_name(f"step_{step:03d}_metadata.json").write_text(text)
    put(tmp_path, LATENT, step=9)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--normalize", "snr", "--json", tmp_path / "json")
    assert done.returncode == 3
    told = json.loads((tmp_path / "json").read_bytes())
    assert (told["latents"], len(told["unusable"])) == (1, 6)


@pytest.mark.parametrize("chosen, expected", [
    ("spatial.variance", {"spatial.variance"}),
    ("patch.8.*,global.mean", {"patch.8.variance", "patch.8.distinctiveness", "global.mean"}),
    ("information.*", {"information.mutual", "information.mutual_published", "information.density"}),
])
def test_what_is_chosen_is_measured_alone_and_the_same(tmp_path, chosen, expected):
    for step in range(3):
        put(tmp_path, LATENT + np.float16(step), step=step)
    millrace("latents", tmp_path, "-o", tmp_path / "all")
    millrace("latents", tmp_path, "-o", tmp_path / "some", "--metrics", chosen)
    some = [tuple(row.values()) for row in table(tmp_path / "some" / "metrics.csv")]
    assert {row[3] for row in some} == expected
    assert some == [row for row in (tuple(r.values()) for r in table(tmp_path / "all" / "metrics.csv"))
                    if row[3] in expected]
    with h5py.File(tmp_path / "some" / "arrays.h5") as file:
        assert set(file.attrs["metrics"].decode().split(",")) == expected
        assert "trajectory" not in file
    for wrong in ("spatial.varianse", "", "x,spatial.variance"):
        assert millrace("latents", tmp_path, "-o", tmp_path / "no", "--metrics", wrong, check=False).returncode == 2


def test_trajectories_and_separability_alone(tmp_path):
    a_collection(tmp_path, groups=2, videos=3, steps=3, frames=(2,))
    millrace("latents", tmp_path, "-o", tmp_path / "out", "--metrics", "trajectory,separability")
    assert {row["metric"].split(".")[0] for row in table(tmp_path / "out" / "metrics.csv")} == {"trajectory"}
    summary = json.loads((tmp_path / "out" / "summary.json").read_bytes())
    assert len(summary["separability"]["steps"]) == 3


def test_another_collection_of_one_size_and_time_is_not_taken_for_this_one(tmp_path):
    """As out of an archive that sets all times alike."""
    random = np.random.default_rng(1)
    for name, factor in (("one", 1), ("other", 5)):
        for v in range(2):
            path = put(tmp_path / name, (random.normal(size=LATENT.shape) * factor).astype(np.float16), video=f"vid_{v}")
            os.utime(path, (1, 1))
    millrace("latents", tmp_path / "one", "-o", tmp_path / "out")
    before = results_of(tmp_path / "out")
    done = millrace("latents", tmp_path / "other", "-o", tmp_path / "out", check=False)
    assert done.returncode == 1, done.stderr
    assert results_of(tmp_path / "out") == before


def test_two_folders_of_one_video_are_not_mixed(tmp_path):
    put(tmp_path, LATENT, "a", "v", 0)
    other = tmp_path / "a" / "v"
    other.mkdir(parents=True)
    np.save(other / "step_001.npy", LATENT)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--json", tmp_path / "json")
    told = json.loads((tmp_path / "json").read_bytes())
    assert done.returncode == 3 and told["latents"] == 1
    assert "same group and video as" in told["unusable"][0]["reason"]


def test_an_image_with_a_batch_axis_is_read_as_it_is_meant(tmp_path):
    for v in range(2):
        put(tmp_path, LATENT[None, :4, 0] * (1 + v), video=f"vid_{v}")
    done = millrace("latents", tmp_path, "-o", tmp_path / "film")
    assert b"read as 1 channel and 4 frames" in done.stderr and b"--layout BCHW" in done.stderr
    done = millrace("latents", tmp_path, "-o", tmp_path / "image", "--layout", "BCHW")
    assert b"--layout BCHW" not in done.stderr
    metrics = {row["metric"] for row in table(tmp_path / "image" / "metrics.csv")}
    assert "channel.correlation" in metrics and "temporal.motion" not in metrics


def test_damage_behind_a_header_costs_no_other_latent_anything(tmp_path, expected):
    put(tmp_path, LATENT)
    content = bytearray(gzip.compress(torch_files.npy("<f2", LATENT.shape, LATENT.astype("<f2").tobytes())))
    content[len(content) // 2] ^= 255
    path_of(tmp_path, step=1, ending=".npy.gz").write_bytes(content)
    for _ in range(2):  # and again, when all is measured
        done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--json", tmp_path / "json")
        told = json.loads((tmp_path / "json").read_bytes())
        assert done.returncode == 3, done.stderr
        assert [pathlib.Path(entry["path"]).name for entry in told["unusable"]] == ["step_001.npy.gz"]
        assert told["not_finite"] == 0
        rows = (tmp_path / "out" / "metrics.csv").read_bytes()
        assert rows == expected
