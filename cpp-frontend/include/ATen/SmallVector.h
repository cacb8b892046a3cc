// See c10/util/SmallVector.h.
#pragma once
#include <c10/util/SmallVector.h>
