/* What the training and the inference program share: how they call the library, and the data. Every number is made by operators of the
 * library; C code only chains them. A function that returns a tensor gives it away: the caller frees it. */
#ifndef DIGITS_H
#define DIGITS_H

#include <rushlight/rushlight.h>

/* ---- Calls ----
 * A library returns the status; these programs end with the library's message if a call fails. */
#define TRY(call) check((call), #call)
void check(int32_t status, const char* call);

/* One step of a chain: the call writes its result to `next`, which then takes the place of `tensor`. */
#define STEP(tensor, call)      \
  do {                          \
    rlt_tensor* next = NULL;    \
    TRY(call);                  \
    rlt_tensor_free(tensor);    \
    (tensor) = next;            \
  } while (0)

/* The single element of a tensor, whatever its dtype. */
double number(const rlt_tensor* self);
/* The element at a place of a tensor of one dimension. */
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
/* The rows that an int64 tensor names. */
digits digits_rows(const digits* from, const rlt_tensor* rows);
void digits_free(digits* set);

/* Draws which images are for training and which for the test. After the same seed every program draws the same. */
void digits_split(const digits* all, digits* train, digits* test);

#endif
