// c10::SymInt: sizes as libtorch's functions for symbolic shapes name them. There are no symbolic sizes: it is int64_t.
#pragma once

#include <c10/util/ArrayRef.h>
