#include "digits.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

Digits Digits::load(const std::string& path) {
  torch::serialize::InputArchive file;
  file.load_from(path);
  Digits digits;
  file.read("images", digits.images);
  file.read("labels", digits.labels);
  digits.images = digits.images.to(torch::kFloat32).div_(16).view({-1, 1, 8, 8});
  return digits;
}

Split::Split(const Digits& all) {
  auto order = torch::randperm(all.labels.size(0));
  train = all.rows(order.slice(0, 0, kTrain));
  test = all.rows(order.slice(0, kTrain));
}

// Convolution and linear layer initialize their weights on construction, in the order of the members. A norm removes
// the effect of a preceding bias, so the convolutions have none.
NetImpl::NetImpl()
    : conv1(nn::Conv2dOptions(1, 16, 3).padding(1).bias(false)),
      conv2(nn::Conv2dOptions(16, 32, 3).padding(1).bias(false)),
      norm1(16),
      norm2(32),
      dropout(0.25),
      output(32 * 2 * 2, 10) {
  // The names in the state dict, in PyTorch's order.
  register_module("conv1", conv1);
  register_module("norm1", norm1);
  register_module("conv2", conv2);
  register_module("norm2", norm2);
  register_module("dropout", dropout);
  register_module("output", output);
}

torch::Tensor NetImpl::forward(torch::Tensor images) {
  auto halve = F::AvgPool2dFuncOptions(2);
  auto x = F::avg_pool2d(F::gelu(norm1(conv1(images))), halve);  // [N, 16, 4, 4]
  x = F::avg_pool2d(F::gelu(norm2(conv2(x))), halve);            // [N, 32, 2, 2]
  return output(dropout(x.flatten(1)));
}

torch::Tensor logits_of(Net& model, const torch::Tensor& images) {
  torch::NoGradGuard no_grad;
  model->eval();
  return model->forward(images);
}

double accuracy(const torch::Tensor& logits, const torch::Tensor& labels) {
  return logits.argmax(1).eq(labels).mean(torch::kFloat64).item<double>();
}

torch::Tensor confusion_matrix(const torch::Tensor& logits, const torch::Tensor& labels) {
  auto cell = labels * 10 + logits.argmax(1);
  return torch::zeros({100}, torch::kInt64).index_add_(0, cell, torch::ones_like(cell)).view({10, 10});
}
