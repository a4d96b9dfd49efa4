#!/usr/bin/env bash
# Makes a folder that attests a GPU on the machine where that is: the conformance tests, what measures, the libraries of both,
# and run.sh. It needs a driver there and nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib"
for program in conformance gpu_kit millrace; do
  cp "build/release/$program" "$out/bin/"
  strip "$out/bin/$program"
  ldd "build/release/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
done | sort -u | while read -r library; do
  case $(basename "$library") in
    # The system's own, unless it is older than ours: in a folder apart.
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) mkdir -p "$out/lib/glibc" && cp -L "$library" "$out/lib/glibc/" ;;
    *) cp -L "$library" "$out/lib/" ;;
  esac
done
loader=$(ldd build/release/conformance | awk '/ld-linux/ { print $1 }')
cp -L "$loader" "$out/lib/glibc/"
cat > "$out/run.sh" <<'RUN'
#!/usr/bin/env bash
# run.sh [DEVICE [RESULTS]]: conformance on the device (cuda:0), compute-sanitizer where it is found, benches; and where all
# passed, attestation.json, for the project's devices/attested.json.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
device=${1:-cuda:0}
results=${2:-$here/results}
mkdir -p "$results"
loader=()
libraries=$here/lib
if ! LD_LIBRARY_PATH=$libraries "$here/bin/gpu_kit" 2>&1 | grep -q attest; then
  # A system that is older than the programs: with their own libc.
  loader=("$(ls "$here"/lib/glibc/ld-linux*)" --library-path "$here/lib:$here/lib/glibc")
fi
# program NAME ARGUMENT...: run with what wraps it, in `wrap`.
wrap=()
program() {
  local name=$1
  shift
  LD_LIBRARY_PATH=$libraries:${LD_LIBRARY_PATH:-} "${wrap[@]}" "${loader[@]}" "$here/bin/$name" "$@"
}
command -v nvidia-smi > /dev/null && nvidia-smi > "$results/nvidia-smi.txt" 2>&1
export MILLRACE_TEST_DEVICES=$device
echo "== conformance on $device"
if ! program conformance > "$results/conformance.txt" 2>&1; then
  tail -40 "$results/conformance.txt"
  echo "FAILED: nothing is attested; $results/conformance.txt says what differs"
  exit 1
fi
tail -3 "$results/conformance.txt"
sanitizer="not run"
checker=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer /opt/nvidia/*/compute-sanitizer 2> /dev/null | head -n 1)
if [ -n "$checker" ]; then
  sanitizer=passed
  for tool in memcheck racecheck initcheck synccheck; do
    echo "== compute-sanitizer $tool"
    wrap=("$checker" --tool "$tool" --error-exitcode 9)
    if ! program conformance --gtest_filter='*ManyBlocks*:*OnEveryDevice*:*BarsOfEveryStyle*:*PixelsOfEveryKind*:*AveragesVolumeAndLogarithms*' > "$results/$tool.txt" 2>&1; then
      tail -20 "$results/$tool.txt"
      sanitizer=failed
    fi
    tail -1 "$results/$tool.txt"
  done
  wrap=()
fi
echo "== benches"
if ! program gpu_kit bench "$device" | tee "$results/bench.txt"; then
  echo "FAILED: nothing is attested; $results/bench.txt says why"
  exit 1
fi
program millrace doctor > "$results/doctor.txt" 2>&1
XDG_CACHE_HOME=$results program millrace tune --device "$device" --json "$results/rates.json" > "$results/tune.txt" 2>&1
[ "$sanitizer" != failed ] || { echo "FAILED: compute-sanitizer found something; nothing is attested"; exit 1; }
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2> /dev/null | head -n 1)
program gpu_kit attest "$device" "$sanitizer" "${driver:-unknown}" > "$results/attestation.json" || exit 1
cp "$results/attestation.json" "$here/attestation.json"
echo "passed; compute-sanitizer: $sanitizer; entries for devices/attested.json are in $here/attestation.json"
RUN
chmod +x "$out/run.sh"
size=$(du -sm "$out" | cut -f1)
[ "$size" -lt 64 ] || { echo "gpu_kit: $out has $size MiB, over 64" >&2; exit 1; }
echo "$out: $size MiB; take it to a machine with an NVIDIA GPU and start its run.sh"
