#!/usr/bin/env bash
# tools/debian_source.sh FOLDER PACKAGE: the distribution's own source package, as it comes, in FOLDER/src. Asked for where
# this machine's packages come from; its own lists stay as they are.
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd) package=$2
rm -rf "$folder"/{lists,parts,src}
mkdir -p "$folder/lists/partial" "$folder/parts" "$folder/src"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  case $list in
    *.sources) grep -q debian "$list" && sed 's/^Types: .*/Types: deb-src/' "$list" >> "$folder/parts/all.sources" && echo >> "$folder/parts/all.sources" ;;
    *.list | */sources.list) [ -f "$list" ] && grep -E '^deb .*debian' "$list" | sed 's/^deb /deb-src /' >> "$folder/parts/all.list" || true ;;
  esac
done
apt=(apt-get -q -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$folder/parts" -o "Dir::State::Lists=$folder/lists"
  -o "APT::Sandbox::User=root" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=")
"${apt[@]}" update
cd "$folder/src"
"${apt[@]}" source --download-only "$package"
