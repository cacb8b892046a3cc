#!/bin/sh
# Prints stripped sizes of the shared library, and of a static program, by set of operator families.
set -eu
cd "$(dirname "$0")/.."
target=target/size
mkdir -p build/size

measure() { # name, features
  CARGO_TARGET_DIR=$target cargo build -q --locked --release -p rushlight-capi --no-default-features --features "$2"
  strip -o "build/size/$1.so" "$target/release/librushlight.so"
  ${CC:-gcc} -Os -Iinclude bench/first_operator.c -o "build/size/$1" -Wl,--gc-sections "$target/release/librushlight.a" -lpthread -ldl -lm
  strip "build/size/$1"
  printf '%-10s %12s %12s   %s\n' "$1" "$(stat -c %s "build/size/$1.so")" "$(stat -c %s "build/size/$1")" "$2"
}

printf '%-10s %12s %12s   %s\n' "" "shared" "static" "features"
measure minimal "op-creation,op-pointwise"
measure inference "op-creation,op-pointwise,op-copy,op-view,op-indexing,op-reduction,op-linalg,op-nn"
measure full "default"
