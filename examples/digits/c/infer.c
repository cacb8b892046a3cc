/* Loads a trained model and tells how much of the whole data set it gets right.
 *
 *   infer DIGITS.safetensors MODEL
 *
 * MODEL may come from any of the three training programs, or from PyTorch (.pt or .safetensors). */
#include <stdio.h>

#include "digits.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s DIGITS.safetensors MODEL\n", argv[0]);
    return 2;
  }
  digits all = digits_load(argv[1]);
  model net = model_load(argv[2]);
  rlt_tensor* predicted = predict(&net, &all);
  printf("{\"lang\":\"c\",\"model\":\"%s\",\"images\":%d,\"accuracy\":%.17g}\n", argv[2], ALL_ROWS, accuracy(predicted, all.labels));
  rlt_tensor_free(predicted);
  model_free(&net);
  digits_free(&all);
  return 0;
}
