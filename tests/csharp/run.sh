#!/bin/sh
# The C# declarations that `generate --build` writes, and examples/csharp over them: every function is found in the
# library, structs have the layouts of C, and the example runs. Skipped if there is no C# compiler.
# Usage: run.sh GENERATED LIBRARY_DIR   the folder of generated files, and the folder of librushlight.so
set -eu
generated=$1 library=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

for tool in mcs mono; do
  command -v $tool >/dev/null 2>&1 || {
    echo "csharp: skipped: there is no $tool. Debian's packages mono-mcs and mono-runtime have the C# compiler and the runtime."
    exit 0
  }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile() { # program, sources...
  program=$1
  shift
  # C# 7 is what Mono's compiler, Unity and Godot have in common.
  mcs -langversion:7 -unsafe -warn:4 -warnaserror -out:"$work/$program" "$generated/csharp/Native.cs" "$@"
}
run() {
  LD_LIBRARY_PATH=$library mono "$work/$1" "$root/tests/data"
}
expect() { # what, expected, found
  if [ "$2" = "$3" ]; then echo "csharp: $1: as expected"; else
    printf '%s printed\n%s\ninstead of\n%s\n' "$1" "$3" "$2" >&2
    exit 1
  fi
}

compile layout.exe "$generated/csharp/Layout.cs"
"${CC:-cc}" -I "$root/include" -o "$work/layout" "$generated/csharp/layout.c"
layout=$("$work/layout")
[ "$(echo "$layout" | wc -l)" -gt 100 ] || { echo "csharp: the layouts of C are missing" >&2; exit 1; }
expect "layouts of structs" "$layout" "$(run layout.exe)"

compile frames.exe "$root"/examples/csharp/Rushlight/*.cs "$root/examples/csharp/Frames.cs"
expected='weights of PyTorch, frame 0: 110
weights of PyTorch, frame 1: 170
weights of PyTorch, frame 2: 461
weights of PyTorch, frame 3: 773
module of TorchScript, color 0: 0
module of TorchScript, color 1: 1
module of TorchScript, color 2: 2
learned: 2 -3 1
a network that is too large: error 10
the next frame: 2
an error: 1 mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3);  in operator mm
a missing file: 12
a tensor that was disposed of: ObjectDisposedException
handles at the end: 0
forgotten tensors: 0 handles are left'
expect "examples/csharp" "$expected" "$(run frames.exe)"
# A handle that is used after it was freed, or freed twice, is an error in this mode.
expect "examples/csharp with checked handles" "$expected" "$(RUSHLIGHT_CHECK_HANDLES=1 run frames.exe)"
