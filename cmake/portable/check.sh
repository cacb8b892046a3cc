#!/bin/sh
# Tests the libraries of build.sh: the symbol versions of the shared one, and C programs that Zig compiles for the same
# system, linked to each. They run on the build machine, or in the emulator of arm64, and with the C library of an old system if
# it can be downloaded: glibc of Ubuntu 18.04 for x86-64, musl of the distribution of the build machine.
# Usage: check.sh ARCH-gnu|ARCH-musl
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/settings.sh"
platform=$1
settings "$platform"
lib=$portable/$platform/lib
work=$portable/check/$platform
: "${ZIG:=$root/build/zig/bin/python -m ziglang}"
mkdir -p "$work"

# ---- The shared library by itself ----

library() { LIBC=$1 READELF=${tools}readelf "$root/tests/install/library.sh" "$lib/librushlight.so"; }
library "$libc"
# That check fails where it must.
case $libc in gnu.*) older=gnu.2.2 ;; *) older=gnu.2.17 ;; esac
if library "$older" >"$work/older.log" 2>&1; then say "portable: library.sh accepts $platform as $older"; exit 1; fi
grep -q 'needs' "$work/older.log" || { cat "$work/older.log"; exit 1; }

# ---- Programs ----

# Warnings are left to the build of the tests.
compile() { # source, program, library and options
  source=$1 program=$2
  shift 2
  ZIG_GLOBAL_CACHE_DIR=$root/build/zig/cache ZIG_LOCAL_CACHE_DIR=$root/build/zig/cache $ZIG cc -target "$arch-linux-$libc" -std=c99 -D_GNU_SOURCE \
    -O1 -w "-I$root/include" "-I$root/tests/c" "$source" -o "$work/$program" "$@" -lpthread -ldl -lm
}
programs="errors values by_name autograd hooks memory failing_step threads"
compile "$root/examples/hello/hello.c" hello "-L$lib" -lrushlight
for name in $programs; do compile "$root/tests/c/$name.c" "$name" "-L$lib" -lrushlight; done
compile "$root/tests/c/unload.c" unload
if [ "$libc" = musl ]; then unwinder='-static -lunwind'; else unwinder=-lunwind; fi
# shellcheck disable=SC2086
compile "$root/examples/hello/hello.c" hello_static "$lib/librushlight.a" -Wl,--gc-sections $unwinder

expect() { # what, expected, found
  [ "$2" = "$3" ] || { printf '%s printed\n%s\ninstead of\n%s\n' "$1" "$3" "$2" >&2; exit 1; }
  echo "$platform: $1: $3"
}

# Runs the programs linked to the shared library: where, command before each.
run() {
  where=$1
  shift
  expect "hello.c $where" "2 4 6 " "$("$@" "$work/hello")"
  for name in $programs; do
    "$@" "$work/$name" >"$work/$name.log" 2>&1 || { cat "$work/$name.log"; say "portable: $name $where failed"; exit 1; }
  done
  # musl never unloads a library, and the test counts threads, to which the emulator adds one.
  if [ "$platform" = x86_64-gnu ]; then
    "$@" "$work/unload" "$lib/librushlight.so" || { say "portable: unload $where failed"; exit 1; }
  fi
  echo "$platform: tests of C $where: $programs"
}

# ---- C libraries to run with ----

unpack() { # archive, folder
  mkdir -p "$2" && dpkg-deb -x "$1" "$2"
}

# Ubuntu's packages by name, checksum in its index of packages.
ubuntu() { # path in the archive, checksum
  file=$work/packages/$(basename "$1")
  mkdir -p "$work/packages"
  [ -f "$file" ] || curl -sf -m 120 -o "$file" "http://archive.ubuntu.com/ubuntu/pool/main/g/$1" || return 1
  echo "$2  $file" | sha256sum -c --status || { rm -f "$file"; return 1; }
  unpack "$file" "$work/root"
}

case $platform in
  x86_64-gnu)
    run "with the build machine's glibc $(getconf GNU_LIBC_VERSION | sed 's/.* //')" env "LD_LIBRARY_PATH=$lib"
    expect "hello.c with the static library" "2 4 6 " "$("$work/hello_static")"
    if ubuntu glibc/libc6_2.27-3ubuntu1_amd64.deb 1e1eb86fd646aa68f7144ec692b837b6b352d215880c6a2d0c92c19d36938427 &&
      ubuntu gcc-8/libgcc1_8-20180414-1ubuntu2_amd64.deb c5a6df527fdfe0da45ff0538414535a04a6753e93a9f5902689cf1a73265423b; then
      old=$work/root/lib/x86_64-linux-gnu
      run "with glibc 2.27 of Ubuntu 18.04" "$old/ld-2.27.so" --inhibit-cache --library-path "$lib:$old"
    else
      say "$platform: not run with an old glibc: Ubuntu 18.04's packages cannot be downloaded"
    fi
    ;;
  x86_64-musl)
    expect "hello.c with the static library" "2 4 6 " "$("$work/hello_static")"
    if mkdir -p "$work/packages" && (cd "$work/packages" && { [ -n "$(find . -name 'musl_*.deb')" ] || apt-get download -q musl >/dev/null 2>&1; }) &&
      unpack "$(find "$work/packages" -name 'musl_*.deb' | head -n 1)" "$work/root"; then
      loader=$(find "$work/root" -type f -name libc.so | head -n 1)
      run "with musl $(basename "$(find "$work/packages" -name 'musl_*.deb' | head -n 1)" | cut -d _ -f 2)" "$loader" --library-path "$lib"
    else
      say "$platform: the shared library was not run: Debian's package musl cannot be downloaded"
    fi
    ;;
  aarch64-gnu)
    run "in the emulator" qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$lib"
    expect "hello.c with the static library" "2 4 6 " "$(qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/hello_static")"
    ;;
  aarch64-musl)
    expect "hello.c with the static library" "2 4 6 " "$(qemu-aarch64 "$work/hello_static")"
    say "$platform: the shared library was not run: there is no arm64 musl here"
    ;;
esac

for file in "$lib/librushlight.so" "$lib/librushlight.a" "$work/hello_static"; do
  echo "$platform: $(basename "$file"): $(stat -L -c %s "$file") bytes"
done
