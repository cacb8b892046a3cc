#!/bin/sh
# Cargo for CMake: builds the library for the sanitizer that the variable SANITIZER names, and puts it where Cargo puts others.
# Anything but `build` is left to Cargo.
set -eu
# These variables are make's, which does not pass its job server on.
unset MAKEFLAGS MFLAGS
if [ "$1" != build ]; then exec cargo "$@"; fi
here=$(cd "$(dirname "$0")" && pwd)
# Java has its own runtime.
families=$(sed -n 's/^default = \["jni", \(.*\)\]/\1/p' "$here/../../capi/Cargo.toml" | tr -d '" ')
set -- "$@" --no-default-features --features "$families" --config "$here/cargo.toml" --config "$here/$SANITIZER.toml"
if [ "$SANITIZER" = address ]; then
  exec cargo +nightly "$@"
fi
# Cargo builds the standard library for a named target only.
target=x86_64-unknown-linux-gnu
cargo +nightly "$@" --target "$target"
mkdir -p "$CARGO_TARGET_DIR/release"
cp "$CARGO_TARGET_DIR/$target/release/librushlight.so" "$CARGO_TARGET_DIR/$target/release/librushlight.a" "$CARGO_TARGET_DIR/release"
