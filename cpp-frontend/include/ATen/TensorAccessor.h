// See ATen/core/TensorAccessor.h.
#pragma once

#include <ATen/core/TensorAccessor.h>
