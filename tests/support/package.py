"""The Python package of the build that is tested; its tests are left out, with the reason, where it was not built."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from program import BUILD, OWN_DATA

if not list((BUILD / "python" / "millrace").glob("_core.*")):
    pytest.skip("this build has no Python package", allow_module_level=True)
sys.path.insert(0, str(BUILD / "python"))
# As for the program: what a job keeps for a person is kept elsewhere.
os.environ.update(XDG_DATA_HOME=OWN_DATA.name, XDG_CACHE_HOME=OWN_DATA.name)

import millrace  # noqa: E402, F401

# For interpreters that tests start.
ENVIRONMENT = dict(os.environ, PYTHONPATH=str(BUILD / "python"))


def interrupted(code, *arguments, after=1.5):
    """An interpreter of its own runs `code`, which prints "begun" once it works; then it and what it started get a terminal's
    Ctrl-C. (rc, what it printed behind that, what it wrote to stderr, how long that took in seconds); nothing of it is left."""
    # Who runs the tests in the background may have SIGINT ignored, which children inherit.
    code = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + code
    environment = dict(ENVIRONMENT, PYTHONPATH=os.pathsep.join([ENVIRONMENT["PYTHONPATH"], *sys.path[1:]]))
    with subprocess.Popen([sys.executable, "-c", code, *map(os.fspath, arguments)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, start_new_session=True) as run:
        late = threading.Timer(120, os.killpg, (run.pid, signal.SIGKILL))
        late.start()
        try:
            assert run.stdout.readline() == "begun\n"
            time.sleep(after)
            assert run.poll() is None
            os.killpg(run.pid, signal.SIGINT)
            asked = time.monotonic()
            printed, said = run.communicate()
            took = time.monotonic() - asked
        finally:
            late.cancel()
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)
    return run.returncode, printed, said, took
