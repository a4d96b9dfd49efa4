#!/usr/bin/env python3
"""`video` beside its own stages, an OpenCV + ONNX Runtime script, and FFmpeg alone; what skipping inference is worth; memory of 8K.

  video.py PROGRAM WORK_FOLDER DATA [speed|skipping|memory]...

Runs in .venv-film.
"""

import csv
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

import numpy as np

ROUNDS, CORES = 5, 2
BARS = {"fast": 0.93, "balanced": 0.90}
PRESET = {"fast": "veryfast", "balanced": "medium"}


def line(label, value, bar=""):
    print(f"  {label:66} {value:>16}   {bar}", flush=True)


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, arguments)], check=True)


def films(work, data):
    """The film as 1080p at 30 pictures a second; and a second one, in which the camera moves."""
    work.mkdir(parents=True, exist_ok=True)
    people = data / "video" / "one_by_one_person.mp4"
    large = work / "people-1080.mp4"
    if not large.exists():
        ffmpeg("-i", people, "-vf", "setpts=N/30/TB,scale=1920:1080:flags=bicubic", "-r", "30", "-c:v", "libx264", "-crf", "20",
               "-preset", "medium", large)
    # The same people as seen by a hand that shakes and turns: what a still camera makes easy is not easy here.
    hand = work / "people-by-hand.mp4"
    if not hand.exists():
        ffmpeg("-i", people, "-vf", "crop=640:360:64+60*sin(n/17)+3*sin(n*1.9):36+30*sin(n/11)+3*sin(n*2.3),noise=alls=6:allf=t",
               "-c:v", "libx264", "-crf", "18", hand)
    return people, large, hand


def run(program, *arguments, check=True):
    return subprocess.run([str(program), "video", *map(str, arguments), "--progress", "none", "-q"], check=check)


def measured(program, film, model, profile):
    out = subprocess.run([str(program), "video", str(film), "--model", str(model), "--write", "overlay", "--profile", profile, "--benchmark",
                          "--progress", "none", "--json", "-"], check=True, capture_output=True)
    return json.loads(out.stdout)


# What a good practitioner writes: reading, inference and writing on threads of their own, the runtime on both cores.
def practitioner(film, model, out, preset):
    import queue

    import cv2
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = CORES
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    capture = cv2.VideoCapture(str(film))
    width, height = int(capture.get(cv2.CAP_PROP_FRAME_WIDTH)), int(capture.get(cv2.CAP_PROP_FRAME_HEIGHT))
    rate = capture.get(cv2.CAP_PROP_FPS)
    writer = subprocess.Popen(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "bgr24", "-s",
                               f"{width}x{height}", "-r", str(rate), "-i", "-", "-c:v", "libx264", "-preset", preset, "-crf", "18",
                               "-threads", str(CORES), "-pix_fmt", "yuv420p", str(out)], stdin=subprocess.PIPE)
    read, made = queue.Queue(4), queue.Queue(4)
    tint = np.array([0, 159, 230], np.float32)

    def reading():
        while True:
            there, picture = capture.read()
            if not there:
                return read.put(None)
            read.put(picture)

    def writing():
        while (picture := made.get()) is not None:
            writer.stdin.write(picture)
        writer.stdin.close()

    threads = [threading.Thread(target=reading), threading.Thread(target=writing)]
    for one in threads:
        one.start()
    count = 0
    while (picture := read.get()) is not None:
        small = cv2.cvtColor(cv2.resize(picture, (256, 256), interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2RGB)
        mask = session.run(None, {name: (small.astype(np.float32) / 255).transpose(2, 0, 1)[None]})[0][0, 0]
        mask = cv2.resize((mask * 127).astype(np.uint8), (width, height), interpolation=cv2.INTER_LINEAR)
        mask = cv2.merge([mask] * 3)
        picture = cv2.add(cv2.multiply(picture, 255 - mask, scale=1 / 255),
                          cv2.multiply(np.broadcast_to(tint.astype(np.uint8), picture.shape).copy(), mask, scale=1 / 255))
        made.put(picture.tobytes())
        count += 1
    made.put(None)
    for one in threads:
        one.join()
    writer.wait()
    return count


def speed(program, work, data, model):
    _, film, _ = films(work, data)
    frames = 1394
    print(f"video: {frames} frames of 1080p, person_prisma_256 in float32, overlay, two cores, medians of {ROUNDS} in turn")
    script = [sys.executable, __file__, "practitioner", str(film), str(model)]
    for profile, share in BARS.items():
        rows = {key: [] for key in ("cpu", "best", "whole", "script", "ffmpeg")}
        stages = {}
        for _ in range(ROUNDS):
            said = measured(program, film, model, profile)
            for name, value in said["stages_cpu_ms"].items():
                stages.setdefault(name, []).append(value)
            rows["cpu"].append(said["together_cpu_ms"] / said["sum_cpu_ms"])
            start = time.monotonic()
            run(program, film, "-o", work / "out.mp4", "--model", model, "--write", "overlay", "--profile", profile, "--overwrite")
            whole = (time.monotonic() - start) / frames
            rows["whole"].append(whole * 1000)
            rows["best"].append(said["sum_cpu_ms"] / CORES / (whole * 1000))
            start = time.monotonic()
            subprocess.run([*script, str(work / "script.mp4"), PRESET[profile]], check=True)
            rows["script"].append((time.monotonic() - start) * 1000 / frames)
            start = time.monotonic()
            ffmpeg("-threads", CORES, "-i", film, "-c:v", "libx264", "-preset", PRESET[profile], "-crf", "18", "-threads", CORES, work / "f.mp4")
            rows["ffmpeg"].append((time.monotonic() - start) * 1000 / frames)
        of = {name: statistics.median(values) for name, values in rows.items()}
        print(f" --profile {profile} (x264 {PRESET[profile]})")
        for name, values in stages.items():
            line(f"{name}, CPU ms a frame by itself", f"{statistics.median(values):.2f}")
        line("CPU, whole, over the sum of the stages", f"{of['cpu']:.3f}", "1.05")
        line("the sum over the cores, of the wall time of the whole film", f"{of['best']:.3f}", f"{share}")
        line("wall, ms a frame; frames/s", f"{of['whole']:.2f}; {1000 / of['whole']:.1f}")
        line("OpenCV + ONNX Runtime + FFmpeg, ms a frame", f"{of['script']:.2f}", f"{of['script'] / of['whole']:.2f} x ours")
        line("FFmpeg decoding and encoding alone, ms a frame", f"{of['ffmpeg']:.2f}")


def masks(folder):
    from PIL import Image
    return {int(row["time"]): np.asarray(Image.open(folder / row["file"])) >= 128 for row in csv.DictReader(open(folder / "times.csv"))}


def compared(full, other):
    inside = outside = 0
    worst = 1.0
    for moment, a in full.items():
        b = other[moment]
        both, either = int((a & b).sum()), int((a | b).sum())
        inside, outside = inside + both, outside + either
        if a.mean() > 0.01:
            worst = min(worst, both / max(either, 1))
    return inside / max(outside, 1), worst


def skipping(program, work, data, model):
    people, _, hand = films(work, data)
    small = work / "person_sinet_320.onnx"
    shutil.copyfile(data / "models" / "person_sinet_320.onnx", small)
    small.with_suffix(".json").write_text(json.dumps({
        "input": "bgr", "range": [0, 255], "mean": [102.89, 111.25, 126.91], "std": [16047.15, 16019.1, 16921.8],
        "classes": [{"name": "none", "color": None}, {"name": "person"}]}))
    policies = [[], ["--reuse", "0.01"], ["--reuse", "0.03"], ["--reuse", "0.05"], ["--smooth", "5"],
                ["--fast-model", str(small), "--confidence", "0.95"], ["--fast-model", str(small), "--confidence", "0.99"],
                ["--scales", "1,2"], ["--scales", "0.5,1"], ["--region", "auto"]]
    for film in (people, hand):
        print(f"skipping: {film.name}, against every frame inferred (mask from 0.5 on)")
        full = None
        for policy in policies:
            out = work / "masks"
            shutil.rmtree(out, ignore_errors=True)
            start = time.monotonic()
            subprocess.run([str(program), "video", str(film), "-o", str(out), "--write", "matte-files", "--model", str(model), "-q", "--progress", "none",
                            "--overwrite", "--json", str(work / "r.json"), *policy], check=True)
            seconds = time.monotonic() - start
            said = json.loads((work / "r.json").read_text())
            found = masks(out)
            full = found if full is None else full
            iou, worst = compared(full, found)
            skipped = (said["reused"] + said["by_fast_model"]) / said["frames"]
            line(" ".join(pathlib.Path(one).name if "/" in one else one for one in policy) or "(every frame)",
                 f"{100 * skipped:.1f} %", f"IoU {iou:.4f}, worst {worst:.3f}, {seconds:.1f} s")


def tree_memory(pid):
    """Proportional, of a process and its helpers, in MiB."""
    total = 0
    for one in [pid, *(int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split())]:
        try:
            for row in pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                if row.startswith("Pss:"):
                    total += int(row.split()[1]) // 1024
        except OSError:
            continue
    return total


def memory(program, work, data, model):
    people, _, _ = films(work, data)
    film = work / "people-8k.mp4"
    if not film.exists():
        ffmpeg("-ss", "40", "-i", people, "-t", "6", "-vf", "scale=7680:4320:flags=bicubic", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "18", film)
    for limit in ("4G", "6G"):
        command = [str(program), "video", str(film), "-o", str(work / "8k.mp4"), "--model", str(model), "--write", "overlay", "--overwrite", "-q",
                   "--progress", "none", "--memory", limit]
        run_ = subprocess.Popen(command)
        peak = 0
        start = time.monotonic()
        while run_.poll() is None:
            try:
                peak = max(peak, tree_memory(run_.pid))
            except OSError:
                pass
            time.sleep(0.05)
        line(f"8K, --memory {limit}: exit code, peak MiB of all processes, s", f"{run_.returncode}; {peak}", f"{time.monotonic() - start:.1f} s")


def main():
    if sys.argv[1] == "practitioner":
        practitioner(*sys.argv[2:])
        return
    program, work, data = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if not (data / "video").exists():
        print(f"video: skipped, {data}/video is not there")
        return
    model = data / "models" / "person_prisma_256.onnx"
    os.environ["OMP_NUM_THREADS"] = str(CORES)
    for what in sys.argv[4:] or ["speed", "skipping", "memory"]:
        {"speed": speed, "skipping": skipping, "memory": memory}[what](program, work, data, model)


if __name__ == "__main__":
    main()
