#!/bin/sh
# Compiles the headers of the frontend with warnings as errors: each alone, which is the same for every compiler, or all together;
# and the whole without exceptions and RTTI.
# Usage: headers.sh alone|together COMPILER INCLUDE_DIR FRONTEND_DIR [HEADER]
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
# The headers among those on standard input that include a header, themselves or through others.
including() { # its name
  names=$(cat)
  (cd "$frontend" && grep -rHoE --include='*.h' '^ *# *include *[<"][^>"]+' .) | awk -v base="$1" -v names="$names" '
    { split($0, part, /:[ #]*include *[<"]/); from = substr(part[1], 3); folder = from; sub(/[^\/]*$/, "", folder)
      edges[++count] = from; to[count] = part[2]; beside[count] = folder part[2] }
    END {
      reached[base] = 1
      do {
        grown = 0
        for (at = 1; at <= count; ++at)
          if (!(edges[at] in reached) && ((to[at] in reached) || (beside[at] in reached))) { reached[edges[at]] = 1; grown = 1 }
      } while (grown)
      split(names, name, "\n")
      for (at in name) if (name[at] != base && name[at] in reached) print name[at]
    }' | sort
}
if [ $# -gt 4 ]; then
  file=$5
  shift 5
  header "$file" "$@"
  exit
fi
header torch/torch.h -fno-exceptions -fno-rtti
header torch/torch.h -DRLT_NO_INLINE_NAMESPACE
# ATen/generated/methods.h is the inside of a class, *_functions.h are lists for a macro.
headers=$(cd "$frontend" && find . -name '*.h' ! -name methods.h ! -path '*/generated/*_functions.h' | sed 's|^\./||' | sort)
if [ "$how" = together ]; then
  echo "$headers" | sed 's|.*|#include <&>|' | compiles "all headers together"
  exit
fi
# A header with nothing but other headers compiles alone if they do. Leaving out these 90 saves 110 of 395 seconds.
headers=$(cd "$frontend" && echo "$headers" | xargs grep -lvE '^ *(//.*|# *(pragma once|include .*))?$')
each() { # flags; names on standard input
  xargs -P "$(nproc)" -I '{}' "$0" alone "$compiler" "$include" "$frontend" '{}' "$@"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$headers" >"$work/left"
# A header that includes one of these compiles alone if it compiles after it: each of its other headers is checked as well. The
# first takes a header from 1.6 - 2.2 s to 0.4 - 0.8 s, the other two take the remaining 204 headers from 116 to 60 seconds of the
# compiler's time. Only GCC applies them this way; it forgets which warnings a precompiled header suppresses around its own
# templates.
if "$compiler" --version | grep -q 'Free Software Foundation'; then
  for base in ATen/ATen.h ATen/core/TensorBody.h c10/util/Exception.h; do
    folder=$work/$(echo "$base" | tr / _)
    mkdir "$folder"
    echo "#include <$base>" >"$folder/base.h"
    "$compiler" -std=c++17 -Wall -Wextra -Wshadow -Werror -I"$include" -I"$frontend" -x c++-header "$folder/base.h" -o "$folder/base.h.gch"
    including "$base" <"$work/left" >"$folder/after"
    each -include "$folder/base.h" -Winvalid-pch -Wno-init-list-lifetime <"$folder/after"
    comm -23 "$work/left" "$folder/after" >"$work/others"
    mv "$work/others" "$work/left"
  done
fi
each <"$work/left"
