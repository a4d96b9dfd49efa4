#!/usr/bin/env python3
"""Latents as a video-diffusion model leaves them: content that is smooth in space and time and shared among channels comes out of
noise, step by step. Groups differ by how strong their content is, by a known amount.

  make_latents.py FOLDER [--groups 6] [--videos 12] [--steps 20] [--frames 16] [--height 60] [--width 106] [--effect 0.05]
"""

import argparse
import json
import pathlib

import numpy as np

CHANNELS = 16


def content(random, frames, height, width):
    """Unit variance; amplitude falls with the square of the frequency, in space and in time."""
    x = np.fft.rfftn(random.normal(size=(CHANNELS, frames, height, width)).astype(np.float32), axes=(1, 2, 3))
    f, h, w = np.fft.fftfreq(frames), np.fft.fftfreq(height), np.fft.rfftfreq(width)
    radius = np.sqrt((f[:, None, None] / 0.1) ** 2 + (h[None, :, None] / 0.06) ** 2 + (w[None, None, :] / 0.06) ** 2)
    x = np.fft.irfftn(x / (1 + radius**2), s=(frames, height, width), axes=(1, 2, 3))
    mixed = np.tensordot(np.eye(CHANNELS) + 0.3 * random.normal(size=(CHANNELS, CHANNELS)), x, 1)
    return (mixed / mixed.std()).astype(np.float32)


def make(folder, groups, videos, steps, frames, height, width, effect):
    for g in range(groups):
        for v in range(videos):
            random = np.random.default_rng([g, v])
            # What one video has more of than another, beside what its group has.
            strength = (1 + effect * g) * (1 + 0.05 * random.normal())
            noise = random.normal(size=(CHANNELS, frames, height, width)).astype(np.float32)
            video = content(random, frames, height, width) * np.float32(strength)
            below = folder / "latents" / f"prompt_{g:03d}" / f"vid_{v:03d}"
            below.mkdir(parents=True, exist_ok=True)
            for s in range(steps):
                left = 1 - s / max(1, steps - 1)
                latent = np.float32(np.sqrt(1 - left**2)) * video + np.float32(left) * noise
                np.save(below / f"step_{s:03d}.npy", latent.astype(np.float16))
                told = {"video_id": f"vid_{v:03d}", "step": s, "timestep": int(1000 * left), "total_steps": steps,
                        "shape": list(latent.shape), "dtype": "torch.float16", "sigma": left}
                (below / f"step_{s:03d}_metadata.json").write_text(json.dumps(told))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    for name, value in (("groups", 6), ("videos", 12), ("steps", 20), ("frames", 16), ("height", 60), ("width", 106)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--effect", type=float, default=0.05)
    given = vars(parser.parse_args())
    make(**given)
