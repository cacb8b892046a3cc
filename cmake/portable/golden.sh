#!/bin/sh
# Runs the recorded cases of tests/data/golden with the shared library of build.sh, on the build machine or in an emulator of the
# other processor, with the first C library that there is (systems.sh).
# Usage: golden.sh ARCH-gnu|ARCH-musl
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/settings.sh"
platform=$1
settings "$platform"
. "$here/systems.sh"
cd "$root"
mkdir -p "$work"

can_run || exit 0
"$here/libc.sh" "$arch" "$libc" "$folder"
cargo_settings
# With the package of build.sh: the features of the crates are the same, and they are not built again.
cargo build -q --release --locked --target "$triple" -p rushlight-capi -p rushlight-conformance
ran=
golden() {
  if [ -n "$ran" ]; then return; fi
  ran=$1
  shift
  "$@" "$CARGO_TARGET_DIR/$triple/release/conformance" --library "$lib/librushlight.so" tests/data/golden >"$work/golden.log" ||
    { grep -v ', 0 failed, 0 skipped$' "$work/golden.log"; say "portable: golden cases $ran failed"; exit 1; }
  echo "$platform: golden cases $ran: $(tail -n 1 "$work/golden.log")"
}
systems golden
