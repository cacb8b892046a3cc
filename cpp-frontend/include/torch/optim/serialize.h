// See torch/optim/optimizer.h.
#pragma once
#include <torch/optim/optimizer.h>
