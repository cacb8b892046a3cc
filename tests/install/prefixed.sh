#!/bin/sh
# Installs the static library alone, stripped, with a prefix before its names, into the folder of Debian's packages, and uses it:
# by CMake, by pkg-config, and beside the shared library that is installed in PREFIX.
# Usage: prefixed.sh PREFIX BUILD_DIR
set -eu
usual=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
prefix=$build/prefix
libraries=lib/$(${CC:-gcc} -print-multiarch)
. "$here/support.sh"

rm -rf "$prefix"
use_package "$root" rushlight -DRUSHLIGHT_BUILD_SHARED=OFF -DRUSHLIGHT_SYMBOL_PREFIX=other_ -DRUSHLIGHT_SYMBOLS=stripped \
  "-DCMAKE_INSTALL_LIBDIR=$libraries"
cmake --install "$build/rushlight" --prefix "$prefix" >/dev/null
[ ! -e "$prefix/$libraries/librushlight.so" ] || fail "RUSHLIGHT_BUILD_SHARED=OFF installed a shared library"
if readelf -SW "$prefix/bin/rushlight" | grep -q '\.symtab'; then fail "RUSHLIGHT_SYMBOLS=stripped installed a tool that is not stripped"; fi

use_package "$here/prefixed" programs
expect "find_package with a symbol prefix, C" "$derivative" "$("$build/programs/hello_c")"
expect "find_package with a symbol prefix, C++" "$fitted" "$("$build/programs/hello_cpp")"
names=$(nm "$build/programs/hello_c")
echo "$names" | grep -q ' T other_rlt_tensor_mul_Tensor$' || fail "the program has no function with the prefix"
if echo "$names" | grep ' rlt_'; then fail "the program has functions without the prefix"; fi

# shellcheck disable=SC2046
PKG_CONFIG_PATH=$prefix/$libraries/pkgconfig pkg-config --static --cflags --libs rushlight >"$build/flags"
${CC:-gcc} -std=c99 "$root/examples/hello/hello.c" -o "$build/hello" $(cat "$build/flags")
expect "pkg-config --static with a symbol prefix" "$derivative" "$("$build/hello")"

# A plugin, as docs/building.md describes: it calls only its own copy of the library.
# shellcheck disable=SC2046
${CC:-gcc} -std=c99 -shared -fPIC "$root/examples/hello/hello.c" -o "$build/plugin.so" \
  $(PKG_CONFIG_PATH=$prefix/$libraries/pkgconfig pkg-config --cflags --libs rushlight-static)
names=$(nm -D "$build/plugin.so")
echo "$names" | grep -q ' T other_rlt_tensor_mul_Tensor$' || fail "the plugin has no function with the prefix"
if echo "$names" | grep ' rlt_'; then fail "the plugin has functions without the prefix"; fi

# Two copies in one process, the usual one and this one.
${CC:-gcc} -std=c99 "-I$usual/include" "-I$root/tests/c" "$root/tests/c/static_twice.c" -o "$build/twice" \
  "$prefix/$libraries/librushlight.a" "-L$usual/lib" "-Wl,-rpath,$usual/lib" -lrushlight -lpthread -ldl -lm
"$build/twice"
echo "installed: two copies in one process work"
