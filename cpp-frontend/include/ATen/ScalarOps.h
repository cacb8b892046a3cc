// at::scalar_to_tensor.
#pragma once

#include <ATen/Functions.h>
