// See ATen/Functions.h.
#pragma once
#include <ATen/Functions.h>
