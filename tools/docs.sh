#!/usr/bin/env bash
# Writes each command's option table into its page, between <!-- options: COMMAND --> and <!-- end -->.
set -euo pipefail
for page in docs/*.md; do
  cp "$page" "$page.new"
  while read -r command; do
    # One word, for the commands that cannot do without.
    # shellcheck disable=SC2086
    table=$(build/release/millrace $command --print-options word)
    awk -v table="$table" -v head="<!-- options: $command -->" '
      $0 == head { print; print ""; print table; skip = 1; next }
      /^<!-- end -->$/ && skip { print ""; skip = 0 }
      !skip { print }' "$page.new" > "$page.next"
    mv "$page.next" "$page.new"
  done < <(sed -n 's/^<!-- options: \([a-z ]*\) -->$/\1/p' "$page")
  if cmp -s "$page" "$page.new"; then rm "$page.new"; else mv "$page.new" "$page"; echo "docs: $page"; fi
done
