#!/bin/sh
# Compiles the C++ program of examples/digits with libtorch, unchanged, and trains: `PYTHON=.venv/bin/python digits_libtorch.sh OUT_DIR`.
# libtorch reads no safetensors, so the data are converted to an archive that it reads.
set -eu
python=${PYTHON:-python3}
cxx=${CXX:-g++}
out=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir -p "$out"

"$python" - "$root/tests/data/digits/digits.safetensors" "$build/digits.pt" <<'END'
import sys, torch
from safetensors.torch import load_file
archive = torch.nn.Module()
for name, tensor in load_file(sys.argv[1]).items():
    archive.register_buffer(name, tensor)
torch.jit.script(archive).save(sys.argv[2])
END
for part in digits canvas pictures train; do
  "$cxx" -std=c++17 -O0 -I"$torch/include" -I"$torch/include/torch/csrc/api/include" \
    -c "$root/examples/digits/cpp/$part.cpp" -o "$build/$part.o"
done
"$cxx" "$build"/*.o -o "$build/train" -L"$torch/lib" -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10 -Wl,-rpath,"$torch/lib"
"$build/train" "$build/digits.pt" "$out"
