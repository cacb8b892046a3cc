#!/bin/sh
# cmake/setup.sh leaves the default of rustup as its owner chose it, and chooses one only where there is none.
# Usage: setup.sh BUILD_DIR
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
work=$1/setup
rm -rf "$work"
mkdir -p "$work/bin"
work=$(cd "$work" && pwd)

# A compiler that is too old, and a rustup that records its arguments.
printf '#!/bin/sh\necho "rustc 1.60.0 (of a test)"\n' >"$work/bin/rustc"
printf '#!/bin/sh\necho "$*" >>"%s/asked"\n[ "$*" != "toolchain list" ] || cat "%s/toolchains"\n' "$work" "$work" >"$work/bin/rustup"
chmod +x "$work/bin/rustc" "$work/bin/rustup"

asks_for_a_default() { # what `rustup toolchain list` says
  printf '%s\n' "$1" >"$work/toolchains"
  rm -f "$work/asked"
  if CARGO_HOME="$work" "$here/../../cmake/setup.sh" native 2>"$work/said"; then fail "setup.sh takes Rust 1.60"; fi
  grep -q "rustc is still 1.60.0" "$work/said" || { cat "$work/said"; fail "setup.sh does not name the compiler that it found"; }
  grep -q "toolchain install stable" "$work/asked" || fail "setup.sh installs no compiler"
  grep -q "default stable" "$work/asked"
}
if asks_for_a_default "1.60.0-x86_64-unknown-linux-gnu (active, default)"; then fail "setup.sh changes the default of rustup"; fi
asks_for_a_default "no installed toolchains" || fail "setup.sh leaves rustup without a default"
echo "installed: setup.sh leaves rustup's default alone"
