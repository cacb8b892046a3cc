// See c10/util/DimVector.h.
#pragma once
#include <c10/util/DimVector.h>
