#!/bin/sh
# Compiles every header of the frontend alone, with warnings as errors, with and without exceptions and RTTI.
# Usage: headers.sh COMPILER INCLUDE_DIR FRONTEND_DIR
set -eu
compiler=$1
include=$2
frontend=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
# ATen/generated/methods.h is the inside of a class.
for header in $(cd "$frontend" && find . -name '*.h' ! -name 'methods.h' | sort | sed 's|^\./||'); do
  for mode in "" "-fno-exceptions -fno-rtti"; do
    # shellcheck disable=SC2086
    if ! printf '#include <%s>\n' "$header" | "$compiler" -std=c++17 -Wall -Wextra -Werror $mode -I"$include" -I"$frontend" \
      -fsyntax-only -x c++ - 2>"$work/errors"; then
      echo "$header does not compile alone $mode"
      head -n 5 "$work/errors"
      failed=1
    fi
  done
done
exit $failed
