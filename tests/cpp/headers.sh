#!/bin/sh
# Compiles the headers of the frontend with warnings as errors: each alone, which is the same for every compiler, or all together;
# and the whole without exceptions and RTTI.
# Usage: headers.sh alone|together COMPILER INCLUDE_DIR FRONTEND_DIR
set -eu
how=$1
compiler=$2
include=$3
frontend=$4

compiles() { # the lines of a program on standard input, what it is, flags
  what=$1
  shift
  "$compiler" -std=c++17 -Wall -Wextra -Wshadow -Werror "$@" -I"$include" -I"$frontend" -fsyntax-only -x c++ - ||
    { echo "$what does not compile $*"; return 1; }
}
header() { # its name, flags
  echo "#include <$1>" | compiles "$@"
}
if [ $# -gt 4 ]; then
  header "$5"
  exit
fi
header torch/torch.h -fno-exceptions -fno-rtti
header torch/torch.h -DRLT_NO_INLINE_NAMESPACE
# ATen/generated/methods.h is the inside of a class, *_functions.h are lists for a macro.
headers=$(cd "$frontend" && find . -name '*.h' ! -name methods.h ! -path '*/generated/*_functions.h' | sed 's|^\./||' | sort)
if [ "$how" = alone ]; then
  echo "$headers" | xargs -P "$(nproc)" -n 1 "$0" alone "$compiler" "$include" "$frontend"
else
  echo "$headers" | sed 's|.*|#include <&>|' | compiles "all headers together"
fi
