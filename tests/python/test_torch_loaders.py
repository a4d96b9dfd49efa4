"""millrace.torch in a DataLoader: each chart once an epoch, uncopied and unchanged, in workers that are forked and spawned."""

import copy
import gc
import os
import pathlib
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from chart_datasets import DRAWING, HEIGHT, HORIZONS, SERIES, STORES, STRIDE, WIDTH, bars, drawn, files, joined, same, stores  # noqa: E402, F401
from package import ENVIRONMENT, interrupted, millrace  # noqa: E402

import torch  # noqa: E402
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, Subset, default_collate  # noqa: E402

from millrace.torch import Chart, Charts  # noqa: E402


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gives_what_the_dataset_gives(workers, drawn):
    whole = drawn[:]
    unlabelled = Charts(SERIES, stride=STRIDE, **DRAWING)
    assert type(unlabelled[3]) is type(unlabelled[[3]]) is torch.Tensor and torch.equal(unlabelled[3], whole.image[3])
    assert same(joined(DataLoader(drawn, batch_size=7, num_workers=workers)), whole)
    batches = list(DataLoader(unlabelled, batch_size=7, num_workers=workers))
    assert torch.equal(joined(batches), whole.image) and all(type(batch) is torch.Tensor for batch in batches)
    # Numbers as a sampler gives them, without torch's collating; part of the dataset; a shuffled one.
    lists = DataLoader(drawn, sampler=BatchSampler(range(len(drawn)), 7, False), batch_size=None, num_workers=workers)
    assert same(joined(lists), whole)
    part = list(range(20, 3, -2))
    assert same(joined(DataLoader(Subset(drawn, part), batch_size=4, num_workers=workers)), drawn[part])
    orders = [joined(DataLoader(drawn, batch_size=5, num_workers=workers, sampler=RandomSampler(drawn, generator=torch.Generator().manual_seed(3)))) for _ in range(2)]
    assert same(*orders) and not same(orders[0], whole)
    assert sorted(image.numpy().tobytes() for image in orders[0].image) == sorted(image.numpy().tobytes() for image in whole.image)


def negative(image):
    assert type(image) in (torch.Tensor, millrace.torch._lending.Lent) and image.shape == (1, HEIGHT, WIDTH)
    return 1 - image.float() / 255


def rises(labels):
    return (labels[0] > 0).long()


@pytest.mark.parametrize("workers", [0, 2])
def test_transforms(workers, drawn):
    charts = Charts(SERIES, stride=STRIDE, labels=HORIZONS, transform=negative, target_transform=rises, **DRAWING)
    whole = drawn[:]
    got = joined(DataLoader(charts, batch_size=6, num_workers=workers))
    assert torch.equal(got.image, 1 - whole.image.float() / 255) and torch.equal(got.labels, (whole.labels[:, 0] > 0).long())
    image, label = charts[4]
    assert torch.equal(image, got.image[4]) and label == got.labels[4]
    images = joined(DataLoader(Charts(SERIES, stride=STRIDE, transform=negative, **DRAWING), batch_size=6, num_workers=workers))
    assert torch.equal(images, got.image)


def own_collate(batch):
    images, labels = default_collate(batch)
    return images.float(), labels[:, 0], len(batch), [sample.image.sum() for sample in batch][0], batch[1].image


def test_a_collate_function_of_ones_own(drawn):
    begin = 0
    for images, first, count, ink, second in DataLoader(drawn, batch_size=6, num_workers=2, collate_fn=own_collate):
        expected = drawn[begin : begin + count]
        assert torch.equal(images, expected.image.float()) and torch.equal(first.nan_to_num(9), expected.labels[:, 0].nan_to_num(9))
        assert ink == expected.image[0].sum() and torch.equal(second, expected.image[1])
        begin += count
    assert begin == len(drawn)


def many_of_one(batch):
    whole = default_collate(batch)
    again = pickle.loads(pickle.dumps(whole))
    return [whole, copy.deepcopy(whole), again, Chart(whole.image, whole.labels), whole.image[1:], whole.image.permute(0, 1, 3, 2)]


def test_what_is_sent_more_than_once_stays_as_it_is(drawn):
    for workers in (0, 2):
        kept = list(DataLoader(drawn, batch_size=3, num_workers=workers, collate_fn=many_of_one))
        for number, (*charts, part, turned) in enumerate(kept):
            expected = drawn[3 * number : 3 * number + 3]
            assert all(same(one, expected) for one in charts) and torch.equal(part, expected.image[1:]) and torch.equal(turned, expected.image.mT)


class Keeping(torch.utils.data.Dataset):
    """Gives the same batch again and again."""

    def __init__(self, charts):
        self.charts, self.batch = charts, None

    def __len__(self):
        return 40

    def __getitem__(self, number):
        self.batch = self.batch if self.batch is not None and number % 10 else self.charts[[number % 30, 1, 2]]
        return self.batch


def test_a_batch_that_a_worker_keeps_and_sends_again(drawn):
    for number, got in enumerate(DataLoader(Keeping(drawn), batch_size=None, num_workers=1)):
        if number % 3 == 0:
            kept = got
        assert same(got, drawn[[number // 10 * 10 % 30, 1, 2]]) and same(kept, drawn[[number // 3 * 3 // 10 * 10 % 30, 1, 2]])


def test_batches_that_are_kept_stay_as_they_are():
    """Memory that a worker uses again is nowhere shown any more."""
    charts = Charts(bars(9, 2000), labels=1, **DRAWING)
    whole, random = charts[:], np.random.default_rng(1)
    kept, begin = [], 0
    for images, labels in DataLoader(charts, batch_size=8, num_workers=2, prefetch_factor=4):
        assert type(images) is torch.Tensor and images.is_contiguous()
        numbers, begin = slice(begin, begin + len(images)), begin + len(images)
        # Some whole, some a part of them, some by NumPy alone; most are let go.
        kept.append((numbers, [(images, labels), (images[2:], None), (images.numpy(), None), (None, labels), (None, None)][random.integers(5)]))
        if random.random() < 0.5:
            kept.pop(random.integers(len(kept)))
    assert begin == len(charts) and len(kept) > 30
    del images, labels
    for numbers, (images, labels) in kept:
        if images is not None:
            np.testing.assert_array_equal(np.asarray(images), whole.image[numbers].numpy()[-len(images) :])
        if labels is not None:
            np.testing.assert_array_equal(labels.numpy(), whole.labels[numbers].numpy())
    everything = list(DataLoader(charts, batch_size=8, num_workers=2))
    assert same(joined(everything), whole)


def test_what_a_forked_process_shows_stays_as_it_is(drawn):
    charts = Charts(bars(9, 2000), **DRAWING)
    whole = charts[:]
    begin, forked, batches = 0, [], iter(DataLoader(charts, batch_size=8, num_workers=1))
    for number, batch in enumerate(batches):
        begin += 8
        if number % 40 == 20:
            # Its own batch, looked at once this process has let it go and seen many others.
            go = os.pipe()
            child = os.fork()
            if child == 0:
                os.read(go[0], 1)
                os._exit(0 if np.array_equal(batch.numpy(), whole[begin - 8 : begin].numpy()) else 1)
            forked.append((child, go[1]))
    assert len(forked) > 3 and begin >= len(charts)
    for child, go in forked:
        os.write(go, b"x")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_memory_that_workers_lent_goes_with_them(drawn):
    list(DataLoader(drawn, batch_size=4, num_workers=2))
    gc.collect()
    assert not millrace.torch._lending._known


# ---- the iterable form


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("batch", [None, 7])
def test_a_stream_gives_each_chart_once_an_epoch(batch, drawn):
    stream = drawn.stream(seed=5, batch=batch)
    whole = sorted(image.numpy().tobytes() for image in drawn[:].image)
    options = {"batch_size": None} if batch else {"batch_size": 4}
    seen = {}
    for epoch in (0, 1):
        stream.set_epoch(epoch)
        for workers in (0, 1, 2, 3):
            loader = DataLoader(stream, num_workers=workers, **options)
            got, again = joined(loader), joined(loader)
            assert same(got, again)
            assert sorted(image.numpy().tobytes() for image in got.image) == whole
            seen[epoch, workers] = got
        assert not same(seen[epoch, 0], drawn[:])
    assert not any(same(seen[0, workers], seen[1, workers]) for workers in (0, 1, 2, 3))
    if batch:
        # Whole batches go round the workers: the order is that of one process.
        assert all(same(seen[0, workers], seen[0, 0]) for workers in (1, 2, 3))
        assert len(stream) == -(-len(drawn) // 7) and len(drawn.stream(batch=7, drop_last=True)) == len(drawn) // 7
        assert same(seen[1, 0], drawn[stream.order()])
    else:
        assert len(stream) == len(drawn)
    other = drawn.stream(seed=6, batch=batch)
    other.set_epoch(1)
    assert not same(joined(DataLoader(other, **options)), seen[1, 0])
    plain = drawn.stream(shuffle=False, batch=batch)
    assert same(joined(DataLoader(plain, **options)), drawn[:])


def test_workers_that_live_on_see_the_next_epoch(drawn):
    stream = drawn.stream(batch=8)
    loader = DataLoader(stream, batch_size=None, num_workers=2, persistent_workers=True)
    orders = []
    for epoch in (0, 1, 0):
        stream.set_epoch(epoch)
        orders.append(joined(loader))
        assert same(orders[-1], drawn[stream.order()])
    assert same(orders[0], orders[2]) and not same(orders[0], orders[1])
    assert pickle.loads(pickle.dumps(stream)).epoch == 0 and len(drawn.stream(batch=8, drop_last=True)) == len(list(drawn.stream(batch=8, drop_last=True)))


def test_wrong_streams(drawn):
    for options in ({"batch": 0}, {"batch": 2.5}, {"drop_last": True}, {"seed": -1}, {"seed": None}):
        with pytest.raises(millrace.UsageError, match=list(options)[0]):
            drawn.stream(**options)


# ---- processes

SPAWNED = """
import json, sys
import torch
from torch.utils.data import DataLoader
from millrace.torch import Charts
import numpy as np

if __name__ == "__main__":
    series = np.load(sys.argv[1])
    for charts in (Charts(series, rows=20, width=61, height=40, labels=5), *map(Charts, sys.argv[2:])):
        first = charts[0]
        got = [batch.image for batch in DataLoader(charts, batch_size=16, num_workers=2, multiprocessing_context="spawn")]
        assert torch.equal(torch.cat(got), charts[:].image) and torch.equal(charts[0].image, first.image)
    stream = charts.stream(batch=16)
    loader = DataLoader(stream, batch_size=None, num_workers=1, multiprocessing_context="spawn", persistent_workers=True)
    for epoch in (0, 1):
        stream.set_epoch(epoch)
        assert torch.equal(torch.cat([batch.image for batch in loader]), charts[stream.order()].image)
    print("same")
"""


def test_workers_that_are_spawned(stores, tmp_path):
    np.save(tmp_path / "series.npy", SERIES["A"])
    (tmp_path / "spawned.py").write_text(SPAWNED)
    environment = dict(ENVIRONMENT, PYTHONPATH=os.pathsep.join([ENVIRONMENT["PYTHONPATH"], *sys.path[1:]]))
    done = subprocess.run([sys.executable, tmp_path / "spawned.py", tmp_path / "series.npy", stores("zarr"), stores("hdf5")], env=environment,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "same\n" and "leaked" not in done.stderr, done.stderr


@pytest.mark.parametrize("kind", STORES)
def test_forked_workers_open_their_own_files(kind, stores):
    charts = Charts(stores(kind))
    whole = charts[:]  # which opens them here
    loader = DataLoader(charts, batch_size=5, num_workers=2, multiprocessing_context="fork")
    iterators = [iter(loader), iter(loader)]
    for begin in range(0, len(charts), 5):
        here = charts[begin : begin + 5]
        for iterator in iterators:
            assert same(next(iterator), here)
    assert same(charts[:], whole)


def test_nothing_open_is_pickled(stores, drawn):
    for copied in (pickle.loads(pickle.dumps(drawn)), copy.deepcopy(drawn), pickle.loads(pickle.dumps(drawn.stream())).charts):
        assert same(copied[:], drawn[:])
    for kind in STORES:
        charts = Charts(stores(kind))
        size = len(pickle.dumps(charts))
        assert charts[:] is not None and charts.labels is not None
        assert len(pickle.dumps(charts)) == size < 2000
        assert str(charts._source.path) == str(stores(kind))


def test_files_stay_open_and_labels_are_read_once(stores, monkeypatch):
    for kind in STORES:
        charts = Charts(stores(kind))
        charts[0], charts.labels
        for name in ("_open", "_read_labels"):
            monkeypatch.setattr(type(charts._source), name, lambda self: pytest.fail("again"))
        charts[3], charts[[1, 2]], charts.labels
        monkeypatch.undo()


def test_the_loaders_that_the_documentation_shows(stores, drawn):
    import re

    import h5py  # noqa: F401
    import numpy
    import PIL.Image
    import zarr

    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/render.md").read_text()
    hdf5, others = (block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "h5py" in block or "memmap" in block)
    names = {}
    exec(hdf5, names)
    charts = names["Charts"](stores("hdf5"))
    images, labels = (torch.cat(part) for part in zip(*DataLoader(charts, batch_size=9, num_workers=2)))
    assert torch.equal(images, drawn[:].image.float() / 255)
    np.testing.assert_array_equal(labels.numpy(), drawn.labels)
    kept = charts[0] and charts.images
    assert charts[1] and charts.images is kept
    for line in others.splitlines():
        code, _, kind = line.partition("  #")
        kind = kind.strip().split(",")[0]
        if kind in ("zarr", "npy", "dat", "png"):
            known = {"zarr": zarr, "numpy": numpy, "PIL": PIL, "path": str(stores(kind)), "height": HEIGHT, "width": WIDTH, "shard": 16, "i": 17}
            if kind == "png":
                image = np.asarray(eval(code, known))
            else:
                exec(code, known)
                image = known["images"][17]
            np.testing.assert_array_equal(image, drawn[17].image[0].numpy())


def test_a_worker_draws_on_one_thread(drawn, monkeypatch):
    assert drawn._drawer().options["threads"] == 0
    monkeypatch.setattr(millrace.torch, "get_worker_info", lambda: True)
    assert drawn._drawer().options["threads"] == 1
    assert Charts(SERIES, threads=3, **DRAWING)._drawer().options["threads"] == 3


def test_millrace_alone_imports_none_of_it():
    code = "import sys, millrace; millrace.ChartDrawer; print(sorted({'torch', 'h5py', 'zarr', 'PIL', 'pandas', 'millrace.torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


INTERRUPTED = """
import sys
import numpy as np
from torch.utils.data import DataLoader
from millrace.torch import Charts

charts = Charts(np.random.default_rng(1).normal(100, 1, 3_000_000), rows=60, width=224, height=224, labels=5)
print("begun", flush=True)
for batch in (DataLoader(charts, batch_size=64, num_workers=int(sys.argv[1])) if sys.argv[1] != "all" else [charts[:200_000]]):
    pass
"""


@pytest.mark.parametrize("workers", ["0", "2", "all"])
def test_ctrl_c_ends_it(workers):
    rc, printed, said, _ = interrupted(INTERRUPTED, workers, after=1.0)
    assert rc == -signal.SIGINT and printed == "" and "KeyboardInterrupt" in said, said
