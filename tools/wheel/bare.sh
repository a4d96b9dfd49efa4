#!/usr/bin/env bash
# tools/wheel/bare.sh WHEEL NUMPY: tries a wheel in a Debian 12 that has Python and nothing else: the smallest one that
# debootstrap makes, once, in build/wheel/debian-12, entered by chroot, with a /proc of its own and no network. NUMPY is its wheel.
# Where that cannot be it says so; MILLRACE_WHEEL_ALL=1, for a release, makes it a failure.
set -euo pipefail
left_out() {
  echo "wheel: not tried in a bare Debian 12$1"
  [ -z "${MILLRACE_WHEEL_ALL-}" ] && exit
  exit 1
}
cd "$(dirname "$0")/../.."
root=$PWD/build/wheel/debian-12
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap > /dev/null; then
  left_out ", which needs root and debootstrap"
fi
if [ ! -f "$root.done" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  if ! debootstrap --variant=minbase --include=python3-venv bookworm "$root" > "$root.log" 2>&1; then
    left_out ": debootstrap fails ($root.log)"
  fi
  touch "$root.done"
fi
rm -rf "$root/try"
mkdir "$root/try"
cp "$1" "$2" tools/wheel/try.py "$root/try"
# What it wrote there is gone with the namespaces' last process, but for /try.
unshare --mount --pid --net --fork chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root sh -ec '
  mount -t proc proc /proc
  cd /try
  python3 -m venv environment
  environment/bin/pip install -q --no-index --find-links . --disable-pip-version-check *.whl
  environment/bin/python try.py "in a bare Debian 12"'
rm -rf "$root/try"
