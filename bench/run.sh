#!/bin/sh
# Prints Rushlight's overheads: medians of alternating runs. Usage: bench/run.sh BUILD_DIR INCLUDE_DIRS...
set -eu

build=$1
shift
includes=
for folder in "$@"; do includes="$includes -I$folder"; done
rounds=${ROUNDS:-7}
here=$(dirname "$0")
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

milliseconds() { echo $(($(date +%s%N) / 1000000)); }
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  "$build/overhead" | { read -r plain recorded; echo "$plain" >>"$results/add"; echo "$recorded" >>"$results/recorded"; }
  "$build/first_operator" | { read -r time memory; echo "$time" >>"$results/start"; echo "$memory" >>"$results/memory"; }
  before=$(milliseconds)
  # shellcheck disable=SC2086
  ${CXX:-g++} -std=c++17 -O0 $includes -c "$here/include.cpp" -o "$results/include.o"
  echo $(($(milliseconds) - before)) >>"$results/include"
done

row() { printf '%-52s %10s %-4s (budget %s)\n' "$1" "$2" "$3" "$4"; }
echo "Median of $rounds runs, $(nproc) cores:"
row "add on 4 floats through C++" "$(median "$results/add")" ns "120"
row "add on 4 floats through C++, recording a gradient" "$(median "$results/recorded")" ns "200"
row "process start to the end of the first operator" "$(median "$results/start")" ms "10"
row "resident memory after the first operator" "$(median "$results/memory")" KiB "12288"
row "#include <torch/torch.h> at -O0" "$(median "$results/include")" ms "1200"
