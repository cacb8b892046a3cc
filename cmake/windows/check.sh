#!/bin/sh
# Tests what build.sh has installed: what the library exports and needs, and, in Wine, the tests and the short examples in C, the
# examples in C++, and a project that finds the CMake package. Usage: check.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/settings.sh"
mkdir -p "$work"

# ---- The library by itself ----

library=$sdk/bin/rushlight.dll
x86_64-w64-mingw32-objdump -p "$library" >"$work/headers"
# Older ones are part of Windows; the last is that of its C library.
needs_only_windows() { # file
  for needed in $(x86_64-w64-mingw32-objdump -p "$1" | sed -n 's/.*DLL Name: //p'); do
    case $(echo "$needed" | tr A-Z a-z) in
      kernel32.dll | ntdll.dll | advapi32.dll | userenv.dll | ws2_32.dll | bcrypt.dll | bcryptprimitives.dll | api-ms-win-core-synch-l1-2-0.dll | msvcrt.dll) ;;
      *) fail "$1 needs $needed" ;;
    esac
  done
}
needs_only_windows "$library"
sed -n '/\[Ordinal\/Name Pointer\] Table/,$p' "$work/headers" | sed -n 's/^\t\[ *[0-9]*\].* \([A-Za-z_][A-Za-z0-9_]*\)$/\1/p' >"$work/exports"
grep -qx rlt_tensor_add_Tensor "$work/exports" || fail "rushlight.dll does not export the interface"
if grep -vE '^(rlt_|Java_org_rushlight_|JNI_On)' "$work/exports"; then fail "rushlight.dll exports more than the interface"; fi
echo "rushlight.dll: $(wc -l <"$work/exports") functions, needs" $(sed -n 's/.*DLL Name: //p' "$work/headers")

# ---- Programs ----

# A folder of the build at a time: the tests of C++ take longer.
for folder in tests/c examples; do quietly "build-$(basename "$folder")" cmake --build "$build/$folder" -j "$JOBS"; done

# Projects that use the installed package, CMake's options for them after their names.
prefix=$sdk
. "$root/tests/install/support.sh"
toolchain="-DCMAKE_TOOLCHAIN_FILE=$root/cmake/x86_64-w64-mingw32.cmake"
(
  build=$work
  use_package "$root/tests/install/torch" torch "$toolchain"
  for kind in none shared static both; do use_package "$root/tests/install/components" "components_$kind" "$toolchain" "-DKIND=$kind"; done
)
needs_only_windows "$work/components_static/hello.exe"

can_run || exit 0
run=$here/run.sh
ctest --test-dir "$build/tests/c" --output-on-failure -j "$JOBS" >"$work/c.log" || { cat "$work/c.log"; fail "a test of C failed"; }
echo "windows: tests of C: $(grep 'tests passed' "$work/c.log")"
programs=$build/bin
"$root/examples/hello/c.sh" "$programs" "$run" >"$work/examples.log" || { cat "$work/examples.log"; fail "an example failed"; }
echo "windows: examples in C: $(wc -l <"$work/examples.log") outputs as expected"
expect hello.cpp "$fitted" "$("$run" "$programs/hello_cpp")"
# Windows looks for libraries in the folder of the program, and then in those of a list.
export "WINEPATH=Z:$sdk/bin"
expect "find_package(Torch)" "$fitted" "$("$run" "$work/torch/example-app")"
for kind in none shared static both; do
  expect "find_package(Rushlight) with components: $kind" "$derivative" "$("$run" "$work/components_$kind/hello")"
done
