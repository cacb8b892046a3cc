// Loads trained models and reports their test accuracy.
//
//   infer DIGITS.safetensors LOGITS.safetensors MODEL...
//
// A MODEL may come from any of the three training programs, or from Python (.pt or .safetensors). Prints one JSON line
// per model, and writes the logits of each to LOGITS.safetensors, under the names "0", "1" and so on.
#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <vector>

#include "digits.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: " << argv[0] << " DIGITS.safetensors LOGITS.safetensors MODEL...\n";
    return 2;
  }
  try {
    auto all = Digits::load(argv[1]);
    torch::manual_seed(0);  // that of training: the test images are those that training has not seen
    auto test = Split(all).test;
    std::vector<torch::Tensor> logits;
    for (int i = 3; i < argc; ++i) {
      Net model;
      torch::load(model, argv[i]);
      logits.push_back(logits_of(model, test.images));
      std::printf("{\"lang\":\"cpp\",\"model\":\"%s\",\"test_accuracy\":%.17g}\n", argv[i], accuracy(logits.back(), test.labels));
    }
    torch::save(logits, argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
