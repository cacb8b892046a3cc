#pragma once

#include <ATen/cpu/vec/functional_base.h>
