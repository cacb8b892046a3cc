#!/bin/sh
# Runs targets of make as stages, one after the other, and prints at the end how long each took. Stages after a failed one still run,
# so that one run reports all failures. Fails when a stage fails, or when the stages leave a clean work tree with changes.
# Usage: stages.sh [--ahead COMMAND] TARGET...   COMMAND runs in the background while the first stages run
#        stages.sh --begin TARGET                notes when a stage begins (called by make itself)
#        stages.sh --end TARGET                  notes when a stage has passed (called by make itself)
set -eu
notes=build/stages.txt
seconds() { date +%s; }

if [ "$1" = --begin ]; then
  echo "$2 begin $(seconds)" >>"$notes"
  printf '\n== %s\n' "$2"
  exit
fi
if [ "$1" = --end ]; then
  echo "$2 end $(seconds)" >>"$notes"
  exit
fi
ahead=
if [ "$1" = --ahead ]; then
  ahead=$2
  shift 2
fi
cd "$(dirname "$0")/.."
mkdir -p build
: >"$notes"

# Changes of tracked files, and untracked files that are not ignored.
changes() { git status --porcelain 2>/dev/null || true; }
before=$(changes)

running=
stop() {
  # Its process group: the command and its children.
  if [ -n "$running" ]; then kill -- "-$running" 2>/dev/null || true; fi
}
trap stop EXIT
trap 'exit 130' INT TERM
if [ -n "$ahead" ]; then
  # If it fails, the stage that needs its result runs it again and reports the error.
  setsid sh -c "$ahead" >build/ahead.log 2>&1 </dev/null &
  running=$!
fi

stages=
for target; do stages="$stages begin-$target end-$target"; done
status=0
# One make for all stages, so that common prerequisites are built once.
# shellcheck disable=SC2086
${MAKE:-make} --no-print-directory -k $stages || status=$?
if [ "$status" = 0 ] && [ -n "$running" ]; then
  wait "$running" || true
  running=
fi

end=$(seconds)
echo
awk -v end="$end" '
  $2 == "begin" { name[++stages] = $1; start[stages] = $3 }
  $2 == "end" { passed[$1] = 1 }
  END {
    start[stages + 1] = end
    for (i = 1; i <= stages; ++i) {
      took = start[i + 1] - start[i]
      printf "%-16s %3d min %02d s%s\n", name[i], took / 60, took % 60, name[i] in passed ? "" : "  failed"
    }
    if (stages) printf "%-16s %3d min %02d s\n", "all", (end - start[1]) / 60, (end - start[1]) % 60
  }' "$notes"
if [ "$status" = 0 ] && [ -z "$before" ] && [ -n "$(changes)" ]; then
  echo "the tests changed the work tree, which was clean:" >&2
  changes >&2
  status=1
fi
exit "$status"
