#!/bin/sh
# Prints the medians of the time from a process start to the first result of a saved model, read and mapped.
# Usage: bench/first_result.sh BUILD_DIR MODEL SIZE...   the sizes of its input
set -eu

program=$1/first_result
shift
rounds=${ROUNDS:-11}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

median() { cut -d' ' -f"$2" "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  "$program" "$@" >>"$results/read"
  "$program" mapped "$@" >>"$results/mapped"
done

echo "Median of $rounds runs, $(nproc) cores, milliseconds:"
printf '%-8s %8s %8s %8s %8s %8s %10s\n' "" start load first second total "KiB"
for kind in read mapped; do
  file=$results/$kind
  printf '%-8s %8s %8s %8s %8s %8s %10s\n' "$kind" "$(median "$file" 1)" "$(median "$file" 2)" "$(median "$file" 3)" "$(median "$file" 4)" \
    "$(median "$file" 5)" "$(median "$file" 6)"
done
