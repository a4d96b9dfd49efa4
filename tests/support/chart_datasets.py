"""What tests of millrace.torch share: four series, their charts as a dataset, and every store of them."""

import torch_here  # noqa: F401
import numpy as np
import pytest
from package import millrace  # noqa: F401
from program import millrace as program

import torch
from millrace.torch import Chart, Charts

ROWS, WIDTH, HEIGHT, STRIDE, HORIZONS = 20, 61, 40, 3, (5, 20)
DRAWING = {"rows": ROWS, "width": WIDTH, "height": HEIGHT}
STORES = ["hdf5", "zarr", "npy", "dat", "png", "jpeg", "webdataset"]


def bars(seed, rows):
    rng = np.random.default_rng(seed)
    close = 100 * np.exp(np.cumsum(rng.normal(0, 0.02, rows)))
    made = np.stack([close * 0.99, close * 1.02, close * 0.97, close, rng.integers(1, 900, rows)], axis=1)
    made[7, 3], made[rows - 4, 3], made[rows // 2, 3] = np.nan, np.nan, -1.0
    return made


SERIES = {"A": bars(1, 90), "B": bars(2, 25), "short": bars(3, ROWS - 1), "C": bars(4, 61)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series")
    paths = []
    for name, rows in SERIES.items():
        paths.append(folder / f"{name}.csv")
        text = "\n".join(",".join("" if value != value else repr(float(value)) for value in row) for row in rows)
        paths[-1].write_text("open,high,low,close,volume\n" + text + "\n")
    return paths


@pytest.fixture(scope="module")
def stores(files, tmp_path_factory):
    """Made when they are asked for: a store by its kind and options."""
    folder, made = tmp_path_factory.mktemp("stores"), {}

    def store(kind, *options, size=("--size", f"{WIDTH}x{HEIGHT}")):
        key = (kind, options, size)
        if key not in made:
            made[key] = folder / str(len(made))
            program("render", *files, "-o", made[key], "--store", kind, "--window", str(ROWS), "--stride", str(STRIDE), *size,
                    "--labels", "5,20", "--shard", "16", *options)
        return made[key]

    return store


@pytest.fixture(scope="module")
def drawn():
    return Charts(SERIES, stride=STRIDE, labels=HORIZONS, **DRAWING)


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, Chart):
        return torch.equal(one.image, other.image) and torch.equal(one.labels.nan_to_num(9), other.labels.nan_to_num(9))
    return torch.equal(one, other)


def joined(batches):
    batches = list(batches)
    if isinstance(batches[0], Chart):
        return Chart(torch.cat([batch.image for batch in batches]), torch.cat([batch.labels for batch in batches]))
    return torch.cat(batches)
