"""Arrays in, arrays out: the numbers of the program, whatever the arrays are, and nothing done to them."""

import array
import csv
import doctest
import hashlib
import pickle
import sys

import numpy as np
import pytest

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parents[1] / "support"))
from package import millrace  # noqa: E402
from program import DATA, lines_of  # noqa: E402
from program import millrace as program  # noqa: E402

Image = pytest.importorskip("PIL.Image")
KINDS = ["ahash", "dhash", "dhash_vertical", "phash", "whash", "colorhash", "pdq"]


def a_picture(seed, height=96, width=128):
    y, x = np.mgrid[0:height, 0:width]
    rng = np.random.default_rng(seed)
    waves = sum(rng.uniform(10, 40) * np.sin(x * rng.uniform(0.02, 0.2) + y * rng.uniform(0.02, 0.2)) for _ in range(5))
    gray = np.clip(128 + waves, 0, 255)
    return np.stack([gray, np.roll(gray, 7, 0), 255 - gray], axis=2).astype(np.uint8)


@pytest.mark.parametrize("module", ["_hashes", "_charts", "latents"])
def test_what_docstrings_show_is_so(module):
    done = doctest.testmod(sys.modules[f"millrace.{module}"], extraglobs={"millrace": millrace})
    assert done.attempted > 0 and done.failed == 0


# ---- hashes


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    images = [a_picture(seed, 90 + seed, 120 + 3 * seed) for seed in range(6)] + [a_picture(9)[:, :, 0]]
    for k, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{k}.png")
    return folder, images


@pytest.mark.parametrize("size", [6, 8, 16])
def test_hashes_are_the_programs(pictures, size):
    folder, images = pictures
    kinds = [kind for kind in KINDS if kind != "whash" or size != 6]
    printed = lines_of(program("hash", folder, "--kinds", ",".join(kinds), "--size", str(size), "--format", "jsonl"))
    made = millrace.hash(images, kinds, size=size)
    for kind in kinds:
        bits = {"colorhash": 42, "pdq": 256}.get(kind, size * size)
        assert millrace.hex_of(made[kind], bits) == [line[kind] for line in printed]


def test_whatever_an_image_is_its_hash_is_the_same(pictures):
    image = pictures[1][0]
    expected = millrace.hash(image)
    assert expected.shape == (8,) and expected.dtype == np.uint8
    before = image.copy()
    locked = image.copy()
    locked.setflags(write=False)
    wide = np.zeros((image.shape[0], image.shape[1] + 9, 3), np.uint8)
    wide[:, 4:-5] = image
    planes = np.ascontiguousarray(image.transpose(2, 0, 1))
    for same in (locked, wide[:, 4:-5], np.asfortranarray(image), planes.transpose(1, 2, 0), image[::-1][::-1], memoryview(image),
                 Image.fromarray(image), np.ascontiguousarray(image[:, ::-1])[:, ::-1]):
        assert np.array_equal(millrace.hash(same), expected)
    assert np.array_equal(image, before)
    gray = image[:, :, :1]
    assert np.array_equal(millrace.hash(gray), millrace.hash(gray[:, :, 0]))
    assert np.array_equal(millrace.hash(np.stack([image, image])), [expected, expected])
    assert millrace.hash([]).shape == (0, 8)


@pytest.mark.parametrize("wrong, words", [
    (np.zeros((4, 4), np.float32), "float32 [4, 4]"), (np.zeros((4, 4, 4), np.uint8)[None], "uint8 [4, 4, 4]"),
    (np.zeros((0, 4), np.uint8), "uint8 [0, 4]"), (np.zeros((4, 4), np.complex64), "[4, 4]"), (7, "int"), (None, "NoneType")])
def test_what_is_no_image_is_named(wrong, words):
    with pytest.raises(ValueError) as raised:
        millrace.hash(wrong if isinstance(wrong, (list, np.ndarray)) else [wrong])
    assert isinstance(raised.value, millrace.Error) and raised.value.code == "usage" and words in str(raised.value)


def test_a_wrong_image_among_others_is_said_before_any_is_hashed(pictures):
    # An hour's work, and none of it is begun.
    large = np.broadcast_to(np.zeros((1, 1, 3), np.uint8), (40_000, 60_000, 3))
    with pytest.raises(ValueError, match=r"image 203: found uint16 \[4, 4\]"):
        millrace.hash([large] * 200 + [*pictures[1][:3], np.zeros((4, 4), np.uint16)])
    with pytest.raises(millrace.Error, match="not a hash kind"):
        millrace.hash(pictures[1], "fhash")
    for wrong in ({"kinds": [3]}, {"size": "8"}, {"size": 1}, {"size": 7, "kinds": "whash"}, {"threads": 1.5}, {"kinds": []}):
        with pytest.raises(millrace.UsageError):
            millrace.hash(pictures[1], **wrong)
    assert "\x1b" not in str(millrace.Error("io", "no", "a\x1b[2Jname\udce9"))


def test_a_picture_with_alpha_is_not_guessed_at():
    with pytest.raises(ValueError, match="RGBA"):
        millrace.hash(Image.fromarray(a_picture(1)).convert("RGBA"))


def test_hashes_of_files_are_lines_of_the_program(pictures, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    for k, image in enumerate(pictures[1]):
        Image.fromarray(image).save(folder / f"{k}.jpg")
    (folder / "3.jpg").write_bytes((folder / "3.jpg").read_bytes()[:40])
    (folder / "broken.png").write_text("no picture")
    Image.fromarray(pictures[1][0]).save(folder / "a\udce9.png")
    found = millrace.hash_files(folder, ["phash", "dhash"])
    lines = lines_of(program("hash", folder, "--kinds", "phash,dhash", "--format", "jsonl"))
    assert len(found) == len(lines) == len(list(folder.iterdir())) and found.result.exit_code == 3
    assert str(folder / "a\udce9.png") in found.paths
    for k, line in enumerate(lines):
        assert (found.errors[k] is None) == ("error" not in line)
        if found.errors[k] is None:
            assert found.codes["phash"][k].tobytes().hex() == line["phash"]
            assert (found.width[k], found.height[k], found.quality[k]) == (line["width"], line["height"], line["quality"])
    assert sum(error is not None for error in found.errors) == 2
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_pandas(), pandas.DataFrame) and list(found.to_pandas()["path"]) == found.paths
    with pytest.raises(millrace.UsageError, match="did you mean 'kinds'"):
        millrace.hash_files(folder, kindss="dhash")


# ---- codes


@pytest.fixture(scope="module")
def codes():
    rng = np.random.default_rng(3)
    middle = rng.integers(0, 2**63, 40, dtype=np.uint64)
    return np.repeat(middle, 50) ^ (np.uint64(1) << rng.integers(0, 64, 2000).astype(np.uint64))


@pytest.mark.parametrize("radius", [0, 2, 5])
def test_pairs_are_those_of_the_program(codes, radius, tmp_path):
    np.save(tmp_path / "codes.npy", codes)
    program("join", tmp_path / "codes.npy", "--radius", str(radius), "-o", tmp_path / "pairs.npy")
    written = np.load(tmp_path / "pairs.npy")
    found = millrace.join(codes, radius)
    assert found.dtype == written.dtype and found.tobytes() == written.tobytes()
    for way in ("brute", "index"):
        assert np.array_equal(millrace.join(np.repeat(codes, 2)[::2], radius, algorithm=way), found)
        assert np.array_equal(millrace.join(codes.view(np.uint8).reshape(-1, 8), radius, algorithm=way, threads=1), found)


def test_codes_of_256_bits_and_searches():
    rng = np.random.default_rng(4)
    base = rng.integers(0, 256, (300, 32), dtype=np.uint8)
    queries = base[::7].copy()
    queries[:, 0] ^= 3
    found = millrace.search(queries, base, 2)
    assert found["i"].tolist() == list(range(len(queries))) and found["j"].tolist() == list(range(0, 300, 7))
    assert set(found["distance"]) == {2}
    assert len(millrace.search(queries, base, 1)) == 0 and millrace.join(base, 1).shape == (0,)
    # At an address that no number of 8 bytes lies at.
    moved = np.frombuffer(b"x" + base.tobytes(), np.uint8)[1:].reshape(300, 32)
    assert np.array_equal(millrace.search(queries, moved, 2), found)


def test_codes_that_are_none_are_named(codes):
    for wrong, words in ((codes.astype(np.int64), "int64 [2000]"), (codes.reshape(2, -1), "uint64 [2, 1000]"),
                         (np.zeros((3, 7), np.uint8), "uint8 [3, 7]")):
        with pytest.raises(ValueError) as raised:
            millrace.join(wrong, 1)
        assert words in str(raised.value)
    with pytest.raises(ValueError, match="64 and base of 256"):
        millrace.search(codes, np.zeros((3, 32), np.uint8), 1)
    for radius in (-1, 64, 1.5, True, "2", None):
        with pytest.raises(millrace.Error, match="radius"):
            millrace.join(codes, radius)
    with pytest.raises(millrace.Error, match="auto, brute or index"):
        millrace.join(codes, 1, algorithm="quick")


def test_pairs_that_do_not_fit_are_counted_in_words():
    with pytest.raises(millrace.Error) as raised:
        millrace.join(np.random.default_rng(1).integers(0, 2**20, 4000, dtype=np.uint64), 20, memory=8 << 20)
    assert raised.value.code == "out_of_memory" and raised.value.remedy


# ---- the same picture


def test_the_same_picture_is_found_and_others_are_not():
    picture = a_picture(1)
    smaller = np.asarray(Image.fromarray(picture).resize((64, 48)))
    assert millrace.same_picture(picture, smaller) and millrace.same_picture(smaller, picture)
    assert millrace.same_picture(picture, picture).score == 1
    assert not millrace.same_picture(picture, a_picture(2))
    mirrored = picture[:, ::-1]
    assert not millrace.same_picture(picture, mirrored)
    found = millrace.same_picture(picture, mirrored, orientations=True)
    assert found and found.turned == 2
    turned = np.rot90(picture, -1)
    assert millrace.same_picture(picture, turned, orientations=True).turned in (6, 8)
    recoloured = picture[:, :, [1, 2, 0]]
    assert not millrace.same_picture(picture, recoloured)


def test_two_photographs_are_judged_as_dedupe_judges_them(tmp_path):
    if not DATA.is_dir():
        pytest.skip("no photographs here")
    names = ["ukbench00120.jpg", "ukbench00120_resize.jpg", "ukbench01380.jpg", "ukbench08976.jpg", "ukbench08996.jpg"]
    images = {name: np.asarray(Image.open(DATA / "photos" / name).convert("RGB")) for name in names if (DATA / "photos" / name).exists()}
    found = millrace.dedupe([DATA / "photos" / name for name in images], catalog=tmp_path / "catalog.sqlite")
    together = {frozenset(p["path"].rsplit("/", 1)[1] for p in group["members"]) for group in found.groups}
    for a in images:
        for b in images:
            if a < b:
                assert bool(millrace.same_picture(images[a], images[b])) == any({a, b} <= group for group in together)


# ---- charts


@pytest.mark.parametrize("options", [
    {"rows": 20, "width": 64, "height": 48}, {"rows": 20, "width": 63, "height": 40, "dtype": "bit"},
    {"rows": 20, "width": 64, "height": 48, "ink": "#203040", "paper": 255}, {"rows": 20, "dtype": "f32", "width": 50, "height": 50, "scale": "log"},
    {"style": "ohlc", "rows": 20, "height": 60}, {"style": "candle", "rows": 20, "width": 100, "height": 60, "volume": True}, {"style": "jkx", "rows": 20}])
def test_charts_are_those_of_the_program(options, tmp_path):
    drawer = millrace.ChartDrawer(**options)
    rng = np.random.default_rng(5)
    rows = drawer.rows + drawer.history
    close = 100 * np.exp(np.cumsum(rng.normal(0, 0.02, (40, rows)), axis=1))
    spread = np.abs(rng.normal(0, 1, (40, rows, 1)))
    series = close if drawer.columns == 1 else np.concatenate(
        [close[..., None] - spread / 2, close[..., None] + spread, close[..., None] - spread, close[..., None], 1000 * spread], axis=2)[..., :drawer.columns]
    charts = drawer(series)
    assert charts.shape == (40, *drawer.image_shape) and charts.dtype == drawer.image_dtype
    # Numbers that both types have.
    rounded = series.astype(np.float32)
    assert np.array_equal(drawer(rounded), drawer(rounded.astype(np.float64)))
    out = np.empty_like(charts)
    assert drawer(series, out=out) is out and np.array_equal(out, charts)
    assert np.array_equal(drawer(series[7]), charts[7])
    again = pickle.loads(pickle.dumps(drawer))
    assert again.options == drawer.options and np.array_equal(again(series), charts)
    # The program draws windows of a table; the last of this one has the same rows before it.
    header = ["close"] if drawer.columns == 1 else ["open", "high", "low", "close", "volume"][: drawer.columns]
    table = "\n".join([",".join(header)] + [",".join(map(repr, map(float, np.atleast_1d(row)))) for row in series[3]])
    (tmp_path / "prices.csv").write_text(table + "\n")
    given = {"rows": "window", "width": None, "height": None}
    command = ["render", tmp_path / "prices.csv", "--store", "npy", "-o", tmp_path / "charts"]
    for name, value in options.items():
        if given.get(name, name):
            command += [f"--{given.get(name, name).replace('_', '-')}", *([] if value is True else [str(value)])]
    if "width" in options:
        command += ["--size", f"{options['width']}x{options['height']}"]
    elif "height" in options:
        command += ["--size", f"x{options['height']}"]
    done = program(*command, check=False)
    assert done.returncode == 0, done.stderr
    images = np.load(tmp_path / "charts" / "images.npy")
    assert len(images) == drawer.history + 1 and np.array_equal(images[-1], charts[3])


def test_charts_are_not_drawn_of_what_does_not_fit():
    drawer = millrace.ChartDrawer(rows=5, width=20, height=10)
    locked = np.empty((2, 10, 20), np.uint8)
    locked.setflags(write=False)
    series = np.arange(10.0).reshape(2, 5)
    for images in (np.empty((3, 10, 20), np.uint8), np.empty((2, 10, 20), np.float32), np.empty((2, 20, 10), np.uint8), locked,
                   np.empty((2, 10, 40), np.uint8)[:, :, ::2]):
        before = images.tobytes()
        with pytest.raises(ValueError):
            drawer(series, out=images)
        assert images.tobytes() == before
    for wrong in (series.astype(np.int64), series[:, :4], np.zeros((2, 5, 2)), "text"):
        with pytest.raises(ValueError):
            drawer(wrong)
    both = np.zeros(1000, np.uint8)
    with pytest.raises(millrace.UsageError, match="shares memory"):
        drawer(both[:80].view(np.float64).reshape(2, 5), out=both[40:440].reshape(2, 10, 20))
    assert not both.any()
    moved = np.frombuffer(b"x" + series.tobytes(), np.uint8)[1:].view(np.float64).reshape(2, 5)
    assert not moved.flags.aligned and np.array_equal(drawer(moved), drawer(series))
    with pytest.raises(ValueError, match="byte order|not an array"):
        drawer(series.astype(">f8"))
    assert drawer(np.empty((0, 5))).shape == (0, 10, 20)
    with pytest.raises(millrace.UsageError, match="did you mean 'height'"):
        millrace.ChartDrawer(heigth=3)
    with pytest.raises(millrace.UsageError, match="rows"):
        millrace.ChartDrawer(rows="many")
    with pytest.raises(millrace.Error):
        millrace.ChartDrawer(style="pie")
    assert drawer(array.array("d", range(5))).shape == (10, 20)


# ---- latents


def test_measures_are_those_of_the_program(tmp_path):
    rng = np.random.default_rng(6)
    latents = {f"video{v}": rng.standard_normal((4, 5, 12, 16)).astype(np.float16) for v in range(3)}
    for name, latent in latents.items():
        (tmp_path / "all" / "group" / name).mkdir(parents=True)
        np.save(tmp_path / "all" / "group" / name / "step_000.npy", latent)
    left = millrace.latents(tmp_path / "all", output=tmp_path / "results")
    assert left.exit_code == 0
    with open(next((tmp_path / "results").rglob("*metrics*.csv")), newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["video"] for row in rows} == set(latents) and len(rows) > 60
    measured = {name: millrace.latents.measure(latent).metrics for name, latent in latents.items()}
    for row in rows:
        assert float(row["value"]) == measured[row["video"]][row["metric"]], row


def test_tensors_are_what_they_show():
    """Some of torch's say of their memory that it is meant the other way round."""
    import torch_here  # noqa: F401
    import torch

    random = np.random.default_rng(3)
    latent = torch.complex(torch.from_numpy(random.random((4, 3, 8, 8), dtype=np.float32)), torch.from_numpy(random.random((4, 3, 8, 8), dtype=np.float32)))
    turned = latent.conj().imag
    assert turned.is_neg()
    assert millrace.latents.measure(turned).metrics["global.mean"] == millrace.latents.measure(turned.resolve_neg().numpy()).metrics["global.mean"] < 0
    drawer = millrace.ChartDrawer(rows=5, width=20, height=10)
    series = torch._neg_view(torch.arange(10.0, dtype=torch.float64).reshape(2, 5))
    assert np.array_equal(drawer(series), drawer(series.resolve_neg().numpy()))
    assert np.array_equal(millrace.hash(torch.zeros(8, 9, 3, dtype=torch.uint8)), millrace.hash(np.zeros((8, 9, 3), np.uint8)))
    for wrong, words in ((torch.zeros(3, 8, 9, dtype=torch.uint8), "channels first"), (torch.zeros(8, 9, dtype=torch.uint8).to_sparse(), "sparse")):
        with pytest.raises(millrace.UsageError, match=words):
            millrace.hash(wrong)


def test_masked_elements_are_gaps_or_refused():
    drawer = millrace.ChartDrawer(rows=5, width=40, height=30)
    prices = np.random.default_rng(1).random((3, 5))
    masked = np.ma.masked_array(prices, mask=prices > 0.7)
    assert masked.mask.any() and np.array_equal(drawer(masked), drawer(masked.filled(np.nan)))
    assert not np.array_equal(drawer(masked), drawer(prices))
    codes = np.ma.masked_array(np.arange(4, dtype=np.uint64), mask=[False, True, False, False])
    for wrong in (lambda: millrace.join(codes, 1), lambda: millrace.hash(np.ma.masked_array(a_picture(1), mask=True))):
        with pytest.raises(millrace.UsageError, match="masked"):
            wrong()
    assert len(millrace.join(np.ma.masked_array(codes.data), 1)) == 4


def test_what_an_array_says_at_first_holds():
    class Changes:
        shape = (2, 30, 40)

        def __init__(self):
            self.said = 0
            self.first, self.locked = np.zeros(self.shape, np.uint8), np.frombuffer(bytes(2400), np.uint8).reshape(self.shape)

        def __dlpack__(self, **how):
            self.said += 1
            return (self.first if self.said == 1 else self.locked).__dlpack__(**how)

        def __dlpack_device__(self):
            return self.first.__dlpack_device__()

    out = Changes()
    millrace.ChartDrawer(rows=5, width=40, height=30)(np.random.default_rng(1).random((2, 5)), out=out)
    assert not out.locked.any() and out.first.any()


def test_codes_as_text():
    assert millrace.hex_of(np.array([1, 255], np.uint64)) == ["0000000000000001", "00000000000000ff"]
    for wrong in (np.zeros(3), [1, 2], np.zeros((1, 1, 1), np.uint8)):
        with pytest.raises(millrace.UsageError):
            millrace.hex_of(wrong)


def test_measuring_takes_what_a_latent_is():
    latent = np.random.default_rng(7).standard_normal((4, 3, 8, 10)).astype(np.float32)
    expected = millrace.latents.measure(latent)
    for same in (latent[None], latent.astype(np.float64), np.asfortranarray(latent), latent[:, :, ::-1][:, :, ::-1]):
        found = millrace.latents.measure(same)
        assert str(found.metrics) == str(expected.metrics)
        assert all(np.array_equal(found.distributions[k], v, equal_nan=True) for k, v in expected.distributions.items())
    measurer = pickle.loads(pickle.dumps(millrace.latents.Measurer(threads=2)))
    assert [str(one.metrics) for one in measurer.all(np.stack([latent] * 40))] == [str(expected.metrics)] * 40
    with pytest.raises(ValueError, match=r"int32 \[4, 3, 8, 10\]"):
        millrace.latents.measure(latent.astype(np.int32))
    spoiled = latent.copy()
    spoiled[0, 0, 0, 0] = np.nan
    assert millrace.latents.measure(spoiled).not_finite == 1


def test_groups_that_are_none_are_named():
    one = np.random.default_rng(1).standard_normal((5, 4, 3, 8, 8)).astype(np.float32)
    measured = [millrace.latents.measure(latent) for latent in one]
    plain = millrace.latents.compare({"a": one, "b": 2 * one}, shuffles=100, replicates=100)
    assert repr(plain) == repr(millrace.latents.compare({"a": measured, "b": [2 * latent for latent in one]}, shuffles=100, replicates=100))
    for groups, words in (({"a": one, "b": []}, r"groups\['b'\]: it is empty"), ({"a": one, "b": 5}, r"groups\['b'\]: it is a list"),
                          ({"a": one[0], "b": one}, "many latents are"), ({"a": one, "b": [{"spatial.variance": "high"}]}, "spatial.variance: it is a number")):
        with pytest.raises(millrace.UsageError, match=words):
            millrace.latents.compare(groups)


def test_groups_are_compared_by_name():
    rng = np.random.default_rng(8)
    groups = {name: [scale * rng.standard_normal((4, 3, 8, 8)) for _ in range(5)] for name, scale in (("b", 1), ("a", 1), ("loud", 3))}
    few = {"shuffles": 200, "replicates": 200}
    found = millrace.latents.compare(groups, **few)
    assert {(one["first"], one["second"]) for one in found} == {("b", "a"), ("b", "loud"), ("a", "loud")}
    loud = [one for one in found if one["metric"] == "spatial.variance"]
    assert [one["mean"][0] < one["mean"][1] for one in loud if one["second"] == "loud"] == [True, True]
    assert str(millrace.latents.compare(groups, threads=1, **few)) == str(found)
    assert str(millrace.latents.compare({k: np.stack(v) for k, v in groups.items()}, **few)) == str(found)
    assert len(found.to_pandas()) == len(found)
    with pytest.raises(ValueError, match="1 groups"):
        millrace.latents.compare({"one": groups["a"]})


def test_ten_thousand_calls_leave_no_memory_behind():
    drawer = millrace.ChartDrawer(rows=5, width=40, height=30)
    image, series = a_picture(1, 32, 32), np.arange(10.0).reshape(2, 5)
    codes = np.arange(8, dtype=np.uint64)
    latent = np.random.default_rng(1).standard_normal((2, 2, 4, 4)).astype(np.float32)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def calls(count):
        digests = set()
        for _ in range(count):
            digests.add(hashlib.sha256(millrace.hash(image).tobytes() + drawer(series).tobytes() + millrace.join(codes, 1).tobytes()).digest())
            millrace.latents.measure(latent)
            with pytest.raises(ValueError):
                millrace.hash(series)
        assert len(digests) == 1

    calls(500)
    before = resident()
    calls(2000)
    assert resident() - before < 8 << 20
