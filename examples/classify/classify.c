/* Names what is in a picture, with a classifier that Python saved by torch.jit.save.
 *
 *   classify MODEL PICTURE.bmp
 *
 * The picture is prepared as torchvision prepares it for its classifiers: resize, crop, normalize. The extra file
 * classes.txt of the model has the name of a class in each line.
 */
#include <rushlight/rushlight.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) do { if ((status = (call)) != RLT_OK) goto end; } while (0)
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { RESIZED = 256, CROPPED = 224, SHOWN = 3 };

/* ---- Pictures ---- */

typedef struct {
  unsigned char *bytes;
  const unsigned char *rows;
  int64_t height, width, row;
} bitmap;

static int64_t number(const unsigned char *at) {
  return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

static int parse(bitmap *picture, int64_t size) {
  const unsigned char *bytes = picture->bytes;
  int64_t start;
  if (size < 54 || memcmp(bytes, "BM", 2) != 0 || bytes[28] != 24 || number(bytes + 30) != 0) return 0;
  start = number(bytes + 10);
  picture->width = number(bytes + 18);
  picture->height = number(bytes + 22);
  picture->row = (3 * picture->width + 3) / 4 * 4;
  if (picture->width <= 0 || picture->width >= 65536 || picture->height <= 0 || picture->height >= 65536) return 0;
  if (start < 54 || start + picture->row * picture->height > size) return 0;
  picture->rows = bytes + start;
  return 1;
}

/* Reads a Windows bitmap with 24 bits for each pixel. 0 if that fails. */
static int read_bitmap(const char *path, bitmap *picture) {
  FILE *file = fopen(path, "rb");
  long size = 0;
  int good = file != NULL && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0;
  good = good && (picture->bytes = malloc((size_t)size)) != NULL;
  good = good && fread(picture->bytes, 1, (size_t)size, file) == (size_t)size && parse(picture, size);
  if (file != NULL) fclose(file);
  return good;
}

/* Rows start at the bottom, their length is a multiple of 4 bytes, and blue is the first color: (1, 3, H, W) in 0..1. */
static int32_t to_tensor(const bitmap *picture, rlt_tensor **out) {
  const int64_t padded[2] = {picture->height, picture->row}, shape[3] = {picture->height, picture->width, 3};
  const int64_t flipped[2] = {0, 2}, order[3] = {2, 0, 1};
  rlt_tensor *t[7] = {NULL};
  int32_t status;
  TRY(rlt_tensor_from_data(picture->rows, (uint64_t)(padded[0] * padded[1]), padded, 2, RLT_DTYPE_UINT8, &t[0]));
  TRY(rlt_tensor_narrow(t[0], 1, 0, 3 * picture->width, &t[1]));
  TRY(rlt_tensor_reshape(t[1], shape, 3, &t[2]));
  TRY(rlt_tensor_flip(t[2], flipped, 2, &t[3]));
  TRY(rlt_tensor_permute(t[3], order, 3, &t[4]));
  TRY(rlt_tensor_unsqueeze(t[4], 0, &t[5]));
  TRY(rlt_tensor_to_dtype(t[5], RLT_DTYPE_FLOAT32, 0, 0, NULL, &t[6]));
  TRY(rlt_tensor_div_Scalar(t[6], RLT_INT(255), out));
end:
  for (size_t i = 0; i < COUNT(t); ++i) rlt_tensor_free(t[i]);
  return status;
}

/* The shorter side is resized to 256, the middle is cropped: (1, 3, 224, 224). */
static int32_t prepare(const bitmap *picture, rlt_tensor **out) {
  static const float means[3] = {0.485f, 0.456f, 0.406f}, deviations[3] = {0.229f, 0.224f, 0.225f};
  const int64_t shorter = picture->height < picture->width ? picture->height : picture->width, channels[3] = {3, 1, 1};
  const int64_t size[2] = {RESIZED * picture->height / shorter, RESIZED * picture->width / shorter};
  rlt_tensor *t[7] = {NULL};
  int32_t status;
  TRY(to_tensor(picture, &t[0]));
  TRY(rlt_tensor__upsample_bilinear2d_aa(t[0], size, 2, 0, NULL, NULL, &t[1]));
  TRY(rlt_tensor_narrow(t[1], 2, (size[0] - CROPPED) / 2, CROPPED, &t[2]));
  TRY(rlt_tensor_narrow(t[2], 3, (size[1] - CROPPED) / 2, CROPPED, &t[3]));
  TRY(rlt_tensor_from_data(means, sizeof means, channels, 3, RLT_DTYPE_FLOAT32, &t[4]));
  TRY(rlt_tensor_from_data(deviations, sizeof deviations, channels, 3, RLT_DTYPE_FLOAT32, &t[5]));
  TRY(rlt_tensor_sub_Tensor(t[3], t[4], RLT_INT(1), &t[6]));
  TRY(rlt_tensor_div_Tensor(t[6], t[5], out));
end:
  for (size_t i = 0; i < COUNT(t); ++i) rlt_tensor_free(t[i]);
  return status;
}

/* ---- The model ---- */

/* The probabilities of the classes: (classes). */
static int32_t run(const rlt_module *model, const rlt_tensor *image, rlt_tensor **out) {
  rlt_value input = {RLT_VALUE_TENSOR, 0, 0, {0}}, scores = {RLT_VALUE_NONE, 0, 0, {0}};
  rlt_tensor *all = NULL;
  int32_t status;
  input.as.tensor = (rlt_tensor *)image;
  TRY(rlt_module_run(model, "forward", &input, 1, NULL, 0, &scores));
  TRY(rlt_tensor_softmax_int(scores.as.tensor, 1, NULL, &all));
  TRY(rlt_tensor_select_int(all, 0, 0, out));
end:
  rlt_tensor_free(all);
  rlt_value_free(&scores);
  return status;
}

/* Prints line `index` of the names, or its number. */
static void print_class(const rlt_tensor *names, int64_t index, double probability) {
  void *bytes = NULL;
  int64_t size = 0, length = 0;
  const char *name = NULL, *end;
  char numbered[32];
  if (names != NULL && rlt_tensor_numel(names, &size) == RLT_OK && rlt_tensor_data_ptr(names, &bytes) == RLT_OK) name = bytes;
  end = name == NULL ? NULL : name + size;
  for (int64_t line = 0; name != NULL && line < index; ++line) {
    name = memchr(name, '\n', (size_t)(end - name));
    if (name != NULL) ++name;
  }
  if (name == NULL || name == end) {
    snprintf(numbered, sizeof numbered, "class %lld", (long long)index);
    name = numbered;
    end = name + strlen(numbered);
  }
  while (name + length < end && name[length] != '\n') ++length;
  printf("%-20.*s %.4f\n", (int)length, name, probability);
}

static int32_t print_best(const rlt_tensor *probabilities, const rlt_tensor *names) {
  rlt_tensor *values = NULL, *indices = NULL;
  void *value = NULL, *index = NULL;
  int64_t count = 0;
  int32_t status;
  TRY(rlt_tensor_numel(probabilities, &count));
  if (count > SHOWN) count = SHOWN;
  TRY(rlt_tensor_topk(probabilities, count, 0, 1, 1, &values, &indices));
  TRY(rlt_tensor_data_ptr(values, &value));
  TRY(rlt_tensor_data_ptr(indices, &index));
  for (int64_t i = 0; i < count; ++i) print_class(names, ((const int64_t *)index)[i], (double)((const float *)value)[i]);
end:
  rlt_tensor_free(indices);
  rlt_tensor_free(values);
  return status;
}

static int32_t classify(const char *path, const bitmap *picture) {
  rlt_module *model = NULL;
  rlt_tensor *names = NULL, *image = NULL, *probabilities = NULL;
  int32_t status;
  TRY(rlt_set_inference_mode(1)); /* nothing is recorded */
  TRY(rlt_module_load(path, &model));
  TRY(rlt_module_train(model, 0));
  status = rlt_module_extra_file(model, "classes.txt", &names);
  if (status != RLT_ERROR_INDEX) TRY(status); /* a model without names is fine */
  TRY(prepare(picture, &image));
  TRY(run(model, image, &probabilities));
  TRY(print_best(probabilities, names));
end:
  rlt_tensor_free(probabilities);
  rlt_tensor_free(image);
  rlt_tensor_free(names);
  rlt_module_free(model);
  return status;
}

int main(int argc, char **argv) {
  bitmap picture = {NULL, NULL, 0, 0, 0};
  int status = 1;
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL PICTURE.bmp\n", argv[0]);
    return 2;
  }
  if (!read_bitmap(argv[2], &picture)) {
    fprintf(stderr, "%s: only complete bitmaps with 24 bits for each pixel are read\n", argv[2]);
  } else if (classify(argv[1], &picture) != RLT_OK) {
    fprintf(stderr, "%s\n", rlt_last_error_message());
  } else {
    status = 0;
  }
  free(picture.bytes);
  return status;
}
