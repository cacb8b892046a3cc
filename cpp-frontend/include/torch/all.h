// Everything of the C++ API.
#pragma once

#include <ATen/InternalFunctions.h>
#include <c10/util/Logging.h>
#include <torch/csrc/autograd/public.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/cuda.h>
#include <torch/data.h>
#include <torch/enum.h>
#include <torch/fft.h>
#include <torch/jit.h>
#include <torch/library.h>
#include <torch/linalg.h>
#include <torch/memory.h>
#include <torch/mps.h>
#include <torch/nested.h>
#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/serialize.h>
#include <torch/special.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>
#include <torch/xpu.h>

// Programs expect these after including torch/torch.h; the headers of older releases of libtorch included <fstream>.
#include <cmath>
#include <fstream>
#include <iostream>
