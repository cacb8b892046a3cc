// torch::jit::Stack and its functions; see torch/csrc/jit/api/function.h.
#pragma once

#include <torch/csrc/jit/api/function.h>
