#!/bin/sh
# Prints stripped sizes by set of operator families: of the shared library, and of a program that is linked with the static one.
# The cargo profile is `small`: optimised for size, at link time too.
set -eu
cd "$(dirname "$0")/.."
target=target/size
mkdir -p build/size
infer="examples/digits/c/digits.c examples/digits/c/infer.c"
train="examples/digits/c/digits.c examples/digits/c/pictures.c examples/digits/c/train.c"

measure() { # name, features, what the program does, its sources
  CARGO_TARGET_DIR=$target cargo rustc -q --locked --profile small -p rushlight-capi --lib --crate-type cdylib,staticlib \
    --no-default-features --features "$2"
  strip -o "build/size/$1.so" "$target/small/librushlight.so"
  # shellcheck disable=SC2086
  ${CC:-gcc} -Os -ffunction-sections -Iinclude $4 -o "build/size/$1" -Wl,--gc-sections "$target/small/librushlight.a" -lpthread -ldl -lm
  strip "build/size/$1"
  printf '%-10s %12s %12s   %-28s %s\n' "$1" "$(stat -c %s "build/size/$1.so")" "$(stat -c %s "build/size/$1")" "$3" "$2"
}

printf '%-10s %12s %12s   %-28s %s\n' "" "shared" "program" "the program" "features"
measure minimal minimal "adds two tensors" bench/first_operator.c
measure inference inference "loads and runs a model" "$infer"
measure full full "trains, draws, saves" "$train"
