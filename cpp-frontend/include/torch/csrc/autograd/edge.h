// See torch/csrc/autograd/function.h.
#pragma once
#include <torch/csrc/autograd/function.h>
