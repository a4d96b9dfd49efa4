#!/usr/bin/env bash
# ThreadSanitizer over the tests whose threads are ours: the pipeline's and the catalogue's, and a planted race that must
# be caught.
set -euo pipefail
export TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1"
ctest --test-dir build/tsan --output-on-failure -R '^(Chain|Progress|Catalog|Budget|Executor|Trace|TsanPlanted)'
