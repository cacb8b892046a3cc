#!/bin/sh
# The tests link the library that `make build` has built: each crate of it has the same features in both. Otherwise Cargo would
# build most of it a second time, which takes minutes and is no error.
# Usage: same_features.sh PACKAGE...   the packages that are tested
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

features() { # kinds of dependencies, packages
  kinds=$1
  shift
  # Lines of crates, their version and features; without the mark of a crate that was printed before.
  cargo tree -q --locked --prefix none -e "$kinds" -f '{p} {f}' $(printf ' -p %s' "$@") | sed 's/ (\*)$//' | sort -u
}
features normal,build rushlight-capi rushlight-cli >"$work/built"
features all "$@" >"$work/tested"
if ! comm -23 "$work/built" "$work/tested" >"$work/different" || [ -s "$work/different" ]; then
  echo "these crates have other features in the tests (bindings/cli/Cargo.toml can ask for them):" >&2
  cat "$work/different" >&2
  exit 1
fi
