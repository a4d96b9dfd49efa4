"""The program on devices: the simulated NVIDIA driver, and what OpenCL drivers are here."""

import functools
import json

from program import BUILD, millrace

# Compiling for an OpenCL driver takes ten seconds.
SIMULATED = {"LD_LIBRARY_PATH": str(BUILD / "fake_cuda"), "OCL_ICD_VENDORS": "/nonexistent"}


def simulated(**more):
    """An environment with two simulated cards and nothing else; FAKE_CUDA_FAIL="launch:3=lost" and others say how they behave."""
    return SIMULATED | {k: str(v) for k, v in more.items()}


@functools.cache
def opencl():
    found = json.loads(millrace("doctor", "--json", "-").stdout)["opencl"]
    return found["devices"], found["reason"]


def told(done):
    return done.stderr.decode()
