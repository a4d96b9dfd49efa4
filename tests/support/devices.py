"""The program on devices: the simulated NVIDIA driver, and what OpenCL drivers are here."""

import json

from program import BUILD, millrace

SIMULATED = {"LD_LIBRARY_PATH": str(BUILD / "fake_cuda")}


def simulated(**more):
    """An environment with two simulated cards; FAKE_CUDA_FAIL="launch:3=lost" and others say how they behave."""
    return SIMULATED | {k: str(v) for k, v in more.items()}


def opencl():
    found = json.loads(millrace("doctor", "--json", "-").stdout)["opencl"]
    return found["devices"], found["reason"]


def told(done):
    return done.stderr.decode()
