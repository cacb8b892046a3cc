#!/bin/sh
# Checks what `make dist` wrote: checksums; no path of this machine; libraries that pass library.sh; debug information that is found
# where its archive puts it; the commands of the README; and the SDK of this machine's platform as an external project uses it.
# Usage: dist.sh FOLDER BUILD_DIR
set -eu
folder=$(cd "$1" && pwd)
mkdir -p "$2"
build=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/support.sh"

(cd "$folder" && sha256sum --quiet -c SHA256SUMS)
for archive in "$folder"/*.tar.gz "$folder"/*.jar; do
  grep -q " $(basename "$archive")\$" "$folder/SHA256SUMS" || fail "SHA256SUMS has no $(basename "$archive")"
done

# Fails if a file below a folder has a path of this machine in it.
has_no_path_of_ours() {
  for path in "$root" "${CARGO_HOME:-$HOME/.cargo}/" "${RUSTUP_HOME:-$HOME/.rustup}/"; do
    if grep -rlaF "$path" "$1"; then fail "the files above have the path $path in them"; fi
  done
}

# The tools of the platform: those of a cross-compiler for another one.
tool() { # platform, name
  case $1 in
    "linux-$(uname -m)") echo "$2" ;;
    *) echo "${1#linux-}-linux-gnu-$2" ;;
  esac
}

check_sdk() { # platform, prefix of its archives
  unpacked=$build/$1
  rm -rf "$unpacked"
  mkdir -p "$unpacked"
  tar -C "$unpacked" -xzf "$2-sdk.tar.gz"
  sdk=$unpacked/$(basename "$2")-sdk
  library=$sdk/lib/librushlight.so
  case $1 in
    "linux-$(uname -m)") LIBC=gnu.2.17 "$here/library.sh" "$library" ;;
    *) "$here/library.sh" "$library" ;;
  esac
  if "$(tool "$1" readelf)" -SW "$library" | grep -qE '\.debug_|\.symtab'; then fail "$library is not stripped"; fi

  # A function of the interface has no line until the debug archive is unpacked, and its source line afterwards.
  address=0x$("$(tool "$1" readelf)" -W --dyn-syms "$library" | awk '$8 == "rlt_tensor_free" { print $2 }')
  line() { "$(tool "$1" addr2line)" -e "$library" "$address"; }
  case $(line "$1") in '??:'*) ;; *) fail "$library has debug information in it: $(line "$1")" ;; esac
  tar -C "$unpacked" -xzf "$2-debug.tar.gz"
  case $(line "$1") in
    /rushlight-*/capi/src/*.rs:[1-9]*) echo "$1: debug information is found: $(line "$1")" ;;
    *) fail "$1: rlt_tensor_free is at $(line "$1")" ;;
  esac
  # If it were compressed, its contents could not be searched.
  for debug_file in "$sdk"/lib/.debug/*; do
    "$(tool "$1" objcopy)" --decompress-debug-sections "$debug_file"
  done
  has_no_path_of_ours "$unpacked"
  echo "$1: no path of this machine"
}

for archive in "$folder"/rushlight-*-sdk.tar.gz; do
  prefix=${archive%-sdk.tar.gz}
  check_sdk "$(basename "$prefix" | sed 's/rushlight-[^-]*-//')" "$prefix"
done
for jar in "$folder"/*.jar; do
  work=$build/$(basename "$jar")
  rm -rf "$work"
  mkdir -p "$work"
  (cd "$work" && jar xf "$jar")
  has_no_path_of_ours "$work"
  case $jar in *-sources.jar | *-javadoc.jar | *-pytorch-*.jar | *-kotlin-*.jar) ;; *) "$here/library.sh" --in-jar "$jar" ;; esac
done

# The commands of the README, unchanged.
own=linux-$(uname -m)
sdk=$(echo "$build/$own"/rushlight-*-sdk)
sed -n '/^## With pkg-config/,/^## Contents/s/^    //p' "$sdk/README.md" >"$build/commands"
[ "$(wc -l <"$build/commands")" -ge 4 ] || fail "README.md has no commands"
expect "the README's commands" "$derivative$derivative$fitted" "$(cd "$sdk" && sh -eu "$build/commands")"
"$here/sdk.sh" "$sdk" "$build/use"
