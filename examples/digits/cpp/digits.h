// What the training and the inference program share: the data, the model, and pictures. Every number is made by operators.
#pragma once

#include <torch/torch.h>

#include <string>
#include <utility>

// Images as float32 in [0, 1], labels as int64.
struct Digits {
  torch::Tensor images, labels;

  static Digits load(const std::string& path);
  // The rows that an int64 tensor names.
  Digits rows(const torch::Tensor& rows) const { return {images.index_select(0, rows), labels.index_select(0, rows)}; }
};

// Layer by layer: each draws its first weights as it is made, and C++ does not say in which order arguments are.
inline torch::nn::Sequential make_model() {
  torch::nn::Sequential model;
  model->push_back(torch::nn::Linear(64, 128));
  model->push_back(torch::nn::ReLU());
  model->push_back(torch::nn::Dropout(0.1));
  model->push_back(torch::nn::Linear(128, 64));
  model->push_back(torch::nn::ReLU());
  model->push_back(torch::nn::Linear(64, 10));
  return model;
}

// The class that the model gives each image.
torch::Tensor predict(torch::nn::Sequential& model, const torch::Tensor& images);

inline double accuracy(const torch::Tensor& predicted, const torch::Tensor& labels) {
  return predicted.eq(labels).mean(torch::kFloat64).item<double>();
}

// Counts, int64 [10, 10]: row = the digit, column = what the model says.
torch::Tensor confusion_matrix(const torch::Tensor& predicted, const torch::Tensor& labels);

void draw_confusion(const torch::Tensor& counts, const std::string& path);
// One bar per step, as high as the loss.
void draw_losses(const torch::Tensor& losses, const std::string& path);
