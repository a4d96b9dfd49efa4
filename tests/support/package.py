"""The Python package of the build that is tested; its tests are left out, with the reason, where it was not built."""

import os
import sys

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
