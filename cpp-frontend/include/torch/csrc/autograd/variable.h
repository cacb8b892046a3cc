// See torch/autograd.h.
#pragma once
#include <torch/autograd.h>
