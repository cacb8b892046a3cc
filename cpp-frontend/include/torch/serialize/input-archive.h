// See torch/serialize/archive.h.
#pragma once
#include <torch/serialize/archive.h>
