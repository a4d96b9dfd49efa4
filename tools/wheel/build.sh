#!/usr/bin/env bash
# Builds, repairs, checks and tries the Python package's wheels; they are left in build/wheel/. One for Python 3.11, and one
# for all from 3.12 on where a 3.12 with its headers is here.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$PWD/build/wheel
mkdir -p "$folder"
tools/wheel/hdf5.sh
# The compiler of all other builds, not the one that a Python was built by.
export CC=${CC:-cc} CXX=${CXX:-c++} MILLRACE_HDF5=$PWD/build/wheel-hdf5/prefix MILLRACE_COMPILER_LAUNCHER
MILLRACE_COMPILER_LAUNCHER=$(command -v ccache || true)
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

# An environment with what builds wheels.
tools_of() {
  local python=$1 environment=$2
  cmp -s packages/locks/wheel.txt "$environment/.installed" && return
  "$python" -m venv "$environment"
  "$environment/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r packages/locks/wheel.txt
  cp packages/locks/wheel.txt "$environment/.installed"
}

# The first Python of a version that has its headers.
python_of() {
  local python
  for python in "/usr/bin/python$1" "$(command -v "python$1" || true)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python; do
    [ -x "$python" ] && "$python" -c 'import os, sys, sysconfig
fits = "%d.%d" % sys.version_info[:2] == sys.argv[1]
sys.exit(not (fits and os.path.exists(sysconfig.get_path("include") + "/Python.h")))' "$1" 2> /dev/null && { echo "$python"; return; }
  done
  return 1
}

wheel_of() {
  local python=$1 environment=$2 built=$folder/built repaired=$folder/repaired wheel numpy
  tools_of "$python" "$environment"
  rm -rf "$built" "$repaired"
  # What they say is for who looks for a fault.
  if ! { "$environment/bin/python" -m build --wheel --no-isolation -o "$built" . &&
    PATH=$PWD/$environment/bin:$PATH "$environment/bin/auditwheel" repair --exclude 'libopenvino*' -w "$repaired" "$built"/*.whl; } > "$folder/build.log" 2>&1; then
    tail -n 40 "$folder/build.log" >&2
    return 1
  fi
  wheel=$(echo "$repaired"/*.whl)
  "$environment/bin/python" tools/wheel/check.py "$wheel"
  mv "$wheel" "$folder/"
  wheel=$folder/$(basename "$wheel")
  try "$python" "$wheel"
  # Debian 12's own Python.
  if [ "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" = 3.11 ]; then tools/wheel/bare.sh "$wheel" "$folder"/numpy/numpy-*.whl; fi
  echo "wheel: ${wheel#"$PWD/"}, $(du --apparent-size -h "$wheel" | cut -f1)B"
}

# In an environment outside of the checkout, with the wheel and NumPy alone.
try() {
  local python=$1 wheel=$2 outside
  outside=$(mktemp -d)
  rm -rf "$folder/numpy"
  "$python" -m venv "$outside/environment"
  "$outside/environment/bin/pip" download -q --disable-pip-version-check -d "$folder/numpy" --only-binary :all: numpy
  "$outside/environment/bin/pip" install -q --disable-pip-version-check --no-index --find-links "$folder/numpy" "$wheel"
  cp tools/wheel/try.py tools/wheel/import_time.py "$outside"
  (cd "$outside" && env -i PATH=/usr/bin:/bin HOME="$outside" environment/bin/python try.py &&
    env -i PATH=/usr/bin:/bin environment/bin/python import_time.py)
  rm -rf "$outside"
}

python=$(python_of 3.11) || { echo "wheel: there is no Python 3.11 with its headers (python3-dev)" >&2; exit 1; }
wheel_of "$python" .venv-wheel
if python=$(python_of 3.12); then
  wheel_of "$python" .venv-wheel-3.12
else
  echo "wheel: there is no Python 3.12 with its headers here: no wheel for 3.12 and later, which is built the same way where there is one"
  [ -z "${MILLRACE_WHEEL_ALL-}" ] || exit 1
fi
