/* With RUSHLIGHT_CHECK_HANDLES=1 a handle that was freed, or is of another type, is an error, and freeing it again does nothing. */
#include "check.h"

int main(void) {
  const float values[] = {1, 2};
  rlt_tensor *tensor = vector(values, 2), *other = NULL;
  rlt_generator *generator = NULL;
  int64_t count = 0;
  OK(rlt_generator_new(1, &generator));

  FAILS(rlt_tensor_numel((const rlt_tensor *)generator, &count), RLT_ERROR_INVALID_HANDLE, "is a rlt_generator, not a rlt_tensor");
  rlt_tensor_free((rlt_tensor *)generator);
  CHECK(strstr(rlt_last_error_message(), "argument `handle` is a rlt_generator, not a rlt_tensor") != NULL);

  OK(rlt_tensor_retain(tensor, &other));
  rlt_tensor_free(tensor);
  OK(rlt_tensor_numel(other, &count));
  CHECK(count == 2);
  rlt_tensor_free(other);
  FAILS(rlt_tensor_numel(other, &count), RLT_ERROR_INVALID_HANDLE, "is no rlt_tensor: it was freed, or never made");
  rlt_tensor_free(other);
  FAILS(rlt_tensor_add_Tensor(other, other, NULL, &tensor), RLT_ERROR_INVALID_HANDLE, "argument `self`");

  CHECK(live() == 1);
  rlt_generator_free(generator);
  CHECK(live() == 0);
  return 0;
}
