#!/bin/sh
# Trains the digits model from C, C++ and Java, then evaluates each saved model with another language's program.
# Usage: run.sh BINARIES RUSHLIGHT.jar OUT
set -eu
binaries=$1 jar=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../../tests/data/digits/digits.safetensors
mkdir -p "$out/c" "$out/cpp" "$out/java" "$out/classes"
javac -Xlint:all,-try -Werror -cp "$jar" -d "$out/classes" "$here"/java/digits/*.java
java="java -cp $jar:$out/classes"

"$binaries/digits_c_train" "$data" "$out/c" | tee "$out/c/result.txt"
"$binaries/digits_cpp_train" "$data" "$out/cpp" | tee "$out/cpp/result.txt"
$java digits.Train "$data" "$out/java" | tee "$out/java/result.txt"

"$binaries/digits_c_infer" "$data" "$out/java/model.safetensors"
"$binaries/digits_cpp_infer" "$data" "$out/c/model.safetensors"
$java digits.Infer "$data" "$out/cpp/model.safetensors"
echo "pictures: $out/{c,cpp,java}/{confusion,losses}.png"
