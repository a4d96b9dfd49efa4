"""The package in interpreters of their own: Ctrl-C, threads, what an import does, processes that end and fork meanwhile."""

import pathlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from job_inputs import photos, prices  # noqa: E402, F401
from package import ENVIRONMENT, interrupted, millrace  # noqa: E402
from program import content_of  # noqa: E402


WAITS = """
import numpy as np, millrace
codes = np.random.default_rng(1).integers(0, 2**63, 1_500_000, dtype=np.uint64)
print("begun", flush=True)
try:
    {call}
    print("ended")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("call", [
    "millrace.join(codes, 12, algorithm='brute')", "millrace.search(codes, codes, 12, algorithm='brute')",
    "millrace.join(np.zeros(60_000, np.uint64), 5)",
    # Memory that is only read, or never reached, is none.
    "millrace.ChartDrawer(rows=1000, width=224, height=224)(np.zeros((100_000, 1000)))",
    "millrace.hash(np.broadcast_to(codes[:1_125_000].view(np.uint8).reshape(1500, 2000, 3), (4000, 1500, 2000, 3)), ['phash', 'pdq', 'colorhash'])",
    "millrace.hash([np.zeros((8, 8), np.uint8)] * 60_000, ['phash', 'whash'], size=64)",
    "millrace.latents.measure(np.zeros((128, 400, 256, 256), np.float16))",
    "millrace.latents.Measurer().all(np.zeros((300, 16, 21, 128, 128), np.float16))",
    "millrace.latents.compare({'a': [{'m': float(k), **{str(i): float(k * i % 7) for i in range(60)}} for k in range(300)], "
    "'b': [{'m': k / 3, **{str(i): float(k * i % 5) for i in range(60)}} for k in range(300)]}, shuffles=3_000_000)"])
def test_ctrl_c_ends_a_call(call):
    rc, printed, said, took = interrupted(WAITS.format(call=call))
    # Any of these takes half a minute and more; here within a second, elsewhere while much else is done.
    assert (rc, printed, said) == (0, "interrupted\n", "") and took < 15


def test_an_interrupted_job_is_gone_on_with(tmp_path):
    prices = tmp_path / "prices.csv"
    walk = 100 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.02, 20_000)))
    prices.write_text("Close\n" + "\n".join(f"{price:.4f}" for price in walk) + "\n")
    how = dict(columns="close=Close", window=60, size="300x200", store="zarr", shard=500, threads=1)
    code = f"import millrace\ndef stop(stage, done, total, size):\n    if done > 1000: raise KeyboardInterrupt\n" \
           f"try:\n    millrace.render({str(prices)!r}, progress=stop, output={str(tmp_path / 'charts')!r}, **{how!r})\n    print('ended')\n" \
           "except KeyboardInterrupt: print('interrupted')\n"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, env=ENVIRONMENT, timeout=120)
    assert said.stdout == b"interrupted\n", said
    assert not (tmp_path / "charts").exists() or not (tmp_path / "charts" / "zarr.json").exists()
    for name in ("charts", "other"):
        millrace.render(prices, output=tmp_path / name, **how)
    assert content_of(tmp_path / "charts") == content_of(tmp_path / "other")


def test_two_jobs_in_two_threads_give_their_own_results(photos, prices, tmp_path):
    hashes, charts = millrace.hash_files(photos).codes["dhash"], millrace.ChartDrawer(rows=30, width=64, height=48)
    series = np.random.default_rng(1).random((500, 30))
    expected = charts(series)
    failed = []

    def check(work):
        try:
            for _ in range(5):
                work()
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    def render(name):
        output = tmp_path / f"{name}-{time.monotonic_ns()}"
        millrace.render(prices, columns="close=Close", window=60, size="64x48", store="npy", output=output)
        assert np.load(output / "images.npy").shape[0] == 341

    works = [lambda: np.testing.assert_array_equal(millrace.hash_files(photos).codes["dhash"], hashes),
             lambda: np.testing.assert_array_equal(charts(series), expected), lambda: render("a"), lambda: render("b"),
             lambda: millrace.join(np.arange(1000, dtype=np.uint64), 1)]
    threads = [threading.Thread(target=check, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def test_an_interpreter_ends_while_threads_are_at_work():
    code = """
import threading, time, numpy as np, millrace
codes = np.random.default_rng(1).integers(0, 2**63, 400_000, dtype=np.uint64)
image = np.zeros((3000, 3000, 3), np.uint8)
def quietly(work):
    try:
        work()
    except millrace.Error as error:
        assert error.code == "cancelled"
works = [lambda: millrace.join(codes, 10, algorithm="brute", threads=1), lambda: millrace.hash([image] * 6400, "phash", threads=1)]
for work in works:
    threading.Thread(target=quietly, args=(work,), daemon=True).start()
time.sleep(0.5)
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=ENVIRONMENT, timeout=120)
        assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)


def test_importing_starts_nothing():
    code = """
import signal, sys, os
before = [signal.getsignal(s) for s in range(1, 65)]
children = os.listdir("/proc/self/task")
import millrace
assert [signal.getsignal(s) for s in range(1, 65)] == before
assert os.listdir("/proc/self/task") == children and len(children) == 1
assert not {"numpy", "torch", "pandas", "tqdm"} & set(sys.modules), sys.modules.keys()
assert not open(f"/proc/self/task/{os.getpid()}/children").read()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr.decode()


FORKS = """
import multiprocessing, os, sys, numpy as np, millrace
from multiprocessing import get_context
image = np.arange(64 * 64, dtype=np.uint32).astype(np.uint8).reshape(64, 64)
drawer = millrace.ChartDrawer(rows=20, width=64, height=48)
series = np.random.default_rng(1).random((300, 20))
latent = series[:240].reshape(4, 3, 20, 20)
expected = millrace.hash([image] * 40), drawer(series), millrace.join(np.arange(4096, dtype=np.uint64), 2)
measured = str(millrace.latents.measure(latent).metrics)
millrace.hash_files([{picture!r}])

def work(queue):
    try:
        found = millrace.hash([image] * 40), drawer(series), millrace.join(np.arange(4096, dtype=np.uint64), 2)
        assert all(np.array_equal(a, b) for a, b in zip(found, expected))
        assert str(millrace.latents.measure(latent).metrics) == measured
        assert np.array_equal(millrace.ChartDrawer(**drawer.options)(series), expected[1])
        try:
            millrace.hash_files([{picture!r}])
            queue.put("a job ran")
        except millrace.Error as error:
            queue.put(error.code)
    except BaseException as error:
        queue.put(repr(error))

context = get_context({method!r})
if __name__ == "__main__":
    for _ in range(5):
        queue = context.SimpleQueue()
        child = context.Process(target=work, args=(queue,))
        child.start()
        print(queue.get(), flush=True)
        child.join(30)
        assert child.exitcode == 0
    assert np.array_equal(drawer(series), expected[1])
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_is_right_or_says_that_it_cannot(photos, tmp_path, method):
    script = tmp_path / "forks.py"
    script.write_text(FORKS.format(picture=str(photos / "0.jpg"), method=method))
    done = subprocess.run([sys.executable, script], capture_output=True, env=ENVIRONMENT, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    assert set(done.stdout.split()) == ({b"unavailable"} if method == "fork" else {b"a", b"job", b"ran"})


def test_a_child_that_was_forked_before_any_work_does_all(photos):
    code = f"import millrace, os\npid = os.fork()\nif pid == 0:\n    os._exit(0 if len(millrace.hash_files([{str(photos)!r}])) == 8 else 1)\n" \
           "assert os.waitpid(pid, 0)[1] == 0\n"
    assert subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, timeout=60).returncode == 0


def test_a_process_that_was_forked_within_a_call_says_so():
    """By a callback, or while another thread was in one: what that held is held for ever."""
    code = """
import os, sys, threading, numpy as np, millrace
def fork(*_):
    pid = os.fork()
    if pid == 0:
        return
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
codes = np.random.default_rng(1).integers(0, 2**63, 3_000_000, dtype=np.uint64)
if sys.argv[1] == "thread":
    threading.Thread(target=millrace.join, args=(codes, 12), kwargs={"algorithm": "brute"}, daemon=True).start()
    import time; time.sleep(0.5)
    fork()
    call = lambda: millrace.join(codes[:9], 1)
else:
    call = lambda: millrace.hash_files(sys.argv[2], progress=fork)
try:
    call()
    os._exit(1)
except millrace.Error as error:
    os._exit(0 if error.code == "unavailable" else 2)
"""
    for how in ("thread", "callback"):
        done = subprocess.run([sys.executable, "-c", code, how, "/usr/share"], env=ENVIRONMENT, timeout=60)
        assert done.returncode == 0, how
