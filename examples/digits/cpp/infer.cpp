// Loads a trained model and tells how much of the whole data set it gets right.
//
//   infer DIGITS.safetensors MODEL
//
// MODEL may come from any of the three training programs, or from PyTorch (.pt or .safetensors).
#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <iostream>

#include "digits.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " DIGITS.safetensors MODEL\n";
    return 2;
  }
  try {
    auto all = Digits::load(argv[1]);
    auto model = make_model();
    torch::load(model, argv[2]);
    auto right = accuracy(predict(model, all.images), all.labels);
    std::printf("{\"lang\":\"cpp\",\"model\":\"%s\",\"images\":%d,\"accuracy\":%.17g}\n", argv[2],
                static_cast<int>(all.labels.size(0)), right);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
