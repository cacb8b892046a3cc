# For the tests in this folder, after `settings`: the C libraries that programs of a platform can run with on this machine. Some
# are old ones, from packages of other systems.

unpack() { # archive
  mkdir -p "$work/root" && dpkg-deb -x "$1" "$work/root"
}

# A package of Ubuntu by its path in the archive, and its checksum in Ubuntu's index of packages.
ubuntu() {
  file=$work/packages/$(basename "$1")
  mkdir -p "$work/packages"
  [ -f "$file" ] || curl -sf -m 120 -o "$file" "http://archive.ubuntu.com/ubuntu/pool/main/g/$1" || return 1
  echo "$2  $file" | sha256sum -c --status || { rm -f "$file"; return 1; }
  unpack "$file"
}

# Packages of Debian 11 by name, for the platform's processor, with lists of their own: those of this machine stay as they are.
debian() {
  key=/usr/share/keyrings/debian-archive-keyring.gpg
  case $arch in x86_64) cpu=amd64 ;; aarch64) cpu=arm64 ;; *) return 1 ;; esac
  [ -f "$key" ] && command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
  apt=$work/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$work/packages"
  : >"$apt/status"
  echo "deb [signed-by=$key] http://deb.debian.org/debian bullseye main" >"$apt/sources"
  cat >"$apt/settings" <<END
APT::Architecture "$cpu";
APT::Architectures "$cpu";
APT::Sandbox::User "";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Etc::SourceList "$apt/sources";
Dir::Etc::SourceParts "/dev/null";
END
  for name; do
    if [ -z "$(find "$work/packages" -name "${name}_*.deb")" ]; then
      (cd "$work/packages" && export APT_CONFIG="$apt/settings" && apt-get -qq update >/dev/null 2>&1 && apt-get -qq download "$name" >/dev/null 2>&1) || return 1
    fi
    unpack "$(find "$work/packages" -name "${name}_*.deb" | head -n 1)" || return 1
  done
}

# The package of musl in the distribution of this machine.
distribution() {
  mkdir -p "$work/packages"
  [ -n "$(find "$work/packages" -name 'musl_*.deb')" ] || (cd "$work/packages" && apt-get download -q musl >/dev/null 2>&1) || return 1
  unpack "$(find "$work/packages" -name 'musl_*.deb' | head -n 1)"
}

not_run() { say "$platform: not run $1: the packages cannot be downloaded"; }

# Calls FUNCTION WHERE COMMAND... for each of the C libraries: COMMAND runs a program that is linked to the shared library.
systems() { # function
  old=$work/root/lib/$arch-linux-gnu
  # Each word of `emulator` goes before the command.
  case $platform in
    *-gnu)
      if [ -n "$emulator" ]; then
        "$1" "in the emulator" "$emulator" -L "/usr/$arch-linux-gnu" -E "LD_LIBRARY_PATH=$lib"
      else
        "$1" "with the build machine's glibc $(getconf GNU_LIBC_VERSION | sed 's/.* //')" env "LD_LIBRARY_PATH=$lib"
      fi
      if [ "$arch" = x86_64 ]; then
        if ubuntu glibc/libc6_2.27-3ubuntu1_amd64.deb 1e1eb86fd646aa68f7144ec692b837b6b352d215880c6a2d0c92c19d36938427 &&
          ubuntu gcc-8/libgcc1_8-20180414-1ubuntu2_amd64.deb c5a6df527fdfe0da45ff0538414535a04a6753e93a9f5902689cf1a73265423b; then
          "$1" "with glibc 2.27 of Ubuntu 18.04" $emulator "$old/ld-2.27.so" --inhibit-cache --library-path "$lib:$old"
        else
          not_run "with glibc 2.27 of Ubuntu 18.04"
        fi
      elif debian libc6 libgcc-s1; then
        "$1" "with glibc 2.31 of Debian 11" $emulator "$old/ld-2.31.so" --inhibit-cache --library-path "$lib:$old"
      else
        not_run "with glibc 2.31 of Debian 11"
      fi
      ;;
    *-musl)
      if if [ -n "$emulator" ]; then debian musl; else distribution; fi; then
        loader=$(find "$work/root" -type f -name libc.so | head -n 1)
        "$1" "with musl $(basename "$(find "$work/packages" -name 'musl_*.deb' | head -n 1)" | cut -d _ -f 2)" \
          $emulator "$loader" --library-path "$lib"
      else
        not_run "with musl"
      fi
      ;;
  esac
}

# Whether programs of the platform can run here.
can_run() {
  if [ -z "$emulator" ] || command -v "$emulator" >/dev/null; then return 0; fi
  say "$platform: no program was run: the emulator $emulator is not installed (Debian: qemu-user)"
  return 1
}
