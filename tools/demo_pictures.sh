#!/usr/bin/env bash
# Photographs of two Debian packages, and a few edited copies of them, so that there is something to find.
set -euo pipefail
to=$1
[ -f "$to/.complete" ] && exit 0
rm -rf "$to"
mkdir -p "$to/backgrounds" "$to/phone" "$to/downloads"
mapfile -t pictures < <(dpkg -L mate-backgrounds ukui-wallpapers | grep -Ei '\.(jpe?g|png|webp)$' | sort |
  while read -r file; do [ -f "$file" ] && [ ! -L "$file" ] && echo "$file"; done)
for file in "${pictures[@]}"; do cp "$file" "$to/backgrounds/"; done
n=0
for file in "${pictures[@]}"; do
  n=$((n + 1))
  name=$(basename "${file%.*}")
  case $((n % 6)) in
    0) cp "$file" "$to/downloads/$name (copy).${file##*.}" ;;
    1) vips thumbnail "$file" "$to/phone/$name-small.jpg[Q=82]" 1280 ;;
    2) vips copy "$file" "$to/downloads/$name.png" ;;
    3) vips thumbnail "$file" "$to/phone/$name.webp[Q=75]" 1600 ;;
    4) vips rot "$file" "$to/phone/$name-turned.jpg[Q=88]" d90 ;;
    5)
      width=$(vipsheader -f width "$file"); height=$(vipsheader -f height "$file")
      vips crop "$file" "$to/downloads/$name-crop.jpg[Q=90]" $((width / 50)) $((height / 50)) $((width * 96 / 100)) $((height * 96 / 100))
      ;;
  esac
done
touch "$to/.complete"
