/* State dicts, and the files that hold them. */
#include "check.h"
#include <unistd.h>

static void round_trip(const char *path, int32_t format) {
  const float values[6] = {1, 2, 3, 4, 5, 6};
  rlt_state_dict *dict = NULL, *loaded = NULL;
  rlt_tensor *weight = matrix(values, 2, 3), *bias = vector(values, 2), *back = NULL;
  const char *name = NULL;
  int64_t length = 0;
  OK(rlt_state_dict_new(&dict));
  OK(rlt_state_dict_insert(dict, "fc.weight", bias));
  OK(rlt_state_dict_insert(dict, "fc.bias", bias));
  /* The same name again replaces the entry in its position. */
  OK(rlt_state_dict_insert(dict, "fc.weight", weight));
  OK(rlt_state_dict_len(dict, &length));
  CHECK(length == 2);
  OK(rlt_state_dict_save(dict, path, format));
  OK(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &loaded));
  OK(rlt_state_dict_len(loaded, &length));
  CHECK(length == 2);
  OK(rlt_state_dict_get(loaded, "fc.weight", &back));
  for (int index = 0; index < 6; index++) CHECK(floats(back)[index] == values[index]);
  rlt_tensor_free(back);
  FAILS(rlt_state_dict_get(loaded, "fc.nothing", &back), RLT_ERROR_INDEX, "there is no entry 'fc.nothing'");
  for (int64_t index = 0; index < length; index++) {
    OK(rlt_state_dict_name_at(loaded, index, &name));
    CHECK(strcmp(name, "fc.weight") == 0 || strcmp(name, "fc.bias") == 0);
    OK(rlt_state_dict_tensor_at(loaded, index, &back));
    rlt_tensor_free(back);
  }
  FAILS(rlt_state_dict_name_at(loaded, length, &name), RLT_ERROR_INDEX, "index 2 is out of range");
  unlink(path);
  FAILS(rlt_state_dict_load(path, format, &dict), RLT_ERROR_IO, path);
  FAILS(rlt_state_dict_save(loaded, "/no/such/folder/x.pt", format), RLT_ERROR_IO, "cannot create /no/such/folder/");
  FAILS(rlt_state_dict_save(loaded, path, 9), RLT_ERROR_VALUE, "9 is not the number of a file format");
  rlt_state_dict_free(dict);
  rlt_state_dict_free(loaded);
  rlt_tensor_free(weight);
  rlt_tensor_free(bias);
}

int main(void) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/rushlight-files-%d.pt", (int)getpid());
  round_trip(path, RLT_FORMAT_PT);
  snprintf(path, sizeof path, "/tmp/rushlight-files-%d.safetensors", (int)getpid());
  round_trip(path, RLT_FORMAT_SAFETENSORS);
  round_trip(path, RLT_FORMAT_AUTO);
  /* Bytes that are not a model file are rejected. */
  FILE *file = fopen(path, "w");
  rlt_state_dict *dict = NULL;
  CHECK(file != NULL && fputs("neither zip nor json", file) >= 0 && fclose(file) == 0);
  FAILS(rlt_state_dict_load(path, RLT_FORMAT_PT, &dict), RLT_ERROR_IO, path);
  FAILS(rlt_state_dict_load(path, RLT_FORMAT_SAFETENSORS, &dict), RLT_ERROR_IO, path);
  FAILS(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &dict), RLT_ERROR_IO, path);
  FAILS(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &dict), RLT_ERROR_IO, ": neither a PyTorch nor a safetensors file: a header of ");
  FAILS(rlt_state_dict_load("/tmp", RLT_FORMAT_AUTO, &dict), RLT_ERROR_IO, "/tmp: Is a directory");
  FAILS(rlt_state_dict_load_all("/tmp", &dict), RLT_ERROR_IO, "/tmp: Is a directory");
  unlink(path);
  CHECK(live() == 0);
  OK(rlt_runtime_shutdown());
  return 0;
}
