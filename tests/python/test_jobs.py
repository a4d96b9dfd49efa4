"""Whole jobs from Python: what the program makes, options and words of errors that are Python's, results that are tables."""

import inspect
import json
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from job_inputs import photos, prices  # noqa: E402, F401
from package import ENVIRONMENT, millrace  # noqa: E402
from program import content_of  # noqa: E402
from program import millrace as program  # noqa: E402


@pytest.mark.parametrize("store", ["hdf5", "npy", "zarr", "webdataset"])
def test_render_makes_the_programs_bytes(prices, tmp_path, store):
    program("render", prices, "--columns", "close=Close", "--window", "60", "--size", "64x48", "--labels", "1,5", "--store", store, "-o", tmp_path / store,
            "--json", tmp_path / "result.json")
    (tmp_path / "python").mkdir()
    left = millrace.render(prices, columns={"close": "Close"}, window=60, size="64x48", labels=[1, 5], store=store, output=tmp_path / "python" / store)
    assert content_of(tmp_path / "python" / store) == content_of(tmp_path / store)
    said = json.loads((tmp_path / "result.json").read_text())
    assert set(left.fields) == set(said) and left.charts == said["charts"] and left["charts"] == left.charts
    assert left.exit_code == 0 and left.summary and "charts" in repr(left)


def test_dedupe_finds_what_the_program_finds(photos, tmp_path):
    program("dedupe", photos, "--catalog", tmp_path / "a.sqlite", "--json", tmp_path / "result.json", check=False)
    left = millrace.dedupe([photos], catalog=tmp_path / "b.sqlite")
    assert left.groups == json.loads((tmp_path / "result.json").read_text())["groups"] and len(left.groups) == 4


def test_a_plan_does_nothing(prices, tmp_path):
    plan = millrace.render(prices, columns="close=Close", window=60, output=tmp_path / "charts.h5", plan=True)
    assert "plan" in plan and plan.printed and not (tmp_path / "charts.h5").exists()


def test_inputs_are_paths_of_any_kind(photos):
    expected = millrace.hash_files(photos).paths
    assert len(expected) == 8
    for same in (str(photos), os.fsencode(photos), [photos], (str(photos),), iter([photos])):
        assert millrace.hash_files(same).paths == expected
    for wrong in (7, [7], None, "one\0.jpg", [b"one\0.jpg"], "\ud800"):
        with pytest.raises(millrace.UsageError):
            millrace.hash_files(wrong)
    for wrong in ({"config": 3}, {"json": "a\0b"}, {"kinds": ["a\0b"]}, {"plan": True}):
        with pytest.raises(millrace.UsageError):
            millrace.hash_files(photos, **wrong)


def test_a_name_with_ends_of_lines_of_another_kind_is_a_name(photos, tmp_path):
    names = ["a\u2028b.jpg", "a\x85b.jpg", "a\nb.jpg"]
    for name in names:
        (tmp_path / name).write_bytes((photos / "0.jpg").read_bytes())
    found = millrace.hash_files(tmp_path, "dhash,phash")
    assert sorted(found.paths) == sorted(str(tmp_path / name) for name in names) and set(found.codes) == {"dhash", "phash"}
    assert found.errors == [None] * 3 and found.codes["phash"].shape == (3, 8)
    assert pickle.loads(pickle.dumps(millrace.dedupe.apply)) is millrace.dedupe.apply


@pytest.mark.parametrize("options, words", [
    ({"windw": 3}, "did you mean 'window'"), ({"window": "many"}, "window"), ({"window": [1.5, object()]}, "window"), ({"quiet": True}, "there is no option"),
    ({"overwrite": "yes"}, "overwrite"), ({"memory": -1}, "memory"), ({"columns": "close=Nowhere"}, "Nowhere"), ({"threads": 5000}, "threads")])
def test_wrong_options_are_named_and_nothing_is_made(prices, tmp_path, options, words):
    given = {"columns": "close=Close", "window": 60, "output": tmp_path / "charts.h5", **options}
    with pytest.raises(millrace.Error) as raised:
        millrace.render(prices, **given)
    assert words in str(raised.value) and list(tmp_path.iterdir()) == []


def test_what_is_not_its_own_is_not_replaced(prices, tmp_path):
    (tmp_path / "charts.h5").write_text("mine")
    how = {"columns": "close=Close", "window": 60, "output": tmp_path / "charts.h5", "size": "40x30"}
    with pytest.raises(millrace.Error):
        millrace.render(prices, **how)
    assert (tmp_path / "charts.h5").read_text() == "mine"
    with pytest.raises(millrace.Error):
        millrace.render(prices, **{**how, "output": prices})
    with pytest.raises(millrace.Error):
        millrace.run("rendr", prices)
    with pytest.raises(millrace.Error, match="only one is allowed"):
        millrace.run("join", ["a.npy", "b.npy"], radius=2)
    with pytest.raises(millrace.Error, match="it is required"):
        millrace.hash_files([])
    with pytest.raises(millrace.Error, match="one.json"):
        (tmp_path / "one.json").write_text("mine, too")
        millrace.hash_files(prices.parent, json=tmp_path / "one.json")
    millrace.hash_files(prices.parent, json=tmp_path / "one.json", overwrite=True)
    assert json.loads((tmp_path / "one.json").read_text())["pictures"] == 0


def test_errors_say_code_what_subject_and_remedy(tmp_path):
    assert "/nowhere/at/all" in millrace.hash_files("/nowhere/at/all").paths, "an item's reason, not a job's"
    with pytest.raises(millrace.Error) as raised:
        millrace.render("/nowhere/at/all", output=tmp_path / "charts.h5", window=5)
    error = raised.value
    assert error.code == "not_found" and "/nowhere/at/all" in str(error) and not isinstance(error, ValueError)
    assert error.what and error.what in str(error)


def test_every_job_is_described():
    assert {"dedupe", "dedupe apply", "render", "latents", "segment", "video", "fundus", "hash", "join", "finish"} <= set(millrace._jobs.described())
    for job in (millrace.dedupe, millrace.dedupe.apply, millrace.render, millrace.latents, millrace.segment, millrace.video, millrace.fundus,
                millrace.finish):
        parameters = inspect.signature(job).parameters
        assert {"threads", "memory", "json", "progress", "config"} <= set(parameters) and "quiet" not in parameters
        assert all(f"\n{name}" in job.__doc__ for name in list(parameters)[1:-2]), job


def test_progress_is_told_and_may_end_a_job(photos, tmp_path):
    told = []
    millrace.hash_files(photos, progress=lambda *report: told.append((threading.get_ident(), *report)))
    assert told[-1][:4] == (threading.get_ident(), "hashing", 8, 8) and {one[0] for one in told} == {threading.get_ident()}

    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough

    with pytest.raises(Enough):
        millrace.hash_files(photos, progress=stop)
    pytest.importorskip("tqdm")
    assert len(millrace.hash_files(photos, progress=True)) == 8
    with pytest.raises(millrace.UsageError, match="progress"):
        millrace.hash_files(photos, progress="bar")


def test_results_that_are_tables(photos, tmp_path):
    pandas = pytest.importorskip("pandas")
    found = millrace.dedupe(photos)
    table = found.to_pandas()
    assert list(table.columns[:4]) == ["group", "kind", "keep", "why"] and len(table) == sum(len(group["members"]) for group in found.groups) > 0
    assert list(table.path) == [member["path"] for group in found.groups for member in group["members"]]
    (tmp_path / "empty").mkdir()
    empty = millrace.dedupe(tmp_path / "empty").to_pandas()
    assert isinstance(empty, pandas.DataFrame) and empty.empty and "keep" in empty
    hashed = millrace.hash_files([photos, tmp_path / "none.jpg"])
    assert list(hashed.to_pandas().columns) == list(millrace.hash_files(tmp_path / "empty").to_pandas().columns)
    assert hashed.usable.tolist() == [error is None for error in hashed.errors] and not hashed.usable.all()
    for kinds, shapes in ((["dhash", "pdq"], [(0, 8), (0, 32)]), (["whash"], [(0, 8)])):
        none = millrace.hash_files(tmp_path / "empty", kinds)
        assert [codes.shape for codes in none.codes.values()] == shapes and len(millrace.join(none.codes[kinds[0]], 3)) == 0
    assert millrace.hash_files(tmp_path / "none.jpg", "dhash", size=16).codes["dhash"].shape == (1, 32)
    with pytest.raises(millrace.UsageError, match="a result of hash is no table"):
        millrace.run("hash", photos).to_pandas()


def test_no_field_of_a_result_is_hidden(photos):
    """What a result has as attributes is no job's field; those that the jobs of this suite give are looked at."""
    own = set(dir(millrace.JobResult)) | set(vars(hashed := millrace.run("hash", photos)))
    for result in (hashed, millrace.dedupe(photos), millrace.run("hash", photos, plan=True)):
        assert not own & set(result.fields), result.job
        assert result.get("nothing") is None and len(result) == len(result.fields) and dict(result.items()) == result.fields


def test_standard_output_is_the_callers(photos):
    code = f"import millrace\nfound = millrace.dedupe({str(photos)!r}, json='-')\nassert found.groups is not None\n" \
           f"try: millrace.dedupe({str(photos)!r}, csv='-')\nexcept millrace.UsageError as error: assert 'csv' in str(error)\n" \
           f"assert len(millrace.hash_files({str(photos)!r})) == 8"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=dict(ENVIRONMENT, MILLRACE_PLAN="false"))
    assert done.returncode == 0 and not done.stdout, done
    for name in ("MILLRACE_CSV", "MILLRACE_REPORT"):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=dict(ENVIRONMENT, **{name: "-"}))
        assert done.returncode != 0 and not done.stdout and b"it cannot be stdout" in done.stderr, done
    # And what is said elsewhere does not make of hashes a plan.
    done = subprocess.run([sys.executable, "-c", code.rpartition("\n")[0].split("\n")[0] + "\n" + code.rpartition("\n")[2]],
                          capture_output=True, env=dict(ENVIRONMENT, MILLRACE_PLAN="true"))
    assert done.returncode == 0 and not done.stdout, done


@pytest.mark.parametrize("call, words", [
    (lambda: millrace.render("p.csv", output="x.h5", line_width="wide"), ["line_width: "]),
    (lambda: millrace.render("p.csv"), ["output: no output was given; name a file or folder, for example output='charts.h5'"]),
    (lambda: millrace.run("join"), ["inputs: it is required"]),
    (lambda: millrace.dedupe(True), ["inputs: it is a path or several, not bool"]),
    (lambda: millrace.dedupe({"a": "b"}), ["inputs: it is a path or several, not dict"]),
    (lambda: millrace.dedupe("."  , report=True), ["report: it is a text, number or path (FILE.html), not True"]),
    (lambda: millrace.render("p.csv", output="x.h5", dtype=np.uint8), ["dtype: ", "uint8"]),
    (lambda: millrace.render("p.csv", output="x.h5", columns={"close": "a,b"}), ["columns: ", "it has a ','"]),
    (lambda: millrace.dedupe(".", progess=True), ["did you mean 'progress'?"]),
    (lambda: millrace.run("dedup"), ["there is no job 'dedup'; did you mean 'dedupe'?"]),
    (lambda: millrace.run("doctor"), ["there is no job 'doctor'; there are "]),
    (lambda: millrace.dedupe(".", config="/"), ["config: '/' is no file"]),
    (lambda: millrace.ChartDrawer(style="jkx", rows=20, width=100), ["width"]),
    (lambda: millrace.run("join", "codes.npy"), ["radius", "for example radius=5"]),
    (lambda: millrace.latents.compare({"a": [], "b": []}, shuffle=3), ["did you mean 'shuffles'?"]),
    (lambda: millrace.ChartDrawer(rows=5)(np.zeros(5), ouut=1), ["did you mean 'out'?"]),
    (lambda: millrace.hash(np.zeros((9, 9), np.uint8), hash_size=8), ["millrace.hash: there is no option 'hash_size'; did you mean 'size'?"]),
    (lambda: millrace.join(np.zeros(3, np.uint64), 1, radious=3), ["did you mean 'radius'?"]),
])
def test_errors_speak_of_keywords(call, words):
    with pytest.raises(millrace.UsageError) as error:
        call()
    assert all(word in str(error.value) for word in words), error.value
    assert "--" not in str(error.value) and "-o " not in str(error.value), error.value


def test_what_a_caller_said_stays_as_it_was_said(tmp_path):
    """Names of files that look like options are names."""
    for name in ("--window.csv", "x -o y.csv"):
        with pytest.raises(millrace.Error) as error:
            millrace.render(tmp_path / name, window=20, output=tmp_path / "out.h5")
        assert error.value.subject == str(tmp_path / name)
    with pytest.raises(millrace.UsageError, match="'--size' is not one of"):
        millrace.ChartDrawer(style="--size")


def test_what_helps_says_all_options():
    described = millrace._jobs.described()
    options = {millrace._jobs.keyword_of(option["name"]) for option in described["hash"]["options"]}
    options -= {"kinds", "format", "plan", "output", "shard", "part", "inventory"}
    assert all(name in millrace.hash_files.__doc__.replace(".", ",").replace("\n", " ").split("explains them): ")[1].replace(";", ",").replace(" ", "").split(",") for name in options)
    # Jobs of the package are the library's; three others are reached through run(), and one is for a terminal alone.
    made = {name for job, below in millrace._JOBS.items() for name in (job, *(f"{job} {one}" for one in below))} | {"latents"}
    assert made | {"hash", "join", "inventory", "dedupe review"} == set(described)
    with pytest.raises(millrace.UsageError, match="in a terminal"):
        millrace.run("dedupe review", "result.json")
    assert {name for name in made if " " not in name} <= set(millrace.__all__)
    # Of segment those that a Segmenter does not take are about files, places and devices.
    taken = set(millrace._segment._options())
    segment = {millrace._jobs.keyword_of(option["name"]) for option in described["segment"]["options"]}
    assert segment - taken == {"model", "output", "write", "roi", "report", "describe", "part", "mixed", "format", "exclude", "hidden", "follow_symlinks",
                               "cross_file_systems", "max_size", "max_pixels", "sandbox", "device", "gpu", "device_order", "device_fallback",
                               "device_memory", "batch", "verify_device", "plan", "json", "trace", "overwrite"}
    for name in taken:
        assert f"`{name}`" in millrace.Segmenter.__doc__, name
    # Whatever a chart's options are in C++ they are here, and mean the same where nothing is said.
    for made, options in ((millrace._core.ChartOptions(), millrace._charts.OPTIONS), (millrace._core.LatentOptions(), millrace.latents.OPTIONS)):
        assert {name for name in dir(made) if not name.startswith("_")} == set(options)
        assert {name: getattr(made, name) for name in options} == {name: default for name, (default, _) in options.items()}
