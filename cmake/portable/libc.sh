#!/bin/sh
# Writes the C library that a portable build links against, and a linker driver that uses it: FOLDER/libc, FOLDER/cc. The
# libraries are those of Zig (PyPI's package `ziglang`): only names and symbol versions for glibc, which are as old as
# wanted whatever the build machine has. Code is not compiled by Zig, and it links nothing: rustc's linker does, since
# capi/build.rs needs options that Zig's driver rejects (--defsym, -init, --icf).
# Usage: libc.sh ARCH gnu.VERSION|musl FOLDER
# ZIG is the command that runs Zig. Without it, Zig is installed into build/zig.
set -eu
arch=$1 libc=$2 folder=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
version=0.17.1
say() { printf '%s\n' "$*" >&2; }

stamp="$arch $libc ${ZIG:-$version} $(cksum <"$0")"
if [ "$(cat "$folder/libc/made" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
rm -rf "$folder/libc" "$folder/work"
mkdir -p "$folder/libc" "$folder/work"
if [ -z "${ZIG:-}" ]; then
  python=$root/build/zig/bin/python
  if [ "$("$python" -m ziglang version 2>/dev/null)" != "$version" ]; then
    say "Installing ziglang $version into build/zig"
    { python3 -m venv "$root/build/zig" && "$python" -m pip install -q --disable-pip-version-check "ziglang==$version"; } ||
      { say "libc.sh: cannot install ziglang; it needs python3 with venv (Debian: python3-venv) and PyPI, or ZIG=command"; exit 1; }
  fi
  ZIG="$python -m ziglang"
fi
folder=$(cd "$folder" && pwd)

# A cache of its own contains the libraries of this link alone. `-s`: Zig compiles libc_nonshared.a, whose debug information would
# name folders of the build machine.
echo 'int empty;' >"$folder/work/empty.c"
ZIG_GLOBAL_CACHE_DIR="$folder/work" ZIG_LOCAL_CACHE_DIR="$folder/work" \
  $ZIG cc -target "$arch-linux-$libc" -O2 -s -shared "$folder/work/empty.c" -o "$folder/work/empty.so" -lm -lpthread -ldl -lrt -lutil

take() { # file in the cache, name in the folder
  found=$(find "$folder/work" -path '*/o/*' -name "$1")
  [ "$(printf '%s\n' "$found" | wc -l)" = 1 ] && [ -f "$found" ] || { say "libc.sh: Zig created no single $1 for $arch-linux-$libc"; exit 1; }
  cp "$found" "$folder/libc/$2"
}

case $libc in
  gnu.*)
    take libc.so.6 libc.so.6
    take libc_nonshared.a libc_nonshared.a
    take libld.so.2 libld.so
    for name in m:6 pthread:0 dl:2 rt:1 util:1; do take "lib${name%:*}.so.${name#*:}" "lib${name%:*}.so"; done
    echo 'GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( libld.so ) )' >"$folder/libc/libc.so"
    ;;
  musl)
    take libc.so libc.so
    # The other libraries of POSIX are part of musl's libc. Systems with musl have no libgcc_s: the unwinder is linked in.
    for name in m pthread dl rt util; do echo '/* empty */' >"$folder/libc/lib$name.so"; done
    unwinder=$(rustc --print sysroot)/lib/rustlib/$arch-unknown-linux-musl/lib/self-contained/libunwind.a
    [ -f "$unwinder" ] || { say "libc.sh: $unwinder is missing"; exit 1; }
    cp "$unwinder" "$folder/libc/libgcc_s.a"
    # The start file of programs: glibc's expects an aligned stack, which musl's loader does not provide if it is run by name.
    cp "$(dirname "$unwinder")/Scrt1.o" "$folder/libc/Scrt1.o"
    ;;
esac

# The compiler of the build machine adds its start files of shared libraries, which need no function of the C library,
# and its libgcc_s, whose symbols have old versions but which itself needs newer ones: that matters only to build
# scripts, which are linked in the same way and run here. -z defs rejects functions that the C library does not have.
compiler=gcc
if [ "$(uname -m)" != "$arch" ]; then compiler=$arch-linux-gnu-gcc; fi
start=
if [ "$libc" = musl ]; then start="-nostartfiles $folder/libc/Scrt1.o"; fi
cat >"$folder/cc" <<END
#!/bin/sh
case " \$* " in *" -shared "*) start= ;; *) start='$start' ;; esac
exec $compiler -L$folder/libc "\$@" \$start -Wl,-z,defs -Wl,--allow-shlib-undefined
END
chmod +x "$folder/cc"
rm -rf "$folder/work"
echo "$stamp" >"$folder/libc/made"
