#pragma once

#include <c10/util/float8_types.h>
