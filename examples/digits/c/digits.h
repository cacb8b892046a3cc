/* Common parts of the training and the inference program: error handling, and the data. Operators of the library compute every number;
 * C code only chains them. A function that returns a tensor transfers ownership: the caller frees it. */
#ifndef DIGITS_H
#define DIGITS_H

#include <rushlight/rushlight.h>

/* ---- Calls ----
 * A library returns the status; these programs end with the library's message if a call fails. */
#define TRY(call) check((call), #call)
void check(int32_t status, const char* call);

/* One step of a chain: the call writes its result to `next`, which then replaces `tensor`. */
#define STEP(tensor, call)      \
  do {                          \
    rlt_tensor* next = NULL;    \
    TRY(call);                  \
    rlt_tensor_free(tensor);    \
    (tensor) = next;            \
  } while (0)

/* The only element of a tensor of any dtype. */
double number(const rlt_tensor* self);
/* An element of a one-dimensional tensor. */
double number_at(const rlt_tensor* self, int64_t index);
/* Rows start to end, without the latter. */
rlt_tensor* slice(const rlt_tensor* self, int64_t start, int64_t end);
/* "FOLDER/NAME" in memory that the next call overwrites. */
const char* path_in(const char* folder, const char* name);

/* ---- Data ---- */

enum { ALL_ROWS = 1797, TRAIN_ROWS = 1437, CLASSES = 10 };

/* Images as float32 in [0, 1], [N, 1, 8, 8]; labels as int64. */
typedef struct digits {
  rlt_tensor* images;
  rlt_tensor* labels;
} digits;

digits digits_load(const char* path);
/* The rows selected by an int64 tensor. */
digits digits_rows(const digits* from, const rlt_tensor* rows);
void digits_free(digits* set);

/* Samples which images are for training and which for the test. With the same seed every program gets the same split. */
void digits_split(const digits* all, digits* train, digits* test);

#endif
