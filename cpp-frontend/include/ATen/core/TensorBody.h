// Tensor: TensorBase plus operators. The methods of the operators are generated from the schema.
#pragma once

#include <ATen/core/Dimname.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/support.h>
#include <c10/core/Backend.h>
#include <c10/util/MaybeOwned.h>
#include <rushlight/rushlight.h>

#include <tuple>

namespace rlt {
RLT_NAMESPACE_BEGIN
RLT_COLD inline void warn_of_create_graph() {
  TORCH_WARN_ONCE(
      "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause a "
      "memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, make sure "
      "to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak.");
}

// Converters that need the complete Tensor; methods use them, so they are declared before it.
inline std::vector<at::Tensor> adopt_list(rlt_tensor_list* result);
/// The results of a call with this status.
template <class... Handles>
std::tuple<typename Later<Handles, at::Tensor>::type...> adopt_all(int32_t status, Handles*&... results);
inline rlt_tensor* optional_tensor(const std::optional<at::Tensor>& tensor);
inline const rlt_tensor* const* handles(at::TensorList tensors);
inline Array<const rlt_tensor*> index_handles(const at::IOptTensorListRef& tensors);
inline int64_t index_count(const at::IOptTensorListRef& tensors);
RLT_NAMESPACE_END
}  // namespace rlt

namespace c10 {
RLT_NAMESPACE_BEGIN
template <class T>
class List;
RLT_NAMESPACE_END
}  // namespace c10

namespace at {
RLT_NAMESPACE_BEGIN

// `rlt::check` in one token, and the result of a call with this status: two thousand functions call them, and compilers keep all
// tokens in memory.
inline void rlt_check(int32_t status) { rlt::check(status); }
inline Tensor rlt_adopt(int32_t status, rlt_tensor*& result);

namespace indexing {
struct TensorIndex;
}
class MutableGrad;
struct NamedTensorMeta;

class Tensor : public TensorBase {
 public:
  Tensor() = default;
  explicit Tensor(rlt_tensor* adopted) noexcept : TensorBase(adopted) {}
  explicit Tensor(TensorBase base) noexcept : TensorBase(std::move(base)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor& other) & {
    TensorBase::operator=(other);
    return *this;
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    TensorBase::operator=(std::move(other));
    return *this;
  }
  /// Writes through a temporary: `x[0] = 1`, `x.index({...}) = y`.
  Tensor& operator=(const Tensor& other) && { return copy_(other); }
  Tensor& operator=(Tensor&& other) && { return copy_(other); }
  Tensor& operator=(const Scalar& value) && { return fill_(value); }
  Tensor& operator=(Scalar&& value) && { return fill_(value); }

#include <ATen/generated/methods.h>

  /// This tensor, or a contiguous copy if it is not contiguous in the format.
  RLT_LAZY c10::MaybeOwned<Tensor> expect_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const& {
    if (is_contiguous(format)) return c10::MaybeOwned<Tensor>::borrowed(*this);
    return c10::MaybeOwned<Tensor>::owned(contiguous(format));
  }
  RLT_LAZY c10::MaybeOwned<Tensor> expect_contiguous(MemoryFormat format = MemoryFormat::Contiguous) && = delete;

  // Names of dimensions; defined in ATen/core/NamedTensor.h.
  RLT_LAZY bool has_names() const;
  RLT_LAZY DimnameList names() const;
  RLT_LAZY std::optional<DimnameList> opt_names() const;
  /// nullptr for a tensor without names.
  RLT_LAZY const NamedTensorMeta* get_named_tensor_meta() const;
  /// The same elements with other names, or without names.
  RLT_LAZY Tensor rename(std::optional<DimnameList> names) const;
  RLT_LAZY Tensor& rename_(std::optional<DimnameList> names) const;
  /// Names dimensions that have no name.
  RLT_LAZY Tensor refine_names(DimnameList names) const;
  /// A view with the dimensions in this order; new ones have size 1, and unlisted ones are at the ellipsis.
  RLT_LAZY Tensor align_to(DimnameList order) const;
  RLT_LAZY Tensor align_to(DimnameList order, int64_t ellipsis_idx) const;
  RLT_LAZY Tensor align_as(const Tensor& other) const;
  RLT_LAZY Tensor flatten(int64_t start_dim, int64_t end_dim, Dimname out_dim) const;
  RLT_LAZY Tensor flatten(Dimname start_dim, Dimname end_dim, Dimname out_dim) const;
  RLT_LAZY Tensor flatten(DimnameList dims, Dimname out_dim) const;
  RLT_LAZY Tensor unflatten(Dimname dim, IntArrayRef sizes, DimnameList names) const;

  /// The single element.
  Scalar item() const {
    Scalar value;
    rlt::check(rlt_tensor_item(handle(), value.raw_out()));
    return value;
  }
  template <class T>
  T item() const {
    return item().to<T>();
  }

  /// Uses the memory of a storage: all of it, or elements of it.
  Tensor& set_(const c10::Storage& storage) const {
    const int64_t count = static_cast<int64_t>(storage.nbytes() / itemsize());
    return set_(storage, 0, IntArrayRef(count));
  }
  Tensor& set_(const c10::Storage& storage, int64_t offset, IntArrayRef sizes, IntArrayRef strides = {}) const {
    return set_(storage.tensor<Tensor>(), offset, sizes, strides);
  }

  /// Device, layout and dtype in the form that old programs use.
  DeprecatedTypeProperties type() const {
    Backend cpu = is_sparse() ? Backend::SparseCPU : Backend::CPU, cuda = is_sparse() ? Backend::SparseCUDA : Backend::CUDA;
    return {is_cuda() ? cuda : is_meta() ? Backend::Meta : cpu, scalar_type()};
  }

  // Conversions that call the operators `to`.
  Tensor toType(ScalarType dtype) const { return to(dtype); }
  Tensor to(Device device, caffe2::TypeMeta dtype, bool non_blocking = false, bool copy = false) const {
    return to(device, dtype.toScalarType(), non_blocking, copy);
  }
  Tensor type_as(const Tensor& other) const { return to(other.options()); }
  /// A tensor on the device and in the layout of the backend.
  Tensor toBackend(Backend backend) const {
    return to(options().device(c10::backendToDeviceType(backend)).layout(c10::layout_from_backend(backend)));
  }
  Tensor cpu() const { return to(TensorOptions(kCPU)); }
  Tensor cuda() const { return to(TensorOptions(kCUDA)); }
  Tensor pin_memory(std::optional<Device> = {}) const { rlt::raise<Error>("Cannot access accelerator device when none is available."); }
  Tensor meta() const { return to(TensorOptions(kMeta)); }
#include <ATen/internal_functions/methods.h>

  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor operator[](const Scalar& index) const {
    if (!index.isIntegral(false)) rlt::raise<IndexError>("Can only index tensors with integral scalars");
    return select(0, index.toLong());
  }
  Tensor operator[](const Tensor& index) const {
    if (!index.defined()) rlt::raise<IndexError>("Can only index with tensors that are defined");
    if (index.dim() != 0) rlt::raise<IndexError>("Can only index with tensors that are scalars (zero-dim)");
    return (*this)[index.item()];
  }

  // torch::indexing; defined in ATen/TensorIndexing.h.
  inline Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  inline Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  inline Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& value);
  inline Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value);
  inline Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value);
  inline Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value);

  // A single dimension as a plain 0 is a dimension, not `unbiased`.
  Tensor var(int dim) const { return var(IntArrayRef(static_cast<int64_t>(dim))); }
  Tensor std(int dim) const { return this->std(IntArrayRef(static_cast<int64_t>(dim))); }

  // In-place operators.
#define RLT_IN_PLACE(op, method)                                           \
  Tensor& operator op(const Tensor& other) { return method(other); }       \
  Tensor& operator op(const Scalar& other) { return method(other); }
  RLT_IN_PLACE(+=, add_)
  RLT_IN_PLACE(-=, sub_)
  RLT_IN_PLACE(*=, mul_)
  RLT_IN_PLACE(/=, div_)
  RLT_IN_PLACE(&=, bitwise_and_)
  RLT_IN_PLACE(|=, bitwise_or_)
  RLT_IN_PLACE(^=, bitwise_xor_)
  RLT_IN_PLACE(<<=, bitwise_left_shift_)
  RLT_IN_PLACE(>>=, bitwise_right_shift_)
#undef RLT_IN_PLACE
  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }

  // The methods of Python's operators.
#define RLT_NAMED(name, in_place, method)                                                         \
    Tensor name(const Tensor& other) const { return method(other); }                                \
    Tensor name(const Scalar& other) const { return method(other); }                                \
    Tensor& in_place(const Tensor& other) const { return method##_(other); }                        \
    Tensor& in_place(const Scalar& other) const { return method##_(other); }
  RLT_NAMED(__and__, __iand__, bitwise_and)
  RLT_NAMED(__or__, __ior__, bitwise_or)
  RLT_NAMED(__xor__, __ixor__, bitwise_xor)
  RLT_NAMED(__lshift__, __ilshift__, bitwise_left_shift)
  RLT_NAMED(__rshift__, __irshift__, bitwise_right_shift)
#undef RLT_NAMED

  /// Computes the gradients of the leaves below this tensor.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                std::optional<TensorList> inputs = std::nullopt) const {
    bool retain = retain_graph.value_or(create_graph);
    if (C10_UNLIKELY(create_graph)) rlt::warn_of_create_graph();
    if (!inputs) {
      rlt::check(rlt_tensor_backward(handle(), gradient.handle(), retain, create_graph));
      return;
    }
    if (inputs->empty()) rlt::raise<Error>("'inputs' argument to backward cannot be empty");
    const rlt_tensor* output = handle();
    const rlt_tensor* seed = gradient.handle();
    rlt::check(rlt_backward(&output, 1, &seed, retain, create_graph, rlt::handles(*inputs), rlt::length(inputs->size())));
  }
  /// `backward` with the arguments in the order of the operator. No inputs stands for all leaves.
  void _backward(TensorList inputs, const std::optional<Tensor>& gradient = {}, std::optional<bool> retain_graph = {},
                 bool create_graph = false) const {
    backward(gradient ? *gradient : Tensor(), retain_graph, create_graph, inputs.empty() ? std::nullopt : std::optional<TensorList>(inputs));
  }
  /// The accumulated gradient; undefined before the first backward. (A `const` value, so that `auto& g = x.grad()`
  /// compiles.)
  const Tensor grad() const {
    rlt_tensor* gradient = nullptr;
    rlt::check(rlt_tensor_grad(handle(), &gradient));
    if (C10_UNLIKELY(!gradient)) warn_of_no_leaf();
    return Tensor(gradient);
  }
  /// The gradient as an assignable value.
  inline MutableGrad mutable_grad() const;
  const Tensor& set_requires_grad(bool requires_grad) const {
    rlt::check(rlt_tensor_set_requires_grad(handle(), requires_grad));
    return *this;
  }
  Tensor& requires_grad_(bool requires_grad = true) const {
    set_requires_grad(requires_grad);
    return itself();
  }
  /// Registers a hook that is called with the gradient of this tensor, which is undefined if none arrived. A returned
  /// tensor replaces the gradient.
  template <class Hook>
  unsigned register_hook(Hook&& hook) const;

  /// The same values, without history.
  Tensor data() const { return variable_data(); }
  using TensorBase::data;  // data<T>()
  Tensor variable_data() const { return detach(); }
  Tensor tensor_data() const { return detach(); }
  void set_data(const Tensor& other) const { rlt::check(rlt_tensor_set_data(handle(), other.handle())); }
  /// The base of this view.
  Tensor _base() const {
    rlt_tensor* base = nullptr;
    rlt::check(rlt_tensor_base(handle(), &base));
    if (!base) rlt::raise<Error>("Can't get base of non-view Variable");
    return Tensor(base);
  }

  /// Whether both tensors have the same sizes.
  bool is_same_size(const Tensor& other) const { return sizes() == other.sizes(); }
  /// Whether the only element is nonzero.
  bool is_nonzero() const {
    int64_t count = numel();
    if (count == 0) rlt::raise<Error>("Boolean value of Tensor with no values is ambiguous");
    if (count > 1) rlt::raise<Error>("Boolean value of Tensor with more than one value is ambiguous");
    return item().to<bool>();
  }

  /// `x.m(function, arguments...)` is function(x, arguments...).
  template <class Function, class... Args>
  auto m(Function function, Args&&... args) const {
    return function(*this, std::forward<Args>(args)...);
  }

  /// One line with type and sizes, to stderr.
  inline void print() const;

 private:
  /// The result of methods that write to this tensor: they are `const`, as in libtorch.
  Tensor& itself() const { return const_cast<Tensor&>(*this); }
  RLT_COLD void warn_of_no_leaf() const {
    if (is_leaf() || retains_grad()) return;
    TORCH_WARN(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during "
        "autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf "
        "Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
        "github.com/pytorch/pytorch/pull/30531 for more informations.");
  }
};

/// The result of Tensor::mutable_grad: a gradient that can be assigned to.
class MutableGrad : public Tensor {
 public:
  explicit MutableGrad(const Tensor& owner) : Tensor(owner.grad()), owner_(owner) {}
  MutableGrad& operator=(const Tensor& gradient) {
    rlt::check(rlt_tensor_set_grad(owner_.handle(), gradient.handle()));
    Tensor& value = *this;
    value = gradient;
    return *this;
  }
  void reset() { *this = Tensor(); }

 private:
  Tensor owner_;
};

/// Tensors or None, as operators take them (`Tensor?[]`): a view, or the elements of a c10::List.
class IOptTensorListRef final {
 public:
  IOptTensorListRef(ArrayRef<std::optional<Tensor>> view) : view_(view) {}
  IOptTensorListRef(const std::vector<std::optional<Tensor>>& items) : view_(items) {}
  IOptTensorListRef(std::initializer_list<std::optional<Tensor>> items) : view_(items) {}
  template <class T, std::enable_if_t<std::is_same_v<T, std::optional<Tensor>>, bool> = true>
  IOptTensorListRef(const c10::List<T>& list) : items_(list.vec()), view_(items_) {}
  IOptTensorListRef(const IOptTensorListRef&) = delete;
  IOptTensorListRef& operator=(const IOptTensorListRef&) = delete;
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  const std::optional<Tensor>* begin() const { return view_.begin(); }
  const std::optional<Tensor>* end() const { return view_.end(); }

 private:
  std::vector<std::optional<Tensor>> items_;
  ArrayRef<std::optional<Tensor>> view_;
};

inline Tensor rlt_adopt(int32_t status, rlt_tensor*& result) {
  rlt::check(status);
  return Tensor(result);
}
inline MutableGrad Tensor::mutable_grad() const { return MutableGrad(*this); }

inline Tensor Generator::get_state() const {
  rlt_tensor* state = nullptr;
  rlt::check(rlt_generator_get_state(handle_, &state));
  return Tensor(state);
}
inline void Generator::set_state(const Tensor& state) { rlt::check(rlt_generator_set_state(handle_, state.handle())); }
inline Generator Generator::clone() const {
  Generator copy = make_generator<CPUGeneratorImpl>();
  copy.set_state(get_state());
  return copy;
}

RLT_NAMESPACE_END
}  // namespace at

namespace rlt {
RLT_NAMESPACE_BEGIN

template <class... Handles>
std::tuple<typename Later<Handles, at::Tensor>::type...> adopt_all(int32_t status, Handles*&... results) {
  check(status);
  return {at::Tensor(results)...};
}
inline rlt_tensor* optional_tensor(const std::optional<at::Tensor>& tensor) { return tensor ? tensor->handle() : nullptr; }
inline const rlt_tensor* const* handles(at::TensorList tensors) {
  // A Tensor contains only its handle, so that a list of tensors is a list of handles.
  static_assert(sizeof(at::Tensor) == sizeof(rlt_tensor*) && std::is_standard_layout_v<at::Tensor>, "a Tensor is one pointer");
  return reinterpret_cast<const rlt_tensor* const*>(tensors.data());
}
RLT_COLD inline void warn_of_byte_mask() {
  TORCH_WARN("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
}
inline int64_t index_count(const at::IOptTensorListRef& tensors) { return length(tensors.size()); }
/// Lists of optional tensors are indices.
inline Array<const rlt_tensor*> index_handles(const at::IOptTensorListRef& tensors) {
  Array<const rlt_tensor*> handles(tensors.size());
  const rlt_tensor** next = handles.data();
  for (const auto& tensor : tensors) {
    *next++ = optional_tensor(tensor);
    if (tensor && tensor->defined() && tensor->scalar_type() == at::kByte) warn_of_byte_mask();
  }
  return handles;
}
inline std::vector<at::Tensor> adopt_list(rlt_tensor_list* result) {
  struct Free {
    rlt_tensor_list* list;
    ~Free() { rlt_tensor_list_free(list); }
  } owner{result};
  int64_t length = 0;
  check(rlt_tensor_list_len(result, &length));
  std::vector<at::Tensor> tensors;
  tensors.reserve(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    rlt_tensor* element = nullptr;
    check(rlt_tensor_list_get(result, i, &element));
    tensors.emplace_back(element);
  }
  return tensors;
}

/// The C side of Tensor::register_hook.
template <class Hook>
struct HookCallback {
  Hook hook;
  static int32_t call(void* ctx, const rlt_tensor* grad, rlt_tensor** replacement) {
    return trampoline([&] {
      rlt_tensor* held = nullptr;
      if (grad) check(rlt_tensor_retain(grad, &held));
      at::Tensor gradient(held);
      Hook& callable = static_cast<HookCallback*>(ctx)->hook;
      if constexpr (std::is_void_v<decltype(callable(gradient))>) {
        callable(gradient);
      } else {
        at::Tensor result = callable(gradient);
        if (result.defined()) *replacement = result.release();
      }
    });
  }
  static void free(void* ctx) { delete static_cast<HookCallback*>(ctx); }
};

RLT_NAMESPACE_END
}  // namespace rlt

namespace at {
RLT_NAMESPACE_BEGIN

template <class Hook>
unsigned Tensor::register_hook(Hook&& hook) const {
  using Callback = rlt::HookCallback<std::decay_t<Hook>>;
  std::unique_ptr<Callback> callback(new Callback{std::forward<Hook>(hook)});
  uint64_t id = 0;
  rlt::check(rlt_tensor_register_hook(handle(), &Callback::call, callback.get(), &Callback::free, &id));
  callback.release();
  return static_cast<unsigned>(id);
}

RLT_NAMESPACE_END
}  // namespace at
