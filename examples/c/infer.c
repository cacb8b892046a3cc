/* Inference: loads the network that train.c, or Python, has saved (.pt or safetensors) and evaluates four inputs.
 *
 *   infer MODEL
 */
#include <rushlight/rushlight.h>
#include <stdio.h>

#define TRY(call) do { if ((status = (call)) != RLT_OK) goto end; } while (0)

enum { PARAMETERS = 4 };

static int32_t load(const char *path, rlt_tensor **parameters) {
  static const char *const names[PARAMETERS] = {"0.weight", "0.bias", "2.weight", "2.bias"};
  rlt_state_dict *model = NULL;
  int32_t status;
  TRY(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &model));
  for (int i = 0; i < PARAMETERS; ++i) TRY(rlt_state_dict_get(model, names[i], &parameters[i]));
end:
  rlt_state_dict_free(model);
  return status;
}

static int32_t print_answers(const rlt_tensor *answers) {
  rlt_tensor *yes = NULL;
  void *data = NULL;
  int64_t count = 0;
  int32_t status;
  TRY(rlt_tensor_gt_Scalar(answers, RLT_FLOAT(0.5), &yes));
  TRY(rlt_tensor_numel(yes, &count));
  TRY(rlt_tensor_data_ptr(yes, &data));
  printf("exclusive or:");
  for (int64_t i = 0; i < count; ++i) printf(" %d", ((const uint8_t *)data)[i]);
  printf("\n");
end:
  rlt_tensor_free(yes);
  return status;
}

static int32_t infer(const char *path) {
  const float inputs[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  const int64_t sizes[2] = {4, 2};
  rlt_tensor *x = NULL, *hidden = NULL, *active = NULL, *answers = NULL, *p[PARAMETERS] = {NULL};
  int32_t status;
  TRY(rlt_set_inference_mode(1)); /* nothing is recorded */
  TRY(load(path, p));
  TRY(rlt_tensor_from_data(inputs, sizeof inputs, sizes, 2, RLT_DTYPE_FLOAT32, &x));
  TRY(rlt_tensor_linear(x, p[0], p[1], &hidden));
  TRY(rlt_tensor_gelu(hidden, "none", &active));
  TRY(rlt_tensor_linear(active, p[2], p[3], &answers));
  TRY(print_answers(answers));
end:
  rlt_tensor_free(answers);
  rlt_tensor_free(active);
  rlt_tensor_free(hidden);
  rlt_tensor_free(x);
  for (int i = 0; i < PARAMETERS; ++i) rlt_tensor_free(p[i]);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL\n", argv[0]);
    return 2;
  }
  if (infer(argv[1]) == RLT_OK) return 0;
  fprintf(stderr, "%s\n", rlt_last_error_message());
  return 1;
}
