/* Trains a small network on handwritten digits through the plain C functions.
 *
 *   train DIGITS.safetensors OUT_DIR
 *
 * Writes model.safetensors, confusion.png and losses.png into OUT_DIR and ends with one JSON line. The recipe is that of
 * tests/oracle/mlp_reference.py: the same random numbers in the same order, so the losses are PyTorch's. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../progress.h"
#include "digits.h"

enum { EPOCHS = 15, BATCH = 64, BATCHES = (TRAIN_ROWS + BATCH - 1) / BATCH, STEPS = EPOCHS * BATCHES };

/* What Adam keeps for each parameter. */
typedef struct adam {
  rlt_tensor* means[PARAMETERS];
  rlt_tensor* squares[PARAMETERS];
  rlt_tensor* steps[PARAMETERS];
} adam;

static adam adam_new(const model* net) {
  adam self;
  for (int i = 0; i < PARAMETERS; ++i) {
    TRY(rlt_tensor_zeros_like(net->parameters[i], NULL, NULL, &self.means[i]));
    TRY(rlt_tensor_zeros_like(net->parameters[i], NULL, NULL, &self.squares[i]));
    TRY(rlt_tensor_zeros(NULL, 0, NULL, &self.steps[i]));
  }
  return self;
}

static void adam_free(adam* self) {
  for (int i = 0; i < PARAMETERS; ++i) {
    rlt_tensor_free(self->means[i]);
    rlt_tensor_free(self->squares[i]);
    rlt_tensor_free(self->steps[i]);
  }
}

/* Tells C that an array of handles is only read. */
static const rlt_tensor* const* list(rlt_tensor* const* tensors) { return (const rlt_tensor* const*)tensors; }

static void adam_step(adam* self, const model* net) {
  const rlt_scalar one = {RLT_SCALAR_INT, 0, 1, 0, 0};
  const double lr = 3e-3, beta1 = 0.9, beta2 = 0.999, weight_decay = 0, eps = 1e-8;
  const int32_t amsgrad = 0, maximize = 0;
  rlt_tensor* grads[PARAMETERS];
  TRY(rlt_set_grad_enabled(0));
  for (int i = 0; i < PARAMETERS; ++i) {
    TRY(rlt_tensor_grad(net->parameters[i], &grads[i]));
    TRY(rlt_tensor_add_Scalar_(self->steps[i], &one, &one));
  }
  TRY(rlt_tensor__fused_adam_(list(net->parameters), PARAMETERS, list(grads), PARAMETERS, list(self->means), PARAMETERS,
                              list(self->squares), PARAMETERS, NULL, 0, list(self->steps), PARAMETERS, lr, beta1, beta2,
                              weight_decay, eps, amsgrad, maximize, NULL, NULL));
  for (int i = 0; i < PARAMETERS; ++i) {
    rlt_tensor_free(grads[i]);
    TRY(rlt_tensor_set_grad(net->parameters[i], NULL));
  }
  TRY(rlt_set_grad_enabled(1));
}

/* One batch: forward, backward, update. The loss goes into a slot of `losses`. */
static void train_batch(const model* net, adam* optimizer, const digits* set, const rlt_tensor* rows, const rlt_tensor* slot) {
  const int64_t mean = 1;
  digits batch = digits_rows(set, rows);
  rlt_tensor* scores = model_forward(net, batch.images, 1);
  rlt_tensor *log_probabilities, *loss, *value;
  TRY(rlt_tensor_log_softmax_int(scores, 1, NULL, &log_probabilities));
  TRY(rlt_tensor_nll_loss(log_probabilities, batch.labels, NULL, mean, -100, &loss));
  TRY(rlt_tensor_backward(loss, NULL, 0, 0));
  adam_step(optimizer, net);
  TRY(rlt_tensor_detach(loss, &value));
  TRY(rlt_tensor_copy_(slot, value, 0));
  rlt_tensor_free(scores);
  rlt_tensor_free(log_probabilities);
  rlt_tensor_free(loss);
  rlt_tensor_free(value);
  digits_free(&batch);
}

static double element(const rlt_tensor* self, int64_t index) {
  rlt_tensor* one;
  TRY(rlt_tensor_select_int(self, 0, index, &one));
  double result = number(one);
  rlt_tensor_free(one);
  return result;
}

static double mean_of(const rlt_tensor* self, int64_t start, int64_t end) {
  const int32_t float64 = RLT_DTYPE_FLOAT64;
  rlt_tensor* part = slice(self, start, end);
  rlt_tensor* mean;
  TRY(rlt_tensor_mean(part, &float64, &mean));
  double result = number(mean);
  rlt_tensor_free(part);
  rlt_tensor_free(mean);
  return result;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s DIGITS.safetensors OUT_DIR\n", argv[0]);
    return 2;
  }
  char path[4096];
  digits all = digits_load(argv[1]);
  TRY(rlt_manual_seed(0));
  model net = model_new();
  rlt_tensor* order;
  TRY(rlt_tensor_randperm(ALL_ROWS, NULL, &order));
  rlt_tensor* train_rows = slice(order, 0, TRAIN_ROWS);
  rlt_tensor* test_rows = slice(order, TRAIN_ROWS, ALL_ROWS);
  digits train = digits_rows(&all, train_rows);
  digits test = digits_rows(&all, test_rows);

  adam optimizer = adam_new(&net);
  const int64_t steps = STEPS;
  rlt_tensor* losses;
  TRY(rlt_tensor_zeros(&steps, 1, NULL, &losses));
  double start = seconds(), test_accuracy = 0;
  for (int epoch = 0; epoch < EPOCHS; ++epoch) {
    char label[32];
    snprintf(label, sizeof label, "C    epoch %2d/%d", epoch + 1, EPOCHS);
    rlt_tensor* permutation;
    TRY(rlt_tensor_randperm(TRAIN_ROWS, NULL, &permutation));
    for (int batch = 0; batch < BATCHES; ++batch) {
      rlt_tensor* rows = slice(permutation, batch * BATCH, (batch + 1) * BATCH);
      rlt_tensor* slot;
      TRY(rlt_tensor_select_int(losses, 0, epoch * BATCHES + batch, &slot));
      train_batch(&net, &optimizer, &train, rows, slot);
      rlt_tensor_free(rows);
      rlt_tensor_free(slot);
      progress(label, batch + 1, BATCHES);
    }
    rlt_tensor_free(permutation);
    rlt_tensor* predicted = predict(&net, &test);
    test_accuracy = accuracy(predicted, test.labels);
    rlt_tensor_free(predicted);
    progress_done(label, mean_of(losses, epoch * BATCHES, (epoch + 1) * BATCHES), test_accuracy);
  }
  double train_seconds = seconds() - start;

  rlt_tensor* predicted = predict(&net, &test);
  rlt_tensor* counts = confusion_matrix(predicted, test.labels);
  print_matrix(counts);
  snprintf(path, sizeof path, "%s/confusion.png", argv[2]);
  draw_confusion(counts, path);
  snprintf(path, sizeof path, "%s/losses.png", argv[2]);
  draw_losses(losses, path);
  snprintf(path, sizeof path, "%s/model.safetensors", argv[2]);
  model_save(&net, path);

  printf("{\"lang\":\"c\",\"test_accuracy\":%.17g,\"first_loss\":%.17g,\"loss_step_20\":%.17g,\"train_seconds\":%.3f}\n",
         test_accuracy, element(losses, 0), element(losses, 19), train_seconds);

  rlt_tensor_free(predicted);
  rlt_tensor_free(counts);
  rlt_tensor_free(losses);
  rlt_tensor_free(order);
  rlt_tensor_free(train_rows);
  rlt_tensor_free(test_rows);
  adam_free(&optimizer);
  model_free(&net);
  digits_free(&train);
  digits_free(&test);
  digits_free(&all);
  return 0;
}
