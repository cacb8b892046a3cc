#!/bin/sh
# Runs a C++ program with a library loaded first that exports libtorch's own symbols.
#   tests/c/impostor.sh <folder to work in> <librushlight.so>
set -eu
work=$1
library=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
: "${CXX:=c++}"
mkdir -p "$work"
ln -sf "$library" "$work/librushlight.so.0"
$CXX -std=c++17 -shared -fPIC -O0 "$here/impostor.cpp" -o "$work/impostor.so"
$CXX -std=c++17 -O0 "-I$root/include" "-I$root/cpp-frontend/include" "$here/impostor_user.cpp" "$work/librushlight.so.0" \
  "-Wl,-rpath,$work" -o "$work/impostor_user"
"$work/impostor_user"
LD_PRELOAD="$work/impostor.so" "$work/impostor_user"
