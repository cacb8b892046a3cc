// See ATen/Parallel.h.
#pragma once
#include <ATen/Parallel.h>
