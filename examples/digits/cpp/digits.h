// Common parts of the training and the inference program: the data, the model, and its evaluation. Operators compute
// every number.
#pragma once

#include <torch/torch.h>

#include <string>

// Images as float32 in [0, 1], [N, 1, 8, 8]; labels as int64.
struct Digits {
  torch::Tensor images, labels;

  static Digits load(const std::string& path);
  // The rows that an int64 tensor selects.
  Digits rows(const torch::Tensor& rows) const { return {images.index_select(0, rows), labels.index_select(0, rows)}; }
};

// Samples which images are for training and which for the test. With the same seed every program gets the same split.
struct Split {
  static constexpr int64_t kTrain = 1437;
  Digits train, test;

  explicit Split(const Digits& all);
};

struct NetImpl : torch::nn::Module {
  NetImpl();
  torch::Tensor forward(torch::Tensor images);

  torch::nn::Conv2d conv1, conv2;
  torch::nn::BatchNorm2d norm1, norm2;
  torch::nn::Dropout dropout;
  torch::nn::Linear output;
};
TORCH_MODULE(Net);  // Net: a shared pointer to NetImpl

// The logits of the model for each class, [N, 10], without recording gradients. Leaves the model in evaluation mode.
torch::Tensor logits_of(Net& model, const torch::Tensor& images);
// The accuracy: the share of rows whose highest score is the label's.
double accuracy(const torch::Tensor& logits, const torch::Tensor& labels);
// Counts, int64 [10, 10]: row = the digit, column = the prediction.
torch::Tensor confusion_matrix(const torch::Tensor& logits, const torch::Tensor& labels);
