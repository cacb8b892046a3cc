#!/bin/sh
# The C tests under valgrind: no invalid access, nothing definitely lost.
#   tests/c/valgrind.sh <folder with the programs c_errors, c_memory, ...>
set -eu
# Freed tensors are returned to malloc at once, so that a late access is detected.
export RUSHLIGHT_CACHE_LIMIT=0
for test in errors by_name autograd profiler memory files null_arguments fork threads "chain 2000"; do
  echo "valgrind: $test"
  # An entry consists of the program and its arguments.
  # shellcheck disable=SC2086
  valgrind -q --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    --suppressions="$(dirname "$0")/valgrind.supp" "$1"/c_$test >/dev/null
done
# Resized tensors have uninitialized elements, so only addresses are checked.
echo "valgrind: races"
RUSHLIGHT_RACES_SECONDS=20 valgrind -q --fair-sched=yes --undef-value-errors=no --error-exitcode=1 "$1"/c_races >/dev/null
