#!/bin/sh
# Tests the libraries of build.sh: the symbol versions of the shared one, and C programs that Zig compiles for the same
# system, the tests and the short examples, linked to each. They run on the build machine, or in an emulator of the other
# processor, and with the C libraries of other systems (systems.sh).
# Usage: check.sh ARCH-gnu|ARCH-musl
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/settings.sh"
platform=$1
settings "$platform"
. "$here/systems.sh"
: "${ZIG:=$root/build/zig/bin/python -m ziglang}"
tests=$work/tests examples=$work/examples
mkdir -p "$tests" "$examples"

# ---- The shared library by itself ----

library() { LIBC=$1 READELF=${tools}readelf "$root/tests/install/library.sh" "$lib/librushlight.so"; }
library "$libc"
# That check fails where it must.
case $libc in gnu.*) older=gnu.2.2 ;; *) older=gnu.2.17 ;; esac
if library "$older" >"$work/older.log" 2>&1; then say "portable: library.sh accepts $platform as $older"; exit 1; fi
grep -q 'needs' "$work/older.log" || { cat "$work/older.log"; exit 1; }

# ---- Programs ----

generate() { (cd "$root" && cargo run -q --locked "$@"); }
generated=$root/build/generated
generate -p rushlight-generate -- --build
generate -p rushlight-abi --bin null_arguments -- include >"$work/null_arguments.c"

# Warnings are left to the build of the tests.
compile() { # source, program, library and options
  source=$1 program=$2
  shift 2
  ZIG_GLOBAL_CACHE_DIR=$root/build/zig/cache ZIG_LOCAL_CACHE_DIR=$root/build/zig/cache $ZIG cc -target "$arch-linux-$libc" -std=c11 -D_GNU_SOURCE \
    -O1 -w "-I$root/include" "-I$root/tests/c" "-I$generated/tests" "-DRUSHLIGHT_TEST_DATA=\"$root/tests/data\"" \
    "$source" -o "$program" "$@" -lpthread -ldl -lm
}
shared() { compile "$1" "$2" "-L$lib" -lrushlight; }

programs=$(cat "$root/tests/c/programs.txt")
for name in $programs watched_handles script files small_stack; do shared "$root/tests/c/$name.c" "$tests/$name"; done
for name in examples chapters; do shared "$generated/tests/$name.c" "$tests/$name"; done
# One function of thousands of calls, which takes minutes to optimize. Without optimization Zig would add its sanitizer.
compile "$work/null_arguments.c" "$tests/null_arguments" "-L$lib" -lrushlight -O0 -fno-sanitize=undefined
shared "$root/examples/hello/hello.c" "$examples/hello_c"
for name in train infer; do shared "$root/examples/c/$name.c" "$examples/c_$name"; done
shared "$root/examples/classify/classify.c" "$examples/classify_c"
for name in operator frame; do shared "$root/examples/embed/$name.c" "$examples/embed_$name"; done
compile "$root/tests/c/unload.c" "$tests/unload"
if [ "$libc" = musl ]; then unwinder='-static -lunwind'; else unwinder=-lunwind; fi
# shellcheck disable=SC2086
compile "$root/examples/hello/hello.c" "$work/hello_static" "$lib/librushlight.a" -Wl,--gc-sections $unwinder

quietly() { # where, name, command
  where=$1 name=$2
  shift 2
  "$@" >"$tests/$name.log" 2>&1 || { cat "$tests/$name.log"; say "portable: $name $where failed"; exit 1; }
}

# Runs the programs linked to the shared library: where, command before each.
run() {
  where=$1
  shift
  "$root/examples/hello/c.sh" "$examples" "$@" >"$work/examples.log" || { cat "$work/examples.log"; say "portable: examples $where failed"; exit 1; }
  echo "$platform: examples in C $where: $(wc -l <"$work/examples.log") outputs as expected"
  for name in $programs examples null_arguments; do quietly "$where" "$name" "$@" "$tests/$name"; done
  quietly "$where" watched_handles env RUSHLIGHT_CHECK_HANDLES=1 "$@" "$tests/watched_handles"
  quietly "$where" script "$@" "$tests/script" "$root/tests/data/script/net.pt"
  quietly "$where" files "$@" "$tests/files" "$root/tests/data/io"
  # It writes files.
  rm -rf "$work/empty" && mkdir "$work/empty"
  (cd "$work/empty" && OMP_NUM_THREADS=1 "$@" "$tests/chapters" >"$tests/chapters.txt") || { say "portable: chapters $where failed"; exit 1; }
  diff -u "$generated/tests/chapters.txt" "$tests/chapters.txt"
  ran="$programs examples null_arguments watched_handles script files chapters"
  # An old glibc clears a stack when its thread ends, also one that the program provides, and the test reads it then.
  case $where in "with glibc"*) ;; *) quietly "$where" small_stack "$@" "$tests/small_stack" && ran="$ran small_stack" ;; esac
  # musl never unloads a library, and the test counts threads, to which the emulator adds one.
  if [ "$libc" != musl ] && [ -z "$emulator" ]; then quietly "$where" unload "$@" "$tests/unload" "$lib/librushlight.so" && ran="$ran unload"; fi
  echo "$platform: tests of C $where:" $ran
}

# With the static library: what the program needs besides is the C library that it was linked for.
run_static() {
  case $libc:$emulator in gnu.*:?*) set -- "$emulator" -L "/usr/$arch-linux-gnu" ;; *) set -- $emulator ;; esac
  found=$("$@" "$work/hello_static")
  [ "$found" = "2 4 6 " ] || { say "portable: hello.c with the static library printed '$found'"; exit 1; }
  echo "$platform: hello.c with the static library: $found"
}

if can_run; then
  run_static
  systems run
fi

for file in "$lib/librushlight.so" "$lib/librushlight.a" "$work/hello_static"; do
  echo "$platform: $(basename "$file"): $(stat -L -c %s "$file") bytes"
done
