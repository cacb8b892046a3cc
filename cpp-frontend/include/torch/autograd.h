// Gradients: backward, grad, hooks, custom functions, modes, gradcheck.
#pragma once

#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/gradcheck.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
