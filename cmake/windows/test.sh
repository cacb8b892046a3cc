#!/bin/sh
# Tests what build.sh has installed again, trains with the digits programs and runs the recorded cases of tests/data/golden in Wine.
# Usage: test.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/settings.sh"
[ -f "$sdk/bin/rushlight.dll" ] || fail "nothing is built; make windows does it"
"$here/check.sh"
can_run || exit 0
cd "$root"
# The digits programs in C and C++ train to the same losses, and read each other's models.
run=$here/run.sh programs=$build/bin digits=tests/data/digits/digits.safetensors
for language in c cpp; do
  mkdir -p "$work/digits/$language"
  "$run" "$programs/digits_${language}_train" "$digits" "$work/digits/$language" >"$work/digits/$language.txt"
  sed -n 's/.*\("test_accuracy".*\),"train_seconds".*/\1/p' "$work/digits/$language.txt" >"$work/digits/$language.result"
done
[ -s "$work/digits/c.result" ] && cmp "$work/digits/c.result" "$work/digits/cpp.result" || fail "the digits programs differ"
"$run" "$programs/digits_cpp_infer" "$digits" "$work/digits/logits.safetensors" "$work/digits/c/model.pt" >/dev/null
"$run" "$programs/digits_c_infer" "$digits" "$work/digits/logits.safetensors" "$work/digits/cpp/model.pt" >/dev/null
echo "windows: digits in C and C++: $(cat "$work/digits/c.result")"
# With the package of build.sh: most crates have the same features, and are not built again.
cargo build -q --release --locked -j "$JOBS" --target "$triple" -p rushlight-capi -p rushlight-conformance
"$here/run.sh" "$CARGO_TARGET_DIR/$triple/release/conformance" --library "$sdk/bin/rushlight.dll" tests/data/golden >"$work/golden.log" ||
  { grep -v ', 0 failed, 0 skipped$' "$work/golden.log"; fail "golden cases failed"; }
echo "windows: golden cases: $(tail -n 1 "$work/golden.log")"
