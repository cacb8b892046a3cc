# For the scripts in this folder, which set `root`: the settings of a platform, ARCH-gnu or ARCH-musl.

portable=$root/build/portable
say() { printf '%s\n' "$*" >&2; }

# Sets `arch`; `libc`, Zig's name of the C library; `triple`, Rust's name of the platform; for another processor than this
# machine's, `tools`, the prefix of the binutils, and `emulator`; `folder`, of what is built, `lib` in it, `work`, of its tests.
settings() {
  arch=${1%-*} triple=${1%-*}-unknown-linux-${1#*-}
  case $1 in
    # The oldest glibc that Rust's standard library supports.
    *-gnu) libc=gnu.2.17 ;;
    *-musl) libc=musl ;;
    *) say "portable: $1 is neither ARCH-gnu nor ARCH-musl"; exit 1 ;;
  esac
  tools='' emulator=''
  if [ "$arch" != "$(uname -m)" ]; then tools=$arch-linux-gnu- emulator=qemu-$arch; fi
  folder=$portable/$1
  lib=$folder/lib
  work=$portable/check/$1
}

# What cargo builds programs and libraries of the platform with.
cargo_settings() {
  name=$(echo "$triple" | tr a-z- A-Z_)
  export "CARGO_TARGET_${name}_LINKER=$folder/cc"
  if [ "$libc" = musl ]; then
    # Without `crt-static`, which is musl's default, rustc builds a shared library. The other option is that of .cargo/config.toml.
    export "CARGO_TARGET_${name}_RUSTFLAGS=-Ctarget-feature=-crt-static -Crelro-level=partial"
  fi
  # Apart from other builds: cargo rebuilds everything, the build scripts included, when the linker of this machine's programs
  # changes. Platforms of another processor have those programs in common.
  CARGO_TARGET_DIR=$folder/target
  if [ -n "$tools" ]; then CARGO_TARGET_DIR=$portable/target-$arch; fi
  export CARGO_TARGET_DIR
}
