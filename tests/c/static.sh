#!/bin/sh
# The static library: exports the interface alone, lives beside another Rust library, and twice in one program.
#   RUSHLIGHT_ARCHIVE=<librushlight.a from cargo> tests/c/static.sh <folder to work in>
set -eu
archive=$RUSHLIGHT_ARCHIVE
work=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
: "${CC:=cc}" "${NM:=nm}"
flags="-std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -I$root/include -I$here"
libs="-lpthread -ldl -lm"
mkdir -p "$work"

"$root/capi/static/merge.sh" "$archive" "$work/plain"
"$root/capi/static/merge.sh" "$archive" "$work/other" other_
if "$root/capi/static/merge.sh" "$work/plain/librushlight.a" "$work/again" again_ 2>"$work/again.log"; then
  echo "static.sh: merge.sh took a library of its own" >&2
  exit 1
fi
grep -q "it takes the one that cargo makes" "$work/again.log"

extra=$("$NM" -g --defined-only "$work/plain/librushlight.a" | awk 'NF == 3 && $3 !~ /^(rlt_|Java_org_rushlight_|JNI_On)/ { print $3 }')
[ -z "$extra" ] || { echo "static.sh: exports more than the interface: $extra" >&2; exit 1; }
[ "$("$NM" -g --defined-only "$work/plain/librushlight.a" | grep -c ' T rlt_')" -gt 100 ]
[ "$(ar t "$work/plain/librushlight.a" | wc -l)" -eq 1 ]

# The static library passes the tests of the shared one.
for test in errors autograd memory; do
  $CC $flags "$here/$test.c" "$work/plain/librushlight.a" $libs -o "$work/$test"
  "$work/$test"
done

$CC $flags "$here/static_twice.c" "$work/plain/librushlight.a" "$work/other/librushlight.a" $libs -o "$work/static_twice"
"$work/static_twice"

# A program that uses the prefix: the header renames the functions.
$CC $flags -include "$work/other/rushlight/prefix.h" "$here/errors.c" "$work/other/librushlight.a" $libs -o "$work/prefixed"
"$work/prefixed"

rustc --edition 2024 --crate-type staticlib -C opt-level=1 -o "$work/libother.a" "$here/static_other.rs"
$CC $flags "$here/static_rust.c" "$work/plain/librushlight.a" "$work/libother.a" $libs -o "$work/static_rust"
"$work/static_rust"

echo "static library: $(stat -c %s "$work/plain/librushlight.a") bytes, all passed"
