#!/bin/sh
# Runs PyTorch's own Java tests against the package org.pytorch, unmodified.
# Usage: run.sh SOURCES MODELS JAR PYTORCH_JAR BUILD
#   SOURCES  a checkout of PyTorch: android/pytorch_android/src/androidTest/java/org/pytorch/PytorchTestBase.java is compiled
#   MODELS   a folder that tests/oracle/mobile_models.py has written
# The exit status is 1 if a test fails.
set -eu
sources=$1 models=$2 jar=$3 pytorch=$4 build=$5
here=$(dirname "$0")
base=$sources/android/pytorch_android/src/androidTest/java/org/pytorch/PytorchTestBase.java
rm -rf "$build"
mkdir -p "$build/classes"
for artifact in junit:junit:4.13.2 org.hamcrest:hamcrest-core:1.3; do
  mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$(cd "$build" && pwd)"
done
path=$jar:$pytorch:$build/junit-4.13.2.jar:$build/hamcrest-core-1.3.jar
javac -nowarn -cp "$path" -d "$build/classes" "$base" "$here/NamedModels.java"
status=0
for suffix in .pt .ptl; do
  java -cp "$path:$build/classes" NamedModels "$models" "$suffix" || status=1
done
exit "$status"
