#!/bin/sh
# The C tests and the C++ tests, and the library below them, under AddressSanitizer (with LeakSanitizer) or ThreadSanitizer.
#   tests/sanitize/run.sh address|thread <build folder> [regular expression of ctest]
set -eu
SANITIZER=$1
build=$2
# Left out: tests that compile or link separately, inspect the files of the shipped library, or measure its memory.
only=${3:-'^(c/(errors|by_name|autograd|hooks|reentrant|memory|failing_step|interrupted|watched_handles|soak|module_soak|chain|threads|fork|files|at_exit|null_arguments)|cpp_tests)$'}
# It has intentional data races.
if [ "$SANITIZER" = address ] && [ $# -lt 3 ]; then only="$only|^c/races\$"; fi
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export SANITIZER
mkdir -p "$build"

missing() {
  echo "make sanitize needs $1. Install with: $2" >&2
  exit 1
}
command -v clang++ >/dev/null || missing "clang" "apt-get install clang"
rustup run nightly rustc --version >/dev/null 2>&1 || missing "a nightly compiler" "rustup toolchain install nightly --profile minimal"
[ "$SANITIZER" != thread ] || rustup component list --toolchain nightly --installed | grep -q '^rust-src' ||
  missing "the sources of Rust's library" "rustup component add rust-src --toolchain nightly"

export CARGO_TARGET_DIR="$root/target/sanitize-$SANITIZER"
flags="-fsanitize=$SANITIZER -fno-omit-frame-pointer -O1"
link=
if [ "$SANITIZER" = thread ]; then
  # The library calls functions that older clangs lack, so Rust provides the runtime.
  runtime=$(rustup run nightly rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/lib/librustc-nightly_rt.tsan.a
  link="-fno-sanitize-link-runtime -Wl,--whole-archive $runtime -Wl,--no-whole-archive -rdynamic -lpthread -lrt -lm -ldl"
fi
cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DRUSHLIGHT_BUILD_TESTS=ON -DRUSHLIGHT_BUILD_TOOL=OFF -DRUSHLIGHT_CARGO="$here/cargo.sh" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_EXE_LINKER_FLAGS="$link" >"$build.log" 2>&1 || {
  cat "$build.log"
  exit 1
}
cmake --build "$build" -j "$(nproc)" --target rushlight_libraries
make -s -C "$build/tests/c" -j "$(nproc)"
make -s -C "$build" -j "$(nproc)" cpp_tests
# Freed tensors are returned to malloc at once, so that a late access is detected.
export RUSHLIGHT_CACHE_LIMIT=0
export ASAN_OPTIONS="detect_leaks=1:strict_string_checks=1"
export LSAN_OPTIONS="suppressions=$here/leaks.supp"
# A forked child may create threads.
export TSAN_OPTIONS="die_after_fork=0:second_deadlock_stack=1"
ctest --test-dir "$build" --output-on-failure -R "$only"
