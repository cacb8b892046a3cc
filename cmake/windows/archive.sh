#!/bin/sh
# Creates the shipped static library for Windows: cargo's archive without debug information and bitcode. Unlike the one of
# capi/static/merge.sh it exports the names of Rust's standard library too, because GNU ld does not link objects with thread-local
# variables partially (-r).
# Usage: archive.sh LIBRARY_FROM_CARGO FOLDER    AR, OBJCOPY and KEEP_DEBUG_INFO are as for merge.sh
set -eu
archive=$1
folder=$2
: "${OBJCOPY:=x86_64-w64-mingw32-objcopy}" "${AR:=x86_64-w64-mingw32-ar}"
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The binutils load plugins, which report bitcode of other versions of LLVM.
quietly() { "$@" >"$work/printed" 2>&1 || { cat "$work/printed" >&2; exit 1; }; }

cp "$archive" "$work/librushlight.a"
# Files of debug information are objects without sections, on which objcopy fails.
quietly "$AR" t "$archive"
grep '\.dwo$' "$work/printed" >"$work/debug" || true
if [ -s "$work/debug" ]; then quietly xargs "$AR" d "$work/librushlight.a" <"$work/debug"; fi
strip=--strip-debug
if [ "${KEEP_DEBUG_INFO:-0}" = 1 ]; then strip=; fi
quietly "$OBJCOPY" -D $strip --remove-section=.llvmbc --remove-section=.llvmcmd "$work/librushlight.a"
mv "$work/librushlight.a" "$folder/librushlight.a"
