// Archives: named tensors and values on their way to a file (.pt or .safetensors) and back.
#pragma once

#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>
