// Gradients: backward, grad, hooks, custom functions, modes, gradcheck.
#pragma once

#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/public.h>
