#!/usr/bin/env bash
# Formatting, floors, comments, names, locks, clang-tidy (on what changed since the branch's base, or on everything with --all), docs up to date.
set -euo pipefail
all=${1:-}
failed=0
mapfile -t sources < <(git ls-files '*.cc' '*.h')
clang-format-14 --dry-run --Werror "${sources[@]}" || { echo "lint: run clang-format-14 -i on the files above"; failed=1; }
tools/check_floors.sh || failed=1
python3 tools/comments.py || failed=1
python3 tools/names.py || failed=1
# No function has more than 40 ways through it.
git ls-files 'src/*.cc' 'src/*.h' ':!*_test.cc' | xargs .venv/bin/lizard -l cpp -C 40 -w || failed=1
tools/check_folders.sh || failed=1
# A path of one machine, or a word for work that is missing, has no place in the tree.
if git grep -nwE '(TODO|FIXME|XXX)' -- '*.cc' '*.h' '*.py' '*.sh' ':!tools/lint.sh'; then failed=1; fi
# Each file on its own: see cmake/groups.cmake.
cmake --preset release -B build/lint -DMILLRACE_GROUPS=OFF >/dev/null
if [ "$all" = --all ]; then
  mapfile -t checked < <(git ls-files 'src/*.cc' 'tests/*.cc' 'python/src/*.cc')
else
  # A file that moved was checked where it was. The last landing is what HEAD^1 of a merge, or the last commit, was; on a clean clone that is the newest commit.
  mapfile -t checked < <(git diff --name-only -M95% --diff-filter=dr "$(git rev-parse -q --verify HEAD~1 || git hash-object -t tree /dev/null)" -- 'src/*.cc' 'tests/*.cc' 'python/src/*.cc')
fi
if [ ${#checked[@]} -gt 0 ]; then
  printf '%s\n' "${checked[@]}" | while read -r f; do if grep -q "\"$PWD/$f\"" build/lint/compile_commands.json; then echo "$f"; fi; done |
    xargs -r -P "$(nproc)" -n 4 clang-tidy-14 -p build/lint --quiet 2>/dev/null || failed=1
fi
# Data that a mutex guards is touched under that mutex: src/base/mutex.h. The two other kinds of mutex have no annotations.
if git grep -nE 'std::(mutex|condition_variable|lock_guard<|scoped_lock)|<(mutex|condition_variable)>' -- 'src/*.cc' 'src/*.h' ':!*_test.cc' ':!src/base/mutex.h' \
  ':!src/model/session.cc' ':!src/jobs/segment/library.cc'; then
  echo "lint: src/base/mutex.h has a mutex, a lock and a condition that are checked"
  failed=1
fi
# A header with guarded data is read with its own file, or with some that include it.
includers() { git grep -lF "\"$1\"" -- "$2" | head -n 6; }
{
  git grep -l MutexLock -- 'src/*.cc'
  git grep -l MILLRACE_GUARDED_BY -- 'src/*.h' | while read -r header; do
    if [ -f "${header%.h}.cc" ]; then
      echo "${header%.h}.cc"
    else
      { echo "$header"; includers "$header" 'src/*.h'; } | while read -r one; do includers "$one" 'src/*.cc'; done
    fi
  done
} | sort -u | xargs -P "$(nproc)" -n 6 clang-tidy-14 -p build/lint --quiet --checks='-*,misc-unused-using-decls,clang-diagnostic-thread-safety*' \
  --warnings-as-errors='*' --extra-arg=-Wthread-safety 2>/dev/null || failed=1
tools/ptx.sh || failed=1
[ $failed -eq 0 ] && echo "lint: ${#sources[@]} files formatted, floors in order, ${#checked[@]} files through clang-tidy"
exit $failed
