#!/usr/bin/env bash
# Writes packages/locks/NAME.txt for every list of Python packages: each package, and each that one needs, with the hashes of all
# its files. pip installs nothing else (./dev, --require-hashes).
set -euo pipefail
cd "$(dirname "$0")/.."
tools=build/lock-tools
[ -x $tools/bin/pip-compile ] || { python3 -m venv $tools && $tools/bin/pip install -q --disable-pip-version-check --require-hashes -r packages/locks/lock.txt; }
for name in lock peers openvino film fundus monai ray wheel; do
  $tools/bin/pip-compile -q --generate-hashes --allow-unsafe --no-header --no-annotate --no-emit-index-url --no-emit-trusted-host \
    --no-emit-find-links --strip-extras -o "packages/locks/$name.txt" "packages/$name.txt"
done
# Installed without what its Python part needs.
awk '/^[a-z]/ { keep = /^openvino==/ } keep' packages/locks/openvino.txt > packages/locks/openvino.new
mv packages/locks/openvino.new packages/locks/openvino.txt
