# For the scripts in this folder, which set `root`.

PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
triple=x86_64-pc-windows-gnu
out=$root/build/windows
# What is installed, CMake's build, and the outputs of tests.
sdk=$out/sdk build=$out/cmake work=$out/check
: "${JOBS:=$(nproc)}"
: "${CARGO_TARGET_DIR:=$root/target}"
export CARGO_TARGET_DIR
say() { printf '%s\n' "$*" >&2; }
fail() { say "windows: $*"; exit 1; }

quietly() { # log, command
  log=$1
  shift
  mkdir -p "$work"
  "$@" >"$work/$log.log" 2>&1 || { cat "$work/$log.log"; fail "$log failed"; }
}

# Whether programs for Windows can run here.
can_run() {
  if "$here/run.sh" --check; then return 0; fi
  say "windows: no program was run"
  return 1
}
