// See ATen/core/DimVector.h.
#pragma once
#include <ATen/core/DimVector.h>
