#!/bin/sh
# Creates the shipped static library: one partially linked object that exports only the C interface.
#
#   capi/static/merge.sh <librushlight.a from cargo> <folder> [prefix]
#
# Cargo's archive contains a whole Rust standard library with global symbols (`rust_eh_personality`, ...), so two
# Rust archives in one program clash. Here everything but the interface becomes local to the object. With a prefix,
# `rlt_tensor_add` becomes `<prefix>rlt_tensor_add`, and <folder>/rushlight/prefix.h renames the declarations: two
# copies of Rushlight then live in one program. KEEP_DEBUG_INFO=1 leaves the debug information where it is.
set -eu

archive=$1
folder=$2
prefix=${3:-}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

: "${LD:=ld}" "${OBJCOPY:=objcopy}" "${READELF:=readelf}" "${AR:=ar}"

# readelf, because nm calls the linker plugins for objects with bitcode.
"$READELF" -sW "$archive" | awk '$4 == "FUNC" && $5 == "GLOBAL" && $7 != "UND" && $8 ~ /^(rlt_|Java_org_rushlight_|JNI_On)/ { print $8 }' |
  sort -u >"$work/api"
[ -s "$work/api" ] || { echo "merge.sh: $archive defines no function of the C interface" >&2; exit 1; }
"$READELF" -sW "$archive" | awk '$5 == "GLOBAL" && $8 == "rushlight_thread_atexit" { found = 1 } END { exit !found }' ||
  { echo "merge.sh: $archive was made by merge.sh: it takes the one that cargo makes" >&2; exit 1; }

# --undefined pulls a function and what it needs out of the archive; --gc-sections drops the rest. The standard
# library's thread-exit hook is bound as in build.rs.
sed 's/^/--undefined=/' "$work/api" >"$work/roots"
# Section groups are dissolved: a second Rust library has groups of the same names, of which the final link keeps one.
"$LD" -r --gc-sections --force-group-allocation "@$work/roots" --defsym=__cxa_thread_atexit_impl=rushlight_thread_atexit \
  "$archive" -o "$work/rushlight.o"
# Unreferenced symbols are removed first, including names of system functions that only removed code called. Debug
# information is removed with them (a later --strip-debug would replace --strip-unneeded).
keep=
if [ "${KEEP_DEBUG_INFO:-0}" = 1 ]; then keep='--keep-section=.debug*'; fi
"$OBJCOPY" --strip-unneeded ${keep:+"$keep"} "$work/rushlight.o"
"$OBJCOPY" --keep-global-symbols="$work/api" "$work/rushlight.o"
if [ -n "$prefix" ]; then
  sed "s/.*/& $prefix&/" "$work/api" >"$work/names"
  "$OBJCOPY" --redefine-syms="$work/names" "$work/rushlight.o"
  mkdir -p "$folder/rushlight"
  {
    echo "/* Renames the functions of Rushlight for a library with the prefix $prefix: include it before the others. */"
    sed "s/.*/#define & $prefix&/" "$work/api"
  } >"$folder/rushlight/prefix.h"
fi
# The standard library's objects contain LLVM bitcode; linker plugins must not process it in a merged object.
"$OBJCOPY" --remove-section=.llvmbc --remove-section=.llvmcmd "$work/rushlight.o"
rm -f "$folder/librushlight.a"
"$AR" rcsD "$folder/librushlight.a" "$work/rushlight.o"
