// See torch/csrc/autograd/autograd.h.
#pragma once
#include <torch/csrc/autograd/autograd.h>
