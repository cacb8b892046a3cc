// What programs call of autograd, without the registration of operators (torch/library.h), which few programs need.
#pragma once

#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/gradcheck.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
