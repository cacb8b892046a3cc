/* With RUSHLIGHT_CHECK_HANDLES=1, using a handle that was freed or has another type is an error, and freeing it again
 * does nothing. */
#include "check.h"

int main(void) {
  const float values[] = {1, 2};
  rlt_tensor *tensor = vector(values, 2), *other = NULL, *kept = vector(values, 2), *result = NULL;
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
  FAILS(rlt_tensor_numel(other, &count), RLT_ERROR_INVALID_HANDLE, "is not a live rlt_tensor: it was freed, or never created");
  rlt_tensor_free(other);
  /* An optional handle is also checked: an invalid one does not become NULL. */
  FAILS(rlt_tensor_set_grad(kept, other), RLT_ERROR_INVALID_HANDLE, "argument `grad`");
  FAILS(rlt_tensor_linear(kept, kept, other, &result), RLT_ERROR_INVALID_HANDLE, "argument `bias`");
  FAILS(rlt_tensor_stack((const rlt_tensor *const *)&other, 1, 0, &result), RLT_ERROR_INVALID_HANDLE, "argument `tensors`");
  rlt_tensor_free(kept);
  FAILS(rlt_tensor_add_Tensor(other, other, NULL, &tensor), RLT_ERROR_INVALID_HANDLE, "argument `self`");

  CHECK(live() == 1);
  rlt_generator_free(generator);
  CHECK(live() == 0);
  return 0;
}
