#!/bin/sh
# Uses the C and C++ part of an installed Rushlight as external projects do: find_package(Torch), find_package(Rushlight), pkg-config,
# the static library.
# Usage: sdk.sh PREFIX BUILD_DIR
set -eu
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
. "$here/support.sh"

# ---- CMake ----
use_package "$here/torch" torch
expect "find_package(Torch)" "$fitted" "$("$build/torch/example-app")"
expect "the headers of operators" 11 "$("$build/torch/headers")"
use_package "$here/package" package
for program in eleven fourteen none; do
  expect "find_package(Torch), program $program" "$fitted" "$("$build/package/$program")"
done
only=hello_cpp
# The files that the headers refer to exist at the same paths.
documents=$prefix/share/doc/Rushlight
named=$(grep -rhoE '(docs|examples)/[A-Za-z0-9_./-]*[A-Za-z0-9]' "$prefix/include/rushlight" | sort -u)
[ "$(echo "$named" | wc -l)" -ge 4 ] || fail "the headers name no documents: $named"
for file in $named; do
  [ -e "$documents/$file" ] || fail "the headers name $file, which is not in $documents"
done
use_package "$documents/examples" examples
only=all
expect "find_package(Rushlight)" "$fitted" "$("$build/examples/hello_cpp")"
for kind in none shared static both; do
  use_package "$here/components" "components_$kind" "-DKIND=$kind"
  expect "find_package(Rushlight) with components: $kind" "$derivative" "$("$build/components_$kind/hello")"
done

# ---- pkg-config ----
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
link() { # program, what pkg-config is asked, options of the compiler
  # shellcheck disable=SC2046,SC2086
  ${CC:-gcc} -std=c99 "$root/examples/hello/hello.c" -o "$build/$1" $3 $(pkg-config --cflags --libs $2) 2>"$build/$1.log" ||
    { cat "$build/$1.log"; exit 1; }
}
link hello_shared rushlight ""
expect "pkg-config rushlight" "$derivative" "$(LD_LIBRARY_PATH=$prefix/lib "$build/hello_shared")"
link hello_static rushlight-static ""
expect "pkg-config rushlight-static" "$derivative" "$(LD_LIBRARY_PATH= "$build/hello_static")"
# Unused functions are not linked: the whole library is more than three times as large.
is_small() { # program
  strip -o "$1.stripped" "$1"
  size=$(stat -c %s "$1.stripped")
  [ "$size" -lt 5000000 ] || fail "$1 has $size bytes: the linker left nothing out"
}
is_small "$build/hello_static"
link hello_all_static "--static rushlight" -static
expect "pkg-config --static rushlight" "$derivative" "$("$build/hello_all_static")"
is_small "$build/hello_all_static"
is_small "$build/components_static/hello"

# Libs.private lists exactly the libraries that the archive needs. Newer releases of glibc include threads and dynamic
# loading in libc, so for two of the libraries only function names show that they are needed.
expect "Libs.private" "-lpthread -ldl -lm" "$(pkg-config --static --libs-only-l rushlight | sed 's/-lrushlight *//; s/ *$//')"
undefined=$(${NM:-nm} -u "$prefix/lib/librushlight.a")
for function in pthread_create dlsym expf; do
  echo "$undefined" | grep -qw "$function" || fail "librushlight.a has no need of $function: is its library in Libs.private for nothing?"
done
if ${CC:-gcc} "-I$prefix/include" "$root/examples/hello/hello.c" -o "$build/hello_without" "$prefix/lib/librushlight.a" -lpthread -ldl 2>/dev/null; then
  fail "librushlight.a links without -lm, which is in Libs.private"
fi
