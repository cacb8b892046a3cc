// c10::complex with its mathematical functions.
#pragma once
#include <c10/util/complex_math.h>
#include <c10/util/complex_utils.h>
