#!/bin/sh
# Runs the short examples and compares what they print. Usage: run.sh BINARIES RUSHLIGHT.jar
set -eu
binaries=$1 jar=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
javac -cp "$jar" -d "$work" "$here/Hello.java" "$here/../classify/Classify.java"

expect() { # name, expected, found
  if [ "$2" = "$3" ]; then echo "$1: as expected"; else
    printf '%s printed\n%s\ninstead of\n%s\n' "$1" "$3" "$2" >&2
    exit 1
  fi
}
# y = 2 a - 3 b + 1, printed as PyTorch prints it in C++ and in Python.
fitted=$(printf ' 2.0000 -3.0000\n[ CPUFloatType{1,2} ]\n 1.0000\n[ CPUFloatType{1} ]')
fitted_java=$(printf 'tensor([[ 2.0000, -3.0000]], requires_grad=True)\ntensor([1.0000], requires_grad=True)')
expect hello.c "2 4 6 " "$("$binaries/hello_c")"
expect hello.cpp "$fitted" "$("$binaries/hello_cpp")"
expect Hello.java "$fitted_java" "$(java -cp "$jar:$work" Hello)"
expect c/train.c "learned: yes" "$("$binaries/c_train" "$work" | tail -n 1)"
for file in model.pt model.safetensors; do
  expect "c/infer.c $file" "exclusive or: 0 1 1 0" "$("$binaries/c_infer" "$work/$file")"
done
# What PyTorch returns for the picture after the same preparation (tests/oracle/java_models.py).
data=$here/../../tests/data/script
classes=$(printf '%-20s %s\n' green 0.8848 blue 0.0642 red 0.0510)
expect classify/classify.c "$classes" "$("$binaries/classify_c" "$data/classifier.pt" "$data/picture.bmp")"
expect classify/classify.cpp "$classes" "$("$binaries/classify_cpp" "$data/classifier.pt" "$data/picture.bmp")"
expect classify/Classify.java "$classes" "$(java -cp "$jar:$work" Classify "$data/classifier.pt" "$data/picture.bmp")"
expect embed/operator.c "$(printf 'smooth_step: 0 0.15625 1\nits gradient: 0 1.125 0\nround_through: 0 0 1\nits gradient: 1 1 1')" "$("$binaries/embed_operator")"
expect embed/frame.c "$(printf 'a network that fits into its frame: done\none that does not: cancelled\nthe next frame: done
more memory than there is: out of memory\nbytes left at the end: 0')" "$("$binaries/embed_frame")"
