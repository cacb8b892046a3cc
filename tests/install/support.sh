# For the scripts in this folder, which set `prefix` and `build`.

# Configures and builds a CMake project with the installed package, or one target of it if `only` names one: project, name of its
# build folder, more options.
only=all
use_package() {
  from=$1 name=$2
  shift 2
  { cmake -S "$from" -B "$build/$name" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release "$@" >"$build/$name.log" 2>&1 &&
    cmake --build "$build/$name" --target "$only" -j "$(nproc)" >>"$build/$name.log" 2>&1; } || { cat "$build/$name.log"; exit 1; }
}

expect() { # what, expected, found
  [ "$2" = "$3" ] || { printf '%s: found\n%s\ninstead of\n%s\n' "$1" "$3" "$2" >&2; exit 1; }
  echo "installed: $1 works"
}

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The output of the programs in examples/hello.
fitted=$(printf ' 2.0000 -3.0000\n[ CPUFloatType{1,2} ]\n 1.0000\n[ CPUFloatType{1} ]')
derivative="2 4 6 "
