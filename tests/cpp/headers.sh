#!/bin/sh
# Compiles every header of the frontend alone, with warnings as errors; and the whole without exceptions and RTTI.
# Usage: headers.sh COMPILER INCLUDE_DIR FRONTEND_DIR
set -eu
compiler=$1
include=$2
frontend=$3

alone() { # header, flags
  printf '#include <%s>\n' "$1" |
    "$compiler" -std=c++17 -Wall -Wextra -Wshadow -Werror ${2:+$2} ${3:+$3} -I"$include" -I"$frontend" -fsyntax-only -x c++ - ||
    { echo "$1 does not compile alone ${2:-} ${3:-}"; return 1; }
}
if [ $# -gt 3 ]; then
  alone "$4"
  exit
fi
alone torch/torch.h -fno-exceptions -fno-rtti
alone torch/torch.h -DRLT_NO_INLINE_NAMESPACE
# ATen/generated/methods.h is the inside of a class, meta_functions.h a list for a macro.
(cd "$frontend" && find . -name '*.h' ! -name methods.h ! -name meta_functions.h | sed 's|^\./||' | sort) |
  xargs -P "$(nproc)" -n 1 "$0" "$compiler" "$include" "$frontend"
