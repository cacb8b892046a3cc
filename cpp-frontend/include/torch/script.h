// Everything of the C++ API except nn, optim and data, and TorchScript: modules that Python saved (torch::jit::load), and
// functions from source code (torch::jit::compile).
#pragma once

#include <ATen/core/ivalue_all.h>
#include <ATen/core/op_registration/op_registration.h>
#include <caffe2/serialize/file_adapter.h>
#include <torch/autograd.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/custom_class.h>
#include <torch/jit.h>
#include <torch/library.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <c10/util/Logging.h>
#include <c10/util/order_preserving_flat_hash_map.h>

// libtorch's header of this name includes it.
#include <fstream>
