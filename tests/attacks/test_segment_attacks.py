"""`segment` among what enemies make: records, checkpoints, cards, links, names; and what must not be mixed."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import onnx_model as onnx
from processes import end_held, hold_when
from program import DATA, PROGRAM, ROOT, content_of, millrace
from segmenting import made_model, needs_openvino, needs_runtime, picture, runtime

pytestmark = needs_runtime
WINDOW = (24, 32)


def segment(folder, *more, out="out", check=True, model="m.onnx", **options):
    return millrace("segment", folder / "photos", "--model", folder / model, "-o", folder / out, *more, check=check, **options)


@pytest.fixture
def made(tmp_path):
    picture(tmp_path / "photos" / "a.png", 50, 61)
    made_model(tmp_path / "m.onnx")
    segment(tmp_path, "--report")
    return tmp_path


def record_of(folder):
    return folder / "out" / "a.png.segment.json"


RECORDS = {
    "deep": lambda text: '{"millrace": "segment picture", "x": ' + "[" * 200_000,
    "deep and closed": lambda text: '{"millrace": "segment picture", "x": ' + "[" * 200_000 + "]" * 200_000 + "}",
    "deep mark": lambda text: '{"millrace": ' + "[" * 200_000 + "]" * 200_000 + "}",
    "no sides": lambda text: text.replace('"width": 61', '"width": 0').replace('"height": 50', '"height": 0'),
    "small sides": lambda text: text.replace('"width": 61', '"width": 2').replace('"height": 50', '"height": 2'),
    "huge sides": lambda text: text.replace('"width": 61', '"width": 4294967357'),
    "another class": lambda text: text.replace('"name": "class 1"', '"name": "class 2"'),
    "more at the edge than there are": lambda text: text.replace('"edge_pixels": ', '"edge_pixels": 99999'),
    "no previews": lambda text: json.dumps({key: value for key, value in json.loads(text).items() if key != "previews"}),
    "previews of nothing": lambda text: text.replace('"labels": "', '"labels": "AAAA'),
    "without edges": lambda text: text.replace('"edge_pixels"', '"edges"'),
}


@pytest.mark.parametrize("how", RECORDS)
def test_records_that_enemies_made(made, how):
    before = content_of(made / "out")
    record_of(made).write_text(RECORDS[how](record_of(made).read_text()))
    done = segment(made, "--report", check=False)
    said = done.stderr.decode()
    if how.startswith("deep"):
        # It is no record: what lies beside it is nobody's.
        assert done.returncode == 3 and "no run has written it" in said
        return
    assert done.returncode == 0, said
    if "previews" in how:
        # The mask is there as it was; the page has the photograph alone.
        assert b"1 were already complete" in done.stderr
        assert b"data:image/jpeg" in (made / "out" / "report.html").read_bytes()
        return
    assert content_of(made / "out") == before and "already complete" not in said


def test_links_in_the_folder_of_results_lead_nowhere(tmp_path):
    picture(tmp_path / "photos" / "sub" / "a.png", 50, 61)
    picture(tmp_path / "photos" / "b.png", 50, 61)
    made_model(tmp_path / "m.onnx")
    (tmp_path / "elsewhere").mkdir()
    segment(tmp_path)
    shutil.rmtree(tmp_path / "out" / "sub")
    os.symlink(tmp_path / "elsewhere", tmp_path / "out" / "sub")
    done = segment(tmp_path, check=False)
    assert done.returncode == 3 and "leads elsewhere" in done.stderr.decode()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (tmp_path / "out" / "b.png.mask.png").exists()


def test_tables_that_no_run_has_written_stay(tmp_path):
    picture(tmp_path / "photos" / "a.png", 50, 61)
    made_model(tmp_path / "m.onnx")
    segment(tmp_path)
    (tmp_path / "out" / "pictures.csv").write_text("name,diagnosis\na,healthy\n")
    done = segment(tmp_path, check=False)
    assert done.returncode == 1 and "pictures.csv" in done.stderr.decode()
    assert (tmp_path / "out" / "pictures.csv").read_text() == "name,diagnosis\na,healthy\n"


def test_what_gets_a_results_name_meanwhile_stays(tmp_path):
    """The picture comes through a pipe that is slow: its results' names are taken while it is worked at."""
    picture(tmp_path / "photos" / "a.png", 1500, 900)
    made_model(tmp_path / "m.onnx")
    running = subprocess.Popen([PROGRAM, "segment", tmp_path / "photos", "--model", tmp_path / "m.onnx", "-o",
                                tmp_path / "out", "--overlap", "0.9"], stderr=subprocess.PIPE)
    assert hold_when(running, lambda: list(tmp_path.glob("out/unfinished.shards/*/mask.png"))), "it has ended before"
    mine = tmp_path / "out" / "a.png.mask.png"
    mine.write_text("mine")
    running.send_signal(signal.SIGCONT)
    said = running.communicate()[1].decode()
    assert running.returncode == 3 and "has appeared during the run" in said
    assert mine.read_text() == "mine"


def test_names_that_cannot_be_told_apart(tmp_path):
    """XXH3's secret at the front hides what follows: both would be worked at in one folder."""
    secret = bytes.fromhex("b8fe6c3923a44bbe")
    photos = os.fsencode(tmp_path / "photos")
    os.mkdir(photos)
    for filler, level in ((b"AAAAAAAA", 0), (b"BBBBBBBB", 255)):
        Image.fromarray(np.full((60, 90, 3), level, np.uint8)).save(tmp_path / "one.png")
        shutil.copy(tmp_path / "one.png", os.path.join(photos, secret + filler + b"0123456789ab.png"))
    (tmp_path / "m.onnx").write_bytes(made_bytes())
    done = segment(tmp_path, "--activation", "sigmoid", check=False)
    rows = list(csv.DictReader(open(tmp_path / "out" / "pictures.csv")))
    if done.returncode == 0:
        # Their numbers are others here: then both are as they should be.
        assert len(rows) == 2
    else:
        assert done.returncode == 3 and "has the same hash" in done.stderr.decode() and len(rows) == 1


def made_bytes():
    return onnx.ramps(1, *WINDOW)[0]


def test_unfinished_work_of_another_network_is_not_gone_on_with(tmp_path):
    picture(tmp_path / "photos" / "a.png", 2000, 600)
    for k in range(2):
        made_model(tmp_path / f"m{k}.onnx", seed=5 + k)
    running = subprocess.Popen([PROGRAM, "segment", tmp_path / "photos", "--model", tmp_path / "m0.onnx", "-o",
                                tmp_path / "out", "--overlap", "0.9"], stderr=subprocess.PIPE)
    assert hold_when(running, lambda: list(tmp_path.glob("out/unfinished.shards/*/rows.json"))), "it has ended before"
    end_held(running, signal.SIGKILL)
    running.communicate()
    (tmp_path / "out" / "run.json").unlink()
    done = segment(tmp_path, "--overlap", "0.9", model="m1.onnx", check=False)
    assert done.returncode == 1 and "with other options" in done.stderr.decode()
    segment(tmp_path, "--overlap", "0.9", model="m0.onnx", out="out2")


TWO = {"artery": {"activation": "sigmoid"}, "vein": {"activation": "sigmoid"}}


def two_outputs(path):
    """artery: red is much; vein: it is not."""
    nodes, numbers = [], []
    for name, sign in (("artery", 1), ("vein", -1)):
        numbers.append(onnx.tensor(f"w {name}", np.float32([sign * 20, 0, 0]).reshape(1, 3, 1, 1)))
        nodes.append(onnx.node("Conv", f"mix {name}", ["x", f"w {name}"], name))
    path.write_bytes(onnx.model(nodes, numbers, [onnx.value_info("x", [1, 3, *WINDOW])],
                                [onnx.value_info(name, [1, 1, *WINDOW]) for name in ("artery", "vein")]))


def card(folder, outputs, name="m.json"):
    (folder / name).write_text(json.dumps({"outputs": outputs}))


@needs_openvino
def test_outputs_in_another_order_or_another_output_are_not_mixed(tmp_path):
    picture(tmp_path / "photos" / "a.png", 50, 61)
    two_outputs(tmp_path / "m.onnx")
    card(tmp_path, TWO)
    segment(tmp_path)
    before = content_of(tmp_path / "out")
    card(tmp_path, dict(reversed(TWO.items())))
    done = segment(tmp_path, check=False)
    assert done.returncode == 1 and "outputs that count" in done.stderr.decode()
    assert content_of(tmp_path / "out") == before
    for k, name in enumerate(TWO):
        card(tmp_path, {name: TWO[name]})
        done = segment(tmp_path, out="one", check=False)
        assert done.returncode == k, done.stderr
    # Two networks whose cards have them in another order.
    shutil.copy(tmp_path / "m.onnx", tmp_path / "n.onnx")
    card(tmp_path, TWO)
    card(tmp_path, dict(reversed(TWO.items())), "n.json")
    done = segment(tmp_path, "--model", tmp_path / "n.onnx", out="both", check=False)
    assert done.returncode == 1 and "same outputs in the same order" in done.stderr.decode()


@needs_openvino
def test_cards_whose_classes_read_alike_are_told_apart(tmp_path):
    picture(tmp_path / "photos" / "a.png", 50, 61)
    one = [{"name": "a #e69f00, b", "color": "#56b4e9"}]
    other = [{"name": "a", "color": "#e69f00"}, {"name": "b", "color": "#56b4e9"}]
    for name, classes in (("m", one), ("n", other)):
        (tmp_path / f"{name}.onnx").write_bytes(onnx.color([[1, 0, 0]] * len(classes), [0] * len(classes), *WINDOW))
        (tmp_path / f"{name}.json").write_text(json.dumps({"classes": classes, "activation": "sigmoid"}))
    for first, second in (("m", "n"), ("n", "m")):
        done = segment(tmp_path, "--model", tmp_path / f"{second}.onnx", model=f"{first}.onnx", check=False)
        assert done.returncode == 1 and "the same classes" in done.stderr.decode()


@needs_openvino
def test_a_network_of_very_many_classes(tmp_path):
    """Some bytes of a file that promise a table of millions."""
    picture(tmp_path / "photos" / "a.png", 24, 24)
    shape = onnx.tensor("shape", np.array([1, 1 << 22], np.int64))
    nodes = [onnx.node("GlobalAveragePool", "mean", ["x"], "m"), onnx.node("Flatten", "flat", ["m"], "f"),
             onnx.node("ReduceMean", "one", ["f"], "o", onnx.integers("axes", [1])),
             onnx.node("Expand", "many", ["o", "shape"], "y")]
    (tmp_path / "m.onnx").write_bytes(onnx.model(nodes, [shape], [onnx.value_info("x", [1, 3, 24, 24])],
                                                 [onnx.value_info("y", [1, 1 << 22])]))
    (tmp_path / "m.json").write_text(json.dumps({"task": "regression", "preprocess": "square"}))
    done = segment(tmp_path, check=False)
    assert done.returncode == 1 and "too many classes (the limit is 4096)" in done.stderr.decode()


def test_long_names_cost_their_own_picture_alone(tmp_path):
    for name in ("a" * 245 + ".png", "b.png"):
        picture(tmp_path / "photos" / name, 50, 61)
    made_model(tmp_path / "m.onnx")
    done = segment(tmp_path, "--write", "mask,contours", check=False)
    assert done.returncode == 3 and "its name is too long" in done.stderr.decode()
    assert (tmp_path / "out" / "b.png.mask.png").exists()


def test_a_folder_in_a_results_place_costs_its_own_picture_alone(made):
    picture(made / "photos" / "b.png", 50, 61)
    (made / "out" / "a.png.mask.png").unlink()
    (made / "out" / "a.png.mask.png").mkdir()
    done = segment(made, check=False)
    assert done.returncode == 3 and "is a folder" in done.stderr.decode()
    assert (made / "out" / "b.png.mask.png").exists() and (made / "out" / "a.png.mask.png").is_dir()


def test_damaged_outlines_are_begun_anew(tmp_path):
    """rows.json says of the rows of outlines that they are others than there are."""
    picture(tmp_path / "photos" / "a.png", 2000, 600)
    made_model(tmp_path / "m.onnx")
    how = ["--overlap", "0.8", "--write", "contours"]
    segment(tmp_path, *how, out="whole")
    running = subprocess.Popen([PROGRAM, "segment", tmp_path / "photos", "--model", tmp_path / "m.onnx", "-o",
                                tmp_path / "out", *how], stderr=subprocess.PIPE)
    assert hold_when(running, lambda: list(tmp_path.glob("out/unfinished.shards/*/rows.json"))), "it has ended before"
    end_held(running, signal.SIGKILL)
    running.communicate()
    rows = list(tmp_path.glob("out/unfinished.shards/*/rows.json"))
    saved = json.loads(rows[0].read_text())
    saved["outputs"]["contours.geojson"] = "1"
    rows[0].write_text(json.dumps(saved))
    codes = [segment(tmp_path, *how, check=False).returncode for _ in range(2)]
    assert codes[1] == 0 and codes[0] in (0, 3), codes
    assert content_of(tmp_path / "out") == content_of(tmp_path / "whole")


@needs_openvino
@pytest.mark.skipif(not (DATA / "fundus").exists(), reason="the fundus photograph is not there")
def test_a_square_that_was_stopped_is_made_whole(tmp_path):
    """Wherever it was stopped, also while the photograph was read for the overlay."""
    (tmp_path / "m.onnx").write_bytes(onnx.color([[1, 0, 0]], [-0.5], 512, 512))
    command = [PROGRAM, "segment", DATA / "fundus" / "HRF_07_dr.jpg", "--model", tmp_path / "m.onnx", "--preprocess",
               "fundus", "--write", "mask,overlay", "--report", "-o"]
    start = time.monotonic()
    subprocess.run([*command, tmp_path / "whole"], check=True, stderr=subprocess.DEVNULL)
    took = time.monotonic() - start
    expected = content_of(tmp_path / "whole")
    for k in range(6):
        out = tmp_path / f"out{k}"
        running = subprocess.Popen([*command, out], stderr=subprocess.DEVNULL)
        time.sleep(took * (0.4 + 0.1 * k))
        running.send_signal([signal.SIGINT, signal.SIGTERM][k % 2])
        running.wait()
        subprocess.run([*command, out], check=True, stderr=subprocess.DEVNULL)
        assert content_of(out) == expected, k


def test_a_photograph_that_took_the_place_of_one_that_was_stopped(tmp_path):
    """A run was killed while results got their names; the photograph has changed since: they are not this one's."""
    how = ["--preprocess", "square", "--size", "64", "--activation", "sigmoid"]
    made_model(tmp_path / "m.onnx")
    made = {}
    for name, level in (("white", 255), ("black", 0)):
        (tmp_path / name / "photos").mkdir(parents=True)
        Image.fromarray(np.full((60, 90, 3), level, np.uint8)).save(tmp_path / name / "photos" / "a.png")
        shutil.copy(tmp_path / "m.onnx", tmp_path / name)
        segment(tmp_path / name, *how)
        made[name] = content_of(tmp_path / name / "out")
    assert made["white"]["a.png.mask.png"] != made["black"]["a.png.mask.png"]
    # What cannot be used has a folder of its own, which tells its number.
    picture(tmp_path / "photos" / "b.png", 60, 90)
    (tmp_path / "photos" / "a.png").write_text("no picture")
    assert segment(tmp_path, *how, "--part", "1/2").returncode == 3
    failed, = (tmp_path / "out").glob("unfinished.shards/*/failed.txt")
    for name, part in (("a.png.segment.json", "record.json"), ("a.png.mask.png", "mask.png")):
        (failed.parent / part).write_bytes(made["white"][name])
    failed.unlink()
    shutil.copy(tmp_path / "black" / "photos" / "a.png", tmp_path / "photos" / "a.png")
    segment(tmp_path, *how, "--part", "1/2")
    segment(tmp_path, *how, "--part", "2/2")
    assert content_of(tmp_path / "out")["a.png.mask.png"] == made["black"]["a.png.mask.png"]
    # Of the same photograph they are what it waits for.
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "photos" / "a.png").write_text("no picture")
    segment(tmp_path, *how, "--part", "1/2")
    failed, = (tmp_path / "out").glob("unfinished.shards/*/failed.txt")
    for name, part in (("a.png.segment.json", "record.json"), ("a.png.mask.png", "mask.png")):
        (failed.parent / part).write_bytes(made["black"][name])
    failed.unlink()
    shutil.copy(tmp_path / "black" / "photos" / "a.png", tmp_path / "photos" / "a.png")
    done = segment(tmp_path, *how, "--part", "1/2")
    assert b"1 were already complete" in done.stderr
