# For the scripts in this folder, which set `here`: what the short examples print.

expect() { # name, expected, found
  if [ "$2" = "$3" ]; then echo "$1: as expected"; else
    printf '%s printed\n%s\ninstead of\n%s\n' "$1" "$3" "$2" >&2
    exit 1
  fi
}

# What PyTorch returns for the picture after the same preparation (tests/oracle/java_models.py).
data=$here/../../tests/data/script
classes=$(printf '%-20s %s\n' green 0.8848 blue 0.0642 red 0.0510)
