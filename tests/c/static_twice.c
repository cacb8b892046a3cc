/* Two copies of Rushlight in one program: the usual names, and the names with the prefix `other_`. Each has its
 * own state. Built by tests/c/static.sh. */
#include "check.h"

/* The functions of the second copy that are used here. */
int32_t other_rlt_set_num_threads(int32_t threads);
int32_t other_rlt_get_num_threads(int32_t *out);
int32_t other_rlt_live_handles(int64_t *out);
int32_t other_rlt_tensor_ones(const int64_t *size, int64_t size_len, const rlt_tensor_options *options, rlt_tensor **out0);
int32_t other_rlt_tensor_sum(const rlt_tensor *self_, const int32_t *dtype, rlt_tensor **out0);
int32_t other_rlt_tensor_item(const rlt_tensor *tensor, rlt_scalar *out);
void other_rlt_tensor_free(rlt_tensor *tensor);
int32_t other_rlt_debug_panic(const char *message);
const char *other_rlt_last_error_message(void);

int main(void) {
  int64_t size = 10, handles = -1;
  int32_t threads = 0;
  rlt_tensor *ones = NULL, *sum = NULL;
  rlt_scalar value;
  OK(rlt_set_num_threads(3));
  OK(other_rlt_set_num_threads(5));
  OK(rlt_get_num_threads(&threads));
  CHECK(threads == 3);
  OK(other_rlt_get_num_threads(&threads));
  CHECK(threads == 5);
  OK(other_rlt_tensor_ones(&size, 1, NULL, &ones));
  OK(other_rlt_tensor_sum(ones, NULL, &sum));
  OK(other_rlt_tensor_item(sum, &value));
  CHECK(value.re == 10 && live() == 0);
  OK(other_rlt_live_handles(&handles));
  CHECK(handles == 2);
  CHECK(other_rlt_debug_panic("in the other copy") == RLT_ERROR_INTERNAL);
  CHECK(strstr(other_rlt_last_error_message(), "in the other copy") != NULL);
  CHECK(strcmp(rlt_last_error_message(), "") == 0);
  other_rlt_tensor_free(ones);
  other_rlt_tensor_free(sum);
  return 0;
}
