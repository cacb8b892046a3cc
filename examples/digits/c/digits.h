/* What the training and the inference program share: the data, the model, and pictures. Every number is made by operators of the
 * library; C code only chains them. A function that returns a tensor gives it away: the caller frees it. */
#ifndef DIGITS_H
#define DIGITS_H

#include <rushlight/rushlight.h>

/* Ends the program with the library's message if a call fails. */
#define TRY(call) check((call), #call)
void check(int32_t status, const char* call);

enum { TRAIN_ROWS = 1437, ALL_ROWS = 1797, TEST_ROWS = ALL_ROWS - TRAIN_ROWS, CLASSES = 10 };

/* Images as float32 in [0, 1], labels as int64. */
typedef struct digits {
  rlt_tensor* images;
  rlt_tensor* labels;
} digits;

digits digits_load(const char* path);
/* The rows that an int64 tensor names. */
digits digits_rows(const digits* from, const rlt_tensor* rows);
void digits_free(digits* set);

/* Linear(64, 128), ReLU, Dropout(0.1), Linear(128, 64), ReLU, Linear(64, 10): weights and biases in turn. */
enum { PARAMETERS = 6 };
extern const char* const parameter_names[PARAMETERS];
typedef struct model {
  rlt_tensor* parameters[PARAMETERS];
} model;

model model_new(void);
model model_load(const char* path);
void model_save(const model* self, const char* path);
void model_free(model* self);
rlt_tensor* model_forward(const model* self, const rlt_tensor* images, int training);

/* The class that the model gives each image, without recording gradients. */
rlt_tensor* predict(const model* self, const digits* set);
double accuracy(const rlt_tensor* predicted, const rlt_tensor* labels);
/* Counts, int64 [10, 10]: row = the digit, column = what the model says. */
rlt_tensor* confusion_matrix(const rlt_tensor* predicted, const rlt_tensor* labels);

/* Puts the next tensor of a chain in place of the one it was made from, which is freed. */
void advance(rlt_tensor** tensor, rlt_tensor* next);
rlt_tensor* slice(const rlt_tensor* self, int64_t start, int64_t end);
/* The single element of a tensor, whatever its dtype. */
double number(const rlt_tensor* self);

/* Writes shares in [0, 1], [height, width], as a PNG file: 0 is white, 1 is dark blue. */
void write_picture(const rlt_tensor* shares, const char* path);
void draw_confusion(const rlt_tensor* counts, const char* path);
void draw_losses(const rlt_tensor* losses, const char* path);

/* Prints one row of integers per row of the matrix to standard error. */
void print_matrix(const rlt_tensor* counts);

#endif
