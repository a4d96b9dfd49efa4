"""`millrace doctor` as a person runs it: exit codes, JSON, and what it says when something is missing."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import PROGRAM  # noqa: E402


def doctor(*arguments, program=PROGRAM, **variables):
    # OpenCL's compilers take seconds for kernels; test_devices.py has them.
    environment = {k: v for k, v in os.environ.items() if k != "MILLRACE_CPU"} | {"OCL_ICD_VENDORS": "/nonexistent"} | variables
    return subprocess.run([str(program), "doctor", *arguments], env=environment, capture_output=True, text=True, timeout=120)


def test_everything_is_here():
    done = doctor(OCL_ICD_VENDORS=os.environ.get("OCL_ICD_VENDORS", ""))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for heading in ("CPU", "Memory", "GPUs", "Formats", "Libraries", "Self-test", "To do"):
        assert f"\n{heading}" in done.stdout
    assert "WRONG" not in done.stdout


def test_json_on_stdout_is_nothing_but_json():
    report = json.loads(doctor("--json", "-").stdout)
    assert report["self_test"]["passed"]
    assert report["helper"]["works"]
    steps = report["self_test"]["steps"]
    assert {step["level"] for step in steps} == set(report["cpu"]["levels"])
    assert report["memory"]["automatic"] <= report["memory"]["available"]


def test_json_goes_to_a_file_beside_the_text(tmp_path):
    done = doctor("--json", str(tmp_path / "report.json"))
    assert "Formats" in done.stdout
    assert json.loads((tmp_path / "report.json").read_text())["formats"]


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512", "neon"])
def test_a_forced_level_is_used_or_explained(level):
    done = doctor("--json", "-", MILLRACE_CPU=level)
    assert done.returncode == 0
    cpu = json.loads(done.stdout)["cpu"]
    if level in cpu["levels"]:
        assert cpu["level"] == level
    else:
        assert f"this machine has no {level}" in cpu["forced_error"]


def test_without_the_helper_it_says_so(tmp_path):
    alone = tmp_path / "millrace"
    shutil.copy2(PROGRAM, alone)
    done = doctor(program=alone)
    assert done.returncode == 0
    assert "the decoding helper was not found" in done.stdout
    assert "build the target millrace-decoder" in done.stdout


def test_a_helper_that_crashes(tmp_path):
    alone = tmp_path / "millrace"
    shutil.copy2(PROGRAM, alone)
    helper = tmp_path / "millrace-decoder"
    helper.write_text("#!/bin/sh\nkill -ABRT $$\n")
    helper.chmod(0o755)
    done = doctor(program=alone)
    assert done.returncode == 0
    assert "the decoding helper crashed (Aborted" in done.stdout
    assert "libvips42" in done.stdout


def test_wrong_usage():
    assert doctor("--no-such-thing").returncode == 2
