#!/bin/sh
# Uses what `make install` laid out as external projects do: the C and C++ package, the jar, the tool; then the sources, by FetchContent
# and with a prefix before the names of the static library.
# Usage: run.sh PREFIX BUILD_DIR
set -eu
prefix=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/support.sh"

"$here/library.sh" "$prefix/lib/librushlight.so"
"$here/sdk.sh" "$prefix" "$build"

mkdir -p "$build/classes"
jar=$(echo "$prefix"/share/java/rushlight-[0-9]*.jar)
javac -cp "$jar" -d "$build/classes" "$root/examples/hello/Hello.java"
fitted_java=$(printf 'tensor([[ 2.0000, -3.0000]], requires_grad=True)\ntensor([1.0000], requires_grad=True)')
expect "the jar" "$fitted_java" "$(java -cp "$jar:$build/classes" Hello)"
"$here/library.sh" --in-jar "$jar"
for extra in sources javadoc; do
  test -s "$prefix/share/doc/rushlight/$(basename "${jar%.jar}")-$extra.jar" || { echo "no $extra jar" >&2; exit 1; }
done

expect "the command-line tool" "PyTorch, 4 tensors, 11 elements, 44 B" \
  "$("$prefix/bin/rushlight" inspect "$root/tests/data/io/model.pt" | head -n 1 | sed 's/^[^:]*: //')"

# The tool is built as well, because cargo has then compiled every crate with the features that `make` uses.
use_package "$here/fetch" fetch "-DRUSHLIGHT_CHECKOUT=$root" -DRUSHLIGHT_BUILD_TOOL=ON
expect "FetchContent, C" "$derivative" "$("$build/fetch/hello_c")"
expect "FetchContent, C++" "$fitted" "$("$build/fetch/hello_cpp")"
expect "FetchContent, the static library" "$derivative" "$("$build/fetch/hello_static")"
rm -rf "$build/fetched"
cmake --install "$build/fetch" --prefix "$build/fetched" >/dev/null
expect "FetchContent without rules for installing" "bin/hello_c" "$(cd "$build/fetched" && find . -type f | sed 's/^..//')"

"$here/prefixed.sh" "$prefix" "$build/prefixed"
"$here/options.sh" "$build"
"$here/setup.sh" "$build"
