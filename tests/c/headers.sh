#!/bin/sh
# Every header compiles alone, as C99 and as C++17, with all warnings as errors.
set -eu
work=$1
include=$(cd "$(dirname "$0")/../../include" && pwd)
mkdir -p "$work"
cd "$include"
for header in rushlight/*.h rushlight/ops/*.h; do
  echo "#include <$header>" >"$work/alone.c"
  cp "$work/alone.c" "$work/alone.cpp"
  ${CC:-cc} -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only "-I$include" "$work/alone.c"
  ${CXX:-c++} -std=c++17 -pedantic -Wall -Wextra -Werror -fsyntax-only "-I$include" "$work/alone.cpp"
done
