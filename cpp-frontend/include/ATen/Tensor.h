// A Tensor with everything that programs expect of one: operators, indexing, printing.
#pragma once
#include <ATen/Formatting.h>
#include <ATen/Functions.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/TensorBody.h>
