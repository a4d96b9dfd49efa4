"""What `latents` makes of its numbers: tests of groups beside SciPy's, separability, the summary; what it must not say."""

import csv
import json
import math
import os
import pathlib
import shutil
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
pytest.importorskip("scipy")

import statistics_reference as reference  # noqa: E402
from latent_files import a_collection, put, results_of, smooth, table  # noqa: E402
from program import content_of, millrace  # noqa: E402

SHAPE = (4, 3, 12, 20)
# Their dense columns.
NUMBERS = {"mean_a": "mean1", "mean_b": "mean2", "sd_a": "sd1", "sd_b": "sd2", "welch_t": "t", "df": "df", "p_welch": "p",
           "cohens_d": "d", "hedges_g": "g", "mann_whitney_u": "u", "p_mann_whitney": "u_p"}
REASONS = {"none": "", "too_few": "one video in a group", "no_variance": "both groups constant",
           "absent": "no value in a group"}


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Three groups of five, four and one videos; one lacks a step, one holds a NaN."""
    folder = tmp_path_factory.mktemp("groups")
    random = np.random.default_rng(4)
    for g, videos in enumerate((5, 4, 1)):
        for v in range(videos):
            own = 1 + 0.1 * random.normal()
            for s in range(3):
                if (g, v, s) == (1, 2, 1):
                    continue
                latent = (random.normal(size=SHAPE) * own * (1 + 0.3 * g * s)).astype(np.float16)
                if (g, v, s) == (0, 3, 2):
                    latent[0, 0, 0, 0] = np.nan
                put(folder, latent, f"prompt_{g:03d}", f"vid_{v:03d}", 10 * s)
    return folder


@pytest.fixture(scope="module")
def out(collection, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out") / "out"
    millrace("latents", collection, "-o", folder, "--seed", "7")
    return folder


def number(text):
    return float(text) if text else math.nan


def table_of(folder):
    """metrics.csv as the table that is tested: names of groups, a group a video, columns, values."""
    rows = table(folder / "metrics.csv")
    videos = sorted({(row["group"], row["video"]) for row in rows})
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    steps = sorted({int(row["step"]) for row in rows if row["step"]})
    at = {(row["group"], row["video"], row["metric"], row["step"]): float(row["value"]) for row in rows}
    groups = list(dict.fromkeys(group for group, _ in videos))
    of_videos = [groups.index(group) for group, _ in videos]
    plain = [m for m in metrics if not m.startswith("trajectory.")]
    by_step = [(m, str(s)) for m in plain for s in steps]
    over = [(m, "") for m in metrics]

    def over_steps(video, metric):
        if metric.startswith("trajectory."):
            # Of the usual steps, all of them.
            whole = all((*video, "global.mean", str(s)) in at for s in steps)
            return at.get((*video, metric, ""), math.nan) if whole else math.nan
        return np.mean([at.get((*video, metric, str(s)), math.nan) for s in steps])

    columns = [np.array([[at.get((*v, *c), math.nan) for c in by_step] for v in videos]),
               np.array([[over_steps(v, m) for m, _ in over] for v in videos])]
    return groups, of_videos, by_step + over, np.concatenate(columns, 1)


def test_every_number_is_scipys(out):
    found = {(row["group_a"], row["group_b"], row["metric"], row["step"]): row for row in table(out / "comparisons.csv")}
    groups, of_videos, columns, values = table_of(out)
    raw, familywise = reference.permute(values, of_videos, len(groups), np.ones((3, len(columns))), 7)
    _, differences = reference.bootstrap(values, of_videos, len(groups), 7)
    compared = [[reference.compare(values[np.equal(of_videos, a), c], values[np.equal(of_videos, b), c])
                 for c in range(len(columns))] for a, b in reference.pairs(len(groups))]
    p = [each.get("p", math.nan) for pair in compared for each in pair]
    holm, benjamini = reference.holm(p), reference.benjamini_hochberg(p)
    assert len(found) == len(p)
    for k, (a, b) in enumerate(reference.pairs(len(groups))):
        for c, column in enumerate(columns):
            row, expected = found[(groups[a], groups[b], *column)], compared[k][c]
            assert row["reason"] == REASONS[expected["reason"]], row
            assert (int(row["n_a"]), int(row["n_b"])) == (expected["n1"], expected["n2"])
            wanted = {name: expected.get(key, math.nan) for name, key in NUMBERS.items()}
            i = k * len(columns) + c
            wanted |= {"p_permutation": raw[k, c], "p_familywise": familywise[k, c], "p_holm": holm[i],
                       "p_bh": benjamini[i], "bootstrap_low": differences[k, c, 0],
                       "bootstrap_high": differences[k, c, 1]}
            wanted |= dict(zip(("ci_low", "ci_high"), expected.get("ci", (math.nan, math.nan))))
            for name, value in wanted.items():
                # What a difference of nearly equal means is known to.
                room = 1e-12 * max(abs(expected.get("mean1", 0)), 1e-300)
                assert number(row[name]) == pytest.approx(value, rel=1e-9, abs=room, nan_ok=True), (name, column)


def test_separability_is_that_of_the_definition(collection, out):
    summary = json.loads((out / "summary.json").read_bytes())["separability"]
    paths = sorted(collection.rglob("step_010.npy"))
    features, labels = [], []
    for path in paths:
        x = np.load(path).astype(np.float64)
        features.append(np.concatenate([
            x.var((2, 3), ddof=1).ravel(), x.var(1, ddof=1).ravel(), np.abs(x).sum((1, 2, 3)),
            [x.mean(), x.std(ddof=1), x.max(), x.min()]]).astype(np.float32))
        labels.append(int(path.parts[-3][-3:]))
    assert summary["features"] == len(features[0])
    published, standardized = reference.separability(np.array(features), labels, 7, 10)
    found = next(step for step in summary["steps"] if step["step"] == 10)
    assert found["videos"] == len(paths)
    # Features are float32, theirs and ours rounded apart.
    assert found["score"] == pytest.approx(standardized["ratio"], rel=1e-5)
    assert found["score_published"] == pytest.approx(published["ratio"], rel=1e-5)
    assert found["silhouette"] == pytest.approx(standardized["silhouette"], abs=1e-5)
    assert found["p_value"] == pytest.approx(standardized["p"], abs=2e-4)
    last = next(step for step in summary["steps"] if step["step"] == 20)
    assert last["videos"] == 9, "one is not finite"


def test_the_summary_says_what_the_table_does(out):
    summary = json.loads((out / "summary.json").read_bytes())
    assert summary["analysis_summary"]["groups"] == ["prompt_000", "prompt_001", "prompt_002"]
    assert (out / "summary.json").stat().st_size < 400_000
    rows = [float(row["value"]) for row in table(out / "metrics.csv")
            if row["group"] == "prompt_001" and row["metric"] == "patch.4.variance"]
    found = summary["groups"]["prompt_001"]["metrics"]["patch"]["4.variance"]
    assert found["n"] == len(rows) == 11
    for key, value in (("mean", np.mean(rows)), ("std", np.std(rows, ddof=1)), ("min", min(rows)), ("max", max(rows)),
                       ("q25", np.quantile(rows, 0.25)), ("median", np.median(rows)), ("q75", np.quantile(rows, 0.75))):
        assert found[key] == pytest.approx(value, rel=1e-12), key
    pair = next(c for c in summary["group_comparisons"] if c["groups"] == ["prompt_000", "prompt_001"])
    over = pair["metrics"]["patch.4.variance"]["over_steps"]
    row = next(r for r in table(out / "comparisons.csv") if r["metric"] == "patch.4.variance" and not r["step"]
               and (r["group_a"], r["group_b"]) == ("prompt_000", "prompt_001"))
    assert over["p_value"] == float(row["p_welch"])
    assert over["confidence_interval"] == [float(row["ci_low"]), float(row["ci_high"])]
    json.loads((out / "summary.json").read_text(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_one_video_in_a_group_has_no_p(out):
    rows = [row for row in table(out / "comparisons.csv") if "prompt_002" in (row["group_a"], row["group_b"])]
    assert rows
    for row in rows:
        assert row["reason"], row
        assert not any(row[name] for name in row if name.startswith("p_")), row
        assert not row["hedges_g"] and not row["ci_low"]


def test_nothing_is_tested_where_nothing_can_be(tmp_path):
    for g in range(3):
        put(tmp_path, smooth(SHAPE, g).astype(np.float16), f"prompt_{g}")
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert b"no tests were made" in done.stderr and b"two videos" in done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_bytes())
    assert "two videos" in summary["significance"]["no_tests"]
    assert summary["significance"]["by_step"]["tests"] == 0
    assert not any(row["p_welch"] for row in table(tmp_path / "out" / "comparisons.csv"))
    assert all("absent" in step for step in summary["separability"]["steps"])


def test_one_group_alone(tmp_path):
    for v in range(3):
        put(tmp_path, smooth(SHAPE, v).astype(np.float16), "prompt", f"vid_{v}")
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert done.returncode == 0
    assert b"one group" in done.stderr
    assert len(table(tmp_path / "out" / "comparisons.csv")) == 0


def test_a_video_without_all_steps_is_not_in_means_over_steps(out):
    row = next(r for r in table(out / "comparisons.csv") if r["metric"] == "global.mean" and not r["step"]
               and (r["group_a"], r["group_b"]) == ("prompt_000", "prompt_001"))
    assert (row["n_a"], row["n_b"]) == ("4", "3"), "one lacks a step, one is not finite at one"
    assert json.loads((out / "summary.json").read_bytes())["analysis_summary"]["steps_of_means"] == [0, 10, 20]


@pytest.mark.parametrize("how", [["--threads", "1"], ["--threads", "5"]])
def test_the_analysis_is_the_same_however_it_is_made(collection, out, tmp_path, how):
    millrace("latents", collection, "-o", tmp_path / "out", "--seed", "7", *how)
    assert results_of(tmp_path / "out") == results_of(out)


def test_another_seed_is_another_draw_of_the_same_tests(collection, out, tmp_path):
    shutil.copytree(out, tmp_path / "out")
    millrace("latents", collection, "-o", tmp_path / "out", "--seed", "8")
    before, after = table(out / "comparisons.csv"), table(tmp_path / "out" / "comparisons.csv")
    assert [row["p_welch"] for row in before] == [row["p_welch"] for row in after]
    assert [row["bootstrap_low"] for row in before] != [row["bootstrap_low"] for row in after]
    assert [row["p_permutation"] for row in before] == [row["p_permutation"] for row in after], "so few deals are all counted"
    assert (tmp_path / "out" / "metrics.csv").read_bytes() == (out / "metrics.csv").read_bytes()


def test_groups_that_are_equal_are_not_told_apart(tmp_path):
    a_collection(tmp_path, groups=3, videos=6, steps=2, frames=(2,))
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    significance = json.loads((tmp_path / "out" / "summary.json").read_bytes())["significance"]
    assert significance["by_step"]["below_0.05"]["uncorrected"] > 0, "some of so many tests always are"
    assert significance["by_step"]["below_0.05"]["familywise"] == 0
    assert b"no difference between groups was found" in done.stderr
    assert b"does not show that there is none" in done.stderr


def test_groups_that_differ_are_found(tmp_path):
    a_collection(tmp_path, groups=2, videos=8, steps=2, frames=(2,), effect=0.2)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    found = {row["metric"] for row in table(tmp_path / "out" / "comparisons.csv")
             if row["step"] and float(row["p_familywise"] or 1) <= 0.05}
    assert {"spatial.variance", "global.energy", "patch.4.variance"} <= found
    assert not {"channel.correlation", "spatial.autocorrelation", "information.mutual"} & found
    assert b"metrics differ" in done.stderr and b"g = " in done.stderr and b"95 % interval" in done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_bytes())
    assert all(step["p_value"] <= 0.05 for step in summary["separability"]["steps"])


def test_separability_is_the_same_however_little_memory_there_is(tmp_path):
    # 24 videos of 110,000 features of 4 bytes are 10 MB; half of 18 MiB is less, beside the program itself.
    random = np.random.default_rng(2)
    for g in range(2):
        for v in range(12):
            latent = random.normal(size=(16, 2, 64, 106)) * (1 + 0.3 * g)
            put(tmp_path, latent.astype(np.float16), f"prompt_{g}", f"vid_{v:02}")
    found = []
    for name, memory in (("much", "1G"), ("little", "18M")):
        millrace("latents", tmp_path, "-o", tmp_path / name, "--memory", memory, "--threads", "1")
        found.append(json.loads((tmp_path / name / "summary.json").read_bytes())["separability"])
    assert found[0] == found[1]
    assert found[0]["features"] == 16 * 2 + 16 * 64 * 106 + 16 + 4


def test_performance_tells_where_the_time_went(collection, tmp_path):
    done = millrace("latents", collection, "-o", tmp_path / "out", "--benchmark", "--threads", "2")
    told = json.loads((tmp_path / "out" / "performance.json").read_bytes())
    assert told["latents_measured"] == 29
    assert told["peak_memory_bytes"] > 1 << 20
    assert set(told["thread_seconds_by_part"]) >= {"reading", "spectra", "trajectories", "histograms"}
    rows = told["benchmark"]["rows"]
    assert {row["threads"] for row in rows} == {1, 2}
    assert "baseline" in {row["cpu_level"] for row in rows}
    assert all(row["same_numbers"] for row in rows)
    assert b"same numbers" in done.stderr and b"DIFFERENT NUMBERS" not in done.stderr


def test_outputs_that_are_not_its_own_stay(collection, tmp_path):
    for name in ("comparisons.csv", "summary.json", "performance.json", "report.html"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("mine\n")
        done = millrace("latents", collection, "-o", folder, "--report", check=False)
        assert done.returncode == 1, name
        assert content_of(folder) == {name: b"mine\n"}


def test_a_page_of_an_earlier_run_is_kept_up_to_date(collection, tmp_path):
    millrace("latents", collection, "-o", tmp_path / "out", "--report")
    before = (tmp_path / "out" / "report.html").read_text()
    millrace("latents", collection, "-o", tmp_path / "out", "--seed", "99")
    after = (tmp_path / "out" / "report.html").read_text()
    assert before != after and "Seed: 99" in after
    millrace("latents", collection, "-o", tmp_path / "none")
    (tmp_path / "none" / "report.html").write_text("mine\n")
    millrace("latents", collection, "-o", tmp_path / "none")
    assert (tmp_path / "none" / "report.html").read_text() == "mine\n"


def test_separability_alone_tells_what_it_finds(tmp_path):
    a_collection(tmp_path, groups=2, videos=8, steps=2, frames=(2,), effect=0.2)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--metrics", "separability", "--report")
    assert b"no metric was selected" in done.stderr
    assert b"groups differ most at step" in done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert "No metric was tested" in page and "groups differ most at step" in page
    assert "cannot show whether groups differ" not in page


def test_the_summary_of_many_groups_holds_what_differs(tmp_path):
    a_collection(tmp_path, groups=12, videos=2, steps=1, frames=(2,))
    millrace("latents", tmp_path, "-o", tmp_path / "out", "--metrics", "*.*")
    pairs = json.loads((tmp_path / "out" / "summary.json").read_bytes())["group_comparisons"]
    rows = table(tmp_path / "out" / "comparisons.csv")
    assert len(pairs) == 66 and len(rows) > 2000
    assert all(pair["metrics"] == {} and pair["metrics_that_do_not_differ"] > 30 for pair in pairs), "nothing can differ"


def test_a_pipe_among_the_results_is_not_waited_for(collection, tmp_path):
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / "metrics.csv")
    done = millrace("latents", collection, "-o", tmp_path / "out", check=False, timeout=60)
    assert done.returncode == 1
    assert b"not a regular file" in done.stderr
    assert os.listdir(tmp_path / "out") == ["metrics.csv"]


def test_the_table_of_comparisons_is_one(out):
    with open(out / "comparisons.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert {len(row) for row in rows} == {27}
    keys = [tuple(row[:4]) for row in rows[1:]]
    assert len(set(keys)) == len(keys)


def test_so_few_videos_that_nothing_can_be_found_are_told(tmp_path):
    a_collection(tmp_path, groups=2, videos=3, steps=2, frames=(2,), effect=1.0)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--report")
    assert b"no corrected p can be below about 0.1" in done.stderr and b"metrics differ" not in done.stderr
    found = [float(row["p_familywise"]) for row in table(tmp_path / "out" / "comparisons.csv") if row["p_familywise"]]
    assert min(found) == pytest.approx(0.1, abs=1e-12), "all ten deals are counted"
    assert "no corrected p can be below" in (tmp_path / "out" / "report.html").read_text()


def test_small_groups_hide_nothing_of_large_ones(tmp_path):
    """Two against two: there are three deals, and |t| of many metrics are huge in each. The others are not to be hidden."""
    a_collection(tmp_path / "in", groups=2, videos=8, steps=2, frames=(2,), effect=0.2)
    random = np.random.default_rng(5)
    for g in (2, 3):
        for v in range(2):
            for s in range(2):
                put(tmp_path / "in", random.normal(size=(4, 2, 12, 20)).astype(np.float16), f"prompt_{g:03d}", f"vid_{v:03d}", s)
    done = millrace("latents", tmp_path / "in", "-o", tmp_path / "out")
    rows = table(tmp_path / "out" / "comparisons.csv")
    large = [row for row in rows if (row["group_a"], row["group_b"]) == ("prompt_000", "prompt_001")]
    assert any(row["metric"] == "global.energy" and float(row["p_familywise"] or 1) <= 0.05 for row in large)
    small = [float(row["p_familywise"]) for row in rows if row["group_a"] == "prompt_002" and row["p_familywise"]]
    assert min(small) >= 1 / 3
    assert b"pairs of groups have too few videos" in done.stderr


def group_of_halves(folder, whole, others, missing=()):
    """One noise in two groups of eight, of which some videos of the second are made otherwise."""
    random = np.random.default_rng(9)
    for g in range(2):
        for v in range(8):
            shape = others if g == 1 and v >= 2 and others else whole
            for s in range(4):
                if g == 1 and v >= 2 and s in missing:
                    continue
                put(folder, random.normal(size=shape).astype(np.float16), f"prompt_{g:03d}", f"vid_{v:03d}", s)


def test_a_path_along_fewer_steps_is_no_finding(tmp_path):
    group_of_halves(tmp_path, SHAPE, None, missing=(3,))
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert b"no difference between groups was found" in done.stderr, done.stderr
    assert b"6 of 16 videos do not have exactly the 4 steps from 0 to 3 that most videos have" in done.stderr
    rows = [row for row in table(tmp_path / "out" / "comparisons.csv") if row["metric"] == "trajectory.path"]
    assert [(row["n_a"], row["n_b"]) for row in rows] == [("8", "2")]
    assert sum(row["metric"] == "trajectory.path" for row in table(tmp_path / "out" / "metrics.csv")) == 16, "all are measured"


def test_another_number_of_frames_is_no_finding(tmp_path):
    group_of_halves(tmp_path, (4, 3, 12, 20), (4, 9, 12, 20))
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--report")
    assert b"metrics differ" not in done.stderr, done.stderr
    assert b"6 of 16 videos do not have the most common number of frames (3)" in done.stderr
    assert {row["n_b"] for row in table(tmp_path / "out" / "comparisons.csv")} <= {"0", "2"}
    summary = json.loads((tmp_path / "out" / "summary.json").read_bytes())
    group = summary["groups"]["prompt_001"]
    assert (group["videos"], group["videos_compared"]) == (8, 2)
    assert group["metrics"]["global"]["energy"]["n"] == 32, "all are measured"


def test_seeds_that_groups_share_are_told(tmp_path):
    for g in range(2):
        for v in range(4):
            noise = np.random.default_rng(v).normal(size=SHAPE)
            put(tmp_path, noise.astype(np.float16), f"prompt_{g}", f"vid_{v}", 0)
            put(tmp_path, (noise * (1 + g / 2)).astype(np.float16), f"prompt_{g}", f"vid_{v}", 1)
    put(tmp_path, smooth(SHAPE).astype(np.float16), "prompt_1", "vid_9", 0)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    assert b"8 of 9 videos start with the same latent" in done.stderr


def test_what_is_constant_and_differs_is_said(tmp_path):
    """Without any spread there is no p; but whoever made the groups so wants to know. Channels that are one, or are four."""
    random = np.random.default_rng(6)
    for g in range(2):
        for v in range(4):
            latent = random.normal(size=SHAPE)
            if g == 0:
                latent[:] = latent[:1]
            put(tmp_path, latent.astype(np.float16), f"prompt_{g}", f"vid_{v}")
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--report")
    assert b"all videos have the same value" in done.stderr
    assert b"complexity.effective_dimension is 1 in one group and 4 in the other" in done.stderr


@pytest.mark.parametrize("metrics", ["all", "trajectory,separability"])
def test_a_copy_of_a_video_is_counted_once(tmp_path, metrics):
    """Two videos four times over in each of two equal groups: what varies so little would make any difference look sure."""
    random = np.random.default_rng(8)
    for g in range(2):
        for own in range(2):
            latents = [random.normal(size=SHAPE).astype(np.float16) for _ in range(2)]
            for copy in range(4):
                for s, latent in enumerate(latents):
                    put(tmp_path, latent, f"prompt_{g}", f"vid_{own}{copy}", s)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--metrics", metrics)
    assert b"metrics differ" not in done.stderr
    assert b"12 of 16 videos are copies of another video" in done.stderr
    assert b"separability leaves out 24 latents that are copies" in done.stderr
    assert {(row["n_a"], row["n_b"]) for row in table(tmp_path / "out" / "comparisons.csv")} <= {("2", "2"), ("0", "0")}
    steps = json.loads((tmp_path / "out" / "summary.json").read_bytes())["separability"]["steps"]
    assert [step["videos"] for step in steps] == [4, 4] and min(step["p_value"] for step in steps) > 0.05


def test_a_step_that_few_videos_have_does_not_raise_the_p_of_others(tmp_path):
    a_collection(tmp_path / "in", groups=2, videos=8, steps=2, frames=(2,), effect=0.15)
    millrace("latents", tmp_path / "in", "-o", tmp_path / "without")
    for g in range(2):
        for v in range(2):
            put(tmp_path / "in", np.random.default_rng(g + v).normal(size=(4, 2, 12, 20)).astype(np.float16),
                f"prompt_{g:03d}", f"vid_{v:03d}", 7)
    done = millrace("latents", tmp_path / "in", "-o", tmp_path / "with")
    assert b"fewer than half of a group's videos" in done.stderr

    def corrected(folder):
        return {(row["metric"], row["step"]): row["p_familywise"] for row in table(folder / "comparisons.csv") if row["step"]}

    before, after = corrected(tmp_path / "without"), corrected(tmp_path / "with")
    assert all(after[key] == "" for key in after if key[1] == "7")
    assert all(row["p_holm"] == "" and row["p_welch"] for row in table(tmp_path / "with" / "comparisons.csv")
               if row["step"] == "7" and not row["reason"])
    assert sum(float(p) <= 0.05 for p in before.values() if p) == sum(float(p) <= 0.05 for p in after.values() if p) > 0


def test_what_a_shape_alone_decides_is_no_finding(tmp_path):
    """One channel has all of the magnitude; of three frames the autocorrelation around the end is -1/2."""
    a_collection(tmp_path, groups=2, videos=6, steps=1, frames=(3,), sides=(1, 12, 20), effect=0.5)
    done = millrace("latents", tmp_path, "-o", tmp_path / "out")
    metrics = {row["metric"] for row in table(tmp_path / "out" / "metrics.csv")}
    assert not {"channel.dominance", "channel.dominance_entropy", "temporal.autocorrelation_centered"} & metrics
    assert b"dominance" not in done.stderr


def test_statistics_that_do_not_fit_are_said_before_the_work(tmp_path):
    a_collection(tmp_path, groups=2, videos=3, steps=1, frames=(2,))
    done = millrace("latents", tmp_path, "-o", tmp_path / "out", "--memory", "2M", check=False)
    assert done.returncode == 1 and b"statistics needs" in done.stderr
    assert not (tmp_path / "out").exists()
