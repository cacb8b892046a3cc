// at::from_blob is in ATen/Functions.h. The packages install a header for each operator beside this one.
#pragma once

#include <ATen/Functions.h>
