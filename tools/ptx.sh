#!/usr/bin/env bash
# A second opinion of kernel bodies where CUDA's tools are: ptxas takes the PTX that the build has made, with registers and
# spills; nvcc takes the bodies themselves. Never needed. A division of 64 bits is a subroutine of ptxas, around which some
# words are spilled, as there are where it keeps registers few so that more blocks fit. More is a body that needs another shape.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v ptxas > /dev/null; then
  echo "ptx: no ptxas here, so no second opinion"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
while read -r body; do
  name=$(basename "$body" _body.inc)
  ptx=build/lint/generated/$name.ptx
  ninja -C build/lint "generated/$name.ptx" > /dev/null 2>&1 || continue
  for architecture in sm_75 sm_90; do
    ptxas -arch=$architecture -v "$ptx" -o "$scratch/out" > "$scratch/log" 2>&1 || { cat "$scratch/log"; failed=1; }
    awk -v a=$architecture -v n="$name" '/Compiling entry/ { kernel = $7 } /spill/ { spills = $5 + $9 } /Used/ {
      printf "ptx: %s %s %s: %s registers, %s bytes spilled\n", n, a, kernel, $5, spills; if (spills > 128) bad = 1 }
      END { exit bad }' "$scratch/log" || { echo "ptx: $name spills"; failed=1; }
  done
  if command -v nvcc > /dev/null; then
    cp "$body" "$scratch/body.cu"
    nvcc -ptx -arch=sm_90 -fmad=false -I. "$scratch/body.cu" -o "$scratch/nvcc.ptx" 2> "$scratch/log" || { cat "$scratch/log"; failed=1; }
  fi
done < <(git ls-files 'src/*_body.inc')
exit $failed
