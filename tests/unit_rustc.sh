#!/bin/bash
# A RUSTC_WRAPPER for tests in the profile release: compiles tests without optimization, and the unit tests inside a crate, which
# are the whole crate once more, with checks of integers for overflow. The crates below them stay those of the library.
# The kernels have optimization level 1: without it their unit tests take 116 seconds instead of 10 and compile in 50 instead of
# 160 seconds of the compiler's time; `make test-rust` runs them for three sets of instructions.
# This takes the unit tests of the other crates from 260 to 60 seconds of the compiler's time. (bash: dash drops the variables
# CARGO_BIN_EXE_name-with-hyphens.)
set -eu
rustc=$1
shift
tests=false crate=
for ((i = 1; i < $#; ++i)); do
  next=$((i + 1))
  case ${!i} in
  --test) tests=true ;;
  --crate-name) crate=${!next} ;;
  esac
done
$tests || exec "$rustc" "$@"
options=(-C opt-level=0 -C codegen-units=16)
if [ "$crate" = rushlight_cpu ]; then
  options=(-C opt-level=1 -C codegen-units=16)
  # What this processor cannot run is not compiled.
  grep -qm 1 avx512f /proc/cpuinfo || options+=(--cfg rushlight_without_avx512)
fi
case " $* " in
*"/src/lib.rs "* | *" src/lib.rs "*) options+=(-C debug-assertions=on -C overflow-checks=on) ;;
esac
exec "$rustc" "$@" "${options[@]}"
