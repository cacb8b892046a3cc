// What the tests of CUDA devices share.
#pragma once

#include <c10/util/accumulate.h>
#include <torch/torch.h>

#include <string>

inline const torch::TensorOptions on_gpu = torch::TensorOptions(torch::kCUDA);

/// The text of the c10::Error that a call throws.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

inline torch::Tensor values(at::IntArrayRef sizes) { return torch::arange(1, 1 + c10::multiply_integers(sizes), torch::kFloat).view(sizes) / 4; }
