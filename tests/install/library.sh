#!/bin/sh
# Checks a shipped shared library: it has segments for pages of 16 KiB, a soname, a build id, no dependencies besides the
# C library; and it has no exported name outside of the interface, no search path, no text relocations and no executable stack.
# It needs no symbol of a glibc newer than docs/building.md states, or newer than LIBC=gnu.VERSION; with LIBC=musl it needs no glibc.
# Usage: library.sh LIBRARY, or library.sh --in-jar JAR for each library in a jar
set -eu
: "${READELF:=readelf}"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
glibc=$(sed -n 's/.*glibc \([0-9.]*\) or newer.*/\1/p' "$here/../../docs/building.md" | head -n 1)
[ -n "$glibc" ] || fail "docs/building.md states no version of glibc"
: "${LIBC:=gnu.$glibc}"

if [ "$1" = --in-jar ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  jar=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
  (cd "$work" && jar xf "$jar")
  find "$work" -name '*.so' -exec "$0" {} +
  exit
fi

for library; do
  name=$(basename "$library")
  segments=$("$READELF" -lW "$library")
  alignments=$(echo "$segments" | awk '$1 == "LOAD" { print $NF }')
  [ -n "$alignments" ] || fail "$name: no segments"
  for alignment in $alignments; do
    [ $((alignment)) -ge 16384 ] || fail "$name: a segment is aligned to $alignment, too little for pages of 16 KiB"
  done
  case $segments in *GNU_STACK*RWE*) fail "$name: its stack can be executed" ;; esac

  dynamic=$("$READELF" -dW "$library")
  echo "$dynamic" | grep -q 'SONAME.*\[librushlight\.so\.[0-9]*\]' || fail "$name: no soname with a version"
  for unwanted in RPATH RUNPATH TEXTREL; do
    if echo "$dynamic" | grep -w "$unwanted"; then fail "$name: $unwanted"; fi
  done
  needed=$(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  for other in $needed; do
    case ${LIBC%%.*}:$other in
      musl:libc.so) ;;
      gnu:libc.so.6 | gnu:libm.so.6 | gnu:libgcc_s.so.1 | gnu:libpthread.so.0 | gnu:libdl.so.2 | gnu:librt.so.1 | gnu:ld-linux-*.so.*) ;;
      *) fail "$name: needs $other" ;;
    esac
  done
  exported=$("$READELF" -W --dyn-syms "$library" | awk '$5 != "LOCAL" && $7 != "UND" && NF == 8 { print $8 }')
  echo "$exported" | grep -q '^rlt_tensor_add_Tensor$' || fail "$name: does not export the interface"
  if echo "$exported" | grep -vE '^(rlt_|Java_org_rushlight_|JNI_On|Name$)'; then fail "$name: exports more than the interface"; fi
  newest=$("$READELF" -VW "$library" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
  case $LIBC in
    musl) [ -z "$newest" ] || fail "$name: needs glibc $newest" ;;
    *) [ "$(printf '%s\n%s\n' "$newest" "${LIBC#gnu.}" | sort -V | tail -n 1)" = "${LIBC#gnu.}" ] || fail "$name: needs glibc $newest, newer than ${LIBC#gnu.}" ;;
  esac
  "$READELF" -nW "$library" 2>/dev/null | grep -q 'Build ID' || fail "$name: no build id"
  echo "$name: pages of 16 KiB, build id, needs${newest:+ glibc $newest,}" $needed
done
