// c10::ivalue::TupleElements; see ATen/core/ivalue_objects.h.
#pragma once

#include <ATen/core/ivalue_objects.h>
