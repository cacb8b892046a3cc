/* State dicts, and the files that hold them. */
#include "check.h"
#include <unistd.h>

#ifdef _WIN32
#define TEMPORARY getenv("TEMP")
#define FOLDER_OPENED "cannot open "
#else
#define TEMPORARY "/tmp"
#define FOLDER_OPENED "/tmp: Is a directory"
#endif

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
  FAILS(rlt_state_dict_save(loaded, "/no/such/folder/x.pt", format), RLT_ERROR_IO, "cannot create /no/such/folder");
  FAILS(rlt_state_dict_save(loaded, path, 9), RLT_ERROR_VALUE, "9 is not the number of a file format");
  rlt_state_dict_free(dict);
  rlt_state_dict_free(loaded);
  rlt_tensor_free(weight);
  rlt_tensor_free(bias);
}

/* The value of a key, a string or an integer if that is NULL; NULL if there is none. */
static const rlt_value *entry(const rlt_value *dict, const char *text, int64_t number) {
  CHECK(dict && dict->tag == RLT_VALUE_DICT);
  for (int64_t i = 0; i < dict->len; i++) {
    const rlt_value *key = &dict->as.values[2 * i];
    if (text ? key->tag == RLT_VALUE_STRING && strcmp(key->as.string, text) == 0 : key->tag == RLT_VALUE_INT && key->as.i == number)
      return key + 1;
  }
  return NULL;
}

/* A checkpoint of Python (tests/oracle/io_fixtures.py) with its nested values, and the same after it was saved here. */
static void checkpoints(const char *source, const char *copy) {
  rlt_value whole = {0}, none = {0};
  for (int round = 0; round < 2; round++) {
    OK(rlt_checkpoint_load(round ? copy : source, &whole));
    CHECK(entry(&whole, "epoch", 0)->as.i == 3);
    CHECK(strcmp(entry(&whole, "note", 0)->as.string, "r\xc3\xa9sum\xc3\xa9") == 0);
    CHECK(entry(&whole, "best", 0)->tag == RLT_VALUE_NONE);
    CHECK(entry(&whole, "dtype", 0)->tag == RLT_VALUE_DTYPE && entry(&whole, "dtype", 0)->as.i == RLT_DTYPE_FLOAT32);
    CHECK(floats(entry(entry(&whole, "model", 0), "0.bias", 0)->as.tensor)[1] == 11);
    const rlt_value *optimizer = entry(&whole, "optimizer", 0), *groups = entry(optimizer, "param_groups", 0);
    CHECK(floats(entry(entry(entry(optimizer, "state", 0), NULL, 3), "step", 0)->as.tensor)[0] == 1);
    CHECK(groups->tag == RLT_VALUE_LIST && groups->len == 1);
    const rlt_value *group = &groups->as.values[0], *betas = entry(group, "betas", 0);
    CHECK(entry(group, "lr", 0)->as.f == 0.25);
    CHECK(betas->tag == RLT_VALUE_TUPLE && betas->len == 2 && betas->as.values[1].as.f == 0.999);
    OK(rlt_checkpoint_save(&whole, copy));
    rlt_value_free(&whole);
  }
  unlink(copy);
  FAILS(rlt_checkpoint_load(copy, &whole), RLT_ERROR_IO, copy);
  FAILS(rlt_checkpoint_save(&none, "/no/such/folder/x.pt"), RLT_ERROR_IO, "cannot create /no/such/folder");
  none.tag = RLT_VALUE_LAYOUT;
  FAILS(rlt_checkpoint_save(&none, copy), RLT_ERROR_NOT_IMPLEMENTED, "a checkpoint cannot hold a value of type Layout");
  FAILS(rlt_checkpoint_load_memory("PK", 2, &whole), RLT_ERROR_IO, "");
}

/* Usage: files FOLDER, that of the files which PyTorch wrote */
int main(int argc, char **argv) {
  char path[1024], source[1024];
  CHECK(argc == 2);
  snprintf(path, sizeof path, "%s/rushlight-files-%d.pt", TEMPORARY, (int)getpid());
  round_trip(path, RLT_FORMAT_PT);
  snprintf(path, sizeof path, "%s/rushlight-files-%d.safetensors", TEMPORARY, (int)getpid());
  round_trip(path, RLT_FORMAT_SAFETENSORS);
  round_trip(path, RLT_FORMAT_AUTO);
  snprintf(path, sizeof path, "%s/rushlight-files-%d.pt", TEMPORARY, (int)getpid());
  snprintf(source, sizeof source, "%s/checkpoint.pt", argv[1]);
  checkpoints(source, path);
  snprintf(source, sizeof source, "%s/legacy_checkpoint.pt", argv[1]);
  checkpoints(source, path);
  /* Bytes that are not a model file are rejected. */
  FILE *file = fopen(path, "w");
  rlt_state_dict *dict = NULL;
  CHECK(file != NULL && fputs("neither zip nor json", file) >= 0 && fclose(file) == 0);
  FAILS(rlt_state_dict_load(path, RLT_FORMAT_PT, &dict), RLT_ERROR_IO, path);
  FAILS(rlt_state_dict_load(path, RLT_FORMAT_SAFETENSORS, &dict), RLT_ERROR_IO, path);
  FAILS(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &dict), RLT_ERROR_IO, path);
  FAILS(rlt_state_dict_load(path, RLT_FORMAT_AUTO, &dict), RLT_ERROR_IO, ": neither a PyTorch nor a safetensors file: a header of ");
  FAILS(rlt_state_dict_load(TEMPORARY, RLT_FORMAT_AUTO, &dict), RLT_ERROR_IO, FOLDER_OPENED);
  FAILS(rlt_state_dict_load_all(TEMPORARY, &dict), RLT_ERROR_IO, FOLDER_OPENED);
  unlink(path);
  CHECK(live() == 0);
  OK(rlt_runtime_shutdown());
  return 0;
}
