// A library that exports libtorch's symbols. Any program bound to it aborts.
#include <cstdint>
#include <cstdlib>

namespace c10 {
class Scalar {};
class TensorOptions {};
template <class T>
class ArrayRef {};
class Error {
 public:
  Error();
  virtual ~Error();
  virtual const char* what() const noexcept;
};
Error::Error() { std::abort(); }
Error::~Error() { std::abort(); }
const char* Error::what() const noexcept { std::abort(); }
}  // namespace c10

namespace at {
class Tensor {
 public:
  Tensor();
  Tensor(const Tensor&);
  ~Tensor();
  Tensor add(const Tensor&, const c10::Scalar&) const;
  Tensor mul(const Tensor&) const;
  Tensor mm(const Tensor&) const;
  int64_t dim() const;
  void backward() const;
};
Tensor::Tensor() { std::abort(); }
Tensor::Tensor(const Tensor&) { std::abort(); }
Tensor::~Tensor() { std::abort(); }
Tensor Tensor::add(const Tensor&, const c10::Scalar&) const { std::abort(); }
Tensor Tensor::mul(const Tensor&) const { std::abort(); }
Tensor Tensor::mm(const Tensor&) const { std::abort(); }
int64_t Tensor::dim() const { std::abort(); }
void Tensor::backward() const { std::abort(); }
Tensor add(const Tensor&, const Tensor&, const c10::Scalar&);
Tensor add(const Tensor&, const Tensor&, const c10::Scalar&) { std::abort(); }
Tensor operator+(const Tensor&, const Tensor&);
Tensor operator+(const Tensor&, const Tensor&) { std::abort(); }
void manual_seed(uint64_t);
void manual_seed(uint64_t) { std::abort(); }
}  // namespace at

namespace torch {
using at::Tensor;
Tensor ones(c10::ArrayRef<int64_t>, c10::TensorOptions);
Tensor ones(c10::ArrayRef<int64_t>, c10::TensorOptions) { std::abort(); }
namespace nn {
class Module {
 public:
  virtual ~Module();
  void zero_grad(bool);
};
Module::~Module() { std::abort(); }
void Module::zero_grad(bool) { std::abort(); }
}  // namespace nn
}  // namespace torch

extern "C" {
// The symbols that the C interface would collide with, if the library allowed interposition of its own functions.
void* rust_eh_personality() { std::abort(); }
int rushlight_thread_atexit() { std::abort(); }
}
