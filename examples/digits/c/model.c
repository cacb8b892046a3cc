#include "model.h"

#include <math.h>
#include <stdio.h>

/* ---- The tensors of a model ---- */

/* Adds a tensor to the state dict, which shares it: later writes to it are saved. */
static rlt_tensor* buffer(model* self, const char* layer, const char* name, rlt_tensor* tensor) {
  char key[64];
  snprintf(key, sizeof key, "%s.%s", layer, name);
  TRY(rlt_state_dict_insert(self->state, key, tensor));
  return tensor;
}

/* The same for a trained parameter. */
static rlt_tensor* parameter(model* self, const char* layer, const char* name, rlt_tensor* tensor) {
  int next = 0;
  while (self->parameters[next]) ++next;
  self->parameters[next] = tensor;
  TRY(rlt_tensor_set_requires_grad(tensor, 1));
  return buffer(self, layer, name, tensor);
}

/* PyTorch's initialization of weights and biases of convolutions and linear layers. */
static rlt_tensor* uniform(const int64_t* shape, int64_t ndim, int64_t inputs) {
  const double bound = 1 / sqrt((double)inputs);
  rlt_tensor* out;
  TRY(rlt_tensor_empty_memory_format(shape, ndim, NULL, NULL, &out));
  TRY(rlt_tensor_uniform_(out, -bound, bound, NULL));
  return out;
}

static rlt_tensor* zeros(int64_t size) {
  rlt_tensor* out;
  TRY(rlt_tensor_zeros(&size, 1, NULL, &out));
  return out;
}

static rlt_tensor* ones(int64_t size) {
  rlt_tensor* out;
  TRY(rlt_tensor_ones(&size, 1, NULL, &out));
  return out;
}

static rlt_tensor* counter(void) {
  rlt_tensor_options int64 = RLT_TENSOR_OPTIONS_INIT;
  rlt_tensor* out;
  int64.dtype = RLT_DTYPE_INT64;
  TRY(rlt_tensor_zeros(NULL, 0, &int64, &out));
  return out;
}

static norm norm_new(model* self, const char* layer, int64_t channels) {
  norm out;
  out.weight = parameter(self, layer, "weight", ones(channels));
  out.bias = parameter(self, layer, "bias", zeros(channels));
  out.mean = buffer(self, layer, "running_mean", zeros(channels));
  out.variance = buffer(self, layer, "running_var", ones(channels));
  out.batches = buffer(self, layer, "num_batches_tracked", counter());
  return out;
}

static void norm_free(norm* self) {
  rlt_tensor_free(self->weight);
  rlt_tensor_free(self->bias);
  rlt_tensor_free(self->mean);
  rlt_tensor_free(self->variance);
  rlt_tensor_free(self->batches);
}

model model_new(void) {
  /* Outputs, inputs, and height and width of the kernel. A norm removes the effect of a preceding bias, so the convolutions have none. */
  const int64_t conv1[4] = {16, 1, 3, 3}, conv2[4] = {32, 16, 3, 3}, linear[2] = {CLASSES, 32 * 2 * 2};
  model self = {0};
  TRY(rlt_state_dict_new(&self.state));
  self.conv1 = parameter(&self, "conv1", "weight", uniform(conv1, 4, 1 * 3 * 3));
  self.norm1 = norm_new(&self, "norm1", 16);
  self.conv2 = parameter(&self, "conv2", "weight", uniform(conv2, 4, 16 * 3 * 3));
  self.norm2 = norm_new(&self, "norm2", 32);
  self.weight = parameter(&self, "output", "weight", uniform(linear, 2, linear[1]));
  self.bias = parameter(&self, "output", "bias", uniform(linear, 1, linear[1]));
  return self;
}

void model_free(model* self) {
  rlt_tensor_free(self->conv1);
  rlt_tensor_free(self->conv2);
  rlt_tensor_free(self->weight);
  rlt_tensor_free(self->bias);
  norm_free(&self->norm1);
  norm_free(&self->norm2);
  rlt_state_dict_free(self->state);
}

void model_load(model* self, const char* path) {
  const int32_t strict = 1;
  rlt_state_dict *file, *missing, *unexpected;
  TRY(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &file));
  TRY(rlt_state_dict_copy_into(file, self->state, "Net", strict, &missing, &unexpected));
  rlt_state_dict_free(file);
  rlt_state_dict_free(missing);
  rlt_state_dict_free(unexpected);
}

void model_save(const model* self, const char* path) { TRY(rlt_state_dict_save(self->state, path, RLT_FORMAT_AUTO)); }

/* ---- Forward ---- */

/* C has no default arguments: stride 1, padding 1, dilation 1, one group, no bias. */
static rlt_tensor* convolve(const rlt_tensor* images, const rlt_tensor* weight) {
  const int64_t one[2] = {1, 1};
  rlt_tensor* out;
  TRY(rlt_tensor_conv2d(images, weight, NULL, one, 2, one, 2, one, 2, 1, &out));
  return out;
}

static rlt_tensor* normalize(const norm* self, const rlt_tensor* x, int training) {
  const double momentum = 0.1, eps = 1e-5;
  rlt_tensor* out;
  if (training) TRY(rlt_tensor_add_Scalar_(self->batches, RLT_INT(1), RLT_INT(1)));
  TRY(rlt_tensor_batch_norm(x, self->weight, self->bias, self->mean, self->variance, training, momentum, eps, 1, &out));
  return out;
}

/* Convolution, norm, GELU, and 2 x 2 average pooling. */
static rlt_tensor* stage(const rlt_tensor* images, const rlt_tensor* weight, const norm* norm, int training) {
  const int64_t two[2] = {2, 2}, none[2] = {0, 0};
  rlt_tensor* x = convolve(images, weight);
  rlt_tensor* normal = normalize(norm, x, training);
  rlt_tensor_free(x);
  STEP(normal, rlt_tensor_gelu(normal, "none", &next));
  STEP(normal, rlt_tensor_avg_pool2d(normal, two, 2, two, 2, none, 2, 0, 1, NULL, &next));
  return normal;
}

rlt_tensor* model_forward(const model* self, const rlt_tensor* images, int training) {
  rlt_tensor* half = stage(images, self->conv1, &self->norm1, training);  /* [N, 16, 4, 4] */
  rlt_tensor* x = stage(half, self->conv2, &self->norm2, training);       /* [N, 32, 2, 2] */
  rlt_tensor_free(half);
  STEP(x, rlt_tensor_flatten_using_ints(x, 1, -1, &next));
  STEP(x, rlt_tensor_dropout(x, 0.25, training, &next));
  STEP(x, rlt_tensor_linear(x, self->weight, self->bias, &next));
  return x;
}

rlt_tensor* logits_of(const model* self, const rlt_tensor* images) {
  TRY(rlt_set_grad_enabled(0));
  rlt_tensor* logits = model_forward(self, images, 0);
  TRY(rlt_set_grad_enabled(1));
  return logits;
}

rlt_tensor* cross_entropy(const rlt_tensor* logits, const rlt_tensor* labels) {
  const int64_t mean = 1, ignored_label = -100;
  rlt_tensor* loss;
  TRY(rlt_tensor_cross_entropy_loss(logits, labels, NULL, mean, ignored_label, 0.0, &loss));
  return loss;
}

/* ---- Evaluation ---- */

rlt_tensor* predict(const rlt_tensor* logits) {
  const int64_t classes = 1;
  rlt_tensor* predicted;
  TRY(rlt_tensor_argmax(logits, &classes, 0, &predicted));
  return predicted;
}

double accuracy(const rlt_tensor* logits, const rlt_tensor* labels) {
  const int32_t float64 = RLT_DTYPE_FLOAT64;
  rlt_tensor* x = predict(logits);
  STEP(x, rlt_tensor_eq_Tensor(x, labels, &next));
  STEP(x, rlt_tensor_mean(x, &float64, &next));
  double share = number(x);
  rlt_tensor_free(x);
  return share;
}

rlt_tensor* confusion_matrix(const rlt_tensor* logits, const rlt_tensor* labels) {
  const int64_t cells = CLASSES * CLASSES, shape[2] = {CLASSES, CLASSES};
  rlt_tensor_options int64 = RLT_TENSOR_OPTIONS_INIT;
  rlt_tensor *predicted = predict(logits), *cell, *each, *counts;
  int64.dtype = RLT_DTYPE_INT64;
  TRY(rlt_tensor_mul_Scalar(labels, RLT_INT(CLASSES), &cell));
  TRY(rlt_tensor_add_Tensor_(cell, predicted, RLT_INT(1)));
  TRY(rlt_tensor_ones_like(cell, NULL, NULL, &each));
  TRY(rlt_tensor_zeros(&cells, 1, &int64, &counts));
  TRY(rlt_tensor_index_add_(counts, 0, cell, each, RLT_INT(1)));
  STEP(counts, rlt_tensor_view(counts, shape, 2, &next));
  rlt_tensor_free(predicted);
  rlt_tensor_free(cell);
  rlt_tensor_free(each);
  return counts;
}
