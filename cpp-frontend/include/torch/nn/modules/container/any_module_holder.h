// See torch/nn/modules/container/any.h.
#pragma once

#include <torch/nn/modules/container/any.h>
