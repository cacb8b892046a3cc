/* Trains a convolutional network on handwritten digits through the plain C functions.
 *
 *   train DIGITS.safetensors OUT_DIR
 *
 * Writes into OUT_DIR the weights (model.safetensors, and model.pt for Python), what happened (run.safetensors) and two pictures
 * (curves.svg, confusion.svg), and ends with one JSON line. The recipe is that of tests/oracle/digits_reference.py: the same random
 * numbers in the same order, so the losses are PyTorch's. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#include "../progress.h"
#include "digits.h"
#include "model.h"
#include "pictures.h"

enum { EPOCHS = 12, BATCH = 64, BATCHES = (TRAIN_ROWS + BATCH - 1) / BATCH };

/* ---- The optimizer ---- */

/* The state of AdamW for each parameter. */
typedef struct adamw {
  double rate;
  rlt_tensor* means[PARAMETERS];
  rlt_tensor* squares[PARAMETERS];
  rlt_tensor* steps[PARAMETERS];
} adamw;

static adamw adamw_new(const model* net, double rate) {
  adamw self = {0};
  self.rate = rate;
  for (int i = 0; i < PARAMETERS; ++i) {
    TRY(rlt_tensor_zeros_like(net->parameters[i], NULL, NULL, &self.means[i]));
    TRY(rlt_tensor_zeros_like(net->parameters[i], NULL, NULL, &self.squares[i]));
    TRY(rlt_tensor_zeros(NULL, 0, NULL, &self.steps[i]));
  }
  return self;
}

static void adamw_free(adamw* self) {
  for (int i = 0; i < PARAMETERS; ++i) {
    rlt_tensor_free(self->means[i]);
    rlt_tensor_free(self->squares[i]);
    rlt_tensor_free(self->steps[i]);
  }
}

/* Casts an array of handles to const. */
static const rlt_tensor* const* list(rlt_tensor* const* tensors) { return (const rlt_tensor* const*)tensors; }

/* Updates the parameters with their gradients, and clears those. */
static void adamw_step(adamw* self, const model* net) {
  const double beta1 = 0.9, beta2 = 0.999, weight_decay = 0.01, eps = 1e-8;
  const int32_t amsgrad = 0, maximize = 0;
  rlt_tensor* grads[PARAMETERS];
  TRY(rlt_set_grad_enabled(0));
  for (int i = 0; i < PARAMETERS; ++i) {
    TRY(rlt_tensor_grad(net->parameters[i], &grads[i]));
    TRY(rlt_tensor_add_Scalar_(self->steps[i], RLT_INT(1), RLT_INT(1)));
  }
  TRY(rlt_tensor__fused_adamw_(list(net->parameters), PARAMETERS, list(grads), PARAMETERS, list(self->means), PARAMETERS,
                               list(self->squares), PARAMETERS, NULL, 0, list(self->steps), PARAMETERS, self->rate, beta1, beta2,
                               weight_decay, eps, amsgrad, maximize, NULL, NULL));
  for (int i = 0; i < PARAMETERS; ++i) {
    rlt_tensor_free(grads[i]);
    TRY(rlt_tensor_set_grad(net->parameters[i], NULL));
  }
  TRY(rlt_set_grad_enabled(1));
}

/* ---- Training ---- */

static history history_new(void) {
  const int64_t steps = EPOCHS * BATCHES, epochs = EPOCHS;
  rlt_tensor_options float64 = RLT_TENSOR_OPTIONS_INIT;
  history run = {EPOCHS, BATCHES, NULL, NULL, NULL};
  float64.dtype = RLT_DTYPE_FLOAT64;
  TRY(rlt_tensor_zeros(&steps, 1, NULL, &run.losses));
  TRY(rlt_tensor_zeros(&epochs, 1, NULL, &run.test_losses));
  TRY(rlt_tensor_zeros(&epochs, 1, &float64, &run.test_accuracies));
  return run;
}

static void history_free(history* run) {
  rlt_tensor_free(run->losses);
  rlt_tensor_free(run->test_losses);
  rlt_tensor_free(run->test_accuracies);
}

/* Copies a tensor of one element into an element of another. */
static void record(const rlt_tensor* into, int64_t index, const rlt_tensor* value) {
  rlt_tensor *slot, *plain;
  TRY(rlt_tensor_select_int(into, 0, index, &slot));
  TRY(rlt_tensor_detach(value, &plain));
  TRY(rlt_tensor_copy_(slot, plain, 0));
  rlt_tensor_free(slot);
  rlt_tensor_free(plain);
}

/* One batch: forward, backward, update. Returns the loss. */
static rlt_tensor* train_batch(const model* net, adamw* optimizer, const digits* train, const rlt_tensor* rows) {
  digits batch = digits_rows(train, rows);
  rlt_tensor* logits = model_forward(net, batch.images, 1);
  rlt_tensor* loss = cross_entropy(logits, batch.labels);
  TRY(rlt_tensor_backward(loss, NULL, 0, 0));
  adamw_step(optimizer, net);
  rlt_tensor_free(logits);
  digits_free(&batch);
  return loss;
}

/* One pass over the images in a new order; the loss of each batch is stored in `losses`. */
static void train_epoch(const model* net, adamw* optimizer, const digits* train, const rlt_tensor* losses, const char* label) {
  rlt_tensor* permutation;
  TRY(rlt_tensor_randperm(TRAIN_ROWS, NULL, &permutation));
  for (int batch = 0; batch < BATCHES; ++batch) {
    rlt_tensor* rows = slice(permutation, batch * BATCH, (batch + 1) * BATCH);
    rlt_tensor* loss = train_batch(net, optimizer, train, rows);
    record(losses, batch, loss);
    rlt_tensor_free(rows);
    rlt_tensor_free(loss);
    progress(label, batch + 1, BATCHES);
  }
  rlt_tensor_free(permutation);
}

/* The loss and the accuracy on the test rows, as entry `epoch` of the history. */
static double test(const model* net, const digits* rows, const history* run, int epoch) {
  rlt_tensor *logits = logits_of(net, rows->images), *loss = cross_entropy(logits, rows->labels), *slot;
  const double share = accuracy(logits, rows->labels);
  record(run->test_losses, epoch, loss);
  TRY(rlt_tensor_select_int(run->test_accuracies, 0, epoch, &slot));
  TRY(rlt_tensor_fill_Scalar_(slot, RLT_FLOAT(share)));
  rlt_tensor_free(logits);
  rlt_tensor_free(loss);
  rlt_tensor_free(slot);
  return share;
}

static double mean(const rlt_tensor* self) {
  const int32_t float64 = RLT_DTYPE_FLOAT64;
  rlt_tensor* out;
  TRY(rlt_tensor_mean(self, &float64, &out));
  double value = number(out);
  rlt_tensor_free(out);
  return value;
}

static history train(const model* net, const digits* train_rows, const digits* test_rows) {
  history run = history_new();
  adamw optimizer = adamw_new(net, 0.01);
  for (int epoch = 0; epoch < EPOCHS; ++epoch) {
    char label[32];
    snprintf(label, sizeof label, "C    epoch %2d/%d", epoch + 1, EPOCHS);
    if (epoch > 0 && epoch % 4 == 0) optimizer.rate *= 0.3;
    rlt_tensor* losses = slice(run.losses, epoch * BATCHES, (epoch + 1) * BATCHES);
    train_epoch(net, &optimizer, train_rows, losses, label);
    double right = test(net, test_rows, &run, epoch);
    progress_done(label, mean(losses), right);
    rlt_tensor_free(losses);
  }
  adamw_free(&optimizer);
  return run;
}

/* ---- The program ---- */

static void save_run(const history* run, const rlt_tensor* logits, const char* path) {
  rlt_state_dict* file;
  TRY(rlt_state_dict_new(&file));
  TRY(rlt_state_dict_insert(file, "losses", run->losses));
  TRY(rlt_state_dict_insert(file, "test_losses", run->test_losses));
  TRY(rlt_state_dict_insert(file, "test_accuracies", run->test_accuracies));
  TRY(rlt_state_dict_insert(file, "logits", logits));
  TRY(rlt_state_dict_save(file, path, RLT_FORMAT_AUTO));
  rlt_state_dict_free(file);
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
  const char* out = argv[2];
  digits all = digits_load(argv[1]), train_rows, test_rows;
  TRY(rlt_manual_seed(0));
  digits_split(&all, &train_rows, &test_rows);
  model net = model_new();

  double start = seconds();
  history run = train(&net, &train_rows, &test_rows);
  double train_seconds = seconds() - start;

  rlt_tensor* logits = logits_of(&net, test_rows.images);
  model_save(&net, path_in(out, "model.safetensors"));
  model_save(&net, path_in(out, "model.pt"));
  save_run(&run, logits, path_in(out, "run.safetensors"));
  draw_curves(&run, path_in(out, "curves.svg"));
  draw_confusion(logits, &test_rows, path_in(out, "confusion.svg"));
  printf("{\"lang\":\"c\",\"test_accuracy\":%.17g,\"first_loss\":%.9g,\"last_loss\":%.9g,\"train_seconds\":%.3f}\n",
         accuracy(logits, test_rows.labels), number_at(run.losses, 0), number_at(run.losses, -1), train_seconds);

  rlt_tensor_free(logits);
  history_free(&run);
  model_free(&net);
  digits_free(&train_rows);
  digits_free(&test_rows);
  digits_free(&all);
  return 0;
}
