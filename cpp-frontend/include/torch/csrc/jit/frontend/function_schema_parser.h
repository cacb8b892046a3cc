// torch::jit::parseSchema: see ATen/core/function_schema.h.
#pragma once
#include <ATen/core/function_schema.h>
