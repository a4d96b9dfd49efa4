#!/usr/bin/env bash
# HDF5 for the wheel, in build/wheel-hdf5/prefix: the distribution's own source package with its patches, as an archive that
# needs zlib alone. The distribution's library brings curl, TLS, Kerberos and szip along, none of which is used here. Thread
# safety and the version of the interface are the distribution's; its own tests are not run, those of this project are.
set -euo pipefail
cd "$(dirname "$0")/../.."
hdf5=$PWD/build/wheel-hdf5
[ -f "$hdf5/done" ] && exit
rm -rf "$hdf5"
tools/debian_source.sh "$hdf5" hdf5
cd "$hdf5/src"
tar xf hdf5_*.orig.tar.* && tar xf hdf5_*.debian.tar.*
source=$(find "$PWD" -mindepth 1 -maxdepth 1 -type d -name 'hdf5-*')
# Those that change what is built here; the others are for other languages and build systems. Git takes the folder for no
# part of the checkout around it.
while read -r patch; do
  GIT_CEILING_DIRECTORIES=$PWD git -C "$source" apply --include='src/*' "$PWD/debian/patches/$patch"
done < <(grep -v '^#' debian/patches/series)
# Its messages name its files, and not where they lay. Its checks look in its build folder for what they wrote in the current one.
mkdir "$hdf5/build" && cd "$hdf5/build"
cmake -S "$source" -B . -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$hdf5/prefix" \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_C_FLAGS="-w -fno-omit-frame-pointer -ffile-prefix-map=$source=hdf5" \
  -DCMAKE_C_COMPILER_LAUNCHER="$(command -v ccache || true)" \
  -DBUILD_SHARED_LIBS=OFF -DBUILD_STATIC_LIBS=ON -DBUILD_TESTING=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_TOOLS=OFF \
  -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF \
  -DHDF5_ENABLE_EMBEDDED_LIBINFO=OFF -DHDF5_ENABLE_THREADSAFE=ON -DDEFAULT_API_VERSION=v18 > "$hdf5/configure.log"
cmake --build . -j "$(nproc)" --target install > "$hdf5/build.log"
touch "$hdf5/done"
