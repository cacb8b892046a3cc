// See ATen/core/TensorBody.h.
#pragma once
#include <ATen/Tensor.h>
