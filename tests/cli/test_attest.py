"""doctor --attest: what was tried on this machine's cards is believed for them, and for nothing else."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from devices import simulated, told  # noqa: E402
from program import BUILD, millrace  # noqa: E402

BODIES = ["hamming", "chart", "deflate", "hash", "latents"]


class Home:
    def __init__(self, folder):
        self.data, self.cache = folder / "data", folder / "cache"
        self.kept = self.data / "millrace" / "attested.json"

    def env(self, **more):
        return simulated(XDG_DATA_HOME=self.data, XDG_CACHE_HOME=self.cache, **more)

    def attest(self, *arguments, **more):
        return millrace("doctor", "--attest", "--rounds", "1", *arguments, env=self.env(**more), check=False)

    def doctor(self):
        return json.loads(millrace("doctor", "--json", "-", env=self.env()).stdout)

    def attested(self):
        return [[kernel["source"] for kernel in card["kernels"] if kernel["attested_here"]] for card in self.doctor()["cuda"]["devices"]]


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_what_was_right_is_believed_for_that_card(home, tmp_path):
    assert home.attested() == [[], []]
    done = home.attest("--device", "cuda:1", "--json", "-")
    assert done.returncode == 0, told(done)
    assert home.attested() == [[], BODIES]
    card = json.loads(done.stdout)["cuda"]["devices"][1]
    assert all(kernel["attested"] and kernel["attested_here"] for kernel in card["kernels"])

    np.save(tmp_path / "many.npy", np.random.default_rng(4).integers(0, 256, (200_000, 32), dtype=np.uint8))
    rates = {"begin_s": 0.1, "up_bytes_s": 1e9, "down_bytes_s": 1e9,
             "operations": {"hamming.brute256": {"kernel": card["kernels"][0]["ptx_sha256"], "amount_s": 1e13}}}
    (home.cache / "millrace").mkdir(parents=True)
    (home.cache / "millrace" / "rates.json").write_text(json.dumps({"millrace": "rates", "devices": {card["uuid"]: rates}}))

    def side():
        millrace("join", tmp_path / "many.npy", "--radius", "90", "--plan", "--json", tmp_path / "plan.json", "--overwrite", env=home.env())
        return json.loads((tmp_path / "plan.json").read_text())["plan"]["device"]

    assert side() == "cuda:1"
    text = home.kept.read_text()
    # The file of another driver, another card, other kernels; or a damaged one.
    for other in (text.replace('"driver": "', '"driver": "9'), text.replace("GPU-", "GPU-0"), text.replace('sha256": "', 'sha256": "0'),
                  text[: len(text) // 2], "[]", "{" * 100_000, '{"millrace": "attested", "attested": [3, {"uuid": 4}]}',
                  text.replace('"attested",', '"rates",'), ""):
        home.kept.write_text(other)
        assert side() == "cpu", other[:60]
    home.kept.write_text(text)
    assert side() == "cuda:1"


def test_what_others_could_have_written_is_not_believed(home):
    assert home.attest("--device", "cuda:0").returncode == 0
    elsewhere = home.kept.with_name("elsewhere.json")
    home.kept.rename(elsewhere)
    home.kept.symlink_to(elsewhere)
    report = home.doctor()
    assert not any(kernel["attested"] for card in report["cuda"]["devices"] for kernel in card["kernels"])
    assert any(str(home.kept) in line for line in report["to_do"])
    home.kept.unlink()
    elsewhere.rename(home.kept)
    assert home.attested()[0] == BODIES
    if os.geteuid() == 0:
        os.chown(home.kept, 12345, 12345)
        assert home.attested()[0] == []


def test_a_wrong_answer_is_not_attested_and_takes_back_what_was(home):
    assert home.attest().returncode == 0
    assert home.attested() == [BODIES, BODIES]
    done = home.attest("--device", "cuda:0", FAKE_CUDA_FAIL="launch:3+=wrong")
    assert done.returncode == 1
    left = home.attested()
    assert "hamming" not in left[0] and left[1] == BODIES
    # A run that is killed while it tries has taken back what it tries.
    assert home.attest("--device", "cuda:0").returncode == 0 and home.attested() == [BODIES, BODIES]
    running = subprocess.Popen([BUILD / "millrace", "doctor", "--attest", "--device", "cuda:0"], env=os.environ | home.env(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert b"cuda:0" in running.stderr.readline()
    while home.kept.read_text().count("ptx_sha256") != len(BODIES):
        assert running.poll() is None
    running.kill()
    running.wait()
    running.stderr.close()
    assert home.attested() == [[], BODIES]
    done = home.attest("--device", "cuda:0", FAKE_CUDA_FAIL="launch:1+=lost")
    assert done.returncode == 1 and home.attested() == [[], BODIES]
    # A card without memory is not accused, and not attested.
    done = home.attest("--device", "cuda:1", FAKE_CUDA_FAIL="alloc:1+=memory")
    assert done.returncode == 1 and home.attested() == [[], []] and "another answer" not in told(done)


def test_where_there_is_no_card_it_says_so(home):
    for arguments, more in (([], {"FAKE_CUDA": "no device"}), (["--device", "cuda:7"], {})):
        done = home.attest(*arguments, **more)
        assert done.returncode == 4, told(done)
    assert home.attest("--device", "cpu").returncode == 2
    for arguments in (["--rounds", "3"], ["--device", "cuda:0"], ["--attest", "--rounds", "0"], ["--attest", "--rounds", "8.7"]):
        assert millrace("doctor", *arguments, env=home.env(), check=False).returncode == 2, arguments
    assert not home.kept.exists()


def test_a_card_that_fails_by_itself_is_not_taken_again_by_itself(home, tmp_path):
    assert home.attest().returncode == 0
    np.save(tmp_path / "many.npy", np.random.default_rng(4).integers(0, 256, (120_000, 32), dtype=np.uint8))
    cards = home.doctor()["cuda"]["devices"]
    rates = {"begin_s": 0, "up_bytes_s": 1e12, "down_bytes_s": 1e12,
             "operations": {"hamming.brute256": {"kernel": cards[0]["kernels"][0]["ptx_sha256"], "amount_s": 1e15}}}
    (home.cache / "millrace").mkdir(parents=True)
    (home.cache / "millrace" / "rates.json").write_text(json.dumps({"millrace": "rates", "devices": {card["uuid"]: rates for card in cards}}))

    def join(*arguments, **more):
        millrace("join", tmp_path / "many.npy", "--radius", "90", "--threads", "1", "-o", tmp_path / "pairs.npy", "--overwrite", "--json", tmp_path / "out.json",
                 *arguments, env=home.env(**more))
        return json.loads((tmp_path / "out.json").read_text())["device"]

    # A card that was asked for is its owner's to judge.
    assert join("--device", "cuda:0", FAKE_CUDA_FAIL="launch:30+=wrong")["struck_out"]
    assert home.attested() == [BODIES, BODIES]
    device = join(FAKE_CUDA_FAIL="launch:30+=wrong")
    assert device["struck_out"] and home.attested() == [[], BODIES], device


def test_a_processor_is_no_card(home):
    done = millrace("doctor", "--attest", "--device", "opencl:0", env={"XDG_DATA_HOME": str(home.data)}, check=False)
    assert done.returncode == 4 and not home.kept.exists()
