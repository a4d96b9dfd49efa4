#!/usr/bin/env bash
# Fails when a folder has no line in src/README.md, or a folder of kernels no known answer (src/kernels/test_vectors), which is what
# `doctor` and the test of CPU levels ask.
set -euo pipefail
missing=0
while read -r folder; do
  case $folder in
    src | src/io | */script | src/io/process/helper) continue ;;  # named in their parent's line, or only a floor
  esac
  grep -q "^| \`${folder#src/}\` |" src/README.md || { echo "$folder: no line in src/README.md"; missing=1; }
done < <(git ls-files 'src/*' | xargs -n1 dirname | sort -u)
for folder in src/kernels/*/; do
  name=$(basename "$folder")
  [ "$name" = test_vectors ] && continue
  grep -q "^    {\"$name\", " src/kernels/test_vectors/*.cc || { echo "$folder: no known answer in src/kernels/test_vectors"; missing=1; }
done
exit $missing
