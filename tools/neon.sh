#!/bin/sh
# Builds the operations for aarch64 and runs their tests in an emulator: does NEON give the same bytes?
#
#   tools/neon.sh [BUILD_FOLDER]     default: build/neon
#
# Needs the packages of the section [neon] (packages/*.txt). The arm64 libraries are unpacked into the build folder;
# nothing on this machine is changed. They come from this machine's own package sources, or from the sources in the
# file MILLRACE_ARM64_SOURCES (Ubuntu keeps arm64 on other servers than amd64).
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/neon}
mkdir -p "$build"
build=$(cd "$build" && pwd)
sysroot=$build/sysroot
wanted="libhwy-dev libfmt-dev libgtest-dev libgmock-dev zlib1g-dev zlib1g"

for tool in aarch64-linux-gnu-g++ qemu-aarch64-static cmake ninja apt-get dpkg; do
  command -v "$tool" > /dev/null || { echo "neon: $tool is missing; install g++-aarch64-linux-gnu, qemu-user-static, cmake and ninja-build" >&2; exit 1; }
done

# apt with lists and a status of its own, so that the machine's architectures stay as they are.
arm64_apt() {
  set -- -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
    -o Dir::State="$build/apt" -o Dir::State::status="$build/apt/status" -o Dir::Cache="$build/apt/cache" "$@"
  if [ -n "${MILLRACE_ARM64_SOURCES:-}" ]; then
    set -- -o Dir::Etc::SourceList="$MILLRACE_ARM64_SOURCES" -o Dir::Etc::SourceParts=/dev/null "$@"
  fi
  apt-get "$@"
}

# The stamp is written last and holds the list, so that an interrupted or an older unpacking is done again.
if [ "$(cat "$sysroot/.packages" 2> /dev/null || true)" != "$wanted" ]; then
  rm -rf "$sysroot" "$build/debs" "$build/apt"
  mkdir -p "$sysroot" "$build/debs" "$build/apt/lists/partial" "$build/apt/cache/archives/partial"
  : > "$build/apt/status"
  # A source without arm64 packages may complain; what counts is whether the packages can be had.
  arm64_apt update > "$build/apt/update.log" 2>&1 || true
  # Highway's run-time library has another name on every distribution; its -dev package says which.
  if ! (cd "$build/debs" && arm64_apt download $wanted &&
    arm64_apt download "$(dpkg-deb -f libhwy-dev_*.deb Depends | grep -o 'libhwy1[a-z0-9]*' | head -n 1)") > "$build/apt/download.log" 2>&1; then
    cat "$build/apt/update.log" "$build/apt/download.log" >&2
    echo "neon: the arm64 packages cannot be had; MILLRACE_ARM64_SOURCES can name a sources file that has them" >&2
    exit 1
  fi
  for package in "$build"/debs/*.deb; do dpkg -x "$package" "$sysroot"; done
  rm -rf "$build/apt" "$build/debs"
  echo "$wanted" > "$sysroot/.packages"
fi

cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DMILLRACE_KERNELS_ONLY=ON \
  -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake -DMILLRACE_SYSROOT="$sysroot"
cmake --build "$build"

# device_tests insists that neon is the level in use.
failed=0
for tests in base_tests memory_tests device_tests kernels_tests; do
  [ -x "$build/$tests" ] || continue
  echo "== $tests on aarch64"
  qemu-aarch64-static -L /usr/aarch64-linux-gnu "$build/$tests" --gtest_brief=1 || failed=1
done
exit $failed
