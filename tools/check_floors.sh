#!/usr/bin/env bash
# Fails when a folder includes one from a floor above it, or a job another job; prints both.
set -euo pipefail
floors="base trace memory device kernels io model pipeline report jobs cli"
grep -rnoE '^#include "src/[a-z_]+/[^"]*"' src --include='*.h' --include='*.cc' --include='*.inc' |
  awk -F: -v floors="$floors" '
    BEGIN { n = split(floors, order, " "); for (i = 1; i <= n; i++) height[order[i]] = i }
    {
      split($1, from, "/"); included = $3; gsub(/#include "|"/, "", included); split(included, to, "/")
      if (!(to[2] in height) || !(from[2] in height)) { print $1 ":" $2 ": includes " included ", which is on no floor"; bad = 1 }
      else if (height[to[2]] > height[from[2]]) {
        print $1 ":" $2 ": " from[2] " includes " included ", from the floor above (" to[2] ")"; bad = 1
      } else if (from[2] == "jobs" && to[2] == "jobs" && from[3] != to[3] && to[3] !~ /\.h$/ && from[3] !~ /\.cc$/) {
        print $1 ":" $2 ": the job " from[3] " includes the job " to[3] " (" included ")"; bad = 1
      }
    }
    END { exit bad }'
