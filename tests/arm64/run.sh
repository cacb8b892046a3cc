#!/bin/sh
# The tests of rushlight-base and rushlight-cpu on an emulated ARM64 processor, for the NEON level.
set -eu
. "$(dirname "$0")/setup.sh"

set --
if [ -n "$runner" ]; then
  # QEMU's user mode aborts in a forked child of a process with threads if the child creates a thread, even in a C
  # program.
  set -- --skip a_forked_child_starts_afresh
  say "Left out, because the emulator cannot fork a process with threads: a_forked_child_starts_afresh"
fi
cargo test -q --locked --target "$target" -p rushlight-base -p rushlight-cpu -- "$@"
