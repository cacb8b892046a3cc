// What the generated examples call: compare a result with the documented one.
#pragma once

#include <iostream>
#include <torch/torch.h>

inline int example_failures = 0;

template <class Call>
void example(const char* name, Call call, const torch::Tensor& expected) {
  try {
    const torch::Tensor result = call();
    const bool same = result.sizes() == expected.sizes() && result.scalar_type() == expected.scalar_type() &&
        result.ne(expected).sum().template item<int64_t>() == 0;
    if (!same) {
      std::cerr << name << ": got\n" << result << "\nbut the documentation says\n" << expected << "\n";
      example_failures += 1;
    }
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << "\n";
    example_failures += 1;
  }
}

inline int example_report() {
  if (example_failures == 0) std::cout << "every example gives what the documentation says\n";
  return example_failures == 0 ? 0 : 1;
}
