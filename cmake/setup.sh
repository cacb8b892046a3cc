#!/bin/sh
# Installs the missing prerequisites of `make` (apt as root or through sudo, rustup without), or lists them with the command
# that would install them. Prints nothing if nothing is missing.
# Usage: setup.sh native|java|all: for the native library and the tool; also for the jar; for everything including tests
set -eu
wanted=$1

PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
rust=1.95

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# version_at_least FOUND WANTED: compares dotted versions.
version_at_least() {
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

java_version() {
  have javac && javac -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p'
}

# ---- Packages of Debian and Ubuntu ----
packages=
need() { packages="$packages $1"; }

{ have gcc && have make; } || need build-essential
{ have cmake && version_at_least "$(cmake --version | sed -n '1s/.* //p')" 3.16; } || need cmake
# rustup is fetched with it.
have rustup || have rustc || have curl || need curl
if [ "$wanted" != native ]; then
  have mvn || need maven
  [ "$(java_version || true)" -ge 17 ] 2>/dev/null || need openjdk-17-jdk-headless
fi
if [ "$wanted" = all ]; then
  have g++ || need build-essential
  have pkg-config || need pkg-config
  have valgrind || need valgrind
  [ -e /usr/include/gtest/gtest.h ] || [ -e /usr/local/include/gtest/gtest.h ] || need libgtest-dev
fi
# clang is used if available: a second compiler for the headers.

if [ -n "$packages" ]; then
  sudo=
  if [ "$(id -u)" != 0 ]; then sudo='sudo -n'; fi
  if have apt-get && { [ -z "$sudo" ] || $sudo true 2>/dev/null; }; then
    say "Installing:$packages"
    $sudo apt-get update -qq
    case $packages in
      *openjdk-17*) # Releases that dropped 17 have a newer one as their default.
        apt-cache show openjdk-17-jdk-headless >/dev/null 2>&1 ||
          packages=$(printf '%s' "$packages" | sed 's/openjdk-17-jdk-headless/default-jdk-headless/') ;;
    esac
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages ca-certificates >&2
  else
    say "Missing:$packages"
    say "Install with: sudo apt-get update && sudo apt-get install$packages"
    exit 1
  fi
fi

# The example in C# is skipped without a compiler, so its absence is no error.
if [ "$wanted" = all ] && ! { have mcs && have mono; } && [ "$(id -u)" = 0 ] && have apt-get &&
  apt-cache show mono-mcs >/dev/null 2>&1; then
  say "Installing: mono-mcs mono-runtime"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mono-mcs mono-runtime >&2 ||
    say "They could not be installed; the example in C# is skipped."
fi

# ---- Rust ----
rust_version() {
  have rustc && rustc --version | sed -n 's/^rustc \([0-9.]*\).*/\1/p'
}
found=$(rust_version || true)
if [ -z "$found" ] || ! version_at_least "$found" "$rust"; then
  say "Rust $rust or newer is needed, found: ${found:-none}"
  if have rustup; then
    rustup toolchain install stable --profile minimal -c rustfmt -c clippy >&2
    # If the user has chosen a compiler, it is kept, and reported below if it is too old.
    rustup toolchain list | grep -q default || rustup default stable >&2
  elif curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs -o "${TMPDIR:-/tmp}/rustup-init.$$"; then
    sh "${TMPDIR:-/tmp}/rustup-init.$$" -y --profile minimal -c rustfmt -c clippy >&2
    rm -f "${TMPDIR:-/tmp}/rustup-init.$$"
  else
    say "Install with: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y -c rustfmt -c clippy"
    exit 1
  fi
  found=$(rust_version || true)
  version_at_least "${found:-0}" "$rust" || {
    say "rustc is still ${found:-missing}. If rustup has a newer one: rustup default stable, or RUSTUP_TOOLCHAIN=stable make ..."
    exit 1
  }
fi
