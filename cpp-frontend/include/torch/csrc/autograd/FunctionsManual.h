// Derivatives are formulas of the library's schema; a program gets the surrounding parts: custom functions, and
// operators.
#pragma once
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
