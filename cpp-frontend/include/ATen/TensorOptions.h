// See c10/core/TensorOptions.h.
#pragma once
#include <c10/core/TensorOptions.h>
