/* A training loop: a network of two layers learns "exclusive or", and is saved as model.pt and model.safetensors.
 *
 *   train FOLDER
 *
 * Every call returns a status. On failure TRY jumps to the end of the function, where everything is freed: handles are initially
 * NULL, which all _free functions accept. */
#include <rushlight/rushlight.h>
#include <stdio.h>

#define TRY(call) do { if ((status = (call)) != RLT_OK) goto end; } while (0)

enum { HIDDEN = 8, PARAMETERS = 4, STEPS = 600 };

static const char *const names[PARAMETERS] = {"0.weight", "0.bias", "2.weight", "2.bias"};
static const int64_t shapes[PARAMETERS][2] = {{HIDDEN, 2}, {HIDDEN}, {1, HIDDEN}, {1}};

/* Uniform random parameters, as in nn.Linear, that require gradients. */
static int32_t initialise(rlt_tensor **parameters) {
  int32_t status = rlt_manual_seed(0);
  for (int i = 0; !status && i < PARAMETERS; ++i) {
    status = rlt_tensor_empty_memory_format(shapes[i], i % 2 ? 1 : 2, NULL, NULL, &parameters[i]);
    if (!status) status = rlt_tensor_uniform_(parameters[i], -0.7, 0.7, NULL);
    if (!status) status = rlt_tensor_set_requires_grad(parameters[i], 1);
  }
  return status;
}

/* linear(gelu(linear(x))) */
static int32_t forward(rlt_tensor *const *p, const rlt_tensor *x, rlt_tensor **out) {
  rlt_tensor *hidden = NULL, *active = NULL;
  int32_t status;
  TRY(rlt_tensor_linear(x, p[0], p[1], &hidden));
  TRY(rlt_tensor_gelu(hidden, "none", &active));
  TRY(rlt_tensor_linear(active, p[2], p[3], out));
end:
  rlt_tensor_free(active);
  rlt_tensor_free(hidden);
  return status;
}

/* p -= rate * grad, without recording; then clears the gradient. */
static int32_t descend(rlt_tensor *const *parameters, double rate) {
  rlt_tensor *grad = NULL;
  int32_t status;
  TRY(rlt_set_grad_enabled(0));
  for (int i = 0; i < PARAMETERS; ++i) {
    TRY(rlt_tensor_grad(parameters[i], &grad));
    TRY(rlt_tensor_sub_Tensor_(parameters[i], grad, RLT_FLOAT(rate)));
    TRY(rlt_tensor_set_grad(parameters[i], NULL));
    rlt_tensor_free(grad);
    grad = NULL;
  }
end:
  rlt_tensor_free(grad);
  rlt_set_grad_enabled(1);
  return status;
}

/* One step; `value` is the loss before it. */
static int32_t step(rlt_tensor *const *parameters, const rlt_tensor *x, const rlt_tensor *y, rlt_scalar *value) {
  rlt_tensor *guess = NULL, *loss = NULL;
  int32_t status;
  TRY(forward(parameters, x, &guess));
  TRY(rlt_tensor_mse_loss(guess, y, RLT_REDUCTION_MEAN, &loss));
  TRY(rlt_tensor_backward(loss, NULL, 0, 0));
  TRY(rlt_tensor_item(loss, value));
  TRY(descend(parameters, 0.2));
end:
  rlt_tensor_free(loss);
  rlt_tensor_free(guess);
  return status;
}

static int32_t save(rlt_tensor *const *parameters, const char *folder) {
  const char *const files[2] = {"model.pt", "model.safetensors"};
  char path[4096];
  rlt_state_dict *model = NULL;
  int32_t status;
  TRY(rlt_state_dict_new(&model));
  for (int i = 0; i < PARAMETERS; ++i) TRY(rlt_state_dict_insert(model, names[i], parameters[i]));
  for (int i = 0; i < 2; ++i) {
    snprintf(path, sizeof path, "%s/%s", folder, files[i]);
    TRY(rlt_state_dict_save(model, path, RLT_FORMAT_AUTO));
  }
end:
  rlt_state_dict_free(model);
  return status;
}

static int32_t train(const char *folder) {
  const float inputs[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const float outputs[4][1] = {{0}, {1}, {1}, {0}};
  const int64_t input_sizes[2] = {4, 2}, output_sizes[2] = {4, 1};
  rlt_tensor *x = NULL, *y = NULL, *parameters[PARAMETERS] = {NULL};
  rlt_scalar loss = {0};
  int32_t status;
  TRY(rlt_tensor_from_data(inputs, sizeof inputs, input_sizes, 2, RLT_DTYPE_FLOAT32, &x));
  TRY(rlt_tensor_from_data(outputs, sizeof outputs, output_sizes, 2, RLT_DTYPE_FLOAT32, &y));
  TRY(initialise(parameters));
  for (int i = 0; i < STEPS; ++i) {
    TRY(step(parameters, x, y, &loss));
    if (i % 150 == 0) printf("step %3d: loss %.4f\n", i, loss.re);
  }
  printf("learned: %s\n", loss.re < 1e-3 ? "yes" : "no");
  TRY(save(parameters, folder));
end:
  for (int i = 0; i < PARAMETERS; ++i) rlt_tensor_free(parameters[i]);
  rlt_tensor_free(y);
  rlt_tensor_free(x);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  if (train(argv[1]) == RLT_OK) return 0;
  fprintf(stderr, "%s\n", rlt_last_error_message());
  return 1;
}
