// See torch/csrc/autograd/autograd.h and input_metadata.h.
#pragma once
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/input_metadata.h>
