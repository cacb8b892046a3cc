// Trains a small network on handwritten digits through the C++ frontend.
//
//   train DIGITS.safetensors OUT_DIR
//
// Writes model.safetensors, confusion.png and losses.png into OUT_DIR and ends with one JSON line. The recipe is that of
// tests/oracle/mlp_reference.py: the same random numbers in the same order, so the losses are PyTorch's.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>

#include "../progress.h"
#include "digits.h"

namespace {

constexpr int64_t kTrain = 1437, kAll = 1797, kBatch = 64, kEpochs = 15;
constexpr int64_t kBatches = (kTrain + kBatch - 1) / kBatch;

void train(const std::string& data, const std::string& out) {
  auto all = Digits::load(data);
  torch::manual_seed(0);
  auto model = make_model();
  auto order = torch::randperm(kAll);
  auto train = all.rows(order.slice(0, 0, kTrain));
  auto test = all.rows(order.slice(0, kTrain, kAll));
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(3e-3));

  auto losses = torch::zeros({kEpochs * kBatches});
  double test_accuracy = 0;
  auto start = std::chrono::steady_clock::now();
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    auto label = "C++  epoch " + std::string(epoch < 9 ? " " : "") + std::to_string(epoch + 1) + "/" + std::to_string(kEpochs);
    model->train();
    auto permutation = torch::randperm(kTrain);
    for (int64_t batch = 0; batch < kBatches; ++batch) {
      auto [input, target] = train.rows(permutation.slice(0, batch * kBatch, (batch + 1) * kBatch));
      optimizer.zero_grad();
      auto loss = torch::nll_loss(torch::log_softmax(model->forward(input), 1), target);
      loss.backward();
      optimizer.step();
      losses[epoch * kBatches + batch].copy_(loss.detach());
      progress(label.c_str(), static_cast<int>(batch + 1), static_cast<int>(kBatches));
    }
    test_accuracy = accuracy(predict(model, test.images), test.labels);
    auto mean = losses.slice(0, epoch * kBatches, (epoch + 1) * kBatches).mean(torch::kFloat64).item<double>();
    progress_done(label.c_str(), mean, test_accuracy);
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  auto counts = confusion_matrix(predict(model, test.images), test.labels);
  std::cerr << counts << '\n';
  draw_confusion(counts, out + "/confusion.png");
  draw_losses(losses, out + "/losses.png");
  torch::save(model, out + "/model.safetensors");

  std::printf("{\"lang\":\"cpp\",\"test_accuracy\":%.17g,\"first_loss\":%.17g,\"loss_step_20\":%.17g,\"train_seconds\":%.3f}\n",
              test_accuracy, losses[0].item<double>(), losses[19].item<double>(), seconds.count());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " DIGITS.safetensors OUT_DIR\n";
    return 2;
  }
  try {
    train(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
