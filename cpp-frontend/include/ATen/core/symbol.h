// Symbol; see ATen/core/Dimname.h.
#pragma once

#include <ATen/core/Dimname.h>
