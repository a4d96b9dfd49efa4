#!/usr/bin/env bash
# run.sh A|B [DEVICE [RESULTS]]: attests a GPU (cuda:0 unless told), in two steps.
#   A  the driver, known answers, conformance; then RESULTS/attestation.json, for the project's devices/attested.json
#   B  compute-sanitizer where it is found, and attestation.json once more with what passed under it; rates; doctor
# Each step is packed into results-A.tgz or results-B.tgz in $OUT (RESULTS unless told), whatever it ends with. Exit code 1
# where the device gave another answer than the CPU.
#
# To try the kit: MILLRACE_KIT_TESTS=FILTER runs these tests alone, and writes trial.json, which attests nothing;
# MILLRACE_KIT_CUT=SECONDS cuts what measures then.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
step=${1:-} device=${2:-cuda:0} results=${3:-$here/results}
case $step in A | B) ;; *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2; exit 2 ;; esac
mkdir -p "$results"
out=${OUT:-$results}
mkdir -p "$out"

pack() {
  tar -C "$results" --exclude='results-*' -czf "$out/.results-$step.part" . && mv "$out/.results-$step.part" "$out/results-$step.tgz"
}
trap pack EXIT
say() { echo "== [$SECONDS s] $*"; pack; }
fail() { echo "FAILED: $*"; exit 1; }

export MILLRACE_TEST_DEVICES=$device
# Libraries: the system's own of C and C++ where the programs start with them, else those that they were built with. What is
# found by LD_LIBRARY_PATH, as drivers of some machines are, stays found.
loader=() libraries=$here/lib wrap=()
# program SECONDS NAME ARGUMENT...: under what `wrap` says, for no longer than that.
program() {
  local most=$1 name=$2 found=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  shift 2
  local started=("$here/bin/$name")
  [ ${#loader[@]} -eq 0 ] || started=("${loader[@]}" --library-path "$found" "$here/bin/$name")
  LD_LIBRARY_PATH=$found timeout -k 5 "$most" "${wrap[@]}" "${started[@]}" "$@"
}
starts() {
  for words in 'gpu_kit bodies' 'millrace --version' 'conformance --gtest_list_tests'; do
    program 60 $words > "$results/start.txt" 2>&1 || return
  done
}
if ! starts; then
  libraries=$here/lib:$here/lib/c++
  if ! starts; then
    libraries=$here/lib:$here/lib/c++:$here/lib/c
    loader=("$(ls "$here"/lib/c/ld-linux*)")
    starts || { tail -n 3 "$results/start.txt"; fail "'$words' does not start here"; }
  fi
fi
export CUDA_CACHE_PATH=$results/.compiled CUDA_CACHE_MAXSIZE=1073741824
attestation=$results/attestation.json tests=${MILLRACE_KIT_TESTS:-*}
[ "$tests" = '*' ] || attestation=$results/trial.json
# The device and the programs that conformance was run with: what B adds is of the same.
conformed=$results/conformed.txt
this_run() { echo "$device, driver ${driver:-unknown}, conformance $(cksum < "$here/bin/conformance"), tests $tests"; }
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2> /dev/null | head -n 1)
attest() { program 20 gpu_kit attest "$device" "${driver:-unknown}" "$@" > "$attestation.part" && mv "$attestation.part" "$attestation"; }

step_a() {
  # An earlier run's word is not this one's.
  rm -f "$results"/{attestation.json,trial.json,conformed.txt}
  command -v nvidia-smi > /dev/null && nvidia-smi > "$results/nvidia-smi.txt" 2>&1
  say "known answers on $device"
  program 60 conformance --gtest_filter='*KnownAnswers*' > "$results/known.txt" 2>&1 ||
    { tail -n 20 "$results/known.txt"; fail "nothing is attested; known.txt says why"; }
  say "conformance"
  program 200 conformance --gtest_filter="$tests" > "$results/conformance.txt" 2>&1 ||
    { grep -E 'Failure|FAILED' "$results/conformance.txt" | tail -n 20; fail "nothing is attested; conformance.txt says what differs"; }
  tail -n 1 "$results/conformance.txt"
  attest || fail "gpu_kit attest"
  this_run > "$conformed"
  say "attested: $attestation"
}

# Tests that run the kernels of a body.
tests_of() {
  case $1 in
    hamming) echo '*HammingOnDevice.ManyBlocks*:*HammingOnDevice.SearchEquals*' ;;
    chart) echo '*ChartsOnDevice.BarsOfEveryStyle*:*PixelsOfEveryKind*:*AveragesVolumeAndLogarithms*' ;;
    deflate) echo '*StreamsOnDevice.PicturesOfEveryShape*' ;;
    hash) echo '*HashesOnDevice.PicturesOfEverySize*' ;;
    latents) echo '*LatentsOnDevice.WhatIsWantedAlone*' ;;
  esac
}
TOOLS=(memcheck racecheck initcheck synccheck)
FOUND=9
# sanitize TOOL: every body in turn, until the time is over; leaves a file with the exit code for each.
sanitize() {
  local tool=$1 until=$((SECONDS + 150)) body
  wrap=("$checker" --tool "$tool" --error-exitcode $FOUND)
  for body in $bodies; do
    [ $SECONDS -lt $until ] && [ -n "$(tests_of "$body")" ] || continue
    program $((until - SECONDS)) conformance --gtest_filter="$(tests_of "$body")" > "$results/$tool-$body.txt" 2>&1
    echo $? > "$results/$tool-$body.code"
  done
}
# What four tools said of a body: passed, failed or not run. A test that fails under one counts as well; a tool that does not
# start or whose time is over has said nothing.
said_of() {
  local tool code passed=0
  for tool in "${TOOLS[@]}"; do
    code=$(cat "$results/$tool-$1.code" 2> /dev/null)
    if [ "$code" = $FOUND ] || grep -qs '^\[  FAILED' "$results/$tool-$1.txt"; then echo failed; return; fi
    [ "$code" != 0 ] || passed=$((passed + 1))
  done
  if [ $passed -eq ${#TOOLS[@]} ]; then echo passed; else echo "not run"; fi
}

step_b() {
  local words=() body tool at_work=() wrong=0
  rm -f "$results"/{memcheck,racecheck,initcheck,synccheck}-*
  bodies=$(program 20 gpu_kit bodies)
  checker=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer /opt/nvidia/*/compute-sanitizer 2> /dev/null | head -n 1)
  if [ -n "$checker" ]; then
    say "compute-sanitizer, four tools side by side"
    for tool in "${TOOLS[@]}"; do
      sanitize "$tool" &
      at_work+=($!)
    done
    wait "${at_work[@]}"
  fi
  for body in $bodies; do
    words+=("$body=$(said_of "$body")")
    [ "${words[-1]}" != "$body=failed" ] || wrong=1
  done
  printf '%s\n' "${words[@]}" | tee "$results/sanitizer.txt"
  if [ "$(cat "$conformed" 2> /dev/null)" = "$(this_run)" ]; then
    attest "${words[@]}" || fail "gpu_kit attest"
  else
    echo "nothing is attested: step A comes first, on this device with these programs"
  fi
  say "rates"
  program "${MILLRACE_KIT_CUT:-200}" gpu_kit bench "$device" 2>&1 | tee "$results/bench.txt"
  # Cut by its limit it has given no wrong answer.
  case ${PIPESTATUS[0]} in
    0) ;;
    124 | 137) echo "the rest was cut" | tee -a "$results/bench.txt" ;;
    *) rm -f "$attestation" "$conformed"; fail "nothing is attested; bench.txt says why" ;;
  esac
  say "tune, doctor"
  XDG_CACHE_HOME=$results program "${MILLRACE_KIT_CUT:-90}" millrace tune --device "$device" --json "$results/rates.json" > "$results/tune.txt" 2>&1
  program 20 millrace doctor > "$results/doctor.txt" 2>&1
  [ $wrong -eq 0 ] || fail "compute-sanitizer found something; what failed is not attested"
  say "end"
}

if [ "$step" = A ]; then step_a; else step_b; fi
