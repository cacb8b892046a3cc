#!/bin/sh
# Uses an installed Rushlight as strangers do: find_package(Torch), find_package(Rushlight), pkg-config, the static library, the jar.
# Usage: run.sh PREFIX BUILD_DIR
set -eu
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..

configure() { # source, name
  cmake -S "$1" -B "$build/$2" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >"$build/$2.log" 2>&1 &&
    cmake --build "$build/$2" -j "$(nproc)" >>"$build/$2.log" 2>&1 || { cat "$build/$2.log"; exit 1; }
}
expect() { # what, expected, found
  [ "$2" = "$3" ] || { printf '%s printed\n%s\ninstead of\n%s\n' "$1" "$3" "$2" >&2; exit 1; }
  echo "installed: $1 works"
}
fitted=$(printf ' 2.0000 -3.0000\n[ CPUFloatType{1,2} ]\n 1.0000\n[ CPUFloatType{1} ]')

configure "$here/torch" torch
expect "find_package(Torch)" "$fitted" "$("$build/torch/example-app")"
configure "$here/package" package
for program in eleven fourteen none; do
  expect "find_package(Torch), program $program" "$fitted" "$("$build/package/$program")"
done
configure "$root/examples" examples
expect "find_package(Rushlight)" "$fitted" "$("$build/examples/hello_cpp")"

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
# shellcheck disable=SC2046
${CC:-gcc} -std=c99 "$root/examples/hello/hello.c" -o "$build/hello_shared" $(pkg-config --cflags --libs rushlight)
expect "pkg-config" "2 4 6 " "$(LD_LIBRARY_PATH=$prefix/lib "$build/hello_shared")"
# shellcheck disable=SC2046
${CC:-gcc} -std=c99 -I"$prefix/include" "$root/examples/hello/hello.c" -o "$build/hello_static" "$prefix/lib/librushlight.a" -lpthread -ldl -lm
expect "the static library" "2 4 6 " "$("$build/hello_static")"

mkdir -p "$build/classes"
jar=$(echo "$prefix"/share/java/rushlight-*.jar)
javac -cp "$jar" -d "$build/classes" "$root/examples/hello/Hello.java"
fitted=$(printf 'tensor([[ 2.0000, -3.0000]], requires_grad=True)\ntensor([1.0000], requires_grad=True)')
expect "the jar" "$fitted" "$(java -cp "$jar:$build/classes" Hello)"

expect "the command-line tool" "PyTorch, 4 tensors, 11 elements, 44 B" \
  "$("$prefix/bin/rushlight" inspect "$root/tests/data/io/model.pt" | head -n 1 | sed 's/^[^:]*: //')"
