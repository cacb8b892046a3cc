// torch::jit::freeze_module: see torch/csrc/jit/api/module.h.
#pragma once
#include <torch/csrc/jit/api/module.h>
