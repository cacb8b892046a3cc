// TensorDataContainer: numbers in braces.
#pragma once
#include <torch/detail/tensor_data.h>
