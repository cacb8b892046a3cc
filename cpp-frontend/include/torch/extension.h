// The header of extensions: the C++ API and the registration of operators. libtorch's header of this name also includes the
// bindings of Python, which do not exist here: operators of a TORCH_LIBRARY need none.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/all.h>
#include <torch/library.h>
