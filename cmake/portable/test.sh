#!/bin/sh
# Tests the libraries of build.sh again, and runs the golden cases with them: those of all platforms that are built, or of those named.
# Usage: test.sh [ARCH-gnu|ARCH-musl]...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/settings.sh"
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
if [ $# = 0 ]; then
  for built in "$portable"/*/lib/librushlight.so; do
    if [ -f "$built" ]; then set -- "$@" "$(basename "${built%/lib/librushlight.so}")"; fi
  done
  [ $# != 0 ] || { say "portable: nothing is built; make portable does it"; exit 1; }
fi
for platform; do
  settings "$platform"
  [ -f "$lib/librushlight.so" ] || { say "portable: $platform is not built; make portable PLATFORMS=$platform does it"; exit 1; }
  "$here/check.sh" "$platform"
  "$here/golden.sh" "$platform"
done
