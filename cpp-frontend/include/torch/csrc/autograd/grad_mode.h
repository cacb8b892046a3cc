// See c10/core/GradMode.h.
#pragma once
#include <c10/core/GradMode.h>
