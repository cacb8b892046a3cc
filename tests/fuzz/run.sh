#!/bin/sh
# Fuzzes the readers of tests/readers, one after the other.
#   tests/fuzz/run.sh <seconds for each> <folder for what it finds and learns> [reader...]
set -eu
seconds=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)

rustup run nightly rustc --version >/dev/null 2>&1 || {
  echo "The fuzzer needs a nightly compiler. Install with: rustup toolchain install nightly --profile minimal" >&2
  exit 1
}
# The shipped versions.
cp "$root/Cargo.lock" Cargo.lock
target=x86_64-unknown-linux-gnu
export CARGO_TARGET_DIR="$root/target/fuzz"
cargo +nightly build -q --release --target "$target"
programs=$CARGO_TARGET_DIR/$target/release

names=$("$programs/seeds" "$folder/seeds")
[ $# -gt 0 ] || {
  # shellcheck disable=SC2086
  set -- $names
}
failed=
for reader; do
  mkdir -p "$folder/corpus/$reader"
  # Freed tensors are returned to malloc at once, so that a late access is detected; a larger memory use is a finding.
  if READER=$reader RUSHLIGHT_CACHE_LIMIT=0 "$programs/readers" -max_total_time="$seconds" -rss_limit_mb=1024 -malloc_limit_mb=64 \
    -timeout=10 -max_len=16384 -print_final_stats=1 -artifact_prefix="$folder/$reader-" \
    "$folder/corpus/$reader" "$folder/seeds/$reader" >"$folder/$reader.log" 2>&1; then
    result=nothing
  else
    result="a finding, see $folder/$reader.log"
    failed=yes
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$reader.log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$folder/$reader.log" | tail -n 1)
  printf '%-12s %10s inputs, %6s edges: %s\n' "$reader" "${runs:-?}" "${edges:-?}" "$result"
done
[ -z "$failed" ]
