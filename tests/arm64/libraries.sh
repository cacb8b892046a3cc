#!/bin/sh
# Builds both libraries and the tool for arm64 Linux, stripped and with debug information apart, and runs the C and C++ tests and the short
# examples with them on an emulated processor.
# Usage: libraries.sh BUILD_DIR
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/setup.sh"
build=$1

mkdir -p "$build"
build=$(cd "$build" && pwd)
[ -n "$runner" ] && set -- "-DCMAKE_TOOLCHAIN_FILE=$root/cmake/aarch64-linux-gnu.cmake" || set --
cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DRUSHLIGHT_BUILD_TESTS=ON -DRUSHLIGHT_SYMBOLS=apart "$@" >"$build/configure.log" 2>&1 ||
  { cat "$build/configure.log"; exit 1; }
cmake --build "$build" -j "$(nproc)"
[ -z "$runner" ] || say "Left out: c/fork (the emulator cannot fork a process with threads), c/unload (it has a thread of its own, which would count)"
ctest --test-dir "$build" --output-on-failure -j "$(nproc)"

expect() { # what, expected, found
  [ "$2" = "$3" ] || { printf '%s printed\n%s\ninstead of\n%s\n' "$1" "$3" "$2" >&2; exit 1; }
  echo "arm64: $1 works"
}
READELF=${runner:+aarch64-linux-gnu-}readelf "$root/tests/install/library.sh" "$build/lib/librushlight.so"
expect hello.c "2 4 6 " "$($runner "$build/examples/hello_c")"
expect hello.cpp "$(printf ' 2.0000 -3.0000\n[ CPUFloatType{1,2} ]\n 1.0000\n[ CPUFloatType{1} ]')" "$($runner "$build/examples/hello_cpp")"
"${runner:+aarch64-linux-gnu-}gcc" -std=c99 "-I$root/include" "$root/examples/hello/hello.c" -o "$build/hello_static" "$build/lib/librushlight.a" -lpthread -ldl -lm
expect "the static library" "2 4 6 " "$($runner "$build/hello_static")"
expect "the tool" "PyTorch, 4 tensors, 11 elements, 44 B" \
  "$($runner "$build/bin/rushlight" inspect "$root/tests/data/io/model.pt" | head -n 1 | sed 's/^[^:]*: //')"
