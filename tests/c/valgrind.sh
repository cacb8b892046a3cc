#!/bin/sh
# The C tests under valgrind: no invalid access, nothing definitely lost.
#   tests/c/valgrind.sh <folder with the programs c_errors, c_memory, ...>
set -eu
# Freed tensors go back to malloc at once, so that a late access is seen.
export RUSHLIGHT_CACHE_LIMIT=0
for test in errors by_name autograd memory files null_arguments fork threads "chain 2000"; do
  echo "valgrind: $test"
  # The words of an entry are the program and its arguments.
  # shellcheck disable=SC2086
  valgrind -q --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    --suppressions="$(dirname "$0")/valgrind.supp" "$1"/c_$test >/dev/null
done
