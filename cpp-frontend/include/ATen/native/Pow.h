// The kernels are in the library: programs that include this header get the operators.
#pragma once
#include <ATen/ATen.h>
