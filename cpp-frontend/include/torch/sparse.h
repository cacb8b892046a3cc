// Sparse tensors are in ATen/ATen.h.
#pragma once

#include <ATen/ATen.h>
