#!/bin/sh
# Regenerates the reference data in tests/data with real PyTorch: `PYTHON=.venv/bin/python tests/oracle/run.sh`.
# PYTHON must have torch 2.7.1 (and numpy); g++ (or CXX) compiles the C++ programs against the libtorch inside it.
set -eu

python=${PYTHON:-python3}
cxx=${CXX:-g++}
case $python in */*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;; esac
cd "$(dirname "$0")"
data=../data

torch=$("$python" -c 'import os, torch; assert torch.__version__.split("+")[0] == "2.7.1", torch.__version__; print(os.path.dirname(torch.__file__))')
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

"$python" digits_reference.py
"$python" linear_init.py
"$python" java_layers.py
"$python" java_optim.py
"$python" wrong_calls.py
"$python" graph_rules.py
"$python" script_programs.py

build_with_libtorch() { # program
  "$cxx" -std=c++17 -O0 -I"$torch/include" -I"$torch/include/torch/csrc/api/include" "$1.cpp" -o "$build/$1" \
    -L"$torch/lib" -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10 -Wl,-rpath,"$torch/lib"
}

for program in printing semantics_tensor semantics_autograd semantics_layers semantics_nn semantics_sequence semantics_memory_format semantics_programs semantics_inner same_numbers; do
  echo "$program"
  build_with_libtorch "$program"
  OMP_NUM_THREADS=1 "$build/$program" >"$build/out"
  mv "$build/out" "$data/$program.expected.txt"
done

# Optimizers name parameters by their addresses, so these files differ between runs in the names.
build_with_libtorch cpp_archives
"$build/cpp_archives" "$data/io"
