#!/bin/sh
# Builds the libraries for Windows on x86-64 with mingw-w64, installs them below build/windows/sdk, and tests them.
# Usage: build.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/settings.sh"

for compiler in gcc g++; do
  command -v x86_64-w64-mingw32-$compiler >/dev/null ||
    fail "x86_64-w64-mingw32-$compiler is missing; Debian: apt-get install $compiler-mingw-w64-x86-64"
done
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]; then
  rustup target add "$triple" >&2 || fail "cannot install Rust's standard library for $triple"
fi
quietly configure cmake -S "$root" -B "$build" "-DCMAKE_TOOLCHAIN_FILE=$root/cmake/x86_64-w64-mingw32.cmake" -DCMAKE_BUILD_TYPE=Debug \
  -DRUSHLIGHT_BUILD_TESTS=ON -DRUSHLIGHT_BUILD_TOOL=OFF -DRUSHLIGHT_SYMBOLS=stripped
cmake --build "$build" --target rushlight_libraries rushlight_generated -j "$JOBS"
rm -rf "$sdk"
quietly install cmake --install "$build" --prefix "$sdk"
"$here/check.sh"
