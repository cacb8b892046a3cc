// See torch/library.h.
#pragma once
#include <torch/library.h>
