#pragma once

#include <ATen/cpu/vec/vec_convert.h>
