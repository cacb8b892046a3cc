// Everything of the C++ API except nn, optim and data. TorchScript is not supported: a program that uses torch::jit
// does not compile.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/autograd.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/library.h>
#include <torch/types.h>
#include <torch/utils.h>

// libtorch's header of this name includes it.
#include <fstream>
