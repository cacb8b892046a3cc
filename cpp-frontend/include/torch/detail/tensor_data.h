// torch::tensor: numbers, nested braced lists and vectors to tensors.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace detail {

/// The dtype of a tensor made from values of a C++ type: integers become Long, real numbers the default dtype.
inline ScalarType inferred_dtype(ScalarType dtype) {
  if (dtype == kInt || dtype == kLong) return kLong;
  if (dtype == kFloat || dtype == kDouble) return get_default_dtype_as_scalartype();
  return dtype;
}

template <class T>
Tensor from_elements(const T* data, size_t count, IntArrayRef sizes) {
  rlt_tensor* tensor = nullptr;
  rlt::check(rlt_tensor_from_data(data, static_cast<int64_t>(count * sizeof(T)), sizes.data(), static_cast<int64_t>(sizes.size()),
                                  static_cast<int32_t>(CppTypeToScalarType<T>::value), &tensor));
  return Tensor(tensor);
}

/// What torch::tensor takes: a number, a braced list of such things, or a vector.
class TensorDataContainer {
 public:
  TensorDataContainer() : sizes_{0}, dtype_(get_default_dtype_as_scalartype()), kind_(Kind::List) {}
#define RLT_ELEMENT(cpp, name, python, spelled, kind)                                                                     \
  TensorDataContainer(cpp value) : dtype_(inferred_dtype(ScalarType::name)), kind_(Kind::Number), number_(value) {}       \
  TensorDataContainer(ArrayRef<cpp> values)                                                                               \
      : sizes_{static_cast<int64_t>(values.size())}, dtype_(inferred_dtype(ScalarType::name)), kind_(Kind::Tensor) {      \
    tensor_ = from_elements(values.data(), values.size(), sizes_);                                                        \
  }
  RLT_FORALL_SCALAR_TYPES(RLT_ELEMENT)
#undef RLT_ELEMENT
  TensorDataContainer(long long value) : TensorDataContainer(static_cast<int64_t>(value)) {}
  TensorDataContainer(unsigned long long value) : TensorDataContainer(static_cast<uint64_t>(value)) {}
  template <class T>
  TensorDataContainer(const std::vector<T>& values) {
    if constexpr (std::is_same_v<T, bool>) {
      // std::vector<bool> packs its elements.
      std::unique_ptr<bool[]> plain(new bool[values.size() + 1]);
      for (size_t i = 0; i < values.size(); ++i) plain[i] = values[i];
      *this = TensorDataContainer(ArrayRef<bool>(plain.get(), values.size()));
    } else {
      *this = TensorDataContainer(ArrayRef<T>(values));
    }
  }
  TensorDataContainer(std::initializer_list<TensorDataContainer> list) : kind_(Kind::List), list_(list) {
    const TensorDataContainer& first = *list.begin();
    dtype_ = first.dtype_;
    sizes_.push_back(static_cast<int64_t>(list.size()));
    sizes_.insert(sizes_.end(), first.sizes_.begin(), first.sizes_.end());
    for (const TensorDataContainer& item : list) {
      if (item.sizes_ != first.sizes_) {
        rlt::raise<Error>(c10::str("Expected all sub-lists to have sizes: ", IntArrayRef(first.sizes_), " (e.g. ", first,
                                   "), but got sub-list ", item, " with sizes: ", IntArrayRef(item.sizes_)));
      }
      if (item.dtype_ != first.dtype_) {
        rlt::raise<Error>(c10::str("Expected all elements of the tensor to have the same scalar type: ", first.dtype_,
                                   ", but got element of scalar type: ", item.dtype_));
      }
    }
  }

  bool is_scalar() const { return kind_ == Kind::Number; }
  bool is_init_list() const { return kind_ == Kind::List; }
  bool is_tensor() const { return kind_ == Kind::Tensor; }
  const Scalar& scalar() const { return number_; }
  const std::initializer_list<TensorDataContainer>& init_list() const { return list_; }
  const Tensor& tensor() const { return tensor_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  ScalarType scalar_type() const { return dtype_; }

  Tensor convert_to_tensor(TensorOptions options) const {
    if (!options.has_dtype()) options = options.dtype(dtype_);
    Tensor result = kind_ == Kind::Tensor ? tensor_ : filled(options.dtype().toScalarType());
    TensorOptions target = options.requires_grad(std::nullopt);
    return result.to(target).set_requires_grad(options.requires_grad());
  }

  friend std::ostream& operator<<(std::ostream& out, const TensorDataContainer& data) {
    if (data.is_scalar()) return out << data.number_;
    if (data.is_tensor()) return out << data.tensor_;
    out << "{";
    const char* separator = "";
    for (const TensorDataContainer& item : data.list_) {
      out << separator << item;
      separator = ", ";
    }
    return out << "}";
  }

 private:
  enum class Kind { Number, List, Tensor };

  Tensor filled(ScalarType dtype) const {
    switch (dtype) {
#define RLT_CASE(cpp, name, python, spelled, kind) \
  case ScalarType::name:                           \
    return filled_with<cpp>();
      RLT_FORALL_SCALAR_TYPES(RLT_CASE)
#undef RLT_CASE
      default: rlt::raise<Error>(c10::str("torch::tensor cannot make a tensor of dtype ", dtype));
    }
  }
  template <class T>
  Tensor filled_with() const {
    size_t count = 1;
    for (int64_t size : sizes_) count *= static_cast<size_t>(size);
    std::unique_ptr<T[]> elements(new T[count + 1]);
    T* end = elements.get();
    write(end);
    return from_elements(elements.get(), count, sizes_);
  }
  template <class T>
  void write(T*& out) const {
    if (is_scalar()) {
      *out++ = number_.to<T>();
    } else if (is_tensor()) {
      Tensor values = tensor_.to(CppTypeToScalarType<T>::value).contiguous();
      const T* data = values.template const_data_ptr<T>();
      for (int64_t i = 0; i < values.numel(); ++i) *out++ = data[i];
    } else {
      for (const TensorDataContainer& item : list_) item.write(out);
    }
  }

  std::vector<int64_t> sizes_;
  ScalarType dtype_ = ScalarType::Undefined;
  Kind kind_ = Kind::Number;
  Scalar number_;
  std::initializer_list<TensorDataContainer> list_;
  Tensor tensor_;
};

}  // namespace detail

/// A tensor of the given numbers: `tensor(1.5)`, `tensor({1, 2})`, `tensor({{1, 2}, {3, 4}})`, `tensor(vector)`.
inline Tensor tensor(detail::TensorDataContainer data, const TensorOptions& options = {}) { return data.convert_to_tensor(options); }

RLT_NAMESPACE_END
}  // namespace torch

namespace at {
RLT_NAMESPACE_BEGIN

template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  TensorOptions given = options.has_dtype() ? options : options.dtype(CppTypeToScalarType<T>::value);
  return torch::detail::TensorDataContainer(values).convert_to_tensor(given);
}
template <class T, std::enable_if_t<!std::is_same_v<T, bool>, bool> = true>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(values), options);
}
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, bool> = true>
Tensor tensor(T value, const TensorOptions& options = {}) {
  TensorOptions given = options.has_dtype() ? options : options.dtype(CppTypeToScalarType<T>::value);
  return torch::detail::TensorDataContainer(value).convert_to_tensor(given);
}

RLT_NAMESPACE_END
}  // namespace at
