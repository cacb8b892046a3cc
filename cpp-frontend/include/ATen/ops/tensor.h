// at::tensor is in ATen/Functions.h.
#pragma once

#include <ATen/Functions.h>
