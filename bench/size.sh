#!/bin/sh
# Prints sizes beside their bars, and fails if one is missed: of what is shipped, and, by set of operator families, of the stripped
# shared library and of a program that is linked with the static one. The cargo profile of those is `small`: optimised for size,
# at link time too.
# Usage: size.sh LIBRARY JAR, both as `make jar` makes them
set -eu
library=$1 jar=$2
cd "$(dirname "$0")/.."
target=target/size
mkdir -p build/size
infer="examples/digits/c/digits.c examples/digits/c/model.c examples/digits/c/infer.c"
train="examples/digits/c/digits.c examples/digits/c/model.c examples/digits/c/canvas.c examples/digits/c/pictures.c examples/digits/c/train.c"
missed=0

row() { # what, its file, the bar in bytes or -
  size=$(stat -c %s "$2")
  verdict=
  if [ "$3" != - ]; then
    verdict=held
    [ "$size" -lt "$3" ] || { verdict=MISSED missed=1; }
  fi
  printf '%-84s %12s %12s %s\n' "$1" "$size" "$3" "$verdict"
}

features() { # names, what the program does, its sources, the bar of the program
  CARGO_TARGET_DIR=$target cargo rustc -q --locked --profile small -p rushlight-capi --lib --crate-type cdylib,staticlib \
    --no-default-features --features "$1"
  strip -o "build/size/$1.so" "$target/small/librushlight.so"
  # shellcheck disable=SC2086
  ${CC:-gcc} -Os -ffunction-sections -Iinclude $3 -o "build/size/$1" -Wl,--gc-sections "$target/small/librushlight.a" -lpthread -ldl -lm
  strip "build/size/$1"
  row "profile small, $1: shared library" "build/size/$1.so" -
  row "profile small, $1: C program that $2" "build/size/$1" "$4"
}

printf '%-84s %12s %12s\n' "" bytes "bar, below"
strip -o build/size/shipped.so "$library"
row "shipped: shared library, stripped" build/size/shipped.so 12000001
row "shipped: jar" "$jar" 10000000
features minimal "adds two tensors" bench/first_operator.c -
features inference "loads and runs a small model" examples/c/infer.c 3000000
# The random numbers of the training determine which images it used.
features inference,op-random "loads and runs the digits' model" "$infer" 3000000
features full "trains, draws, saves" "$train" -
echo
# The generated text and the machine code for each form of an operator; the tool has these bars.
cargo run -q --locked -p rushlight-generate -- --count --library "$library" || missed=1
[ "$missed" = 0 ] || { echo "size: a bar is missed" >&2; exit 1; }
