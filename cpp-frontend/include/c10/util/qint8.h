#pragma once

#include <c10/util/quantized_types.h>
