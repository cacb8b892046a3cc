#!/bin/sh
# Uses the published jars as external projects do: one jar, or classes and library apart, on the class path, on the module path, and in an
# image of jlink; and the jar of org.pytorch. Usage: run.sh java/target/rushlight-VERSION java/pytorch/target/rushlight-pytorch-VERSION BUILD
set -eu
jar=$1 pytorch=$2 build=$3
here=$(dirname "$0")
library=$jar-linux-$(uname -m).jar
rm -rf "$build"
mkdir -p "$build"

wanted="tensor([2., 4.])"
expect() { # expect WHAT ARGUMENTS...: what java prints with these arguments
  what=$1
  shift
  got=$("$@" 2>&1) || true
  [ "$got" = "$wanted" ] || { printf '%s printed:\n%s\n' "$what" "$got" >&2; exit 1; }
}

# JDK 24 and later warn about native code that is not enabled; releases before 22 support the flag for modules only.
feature=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/ *java.specification.version = //p')
[ "$feature" -ge 22 ] && allowed=--enable-native-access=ALL-UNNAMED || allowed=
[ "$feature" -ge 22 ] && allowed_module=--enable-native-access=org.rushlight || allowed_module=

javac -Xlint:all -Werror -p "$jar.jar" -d "$build/app" "$here"/app/module-info.java "$here"/app/app/Main.java

expect "the one jar" java $allowed -cp "$jar.jar:$build/app" app.Main
expect "classes and library apart" java $allowed -cp "$jar-classes.jar:$library:$build/app" app.Main
expect "the one jar as a module" java $allowed_module -p "$jar.jar:$build/app" -m app/app.Main
expect "classes and library apart as modules" java $allowed_module -p "$jar-classes.jar:$library:$build/app" \
  --add-modules org.rushlight.library -m app/app.Main

jlink -p "$jar.jar:$build/app" --add-modules app --output "$build/image" --strip-debug --no-header-files --no-man-pages
expect "an image of jlink" "$build/image/bin/java" $allowed_module -m app/app.Main

# A program for PyTorch's Java API names one jar; the other is beside it.
mkdir -p "$build/jars"
cp "$jar.jar" "$pytorch.jar" "$build/jars"
name=$build/jars/$(basename "$pytorch.jar")
javac -Xlint:all -Werror -cp "$name" -d "$build/pytorch" "$here"/pytorch/Classify.java
wanted="0.000 3.000 0.000"
expect "a program for org.pytorch" java $allowed -cp "$name:$build/pytorch" Classify "$here/../data/script/classifier.pt"
expect "the same with modules" java $allowed_module -p "$build/jars" --add-modules org.pytorch -cp "$build/pytorch" Classify \
  "$here/../data/script/classifier.pt"

# Without the library's jar the error names it.
case $(java -cp "$jar-classes.jar:$build/app" app.Main 2>&1) in
*"-linux-$(uname -m).jar has it"*) ;;
*) echo "an absent library is not named" >&2; exit 1 ;;
esac
echo "jars: as external projects use them: passed"
