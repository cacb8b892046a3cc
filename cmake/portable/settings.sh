# For the scripts in this folder, which set `root`: the settings of a platform, ARCH-gnu or ARCH-musl.

portable=$root/build/portable
say() { printf '%s\n' "$*" >&2; }

# Sets `arch`; `libc`, Zig's name of the C library; `tools`, the prefix of the binutils.
settings() {
  arch=${1%-*}
  case $1 in
    # The oldest glibc that Rust's standard library supports.
    *-gnu) libc=gnu.2.17 ;;
    *-musl) libc=musl ;;
    *) say "portable: $1 is neither ARCH-gnu nor ARCH-musl"; exit 1 ;;
  esac
  tools=
  if [ "$arch" != "$(uname -m)" ]; then tools=$arch-linux-gnu-; fi
}
