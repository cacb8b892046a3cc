// Vectorized<T> of numbers with all its operations.
#pragma once

#include <ATen/cpu/vec/vec_convert.h>
#include <ATen/cpu/vec/vec_mask.h>
