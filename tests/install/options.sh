#!/bin/sh
# Options of CMake that cannot be meant are rejected with a reason, and the others reach cargo.
# Usage: options.sh BUILD_DIR
set -eu
mkdir -p "$1"
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"

configure() {
  rm -rf "$build/options"
  cmake -S "$here/../.." -B "$build/options" "$@" >"$build/options.log" 2>&1
}
rejects() { # reason, options
  reason=$1
  shift
  if configure "$@"; then fail "accepted: $*"; fi
  # CMake breaks long lines.
  tr -s ' \n' ' ' <"$build/options.log" | grep -qF "$reason" || { cat "$build/options.log"; fail "rejected without the reason \"$reason\": $*"; }
}
rejects "no library is left to build" -DRUSHLIGHT_BUILD_SHARED=OFF -DRUSHLIGHT_BUILD_STATIC=OFF
rejects 'RUSHLIGHT_SYMBOLS is "none" instead of names, stripped, inside or apart' -DRUSHLIGHT_SYMBOLS=none
rejects 'RUSHLIGHT_SYMBOL_PREFIX is "my-"' -DRUSHLIGHT_SYMBOL_PREFIX=my-
rejects "RUSHLIGHT_SYMBOL_PREFIX is for the static library" -DRUSHLIGHT_SYMBOL_PREFIX=my_ -DRUSHLIGHT_BUILD_STATIC=OFF
rejects "RUSHLIGHT_BUILD_TOOL needs RUSHLIGHT_FEATURES full" -DRUSHLIGHT_FEATURES=minimal -DRUSHLIGHT_BUILD_TOOL=ON

asks_cargo_for() { # what, options
  wanted=$1
  shift
  configure "$@" || { cat "$build/options.log"; exit 1; }
  tr ';' ' ' <"$build/options/choices.txt" | grep -qF -- "$wanted" || fail "does not ask cargo for \"$wanted\": $*"
}
asks_cargo_for "--profile release -p rushlight-capi -p rushlight-cli"
# Unrequested parts have no requirements: without tests, neither their libraries nor a C++ compiler are searched for.
configure -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DCMAKE_CXX_COMPILER=/no/compiler || { cat "$build/options.log"; exit 1; }
if cmake --build "$build/options" --target help | grep -qE ' (c_errors|hello_c|cpp_tests)$'; then fail "tests and examples are built by default"; fi
asks_cargo_for "--profile release -p rushlight-capi --no-default-features --features inference" -DRUSHLIGHT_FEATURES=inference
asks_cargo_for "--no-default-features --features op-pointwise,op-view" "-DRUSHLIGHT_FEATURES=op-pointwise;op-view"
asks_cargo_for "--profile dist -p rushlight-capi --config" -DRUSHLIGHT_SYMBOLS=inside -DRUSHLIGHT_BUILD_TOOL=OFF
echo "installed: options of CMake are rejected or reach cargo"
