#!/bin/sh
# Runs the short examples in C and compares what they print. COMMAND runs them, where this machine cannot by itself: an emulator,
# the loader of another C library. Usage: c.sh BINARIES [COMMAND...]
set -eu
binaries=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/expect.sh"

expect hello.c "2 4 6 " "$("$@" "$binaries/hello_c")"
expect c/train.c "learned: yes" "$("$@" "$binaries/c_train" "$work" | tail -n 1)"
for file in model.pt model.safetensors; do
  expect "c/infer.c $file" "exclusive or: 0 1 1 0" "$("$@" "$binaries/c_infer" "$work/$file")"
done
expect classify/classify.c "$classes" "$("$@" "$binaries/classify_c" "$data/classifier.pt" "$data/picture.bmp")"
expect embed/operator.c "$(printf 'smooth_step: 0 0.15625 1\nits gradient: 0 1.125 0\nround_through: 0 0 1\nits gradient: 1 1 1')" \
  "$("$@" "$binaries/embed_operator")"
expect embed/frame.c "$(printf 'a network that fits into its frame: done\none that does not: cancelled\nthe next frame: done
more memory than there is: out of memory\nbytes left at the end: 0')" "$("$@" "$binaries/embed_frame")"
