"""The kit that attests a GPU, where there is none of what built it: no source folder, and a driver that LD_LIBRARY_PATH alone
finds. The driver is the simulated one, and compute-sanitizer a stand-in that looks whether there is a test to run."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from program import BUILD, ROOT  # noqa: E402

pytestmark = pytest.mark.skipif(BUILD.name in ("asan", "tsan"), reason="sanitizers want to be loaded first")
BODIES = {"hamming", "chart", "deflate", "hash", "latents"}
WITHOUT_SOURCES = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs none "{ROOT}" && cd / && exec "$@"', "sh"]
FEW = "*HammingOnDevice.ManyBlocks*"
# Says that it found something in the tests of one body, under one tool.
CHECKER = """#!/bin/bash
tool=$2
shift 4
"$@" --gtest_list_tests | grep -q '^  ' || exit 1
[[ "$tool $*" == "racecheck "*"$FINDS"* ]] && [ -n "$FINDS" ] && exit 9
exit 0
"""


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    tried = subprocess.run([*WITHOUT_SOURCES, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"nothing can be mounted for one process alone: {tried.stderr}")
    folder = tmp_path_factory.mktemp("kit")
    subprocess.run([ROOT / "tools/gpu_kit/make.sh", folder / "made", BUILD], check=True, stdout=subprocess.DEVNULL)
    assert (folder / "made.tgz").stat().st_size < 25e6
    with tarfile.open(folder / "made.tgz") as packed:
        packed.extractall(folder / "there", filter="fully_trusted")
    shutil.copytree(BUILD / "fake_cuda", folder / "driver")
    (folder / "tools").mkdir()
    checker = folder / "tools/compute-sanitizer"
    checker.write_text(CHECKER)
    checker.chmod(0o755)
    return folder


def step(kit, which, results, out, **env):
    """(exit code, what was said, what the packed results hold)"""
    environment = dict(PATH=f"{kit / 'tools'}:{os.environ['PATH']}", HOME=str(kit), LD_LIBRARY_PATH=str(kit / "driver"), OUT=str(out),
                       OCL_ICD_VENDORS="/nonexistent", **env)
    done = subprocess.run([*WITHOUT_SOURCES, kit / "there/made/run.sh", which, "cuda:0", results], env=environment, capture_output=True, text=True)
    with tarfile.open(out / f"results-{which}.tgz") as packed:
        held = {pathlib.Path(name).name for name in packed.getnames()}
    return done.returncode, done.stdout + done.stderr, held


def said_of(path):
    return {row["source"]: row["sanitizer"] for row in json.loads(path.read_text())["attested"]}


def test_both_steps(kit, tmp_path):
    code, said, held = step(kit, "A", tmp_path / "results", tmp_path, MILLRACE_KIT_TESTS=FEW)
    assert code == 0 and {"known.txt", "conformance.txt", "trial.json"} <= held, said
    assert "attestation.json" not in held, "some of the tests attest nothing"
    assert said_of(tmp_path / "results/trial.json") == dict.fromkeys(BODIES, "not run")
    # The benches take minutes: they are cut, and what they had done is there.
    code, said, held = step(kit, "B", tmp_path / "results", tmp_path, MILLRACE_KIT_TESTS=FEW, MILLRACE_KIT_CUT="3")
    assert code == 0 and {"bench.txt", "tune.txt", "doctor.txt", "racecheck-hash.txt"} <= held, said
    assert said_of(tmp_path / "results/trial.json") == dict.fromkeys(BODIES, "passed"), said
    assert "from nothing to known answers" in (tmp_path / "results/bench.txt").read_text()
    # Once more where there is no sanitizer: what an earlier run found of it is not said again.
    (kit / "tools/compute-sanitizer").rename(kit / "elsewhere")
    try:
        step(kit, "B", tmp_path / "results", tmp_path, MILLRACE_KIT_TESTS=FEW, MILLRACE_KIT_CUT="1")
    finally:
        (kit / "elsewhere").rename(kit / "tools/compute-sanitizer")
    assert said_of(tmp_path / "results/trial.json") == dict.fromkeys(BODIES, "not run")


def test_what_the_sanitizer_finds_is_not_attested(kit, tmp_path):
    step(kit, "A", tmp_path / "results", tmp_path, MILLRACE_KIT_TESTS=FEW)
    code, said, _ = step(kit, "B", tmp_path / "results", tmp_path, MILLRACE_KIT_TESTS=FEW, MILLRACE_KIT_CUT="1", FINDS="StreamsOnDevice")
    assert code == 1
    assert said_of(tmp_path / "results/trial.json") == dict.fromkeys(BODIES - {"deflate"}, "passed"), said


def test_wrong_answers_attest_nothing(kit, tmp_path):
    """Nor does what an earlier run had attested stay."""
    assert step(kit, "A", tmp_path / "results", tmp_path, MILLRACE_KIT_TESTS=FEW)[0] == 0
    code, said, held = step(kit, "A", tmp_path / "results", tmp_path, MILLRACE_KIT_TESTS=FEW, FAKE_CUDA_FAIL="launch:1=wrong")
    assert code == 1 and "known.txt" in held and not {"trial.json", "attestation.json"} & held, said
    _, said, held = step(kit, "B", tmp_path / "results", tmp_path, MILLRACE_KIT_TESTS=FEW, MILLRACE_KIT_CUT="1")
    assert not {"trial.json", "attestation.json"} & held, said
