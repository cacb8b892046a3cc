// Names of dimensions, and which names two tensors have together.
#pragma once

#include <ATen/TensorNames.h>
#include <ATen/core/NamedTensor.h>
