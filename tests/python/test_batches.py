"""millrace.ray without Ray: batches as Dask, Spark and plain loops have them."""

import pathlib
import pickle
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from package import millrace  # noqa: E402
from segmenting import made_model, needs_runtime, runtime  # noqa: E402, F401

import millrace.ray as batches  # noqa: E402

Image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(3)


@pytest.fixture
def pictures(tmp_path):
    """Files: 70 pictures of three kinds, a damaged one and one that is none; more than one call takes."""
    for i in range(70):
        image = Image.fromarray(RNG.integers(0, 256, (12, 16, 3), dtype=np.uint8))
        image.save(tmp_path / f"{i:02}.{('png', 'jpg', 'bmp')[i % 3]}")
    (tmp_path / "98.png").write_bytes((tmp_path / "00.png").read_bytes()[:60])
    (tmp_path / "99.png").write_bytes(b"no picture")
    return sorted(tmp_path.iterdir())


def test_hashes_are_those_of_the_files(pictures):
    files = millrace.hash_files(pictures, kinds=["phash", "colorhash"])
    batch = {"path": np.array([str(p) for p in pictures], dtype=object), "bytes": np.array([p.read_bytes() for p in pictures], dtype=object)}
    made = batches.Hash(["phash", "colorhash"])(batch)
    assert list(made) == ["path", "phash", "colorhash", "width", "height", "quality", "error"]
    for kind in ("phash", "colorhash"):
        assert made[kind].dtype == np.uint8 and np.array_equal(made[kind], files.codes[kind])
    assert list(made["path"]) == files.paths and np.array_equal(made["width"], files.width)
    assert [bool(error) for error in made["error"]] == [error is not None for error in files.errors]
    assert made["error"][-1] and not made["phash"][-1].any()
    assert batch.keys() == {"path", "bytes"}, "what came in is as it was"


def test_an_empty_batch_has_the_same_columns():
    for actor, empty in ((batches.Hash(), np.empty(0, dtype=object)), (batches.Charts(rows=5, width=20, height=10), np.empty((0, 5))),
                         (batches.Latents(), np.empty((0, 2, 3, 4, 4), dtype=np.float32))):
        made = actor({actor.column: empty})
        assert made and all(len(column) == 0 for column in made.values())
    assert batches.Hash("pdq")({"bytes": np.empty(0, dtype=object)})["pdq"].shape == (0, 32)


def test_a_row_that_is_no_picture_ends_nothing(pictures):
    made = batches.Hash(keep=True)({"bytes": [pictures[0].read_bytes(), None, 7, b"", pictures[1].read_bytes()]})
    assert [error is None for error in made["error"]] == [True, False, False, False, True]
    assert made["dhash"][0].any() and made["dhash"][4].any() and not made["dhash"][1:4].any()
    assert len(made["bytes"]) == 5


def test_charts(pictures):
    prices = np.abs(RNG.normal(10, 1, (6, 20)))
    drawer = millrace.ChartDrawer(rows=20, width=40, height=30)
    chart = batches.Charts(rows=20, width=40, height=30)
    prices.setflags(write=False)
    made = chart({"prices": prices})
    assert np.array_equal(made["image"], drawer(prices)) and list(made["error"]) == [None] * 6
    ragged = np.empty(3, dtype=object)
    ragged[:] = [prices[0], prices[1][:7], "no prices"]
    made = chart({"prices": ragged})
    assert np.array_equal(made["image"][0], drawer(prices[0])) and not made["image"][1:].any()
    assert made["error"][0] is None and "7" in made["error"][1] and made["error"][2]


@pytest.mark.parametrize("rows", [[np.ones((1, 5))], [np.ones((1, 5)), np.ones(5)], [np.ones((5, 4))], [None, np.ones(5)], [np.ones(5, dtype=object)],
                                  [np.array(["a"] * 5), np.ones(5)], [1.0, 2.0, 3.0, 4.0, 5.0]])
def test_series_of_another_shape_are_rows_that_fail(rows):
    column = np.empty(len(rows), dtype=object)
    column[:] = rows
    if all(isinstance(row, float) for row in rows):
        column = column.astype(float)  # a column of numbers is no column of series
    made = batches.Charts(rows=5, width=20, height=10)({"prices": column})
    assert made["image"].shape == (len(rows), 10, 20)
    for row, image, error in zip(rows, made["image"], made["error"]):
        good = getattr(row, "shape", None) == (5,) and row.dtype == float
        assert (error is None) == good and image.any() == good, (row, error)


def test_what_comes_of_a_row_is_not_its_neighbours():
    latents = [RNG.normal(size=(2, 3, 8, 8)).astype(kind) for kind in (np.float16, np.float64, np.float32)]
    column = np.empty(3, dtype=object)
    column[:] = latents
    made = batches.Latents()({"latent": column})
    for i, latent in enumerate(latents):
        for name, value in millrace.latents.measure(latent).metrics.items():
            assert np.array_equal(made[name][i], value, equal_nan=True), name
    masked = np.ma.array(np.arange(1.0, 6.0), mask=[0, 0, 1, 0, 0])
    column = np.empty(1, dtype=object)
    column[0] = masked
    actor = batches.Charts(rows=5, width=20, height=10)
    assert np.array_equal(actor({"prices": column})["image"][0], millrace.ChartDrawer(rows=5, width=20, height=10)(masked))


def test_bytes_of_every_kind(pictures):
    data = pictures[0].read_bytes()
    rows = [data, bytearray(data), memoryview(data), np.frombuffer(data, dtype=np.uint8), memoryview(data * 2)[::2], np.bytes_(data), "text", np.zeros(3)]
    column = np.empty(len(rows), dtype=object)
    column[:] = rows
    made = batches.Hash()({"bytes": column})
    assert [error is None for error in made["error"]] == [True] * 4 + [False] * 4
    assert len({code.tobytes() for code in made["dhash"][:4]}) == 1


def test_few_descriptors_are_enough(pictures):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    column = [p.read_bytes() for p in pictures]
    expected = batches.Hash()({"bytes": column})
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        made = batches.Hash()({"bytes": column})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert np.array_equal(made["dhash"], expected["dhash"]) and list(made["error"]) == list(expected["error"])


def test_a_failure_of_the_process_is_none_of_rows(monkeypatch):
    actor = batches.Latents()

    def fails(*_):
        raise millrace.Error("unavailable", "it was forked")

    monkeypatch.setattr(actor, "_measurer", type("Measurer", (), {"all": fails, "__call__": fails})())
    with pytest.raises(millrace.Error, match="forked"):
        actor({"latent": RNG.normal(size=(2, 2, 3, 8, 8))})


def test_latents():
    latents = RNG.normal(size=(4, 3, 5, 8, 8)).astype(np.float16)
    latents[2, 0, 0, 0, 0] = np.nan
    made = batches.Latents()({"latent": latents, "name": np.arange(4)})
    for i, latent in enumerate(latents):
        one = millrace.latents.measure(latent)
        assert made["not_finite"][i] == one.not_finite and made["name"][i] == i
        for name, value in one.metrics.items():
            assert np.array_equal(made[name][i], value, equal_nan=True), name
    assert list(made["error"]) == [None] * 4
    wrong = batches.Latents()({"latent": [latents[0], np.zeros(3, dtype=np.float32)]})
    assert wrong["error"][0] is None and wrong["error"][1] and np.isnan(wrong["spatial.variance"][1])
    assert wrong["spatial.variance"][0] == made["spatial.variance"][0]


@needs_runtime
def test_masks(tmp_path, runtime):
    model = tmp_path / "m.onnx"
    made_model(model)
    images = [RNG.integers(0, 256, (40 + 8 * i, 50, 3), dtype=np.uint8) for i in range(3)]
    column = np.empty(4, dtype=object)
    column[:] = [*images, np.zeros((3, 3), dtype=np.float32)]
    made = batches.Segment(model, probability=True)({"image": column})
    expected = millrace.Segmenter(model)(images)
    for i, one in enumerate(expected):
        assert np.array_equal(made["mask"][i], one.mask) and np.array_equal(made["probability"][i], one.probability)
    assert made["mask"][3].shape == (0, 0) and made["probability"][3].shape == (1, 0, 0) and "float32" in made["error"][3]
    assert list(made["error"][:3]) == [None] * 3
    actor = batches.Segment(model)
    for rows in ([], [np.zeros((3, 40, 50, 3), dtype=np.uint8)], [[]], [None], [[images[0], images[1]]]):
        column = np.empty(len(rows), dtype=object)
        column[:] = rows
        made = actor({"image": column})
        assert list(made) == ["mask", "error"] and all(made["error"]), made


def test_tables_of_pandas(pictures):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"bytes": [p.read_bytes() for p in pictures[:3]], "n": pandas.array([1, 2**60 + 1, None], dtype="Int64")}, index=[7, 8, 9])
    made = batches.Hash("phash")(table)
    assert list(made.index) == [7, 8, 9] and made["n"].equals(table["n"]) and "bytes" not in made
    assert np.array_equal(np.stack(made["phash"]), millrace.hash_files(pictures[:3], kinds="phash").codes["phash"])


def test_what_is_wrong_is_said_when_it_is_made():
    with pytest.raises(millrace.UsageError, match="mhash"):
        batches.Hash("mhash")
    with pytest.raises(millrace.UsageError, match="widht"):
        batches.Charts(widht=3)
    with pytest.raises(millrace.UsageError, match="orientatoin"):
        batches.Hash(orientatoin="exif")
    with pytest.raises(millrace.UsageError, match="threads"):
        batches.Latents(threads=-1)
    with pytest.raises(millrace.UsageError, match="no such column, but path"):
        batches.Hash()({"path": [1]})
    with pytest.raises(millrace.UsageError, match="width"):
        batches.Hash()({"bytes": [b""], "width": [3]})
    with pytest.raises(millrace.UsageError, match="width"):
        batches.Hash(column="width", keep=True)
    with pytest.raises(millrace.UsageError, match="gpu"):
        batches.Hash(gpu=True)
    with pytest.raises(millrace.UsageError, match="batch_format"):
        batches.Hash()([b""])


def test_they_pickle_as_what_they_were_made_of():
    for actor in (batches.Charts(rows=5, width=20, height=10), batches.Hash("phash", size=16), batches.Latents()):
        again = pickle.loads(pickle.dumps(actor))
        assert type(again) is type(actor) and again.column == actor.column
