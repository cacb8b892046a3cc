#!/bin/sh
# The C tests under valgrind, which runs one thread at a time: as many programs at once as there are processors.
# No invalid access, nothing definitely lost.
#   tests/c/valgrind.sh <folder with the programs c_errors, c_memory, ...> [program and its arguments]
set -eu
# Freed tensors are returned to malloc at once, so that a late access is detected.
export RUSHLIGHT_CACHE_LIMIT=0
folder=$1
if [ $# -eq 1 ]; then
  # The longest first.
  printf '%s\n' races 'chain 2000' null_arguments fork threads profiler autograd by_name memory "files $(dirname "$0")/../data/io" errors |
    xargs -P "$(nproc)" -I '{}' "$0" "$folder" '{}'
  exit
fi
echo "valgrind: $2"
if [ "$2" = races ]; then
  # Resized tensors have uninitialized elements, so only addresses are checked.
  export RUSHLIGHT_RACES_SECONDS=20
  set -- "$2" --fair-sched=yes --undef-value-errors=no
else
  # Without a fair turn, the thread that cancels a product may wait until minutes of it are computed.
  set -- "$2" --fair-sched=try --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    --suppressions="$(dirname "$0")/valgrind.supp"
fi
program=$1
shift
# An entry consists of the program and its arguments.
# shellcheck disable=SC2086
valgrind -q --error-exitcode=1 "$@" "$folder"/c_$program >/dev/null || { echo "valgrind: $program failed" >&2; exit 1; }
