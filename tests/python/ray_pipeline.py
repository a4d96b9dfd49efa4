"""Run by test_ray.py under the interpreter that has Ray: pipelines over a folder of pictures, with a worker killed in flight."""

import json
import os
import pathlib
import signal
import sys

import numpy as np
import ray

import millrace
import millrace.ray

folder, out = map(pathlib.Path, sys.argv[1:3])
rows, names = 20, ["phash", "dhash"]


class Killed(millrace.ray.Hash):
    """The first of them is killed as if by the system, once, after some batches."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.batches = 0

    def __call__(self, batch):
        self.batches += 1
        mark = out / "killed"
        if self.batches == 3 and not mark.exists():
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        made = super().__call__(batch)
        count = len(made["path"])
        return {**made, "threads": [self.options["threads"]] * count, "process": [os.getpid()] * count, "device": [self.options["device"]] * count}


def series(batch):
    rng = np.random.default_rng(int(batch["id"][0]))
    return {"id": batch["id"], "prices": np.abs(rng.normal(10, 1, (len(batch["id"]), rows)))}


def latents(batch):
    return {"id": batch["id"], "latent": np.stack([np.random.default_rng(int(i)).normal(size=(4, 3, 8, 8)).astype(np.float16) for i in batch["id"]])}


class ReadOnly(millrace.ray.Charts):
    def __call__(self, batch):
        made = super().__call__(batch)
        return {**made, "writable": [bool(batch["prices"].flags.writeable)] * len(made["error"])}


ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
pictures = ray.data.read_binary_files(str(folder), include_paths=True)
hashed = pictures.map_batches(Killed, fn_constructor_kwargs={"kinds": names}, batch_size=16, concurrency=2, num_cpus=1, max_restarts=-1, max_task_retries=-1)
hashed.write_parquet(str(out / "hashes"))
charts = ray.data.range(40, override_num_blocks=5).map_batches(series, batch_size=8).map_batches(
    ReadOnly, fn_constructor_kwargs={"rows": rows, "width": 30, "height": 20, "keep": True}, batch_size=8, concurrency=1, num_cpus=2, zero_copy_batch=True)
measured = ray.data.range(24).map_batches(latents, batch_size=6).map_batches(millrace.ray.Latents, batch_size=6, concurrency=1, num_cpus=1)

drawer, said = millrace.ChartDrawer(rows=rows, width=30, height=20), {}
drawn = charts.take_all()
said["charts"] = all(np.array_equal(row["image"], drawer(np.asarray(row["prices"]))) and row["error"] is None for row in drawn) and len(drawn) == 40
said["read only"] = not any(row["writable"] for row in drawn)
of_latents = measured.take_all()
said["latents"] = len(of_latents) == 24 and all(
    np.array_equal(row[name], value, equal_nan=True)
    for row in of_latents
    for name, value in millrace.latents.measure(np.random.default_rng(int(row["id"])).normal(size=(4, 3, 8, 8)).astype(np.float16)).metrics.items())


def images(batch):
    pictures = [np.random.default_rng(int(i)).integers(0, 256, (40 + 8 * (int(i) % 3), 50, 3), dtype=np.uint8) for i in batch["id"]]
    column = np.empty(len(pictures), dtype=object)
    column[:] = [np.zeros((2, 2), np.uint8) if i == 5 else picture for i, picture in zip(batch["id"], pictures)]
    return {"id": batch["id"], "image": column}


if len(sys.argv) > 3:
    masked = ray.data.range(12, override_num_blocks=3).map_batches(images, batch_size=4).map_batches(
        millrace.ray.Segment, fn_constructor_args=[sys.argv[3]], batch_size=4, concurrency=1, num_cpus=1)
    masked.write_parquet(str(out / "masks"))
    segmenter = millrace.Segmenter(sys.argv[3])
    said["masks"] = {}
    for row in ray.data.read_parquet(str(out / "masks")).take_all():
        mask = np.asarray(row["mask"])
        image = images({"id": np.array([row["id"]])})["image"][0]
        said["masks"][int(row["id"])] = row["error"] or bool(np.array_equal(mask, segmenter(image).mask))


@ray.remote(num_cpus=2)
class Two:
    def threads(self):
        return millrace.ray.Hash().options["threads"], millrace.ray._device(None)


said["two cpus"] = ray.get(Two.remote().threads.remote())
ray.shutdown()
print(json.dumps(said))
