"""PyTorch, where it is: in this environment, or, with ./dev test --all, where packages/monai.txt is installed. Tests that need
it are left out elsewhere, with the reason."""

import os
import sys

import pytest
from program import ROOT

SITES = sorted(ROOT.glob(f".venv-monai/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"))
try:
    import torch
except ImportError:
    if "MILLRACE_ALL" not in os.environ or not SITES:
        pytest.skip("no PyTorch here: ./dev test --all installs it", allow_module_level=True)
    # Last: of what both have, this environment's is taken.
    sys.path.append(os.fspath(SITES[0]))
    import torch  # noqa: F401
