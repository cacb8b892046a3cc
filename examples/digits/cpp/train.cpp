// Trains a convolutional network on handwritten digits through the C++ frontend. It is a libtorch program.
//
//   train DIGITS.safetensors OUT_DIR
//
// Writes into OUT_DIR the weights (model.safetensors, and model.pt for Python), what happened (run.safetensors) and two pictures
// (curves.svg, confusion.svg), and ends with one JSON line. The recipe is that of tests/oracle/digits_reference.py: the same random
// numbers in the same order, so the losses are PyTorch's.
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>

#include "../progress.h"
#include "digits.h"
#include "pictures.h"

namespace {

constexpr int64_t kBatch = 64, kEpochs = 12, kBatches = (Split::kTrain + kBatch - 1) / kBatch;

// One pass over the images in a new order; the loss of each batch is stored in `losses`.
void train_epoch(Net& model, torch::optim::Optimizer& optimizer, const Digits& train, torch::Tensor losses, const std::string& label) {
  model->train();
  auto permutation = torch::randperm(Split::kTrain);
  for (int64_t batch = 0; batch < kBatches; ++batch) {
    auto [images, labels] = train.rows(permutation.slice(0, batch * kBatch, (batch + 1) * kBatch));
    optimizer.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(model->forward(images), labels);
    loss.backward();
    optimizer.step();
    losses[batch].copy_(loss.detach());
    progress(label.c_str(), static_cast<int>(batch + 1), static_cast<int>(kBatches));
  }
}

History train(Net& model, const Split& split) {
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(0.01).weight_decay(0.01));
  torch::optim::StepLR rate(optimizer, /*step_size=*/4, /*gamma=*/0.3);
  History history{torch::zeros({kEpochs * kBatches}), torch::zeros({kEpochs}), torch::zeros({kEpochs}, torch::kFloat64)};
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    char label[32];
    std::snprintf(label, sizeof label, "C++  epoch %2d/%d", static_cast<int>(epoch + 1), static_cast<int>(kEpochs));
    auto losses = history.losses.narrow(0, epoch * kBatches, kBatches);
    rate.step();  // in C++ before the epoch: the first call counts as epoch 0, which Python's constructor does itself
    train_epoch(model, optimizer, split.train, losses, label);
    auto logits = logits_of(model, split.test.images);
    history.test_losses[epoch].copy_(torch::nn::functional::cross_entropy(logits, split.test.labels));
    history.test_accuracies[epoch].fill_(accuracy(logits, split.test.labels));
    progress_done(label, losses.mean(torch::kFloat64).item<double>(), history.test_accuracies[epoch].item<double>());
  }
  return history;
}

void save_run(const History& history, const torch::Tensor& logits, const std::string& path) {
  torch::serialize::OutputArchive file;
  file.write("losses", history.losses);
  file.write("test_losses", history.test_losses);
  file.write("test_accuracies", history.test_accuracies);
  file.write("logits", logits);
  file.save_to(path);
}

void run(const std::string& data, const std::string& out) {
  auto all = Digits::load(data);
  torch::manual_seed(0);
  Split split(all);
  Net model;

  auto start = std::chrono::steady_clock::now();
  auto history = train(model, split);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  auto logits = logits_of(model, split.test.images);
  torch::save(model, out + "/model.safetensors");
  torch::save(model, out + "/model.pt");
  save_run(history, logits, out + "/run.safetensors");
  draw_curves(history, out + "/curves.svg");
  draw_confusion(logits, split.test, out + "/confusion.svg");
  std::printf("{\"lang\":\"cpp\",\"test_accuracy\":%.17g,\"first_loss\":%.9g,\"last_loss\":%.9g,\"train_seconds\":%.3f}\n",
              accuracy(logits, split.test.labels), history.losses[0].item<double>(), history.losses[-1].item<double>(),
              seconds.count());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " DIGITS.safetensors OUT_DIR\n";
    return 2;
  }
  try {
    run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
