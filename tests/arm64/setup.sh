# For the scripts in this folder: what cross-building for arm64 and running it here needs is installed (apt as root or through sudo,
# rustup without), or named, which fails. Sets `target` and `runner`, which goes before a program of that processor, and tells cargo.

PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
target=aarch64-unknown-linux-gnu

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

runner=
if [ "$(uname -m)" != aarch64 ]; then
  packages=
  have qemu-aarch64 || packages="$packages qemu-user"
  have aarch64-linux-gnu-gcc || packages="$packages gcc-aarch64-linux-gnu"
  have aarch64-linux-gnu-g++ || packages="$packages g++-aarch64-linux-gnu"
  [ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || packages="$packages libc6-dev-arm64-cross"
  if [ -n "$packages" ]; then
    sudo=
    if [ "$(id -u)" != 0 ]; then sudo='sudo -n'; fi
    if have apt-get && { [ -z "$sudo" ] || $sudo true 2>/dev/null; }; then
      say "Installing:$packages"
      # shellcheck disable=SC2086
      { $sudo apt-get update -qq &&
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >&2; } ||
        { say "arm64: cannot install$packages"; exit 1; }
    else
      say "arm64: missing$packages"
      say "Install with: sudo apt-get update && sudo apt-get install$packages"
      exit 1
    fi
  fi
  runner='qemu-aarch64 -L /usr/aarch64-linux-gnu'
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$runner"
fi

if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
  have rustup || { say "arm64: Rust's standard library for $target is missing, and rustup too"; exit 1; }
  rustup target add "$target" >&2 || { say "arm64: cannot install Rust's standard library for $target"; exit 1; }
fi
