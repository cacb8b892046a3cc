#!/bin/sh
# Runs a program for Windows in Wine, with what it prints as a program for Linux would print it: the C library of Windows ends lines
# with two characters.
# Usage: run.sh PROGRAM[.exe] [ARGUMENT...]
#        run.sh --check    fails if Wine is not installed or does not start
# RUSHLIGHT_WINE is the command that runs Wine, if it is not found; WINEPREFIX its folder, by default build/windows/wine.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${RUSHLIGHT_WINE:=$(command -v wine64 || ls /usr/lib/wine/wine64 2>/dev/null || command -v wine || true)}"
: "${WINEPREFIX:=$here/../../build/windows/wine}"
[ -n "$RUSHLIGHT_WINE" ] || { echo "windows: Wine is not installed (Debian: wine64)" >&2; exit 127; }
export WINEPREFIX WINEDEBUG=-all
if ! [ -f "$WINEPREFIX/ready" ]; then
  mkdir -p "$WINEPREFIX"
  WINEPREFIX=$(cd "$WINEPREFIX" && pwd)
  # Programs that start at the same time wait for the first one, which creates the folder.
  (
    flock 9
    if ! [ -f "$WINEPREFIX/ready" ]; then
      "$RUSHLIGHT_WINE" cmd /c exit >/dev/null 2>&1 || { echo "windows: $RUSHLIGHT_WINE does not start" >&2; exit 1; }
      random=$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll
      [ -f "$random" ] || x86_64-w64-mingw32-gcc -shared -O1 -Wall -Wextra -Werror "$here/bcryptprimitives.c" -o "$random" -ladvapi32
      : >"$WINEPREFIX/ready"
    fi
  ) 9>"$WINEPREFIX/lock"
fi
[ "$1" != --check ] || exit 0
program=${1%.exe}.exe
shift
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
status=0
"$RUSHLIGHT_WINE" "$program" "$@" >"$printed" || status=$?
tr -d '\r' <"$printed"
exit "$status"
