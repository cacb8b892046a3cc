// A global tensor that is destroyed at exit, after main and in any order, is harmless.
#include "check.h"

namespace {
struct Holder {
  rlt_tensor* tensor = nullptr;
  ~Holder() {
    // The library still works then.
    rlt_tensor* negative = nullptr;
    if (rlt_tensor_neg(tensor, &negative) != RLT_OK) std::abort();
    rlt_tensor_free(negative);
    rlt_tensor_free(tensor);
    if (rlt_set_num_threads(-1) != RLT_ERROR_RUNTIME) std::abort();
  }
};
Holder before;
thread_local Holder of_thread;
}  // namespace

int main() {
  const float value = 1;
  static Holder after;
  before.tensor = vector(&value, 1);
  of_thread.tensor = vector(&value, 1);
  after.tensor = vector(&value, 1);
  std::exit(0);
}
