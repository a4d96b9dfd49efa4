"""What jobs are tried on: a table of prices, and four photographs with a smaller copy of each."""

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    path = tmp_path_factory.mktemp("prices") / "prices.csv"
    walk = 100 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.02, 400)))
    path.write_text("Close\n" + "\n".join(f"{price:.4f}" for price in walk) + "\n")
    return path


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for seed in range(4):
        rng = np.random.default_rng(seed)
        image = Image.fromarray(rng.integers(0, 255, (6, 8, 3), dtype=np.uint8)).resize((320, 240), Image.BICUBIC)
        image.save(folder / f"{seed}.jpg", quality=95)
        image.resize((160, 120)).save(folder / f"{seed}-small.jpg", quality=90)
    return folder
