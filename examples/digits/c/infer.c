/* Loads trained models and reports their test accuracy.
 *
 *   infer DIGITS.safetensors LOGITS.safetensors MODEL...
 *
 * A MODEL may come from any of the three training programs, or from Python (.pt or .safetensors). Prints one JSON line per model, and
 * writes the logits of each to LOGITS.safetensors, under the names "0", "1" and so on. */
#include <stdio.h>

#include "digits.h"
#include "model.h"

/* Adds the logits of one model to `scores`. */
static void infer(const char* path, const digits* test, const char* name, rlt_state_dict* scores) {
  model net = model_new();
  model_load(&net, path);
  rlt_tensor* logits = logits_of(&net, test->images);
  TRY(rlt_state_dict_insert(scores, name, logits));
  printf("{\"lang\":\"c\",\"model\":\"%s\",\"test_accuracy\":%.17g}\n", path, accuracy(logits, test->labels));
  rlt_tensor_free(logits);
  model_free(&net);
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s DIGITS.safetensors LOGITS.safetensors MODEL...\n", argv[0]);
    return 2;
  }
  digits all = digits_load(argv[1]), train, test;
  rlt_state_dict* scores;
  TRY(rlt_manual_seed(0)); /* the seed of the training: the test images are those that were not trained on */
  digits_split(&all, &train, &test);
  TRY(rlt_state_dict_new(&scores));
  for (int i = 3; i < argc; ++i) {
    char name[16];
    snprintf(name, sizeof name, "%d", i - 3);
    infer(argv[i], &test, name, scores);
  }
  TRY(rlt_state_dict_save(scores, argv[2], RLT_FORMAT_AUTO));
  rlt_state_dict_free(scores);
  digits_free(&train);
  digits_free(&test);
  digits_free(&all);
  return 0;
}
