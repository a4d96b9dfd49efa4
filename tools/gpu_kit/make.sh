#!/usr/bin/env bash
# make.sh FOLDER [BUILD]: a folder that attests a GPU on the machine where that is, and FOLDER.tgz, which travels: the
# conformance tests, what measures, the libraries of both, and run.sh. It needs a driver there and nothing else.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$1 build=${2:-build/release}
MOST_MB=25  # of the archive
rm -rf "$out" "$out.tgz"
mkdir -p "$out/bin" "$out/lib/c++" "$out/lib/c"
for program in conformance gpu_kit millrace; do
  cp "$build/$program" "$out/bin/"
  strip "$out/bin/$program"
  ldd "$build/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
done | sort -u | while read -r library; do
  case $(basename "$library") in
    # The system's own, unless they are older than ours. All that the C library consists of goes with it.
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | libutil.so.* | libnsl.so.* | ld-linux*) cp -L "$library" "$out/lib/c/" ;;
    libstdc++.so.* | libgcc_s.so.*) cp -L "$library" "$out/lib/c++/" ;;
    *) cp -L "$library" "$out/lib/" ;;
  esac
done
loader=$(ldd "$build/conformance" | awk '/ld-linux/ { print $1 }')
cp -L "$loader" "$out/lib/c/"
cp tools/gpu_kit/run.sh "$out/"
tar -C "$(dirname "$out")" --sort=name --owner=0 --group=0 --numeric-owner -c "$(basename "$out")" | gzip -9 > "$out.tgz"
size=$(($(stat -c %s "$out.tgz") / 1000000))
[ "$size" -lt $MOST_MB ] || { echo "gpu_kit: $out.tgz has $size MB, and $MOST_MB are the most" >&2; exit 1; }
echo "$out.tgz: $size MB; docs/gpu.md tells what to do with it on a machine with an NVIDIA GPU"
