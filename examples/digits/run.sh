#!/bin/sh
# Trains the digits model from C, C++ and Java, then lets each program read the models of the other two and of PyTorch.
# Usage: run.sh BINARIES RUSHLIGHT.jar OUT
set -eu
binaries=$1 jar=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
tests=$here/../../tests/data
data=$tests/digits/digits.safetensors
mkdir -p "$out/c" "$out/cpp" "$out/java" "$out/classes"
javac -Xlint:all,-try -Werror -cp "$jar" -d "$out/classes" "$here"/java/digits/*.java
java="java -cp $jar:$out/classes"

"$binaries/digits_c_train" "$data" "$out/c" | tee "$out/c/result.txt"
"$binaries/digits_cpp_train" "$data" "$out/cpp" | tee "$out/cpp/result.txt"
$java digits.Train "$data" "$out/java" | tee "$out/java/result.txt"

infer() { # language, program...: reads what the others wrote
  reader=$1
  shift
  models=$tests/digits_reference/model.pt
  for writer in c cpp java; do
    test $writer = "$reader" || models="$models $out/$writer/model.pt $out/$writer/model.safetensors"
  done
  # shellcheck disable=SC2086 # a list of words
  "$@" "$data" "$out/$reader/logits.safetensors" $models >"$out/$reader/infer.txt"
}
infer c "$binaries/digits_c_infer"
infer cpp "$binaries/digits_cpp_infer"
# shellcheck disable=SC2086
infer java $java digits.Infer
