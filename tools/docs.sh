#!/usr/bin/env bash
# Writes each job's option table into its page, between <!-- options: JOB --> and <!-- end -->.
set -euo pipefail
for page in docs/*.md; do
  job=$(sed -n 's/^<!-- options: \([a-z]*\) -->$/\1/p' "$page")
  [ -n "$job" ] || continue
  table=$(build/release/millrace "$job" --print-options)
  awk -v table="$table" '
    /^<!-- options: / { print; print ""; print table; skip = 1; next }
    /^<!-- end -->$/ { print ""; skip = 0 }
    !skip { print }' "$page" > "$page.new"
  if cmp -s "$page" "$page.new"; then rm "$page.new"; else mv "$page.new" "$page"; echo "docs: $page"; fi
done
