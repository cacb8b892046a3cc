// Archives: named tensors and values that are written to a file (.pt or .safetensors) or read from one.
#pragma once

#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>
