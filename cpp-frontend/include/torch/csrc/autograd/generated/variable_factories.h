// The functions of torch:: that create tensors; they are those of torch/types.h.
#pragma once

#include <torch/types.h>
