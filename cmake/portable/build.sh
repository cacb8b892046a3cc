#!/bin/sh
# Builds both libraries for Linux systems other than the build machine's, and tests them: build/portable/<arch>-<gnu or musl>/lib
# contains the shared library with its links, the static library and the kernels of CUDA devices.
# Usage: build.sh ARCH-gnu|ARCH-musl...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/settings.sh"
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
cd "$root"

for platform; do
  settings "$platform"
  # The compiler and the emulator.
  if [ -n "$tools" ]; then . "$root/tests/arm64/setup.sh"; fi
  if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]; then
    rustup target add "$triple" >&2 || { say "portable: cannot install Rust's standard library for $triple"; exit 1; }
  fi
  "$here/libc.sh" "$arch" "$libc" "$folder"
  cargo_settings
  cargo build --release --locked --target "$triple" -p rushlight-capi ${JOBS:+-j "$JOBS"}

  built=$CARGO_TARGET_DIR/$triple/release
  rm -rf "$lib"
  mkdir -p "$lib"
  "${tools}strip" -o "$lib/librushlight.so.$version" "$built/librushlight.so"
  ln -s "librushlight.so.$version" "$lib/librushlight.so.${version%%.*}"
  ln -s "librushlight.so.${version%%.*}" "$lib/librushlight.so"
  cp -R core/cuda/ptx "$lib/rushlight-kernels"
  LD=${tools}ld OBJCOPY=${tools}objcopy READELF=${tools}readelf AR=${tools}ar capi/static/merge.sh "$built/librushlight.a" "$lib"
  (unset CARGO_TARGET_DIR && "$here/check.sh" "$platform")
done
