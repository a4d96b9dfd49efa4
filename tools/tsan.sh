#!/usr/bin/env bash
# ThreadSanitizer over the tests whose threads are ours (the executor, the budget, traces, the pipeline, the catalogue), with
# a oneTBB that is instrumented too: the distribution's own source package, built once. Nothing is suppressed. A planted
# race must be caught, or the run means nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
tbb=$PWD/build/tsan-tbb
if [ ! -f "$tbb/done" ]; then
  rm -rf "$tbb"
  tools/debian_source.sh "$tbb" onetbb
  (cd "$tbb/src" && tar xf onetbb_*.orig.tar.*)
  source=$(find "$tbb/src" -maxdepth 1 -type d -name '*TBB*' -o -maxdepth 1 -type d -name 'onetbb*' | head -n 1)
  cmake -S "$source" -B "$tbb/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS="-fsanitize=thread -O1 -g1" \
    -DCMAKE_SHARED_LINKER_FLAGS=-fsanitize=thread -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF \
    -DCMAKE_INSTALL_PREFIX="$tbb/prefix" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" > "$tbb/configure.log"
  cmake --build "$tbb/build" --target install > "$tbb/build.log"
  touch "$tbb/done"
fi
[ -f build/tsan/build.ninja ] ||
  cmake --preset tsan -DCMAKE_PREFIX_PATH="$tbb/prefix" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)"
cmake --build --preset tsan --target device_tests memory_tests trace_tests pipeline_tests catalog_tests planted_race
# The child of a test that forks has threads of its own.
export TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1 die_after_fork=0" LD_LIBRARY_PATH="$tbb/prefix/lib"
if build/tsan/planted_race 2> build/tsan/planted.log; then
  echo "tsan: the planted race was not caught"
  exit 1
fi
grep -q "data race" build/tsan/planted.log
# A program without a test passes, too.
[ "$(build/tsan/catalog_tests --gtest_list_tests | grep -c '^  ')" -gt 0 ] || { echo "tsan: the catalogue has no test"; exit 1; }
for tests in device memory trace pipeline catalog; do build/tsan/${tests}_tests --gtest_brief=1; done
echo "tsan: clean, and the planted race was caught"
