#pragma once

#include <ATen/core/NamedTensor.h>
