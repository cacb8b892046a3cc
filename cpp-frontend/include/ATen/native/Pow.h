// Kernels are the library's own: programs that include this header get the operators.
#pragma once
#include <ATen/ATen.h>
