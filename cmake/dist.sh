#!/bin/sh
# Packs the installations of CMake's release builds. Archives are reproducible: names are sorted, entries have no owner, and all have
# one timestamp (SOURCE_DATE_EPOCH, default 2025-01-01).
# Usage: dist.sh VERSION FOLDER_OF_BUILDS OUTPUT, where FOLDER_OF_BUILDS/<platform> is a CMake build with separate debug information
set -eu
version=$1 builds=$2 output=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
: "${SOURCE_DATE_EPOCH:=1735689600}"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

pack() { # archive, folder in the stage
  tar -C "$stage" --sort=name --format=gnu "--mtime=@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    -cf - "$2" | gzip -9n >"$output/$1"
}

component() { # platform, component, folder
  cmake --install "$builds/$1" --component "$2" --prefix "$stage/$3" >/dev/null
}

sdk() { # platform
  name=rushlight-$version-$1
  folder=$name-sdk
  component "$1" runtime "$folder"
  component "$1" development "$folder"
  documents=$stage/$folder/share/doc/Rushlight
  cp "$root/CHANGELOG.md" "$output/rushlight-$version.cdx.json" "$documents"
  sed "s/@VERSION@/$version/g; s/@PLATFORM@/$1/g" "$here/SDK.md" >"$stage/$folder/README.md"
  pack "$folder.tar.gz" "$folder"

  # Unpacks over the other one.
  rm -rf "${stage:?}/$folder"
  component "$1" debug "$folder"
  pack "$name-debug.tar.gz" "$folder"
  rm -rf "${stage:?}/$folder"
}

for platform in "$builds"/*; do
  sdk "$(basename "$platform")"
done
cp "$root/THIRD_PARTY_NOTICES.md" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$output"
(cd "$output" && rm -f SHA256SUMS && sha256sum -- * >"$stage/sums" && mv "$stage/sums" SHA256SUMS)
