// The two pictures of a training run.
#pragma once

#include "digits.h"

// The results of training: the loss of each step, and for each epoch the loss and the accuracy on the test rows.
struct History {
  torch::Tensor losses, test_losses, test_accuracies;
};

void draw_curves(const History& history, const std::string& path);
// The confusion matrix, and the first misclassified images.
void draw_confusion(const torch::Tensor& logits, const Digits& test, const std::string& path);
