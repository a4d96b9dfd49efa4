"""Networks over images in memory: the masks and probabilities of the program's files, byte for byte."""

import json
import math
import os
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_model as onnx  # noqa: E402
from package import ENVIRONMENT, interrupted, millrace  # noqa: E402
from program import ROOT  # noqa: E402
from program import millrace as program  # noqa: E402
from segmenting import made_model, needs_openvino, needs_runtime, picture, runtime  # noqa: E402, F401

Image = pytest.importorskip("PIL.Image")
pytestmark = needs_runtime
WINDOW = (24, 32)


def by_program(folder, *more, models=("m.onnx",), out="out"):
    """What the command makes of the pictures in folder/photos: its folder, and its JSON by picture."""
    named = [word for model in models for word in ("--model", folder / model)]
    program("segment", folder / "photos", *named, "-o", folder / out, "--write", "mask,probability", "--json", folder / f"{out}.json", *more)
    said = json.loads((folder / f"{out}.json").read_text())
    return folder / out, {os.path.basename(one["path"]): one for one in said["pictures"]}


def files_of(out, name, output=None):
    stem = out / (f"{name}.{output}" if output else name)
    mask, maps = stem.parent / f"{stem.name}.mask.png", stem.parent / f"{stem.name}.probability.npy"
    return (np.array(Image.open(mask)) if mask.exists() else None), (np.load(maps) if maps.exists() else None)


def same(a, b):
    return (a is None and b is None) or (a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


def check(made, out, said, name):
    """All that it says is what the program's files and JSON say."""
    for output in made.outputs.values():
        mask, maps = files_of(out, name, output.name)
        assert same(output.mask, mask) and same(output.probability, maps), (name, output)
    one = said[name]
    assert (made.width, made.height, made.windows, made.left_out) == tuple(one[k] for k in ("width", "height", "windows", "left_out"))
    assert [(c.output, c.name, c.pixels, c.edge_pixels, c.mean_probability) for c in made.classes] == [
        (c.get("output", ""), c["name"], c["pixels"], c["edge_pixels"], c["mean_probability"]) for c in one.get("classes", [])]
    assert [c.share for c in made.classes] == [c["pixels"] / (one["width"] * one["height"]) for c in one.get("classes", [])]
    assert [(p.output, p.name, p.x, p.y, p.value) for p in made.points] == [
        (p.get("output", ""), p["name"], p["x"], p["y"], p["value"]) for p in one.get("points", [])]
    assert [(v.output, v.name, v.model, v.value) for v in made.values] == [
        (v.get("output", ""), v["name"], v.get("model", ""), v["value"]) for v in one.get("values", [])]
    shares = [o.disagreement for o in made.outputs.values() if not math.isnan(o.disagreement)]
    assert shares == [d["share"] for d in one.get("disagreement", [])]
    assert made.field_of_view == one.get("field_of_view")


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Pictures of all sorts of sides, some smaller than a window, gray ones among them; and a network."""
    folder = tmp_path_factory.mktemp("collection")
    images = {}
    for k, (height, width) in enumerate([(24, 32), (90, 101), (17, 80), (80, 19), (17, 20), (200, 33)]):
        images[f"{k}.png"] = picture(folder / "photos" / f"{k}.png", height, width, seed=k)
    for k, (height, width) in enumerate([(50, 61), (20, 90)]):
        images[f"gray{k}.png"] = picture(folder / "photos" / f"gray{k}.png", height, width, seed=k, mode="L")
    made_model(folder / "m.onnx", classes=3)
    return folder, images


@pytest.mark.parametrize("options", [
    {}, {"overlap": 0}, {"overlap": 0.25, "importance": "constant"}, {"overlap": 0.9, "pad": "constant"}, {"activation": "softmax"},
    {"activation": "sigmoid", "threshold": 0.7, "tta": "hw"}, {"tta": "w", "tta_mean": "raw", "pad": "circular"}, {"input": "bgr"},
    {"preprocess": "square", "size": 64}, {"preprocess": "square", "size": 50, "activation": "softmax", "tta": "h"}, {"skip_empty": True}])
def test_masks_and_probabilities_are_the_programs(collection, options, request):
    folder, images = collection
    flags = [f"--{name.replace('_', '-')}" if value is True else f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    out, said = by_program(folder, *flags, out=f"out {request.node.callspec.indices['options']}")
    segmenter = millrace.Segmenter(folder / "m.onnx", **options)
    assert segmenter.window == WINDOW and segmenter.precision == "f32" and segmenter.runtime
    for name, made in zip(images, segmenter(list(images.values()))):
        check(made, out, said, name)
    # One by one, without probabilities, and on other threads, the same.
    name = "1.png"
    check(segmenter(images[name]), out, said, name)
    alone = millrace.Segmenter(folder / "m.onnx", **options, threads=1, requests=3)
    check(alone(images[name]), out, said, name)
    bare = alone(images[name], probability=False)
    assert bare.probability is None and same(bare.mask, files_of(out, name)[0])


@pytest.mark.parametrize("window", [16, 40])
def test_a_network_of_another_window(tmp_path, window):
    pixels = picture(tmp_path / "photos" / "a.png", 70, 90)
    (tmp_path / "m.onnx").write_bytes(onnx.color([[1, -1, 0.5]], [0.1], window, window))
    out, said = by_program(tmp_path, "--window", str(window), "--activation", "sigmoid")
    check(millrace.Segmenter(str(tmp_path / "m.onnx"), window=window, activation="sigmoid")(pixels), out, said, "a.png")


def test_gray_networks_and_channels_that_come_last(tmp_path):
    pixels = {"a.png": picture(tmp_path / "photos" / "a.png", 40, 50), "b.png": picture(tmp_path / "photos" / "b.png", 40, 50, mode="L")}
    made_model(tmp_path / "m.onnx", channels=1)
    out, said = by_program(tmp_path)
    for name, made in zip(pixels, millrace.Segmenter(tmp_path / "m.onnx")(list(pixels.values()))):
        check(made, out, said, name)
    made_model(tmp_path / "last.onnx", classes=2, channels_last=True)
    (tmp_path / "last.json").write_text(json.dumps({"layout": "nhwc"}))
    out, said = by_program(tmp_path, models=["last.onnx"], out="of last")
    check(millrace.Segmenter(tmp_path / "last.onnx")(pixels["a.png"]), out, said, "a.png")


def test_whatever_an_image_is_its_mask_is_the_same(collection):
    folder, images = collection
    segmenter, image = millrace.Segmenter(folder / "m.onnx"), images["1.png"]
    expected, before = segmenter(image), image.copy()
    wide = np.zeros((2 * image.shape[0], image.shape[1] + 9, 3), np.uint8)
    wide[::2, 4:-5] = image
    planes = np.ascontiguousarray(image.transpose(2, 0, 1))
    locked = image.copy()
    locked.setflags(write=False)
    for one in (locked, wide[::2, 4:-5], np.asfortranarray(image), planes.transpose(1, 2, 0), image[::-1].copy()[::-1],
                np.ascontiguousarray(image[:, ::-1])[:, ::-1], np.ascontiguousarray(image[:, :, ::-1])[:, :, ::-1], memoryview(image),
                Image.fromarray(image)):
        assert same(segmenter(one).probability, expected.probability) and same(segmenter(one).mask, expected.mask)
    assert np.array_equal(image, before)
    gray = images["gray0.png"]
    assert same(segmenter(gray[:, :, None]).probability, segmenter(gray).probability)
    # An array of several is several.
    several = segmenter(np.stack([image, image[::-1]]))
    assert len(several) == 2 and same(several[0].mask, expected.mask)
    assert segmenter([]) == []
    assert [label.name for label in expected.outputs[""].labels] == ["class 0", "class 1", "class 2"]
    assert len(expected.classes) == 3 and "101 x 90" in repr(expected)
    turned = millrace.Segmenter(folder / "m.onnx", preprocess="square", size=64)
    assert same(turned(wide[::2, 4:-5]).probability, turned(image).probability)


def test_where_to_look(collection, tmp_path):
    folder, images = collection
    image = images["1.png"]
    region = np.zeros(image.shape[:2], np.uint8)
    region[30:50, 60:70] = 255
    (tmp_path / "photos").mkdir()
    Image.fromarray(image).save(tmp_path / "photos" / "1.png")
    Image.fromarray(region).save(tmp_path / "roi.png")
    (tmp_path / "m.onnx").write_bytes((folder / "m.onnx").read_bytes())
    out, said = by_program(tmp_path, "--roi", tmp_path / "roi.png")
    segmenter = millrace.Segmenter(folder / "m.onnx")
    for roi in (region, region > 0, np.repeat(region, 3).reshape(*region.shape, 3), np.asfortranarray(region)):
        made = segmenter(image, roi=roi)
        check(made, out, said, "1.png")
        assert made.left_out > 0
    both = segmenter([image, images["gray0.png"]], roi=[region, np.zeros((50, 61), bool)])
    check(both[0], out, said, "1.png")
    assert both[1].windows == 0 and not both[1].mask.any() and not both[1].probability.any()
    for roi, words in ((region[:9], "the region of image: this mask is 101 x 9"), (region.astype(float), "float64 [90, 101]"), ([region], "list is not an array")):
        with pytest.raises(millrace.Error) as raised:
            segmenter(image, roi=roi)
        assert words in str(raised.value)
    with pytest.raises(millrace.UsageError, match="1 given for 2 images"):
        segmenter([image, image], roi=[region])
    with pytest.raises(millrace.UsageError, match="windows are cut from the square"):
        millrace.Segmenter(folder / "m.onnx", preprocess="square", size=64)(image, roi=region)


# ---- several networks, several outputs, classes of images

OUTPUTS = {
    "mask": {"task": "segmentation", "activation": "softmax", "classes": [{"name": "none", "color": None}, {"name": "artery"}, {"name": "vein"}]},
    "coarse": {"activation": "sigmoid", "classes": [{"name": "disc"}], "threshold": 0.6},
    "spots": {"task": "keypoints", "classes": [{"name": "fovea"}, {"name": "disc"}]},
}


@needs_openvino
def test_several_outputs_of_several_networks(tmp_path):
    pixels = picture(tmp_path / "photos" / "a.png", 50, 61)
    for k in range(2):
        (tmp_path / f"m{k}.onnx").write_bytes(onnx.heads(*WINDOW, seed=8 + k)[0])
        (tmp_path / f"m{k}.json").write_text(json.dumps({"outputs": OUTPUTS}))
    models = ["m0.onnx", "m1.onnx"]
    out, said = by_program(tmp_path, "--tta", "w", models=models)
    made = millrace.Segmenter([tmp_path / model for model in models], tta="w")(pixels)
    check(made, out, said, "a.png")
    assert list(made.outputs) == list(OUTPUTS) and made.outputs["spots"].mask is None
    assert not made.outputs["mask"].labels[0].drawn and made.outputs["coarse"].probability.shape == (1, 50, 61)
    with pytest.raises(millrace.UsageError) as raised:
        made.mask
    assert "'mask', 'coarse'" in str(raised.value) and "outputs['mask'].mask" in str(raised.value)


@needs_openvino
@pytest.mark.parametrize("count", [1, 2])
def test_classes_and_numbers_of_images(tmp_path, count):
    pixels = {"a.png": picture(tmp_path / "photos" / "a.png", 24, 24), "b.png": picture(tmp_path / "photos" / "b.png", 12, 30, seed=1)}
    card = {"preprocess": "square", "outputs": {"grade": {"task": "classification", "classes": [{"name": "none"}, {"name": "mild"}, {"name": "severe"}]},
                                                "age": {"task": "regression", "classes": [{"name": "years"}]}}}
    models = [f"m{k}.onnx" for k in range(count)]
    for k, model in enumerate(models):
        (tmp_path / model).write_bytes(onnx.heads(24, 24, seed=3 + k)[0])
        (tmp_path / f"m{k}.json").write_text(json.dumps(card))
    out, said = by_program(tmp_path, models=models)
    for name, made in zip(pixels, millrace.Segmenter([tmp_path / model for model in models])(list(pixels.values()))):
        check(made, out, said, name)
        assert made.mask is None and made.probability is None
        assert [value.name for value in made.values][:3] == ["none", "mild", "severe"] and len(made.values) == 3 + count
        assert sum(value.value for value in made.values if value.output == "grade") == pytest.approx(1)


def test_fundus_photographs(tmp_path):
    subprocess.run([sys.executable, ROOT / "bench" / "recipes" / "make_fundus.py", tmp_path / "photos", "3", "7"], check=True)
    (tmp_path / "photos" / "truth.csv").unlink()
    # Decoded, and what was decoded as files.
    pixels = {}
    for path in sorted((tmp_path / "photos").iterdir()):
        pixels[path.stem + ".png"] = np.array(Image.open(path))
        path.unlink()
        Image.fromarray(pixels[path.stem + ".png"]).save(path.with_suffix(".png"))
    made_model(tmp_path / "m.onnx", classes=2, height=64, width=64, channels=6)
    (tmp_path / "m.json").write_text(json.dumps({"preprocess": "fundus", "size": 160, "activation": "sigmoid"}))
    out, said = by_program(tmp_path)
    segmenter = millrace.Segmenter(tmp_path / "m.onnx")
    for name, made in zip(pixels, segmenter(list(pixels.values()))):
        check(made, out, said, name)
        assert made.field_of_view["radius"] > 0 and made.doubts == made.field_of_view["doubts"]
    with pytest.raises(millrace.Error) as raised:
        segmenter([*pixels.values(), np.zeros((300, 300, 3), np.uint8)])
    assert raised.value.code == "bad_data" and raised.value.subject == "image 3" and "no circle" in raised.value.what
    with pytest.raises(millrace.Error, match="30 x 30 pixels is not supported"):
        segmenter(np.zeros((30, 30, 3), np.uint8))


# ---- what cannot be used

@pytest.mark.parametrize("wrong, words", [
    (np.zeros((4, 4), np.float32), "float32 [4, 4]"), (np.zeros((4, 4, 4), np.uint8)[None], "uint8 [4, 4, 4]"),
    (np.zeros((0, 4), np.uint8), "uint8 [0, 4]"), (7, "int"), (None, "NoneType"), ("a.png", "str")])
def test_what_is_no_image_is_named(collection, wrong, words):
    folder, images = collection
    segmenter = millrace.Segmenter(folder / "m.onnx")
    with pytest.raises(ValueError) as raised:
        segmenter(wrong if isinstance(wrong, np.ndarray) else [images["1.png"], wrong])
    assert raised.value.code == "usage" and words in str(raised.value)
    with pytest.raises(ValueError, match="RGBA"):
        segmenter(Image.fromarray(images["1.png"]).convert("RGBA"))


@pytest.mark.parametrize("options, subject, words", [
    ({"overlop": 0.5}, "millrace.Segmenter", "did you mean 'overlap'"), ({"padding": "reflect"}, "millrace.Segmenter", "did you mean 'pad'"),
    ({"output": "masks"}, "output", "works on arrays"), ({"write": "mask"}, "write", "millrace.segment() has it"), ({"roi": "a.png"}, "roi", "segmenter(image, roi=...)"),
    ({"device": "cpu"}, "device", "works on arrays"), ({"overlap": 1}, "overlap", "from 0 to 0.9999"), ({"overlap": "much"}, "overlap", "much"),
    ({"tta": "x"}, "tta", "none"), ({"tta": True}, "tta", "not True"), ({"tta_mean": "raw"}, "tta_mean", "tta h, w or hw"), ({"threads": -1}, "threads", "0"),
    ({"size": 64}, "size", "preprocess"), ({"precision": "auto"}, "precision", "f32 or bf16"), ({"precision": "auto=0.9"}, "precision", "f32 or bf16"),
    ({"skip_empty": 3}, "skip_empty", "True or False"), ({"window": [1]}, "m.onnx", "omit window"), ({"card": "nowhere.json"}, "nowhere.json", "")])
def test_what_is_no_option_is_named(collection, options, subject, words):
    folder, _ = collection
    with pytest.raises(millrace.Error) as raised:
        millrace.Segmenter(folder / "m.onnx", **options)
    assert subject in raised.value.subject and words in str(raised.value), str(raised.value)


def test_what_is_no_model_is_named(collection, tmp_path):
    folder, images = collection
    (tmp_path / "text.onnx").write_text("no model")
    for model, code in ((tmp_path / "nowhere.onnx", "not_found"), (tmp_path / "text.onnx", "bad_data"), ([], "usage"), (7, "usage"), ([None], "usage")):
        with pytest.raises(millrace.Error) as raised:
            millrace.Segmenter(model)
        assert raised.value.code == code, str(raised.value)
    made_model(tmp_path / "m.onnx", classes=2, channels=6)
    with pytest.raises(millrace.Error, match="use preprocess fundus"):
        millrace.Segmenter(tmp_path / "m.onnx")
    with pytest.raises(millrace.Error) as raised:
        millrace.Segmenter(folder / "m.onnx")([images["1.png"], np.zeros((5, 70), np.uint8)])
    assert raised.value.code == "unsupported" and raised.value.subject == "image 1" and "too small" in raised.value.what
    with pytest.raises(millrace.Error) as raised:
        millrace.Segmenter(folder / "m.onnx", memory="1KiB")
    assert raised.value.code == "out_of_memory" and raised.value.remedy


def test_networks_that_give_no_numbers_are_said_of_the_image(tmp_path):
    made_model(tmp_path / "m.onnx")
    (tmp_path / "m.json").write_text(json.dumps({"range": [0, 3e38], "std": [1e-30] * 3}))
    with pytest.raises(millrace.Error) as raised:
        millrace.Segmenter(tmp_path / "m.onnx")(np.full((40, 50, 3), 200, np.uint8))
    assert raised.value.code == "bad_data" and raised.value.subject == "image" and "NaN" in raised.value.what


# ---- memory, threads, processes, signals

def test_many_images_in_little_memory_are_the_same(collection):
    folder, images = collection
    plenty = millrace.Segmenter(folder / "m.onnx")
    many = list(images.values()) * 6
    expected = plenty(many)
    # What the runtime takes is measured, so what is left is not known before.
    for memory in (64, 128, 256, 512):
        try:
            found = millrace.Segmenter(folder / "m.onnx", memory=memory << 20, threads=2)(many)
            break
        except millrace.Error as error:
            assert error.code == "out_of_memory"
    assert all(same(a.probability, b.probability) for a, b in zip(found, expected))


def test_two_threads_have_their_own_results(collection):
    folder, images = collection
    segmenter, other = millrace.Segmenter(folder / "m.onnx"), millrace.Segmenter(folder / "m.onnx", tta="hw")
    expected = {name: (segmenter(image).probability, other(image).probability) for name, image in images.items()}
    failed = []

    def work(order):
        for name in order:
            made = segmenter(images[name]).probability, other(images[name]).probability
            failed.extend(name for a, b in zip(made, expected[name]) if not same(a, b))

    threads = [threading.Thread(target=work, args=(list(images)[k:] + list(images)[:k],)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failed and not any(thread.is_alive() for thread in threads)


def test_it_pickles_as_its_settings(collection):
    folder, images = collection
    segmenter = millrace.Segmenter(folder / "m.onnx", tta="h", overlap=0.25, card=None)
    again = pickle.loads(pickle.dumps(segmenter))
    assert repr(again) == repr(segmenter) and "tta='h'" in repr(again) and "card" not in repr(again)
    assert same(again(images["1.png"]).probability, segmenter(images["1.png"]).probability)


def test_without_what_runs_models_it_says_so(collection, tmp_path):
    code = f"import millrace\ntry: millrace.Segmenter({str(collection[0] / 'm.onnx')!r})\nexcept millrace.Error as error: print(error.code, error.remedy != '')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=dict(ENVIRONMENT, MILLRACE_HELPERS=str(tmp_path)), timeout=60)
    assert done.stdout == b"unavailable True\n", done


CHILDREN = """
import multiprocessing, sys
import numpy as np
import millrace

IMAGE = np.arange(90 * 60 * 3, dtype=np.uint32).reshape(60, 90, 3).astype(np.uint8)

def work(segmenter):
    try:
        return (segmenter or millrace.Segmenter({model!r}))(IMAGE).mask.sum()
    except millrace.Error as error:
        return error.code

if __name__ == "__main__":
    segmenter = millrace.Segmenter({model!r})
    expected = segmenter(IMAGE).mask.sum()
    def child(connection, segmenter):
        connection.send(work(segmenter))
    context = multiprocessing.get_context({method!r})
    with context.Pool(1) as pool:
        found = pool.map(work, [segmenter, None])
    print(*("same" if one == expected else one for one in found))
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_is_right_or_says_that_it_cannot(collection, tmp_path, method):
    (tmp_path / "children.py").write_text(CHILDREN.format(model=str(collection[0] / "m.onnx"), method=method))
    done = subprocess.run([sys.executable, tmp_path / "children.py"], capture_output=True, env=dict(ENVIRONMENT, **os.environ), timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.split() == ([b"unavailable"] * 2 if method == "fork" else [b"same"] * 2)


FORKED = """
import os, sys
import numpy as np
import millrace

image = np.zeros((60, 90, 3), np.uint8)
segmenter = millrace.Segmenter({model!r}) if {before} else None
pid = os.fork()
if pid == 0:
    try:
        (segmenter or millrace.Segmenter({model!r}))(image)
        print("ran", flush=True)
    except millrace.Error as error:
        print(error.code, flush=True)
    del segmenter
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
"""


@pytest.mark.parametrize("before", [True, False])
def test_a_forked_child_ends(collection, before):
    code = FORKED.format(model=str(collection[0] / "m.onnx"), before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=dict(ENVIRONMENT, **os.environ), timeout=60)
    assert done.returncode == 0 and done.stdout == (b"unavailable\n" if before else b"ran\n"), (done.stdout, done.stderr)


def test_an_interrupt_ends_it_and_leaves_it_of_use(collection):
    code = f"""
import numpy as np
import millrace
segmenter = millrace.Segmenter({str(collection[0] / 'm.onnx')!r}, overlap=0.95)
print("begun", flush=True)
image = np.zeros((3000, 3000, 3), np.uint8)
try:
    while True: segmenter([image] * 4)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(segmenter(image[:40, :40]).mask.shape)
"""
    assert interrupted(code)[:3] == (0, "interrupted\n(40, 40)\n", "")
