// See ATen/Formatting.h.
#pragma once
#include <ATen/Formatting.h>
