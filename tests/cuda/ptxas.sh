#!/bin/sh
# Prints the path of NVIDIA's assembler for PTX, for `make check-cuda` only: nothing of it is linked or shipped. PTXAS names
# one; without it, the package nvidia-cuda-nvcc-cu12 of PyPI is installed into build/ptxas, in the version and with the hash of
# ptxas.txt. NVIDIA's licence of the package is in the folder nvidia_cuda_nvcc_cu12-*.dist-info.
set -eu
cd "$(dirname "$0")/../.."
root=$(pwd)
say() { printf '%s\n' "$*" >&2; }

works() { [ -x "$1" ] && "$1" --version >/dev/null 2>&1; }

if [ -n "${PTXAS:-}" ]; then
  works "$PTXAS" || { say "ptxas.sh: PTXAS=$PTXAS does not run"; exit 1; }
  printf '%s\n' "$PTXAS"
  exit
fi
if [ "$(uname -sm)" != "Linux x86_64" ]; then
  say "ptxas.sh: ptxas.txt has the hash for Linux on x86-64 alone; set PTXAS to the ptxas of a CUDA toolkit 12.9"
  exit 1
fi

folder=$root/build/ptxas
stamp=$(cksum <tests/cuda/ptxas.txt)
if [ "$(cat "$folder/installed" 2>/dev/null)" != "$stamp" ]; then
  say "Installing $(sed -n 's/^\(nvidia[^ ]*\).*/\1/p' tests/cuda/ptxas.txt) into build/ptxas (40 MB)"
  rm -rf "$folder"
  { python3 -m venv "$folder" && "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-deps --only-binary :all: \
      --require-hashes -r tests/cuda/ptxas.txt; } >&2 ||
    { say "ptxas.sh: cannot install ptxas; it needs python3 with venv (Debian: python3-venv) and PyPI, or PTXAS=file"; exit 1; }
  printf '%s\n' "$stamp" >"$folder/installed"
fi
for file in "$folder"/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas; do
  works "$file" || { say "ptxas.sh: $file does not run; remove build/ptxas"; exit 1; }
  printf '%s\n' "$file"
  exit
done
