#!/usr/bin/env python3
"""`segment` beside MONAI on the same runtime and on ONNX Runtime, the network alone, and the ways to run it.

  segment.py PROGRAM BENCH_FOLDER WORK_FOLDER DATA [agree]

Runs in .venv-monai. With `agree` it compares results alone, in a smaller photograph, and fails where they differ.
"""

import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np
from PIL import Image

Image.MAX_IMAGE_PIXELS = None
THREADS, WINDOW, OVERLAP, ROUNDS, THRESHOLD = 2, 512, 0.5, 5, 0.4196
# Of raw outputs, at most: of the same runtime, of another.
SAME, OTHER = 1e-6, 2e-5


def line(label, value, bar=""):
    print(f"  {label:62} {value:>14}   {bar}", flush=True)


def compiled(model, precision="f32", streams=1, threads=THREADS):
    import openvino

    return openvino.Core().compile_model(model, "CPU", {
        "INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": streams,
        "EXECUTION_MODE_HINT": "ACCURACY" if precision == "f32" else "PERFORMANCE"})


def on_openvino(model):
    """A predictor: what somebody writes who wants MONAI to run on OpenVINO."""
    import torch

    request = compiled(model).create_infer_request()
    return lambda window: torch.from_numpy(request.infer({0: window.numpy()})[0].copy())


def on_onnxruntime(model):
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda window: torch.from_numpy(session.run(None, {name: window.numpy()})[0])


def monai(photo, predictor, out, batch=1):
    """The whole of it: decoded, inferred, written; its raw outputs."""
    import torch
    from monai.inferers import sliding_window_inference

    torch.set_num_threads(THREADS)
    pixels = torch.from_numpy(np.array(Image.open(photo).convert("RGB"))).permute(2, 0, 1)[None].float() / 255
    with torch.inference_mode():
        found = sliding_window_inference(pixels, (WINDOW, WINDOW), batch, predictor, overlap=OVERLAP, mode="gaussian",
                                         padding_mode="reflect")
    mask = Image.fromarray((found[0, 0] >= THRESHOLD).numpy().astype(np.uint8), "L")
    mask.putpalette([0, 0, 0, 230, 159, 0])
    mask.save(out, compress_level=1)
    return found[0].numpy()


def segment(program, photo, model, out, *more):
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([program, "segment", photo, "--model", model, "-o", out, "--threshold", str(THRESHOLD), "--threads",
                    str(THREADS), "--window", str(WINDOW), "--quiet", *more], check=True)


def largest_difference(program, photo, model, work, predictor):
    segment(program, photo, model, work / "raw", "--write", "probability")
    ours, = [np.load(path) for path in (work / "raw").glob("*.npy")]
    return float(np.abs(ours - monai(photo, predictor, work / "monai.png")).max())


def compare(program, photo, model, work):
    print(f"segment: {photo.name}, 117 windows of {WINDOW}, two threads, wall seconds, medians of {ROUNDS} in turn")
    peers = {"MONAI on OpenVINO, windows one by one": (on_openvino(model), 1),
             "MONAI on OpenVINO, batches of 4": (on_openvino(model), 4),
             "MONAI on ONNX Runtime": (on_onnxruntime(model), 1)}
    bars = {"MONAI on OpenVINO, windows one by one": 1.1, "MONAI on OpenVINO, batches of 4": 1.1, "MONAI on ONNX Runtime": 1.7}
    ours, theirs = [], {name: [] for name in peers}
    for _ in range(ROUNDS):
        start = time.monotonic()
        segment(program, photo, model, work / "masks")
        ours.append(time.monotonic() - start)
        for name, (predictor, batch) in peers.items():
            start = time.monotonic()
            monai(photo, predictor, work / "monai.png", batch)
            theirs[name].append(time.monotonic() - start)
    line("millrace segment, with its start and the loading of the model", f"{statistics.median(ours):.2f} s")
    for name, seconds in theirs.items():
        times = statistics.median(a / b for a, b in zip(seconds, ours))
        line(f"{name}, without imports and loading", f"{statistics.median(seconds):.2f} s", f"{times:.2f}x; bar {bars[name]}x")
    for name, bar in (("MONAI on OpenVINO, windows one by one", SAME), ("MONAI on ONNX Runtime", OTHER)):
        line(f"raw outputs, largest difference to {name}", f"{largest_difference(program, photo, model, work, peers[name][0]):.1e}",
             f"bar {bar:.0e}")


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def windows_of(photo):
    pixels = np.asarray(Image.open(photo).convert("RGB")).transpose(2, 0, 1)[None].astype(np.float32) / 255
    step = WINDOW // 2
    starts = lambda size: sorted({min(at, size - WINDOW) for at in range(0, size, step)})  # noqa: E731
    return [np.ascontiguousarray(pixels[:, :, y:y + WINDOW, x:x + WINDOW]) for y in starts(pixels.shape[2])
            for x in starts(pixels.shape[3])]


def overhead(program, bench, photo, model, work):
    """CPU time of what lies around the network, over the network's own."""
    import openvino

    windows = windows_of(photo)
    queue = openvino.AsyncInferQueue(compiled(model, streams=THREADS), THREADS)
    for window in windows[:4]:
        queue.start_async({0: window})
    queue.wait_all()
    alone, whole, kernels = [], [], []
    for _ in range(3):
        before = time.process_time()
        for window in windows:
            queue.start_async({0: window})
        queue.wait_all()
        alone.append((time.process_time() - before) / len(windows))
        before = cpu_of_children()
        segment(program, photo, model, work / "masks")
        whole.append((cpu_of_children() - before) / len(windows))
        run = subprocess.run([bench / "sliding_window_bench", "--benchmark_format=json", "--benchmark_min_time=0.3"], check=True,
                             capture_output=True, text=True)
        # The first two are of a window, the others of a row, of which the picture has so many a window.
        unit, rows = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}, Image.open(photo).height / len(windows)
        kernels.append({b["name"]: b["cpu_time"] * unit[b["time_unit"]] * (rows if b["name"] in ("take", "activate") else 1)
                        for b in json.loads(run.stdout)["benchmarks"]})
    model_time = min(alone)
    parts = {name: min(each[name] for each in kernels) for name in kernels[0]}
    print("segment: CPU time a window, minima of 3")
    line("the network, the same windows alone", f"{model_time * 1e3:.2f} ms")
    for name, seconds in parts.items():
        line({"cut": "gather", "add": "blend", "take": "rows of the blend", "activate": "activation and threshold"}[name],
             f"{seconds * 1e3:.3f} ms")
    line("these over the network's", f"{100 * sum(parts.values()) / model_time:.2f} %", "bar 2 %")
    rest = min(whole) - model_time - sum(parts.values())
    line("the rest: start, loading, decoding, encoding", f"{rest * 1e3:.2f} ms", f"{100 * rest / model_time:.1f} %")


ONE = """
import sys, time, numpy as np, openvino
model, windows, precision, batch, requests = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
windows = np.load(windows)
core = openvino.Core()
network = core.read_model(model)
network.reshape([batch, *windows.shape[1:]])
made = core.compile_model(network, "CPU", {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": 2,
    "NUM_STREAMS": min(2, requests), "EXECUTION_MODE_HINT": "ACCURACY" if precision == "f32" else "PERFORMANCE"})
out = np.zeros((len(windows), *made.output().shape[1:]), np.float32)
queue = openvino.AsyncInferQueue(made, requests)
def done(request, at): out[at:at + batch] = request.get_output_tensor().data
queue.set_callback(done)
def run():
    start = time.monotonic()
    for at in range(0, len(windows), batch): queue.start_async({0: windows[at:at + batch]}, at)
    queue.wait_all()
    return (time.monotonic() - start) / len(windows)
run()
peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
print(min(run() for _ in range(2)), peak)
np.save(sys.argv[6], out)
"""


def ways(photo, model, work):
    """Every way to run the network, in a process of its own."""
    np.save(work / "windows.npy", np.concatenate(windows_of(photo)[40:56]))
    print("segment: ways to run the network: wall ms a window, peak MB of the process, largest difference to the first")
    first = None
    for precision in ("f32", "bf16"):
        for batch in (1, 2, 4, 8, 16):
            cells = []
            for requests in (1, 2, 4):
                run = subprocess.run([sys.executable, "-c", ONE, str(model), str(work / "windows.npy"), precision, str(batch),
                                      str(requests), str(work / "out.npy")], check=True, capture_output=True, text=True)
                out = np.load(work / "out.npy")
                first = out if first is None else first
                seconds, peak = map(float, run.stdout.split())
                cells.append(f"{seconds * 1e3:5.1f} ms {peak:5.0f} MB {np.abs(out - first).max():.1e}")
            print(f"  {precision:5} batch {batch:2}   requests 1: {cells[0]}   2: {cells[1]}   4: {cells[2]}", flush=True)


def together(program, photo, model, work):
    """A square of 2048, as an earlier system publishes it for a GPU; windows turned over, and two networks, beside one."""
    square, corner = work / "square.png", work / "corner.png"
    pixels = Image.open(photo).convert("RGB")
    pixels.crop((700, 140, 2748, 2188)).save(square)
    pixels.crop((1400, 1000, 1912, 1512)).save(corner)
    other = work / "other.onnx"
    shutil.copy(model, other)

    def seconds(picture, *more):
        out = []
        for _ in range(3):
            start = time.monotonic()
            segment(program, picture, model, work / "masks", *more)
            out.append(time.monotonic() - start)
        return statistics.median(out)

    print("segment: 2048 x 2048, 49 windows at overlap 0.5, two threads, wall time of the process, medians of 3")
    one = seconds(square)
    for label, more, times in (("float32", [], 1), ("bfloat16", ["--precision", "bf16"], 1),
                               ("each window turned over both ways (--tta hw)", ["--tta", "hw"], 4),
                               ("two networks", ["--model", other], 2)):
        took = one if not more else seconds(square, *more)
        line(label, f"{took * 1e3:.0f} ms", "" if times == 1 else f"{took / one / times:.3f} of {times} times one network's")
    line("one window of 512, with the start", f"{seconds(corner) * 1e3:.0f} ms")


def agree(program, photo, model, work):
    for name, predictor, most in (("OpenVINO", on_openvino(model), SAME), ("ONNX Runtime", on_onnxruntime(model), OTHER)):
        found = largest_difference(program, photo, model, work, predictor)
        line(f"raw outputs, largest difference to MONAI on {name}", f"{found:.1e}", f"bar {most:.0e}")
        if not found <= most:
            sys.exit(f"over the bar: {found} > {most}")


def main():
    program, bench, work, data = map(pathlib.Path, sys.argv[1:5])
    work.mkdir(parents=True, exist_ok=True)
    photo, model = data / "fundus" / "HRF_07_dr.jpg", data / "models" / "vessels_wnet_drive.onnx"
    if not photo.exists():
        print("segment: the photograph and the network are not beside the checkout (../shared/data): nothing to measure")
        return
    os.environ["XDG_CACHE_HOME"] = str(work / "cache")
    if sys.argv[5:] == ["agree"]:
        small = work / "small.png"
        Image.open(photo).reduce(2).save(small)
        agree(program, small, model, work)
        return
    compare(program, photo, model, work)
    overhead(program, bench, photo, model, work)
    together(program, photo, model, work)
    ways(photo, model, work)


if __name__ == "__main__":
    main()
