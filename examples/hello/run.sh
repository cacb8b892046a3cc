#!/bin/sh
# Runs the short examples and compares what they print. Usage: run.sh BINARIES RUSHLIGHT.jar
set -eu
binaries=$1 jar=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/expect.sh"
javac -cp "$jar" -d "$work" "$here/Hello.java" "$here/../classify/Classify.java"

"$here/c.sh" "$binaries"
# y = 2 a - 3 b + 1, printed as PyTorch prints it in C++ and in Python.
fitted=$(printf ' 2.0000 -3.0000\n[ CPUFloatType{1,2} ]\n 1.0000\n[ CPUFloatType{1} ]')
fitted_java=$(printf 'tensor([[ 2.0000, -3.0000]], requires_grad=True)\ntensor([1.0000], requires_grad=True)')
expect hello.cpp "$fitted" "$("$binaries/hello_cpp")"
expect Hello.java "$fitted_java" "$(java -cp "$jar:$work" Hello)"
expect classify/classify.cpp "$classes" "$("$binaries/classify_cpp" "$data/classifier.pt" "$data/picture.bmp")"
expect classify/Classify.java "$classes" "$(java -cp "$jar:$work" Classify "$data/classifier.pt" "$data/picture.bmp")"
