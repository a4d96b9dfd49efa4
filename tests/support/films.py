"""Films that tests make and look into, by FFmpeg's own programs."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from program import millrace

needs_ffmpeg = pytest.mark.skipif(not (shutil.which("ffmpeg") and shutil.which("ffprobe")),
                                  reason="ffmpeg, which makes the films of the tests, is not installed")


X264 = ["-c:v", "libx264", "-preset", "veryfast"]


def video(film, output, *more, check=True, **options):
    return millrace("video", film, "-o", output, "--progress", "none", *more, check=check, **options)


def ffmpeg(*arguments):
    done = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, arguments)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def made(path, *arguments, size="96x64", rate=10, seconds=2, source="testsrc2"):
    """A film of a pattern that moves; `arguments` say how it is encoded."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ffmpeg("-f", "lavfi", "-i", f"{source}=size={size}:rate={rate}:duration={seconds}", *arguments, path)
    return path


def from_numbers(path, pictures, pixels, *arguments, rate=10):
    """A film of these pictures, each a list of planes, in FFmpeg's format of this name; nothing lost unless told."""
    height, width = pictures[0][0].shape
    raw = b"".join(plane.tobytes() for picture in pictures for plane in picture)
    done = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", pixels, "-s",
                           f"{width}x{height}", "-r", str(rate), "-i", "/dev/stdin", *map(str, arguments or ("-c:v", "ffv1")),
                           str(path)], input=raw, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return path


def looked_at(path):
    """All that ffprobe says, with a hash of each packet's bytes."""
    out = subprocess.run(["ffprobe", "-v", "error", "-show_format", "-show_streams", "-show_chapters", "-show_packets",
                          "-show_data_hash", "md5", "-of", "json", str(path)], capture_output=True, check=True).stdout
    return json.loads(out)


def streams(path, kind=None):
    return [one for one in looked_at(path)["streams"] if kind in (None, one["codec_type"])]


def times(path, stream=0):
    """Of its packets, in the order in which they are shown, in seconds."""
    return sorted(float(one["pts_time"]) for one in looked_at(path)["packets"] if one["stream_index"] == stream)


def payload(path, stream):
    return [one["data_hash"] for one in looked_at(path)["packets"] if one["stream_index"] == stream]


PLANES = {"gray": 1, "yuv420p": 1.5, "yuv422p": 2, "yuv444p": 3, "gbrp": 3, "yuva420p": 2.5, "gbrap": 4}


def frames(path, pixels, stream=0, size=None):
    """Each picture's numbers as bytes, one after the other as FFmpeg's format of this name has them. Nothing is
    scaled, and nothing turned."""
    raw = ffmpeg("-noautorotate", "-i", path, "-map", f"0:{stream}", "-f", "rawvideo", "-vsync", "passthrough",
                 "-pix_fmt", pixels, "-")
    about = streams(path)[stream]
    width, height = size or (about["width"], about["height"])
    bits = subprocess.run(["ffprobe", "-v", "error", "-show_pixel_formats", "-of", "json"], capture_output=True,
                          check=True).stdout
    form = next(one for one in json.loads(bits)["pixel_formats"] if one["name"] == pixels)
    cw, ch = form.get("log2_chroma_w", 0), form.get("log2_chroma_h", 0)
    depth = form["components"][0]["bit_depth"]
    each = 1 if depth <= 8 else 2
    count = len(form["components"])
    rgb = form["flags"]["rgb"]
    sides = []
    for c in range(count):
        chroma = c in (1, 2) and not rgb and count > 2
        sides.append((-(-height >> ch) if chroma else height, -(-width >> cw) if chroma else width))
    whole = sum(h * w for h, w in sides) * each
    assert len(raw) % whole == 0
    out = []
    for k in range(len(raw) // whole):
        at, planes = k * whole, []
        for h, w in sides:
            plane = np.frombuffer(raw, np.uint8 if each == 1 else "<u2", h * w, at).reshape(h, w)
            at += h * w * each
            planes.append(plane)
        out.append(planes)
    return out


def same_frames(a, b):
    return len(a) == len(b) and all((x == y).all() for one, other in zip(a, b) for x, y in zip(one, other))
