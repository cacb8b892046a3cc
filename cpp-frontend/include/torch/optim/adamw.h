// See torch/optim/adam.h.
#pragma once
#include <torch/optim/adam.h>
