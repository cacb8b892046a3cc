// torch::tensor: numbers, nested braced lists and vectors to tensors.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace detail {

/// The dtype of a tensor created from values of a C++ type: integers become Long, real numbers the default dtype.
inline ScalarType inferred_dtype(ScalarType dtype) {
  if (dtype == kInt || dtype == kLong) return kLong;
  if (dtype == kFloat || dtype == kDouble) return get_default_dtype_as_scalartype();
  return dtype;
}

using at::detail::from_elements;

/// The argument of torch::tensor: a number, a braced list of such arguments, or a vector.
class TensorDataContainer {
 public:
  TensorDataContainer() : sizes_(1), dtype_(get_default_dtype_as_scalartype()), kind_(Kind::List) {}
#define RLT_ELEMENT(cpp, name, python, spelled, kind)                                                                     \
  TensorDataContainer(cpp value) : dtype_(ScalarType::name), kind_(Kind::Number), number_(value) {} \
  TensorDataContainer(ArrayRef<cpp> values) : kind_(Kind::Tensor) { view(values.data(), values.size(), sizeof(cpp), ScalarType::name); }
  RLT_FORALL_SCALAR_TYPES(RLT_ELEMENT)
#undef RLT_ELEMENT
  TensorDataContainer(rlt::other_long value) : TensorDataContainer(static_cast<int64_t>(value)) {}
  TensorDataContainer(rlt::other_unsigned_long value) : TensorDataContainer(static_cast<uint64_t>(value)) {}
  template <class T>
  TensorDataContainer(const std::vector<T>& values) {
    if constexpr (std::is_same_v<T, bool>) {
      // std::vector<bool> packs its elements; a tensor of bool needs them as bytes.
      std::string bytes(values.begin(), values.end());
      sizes_.push_back(static_cast<int64_t>(bytes.size()));
      dtype_ = kBool;
      kind_ = Kind::Tensor;
      tensor_ = from_elements(bytes.data(), bytes.size(), sizes_, kBool);
    } else {
      *this = TensorDataContainer(ArrayRef<T>(values));
    }
  }
  RLT_LAZY TensorDataContainer(std::initializer_list<TensorDataContainer> list) : kind_(Kind::List), list_(list) {
    const TensorDataContainer& first = *list.begin();
    dtype_ = first.dtype_;
    sizes_.push_back(static_cast<int64_t>(list.size()));
    for (int64_t size : first.sizes_) sizes_.push_back(size);
    for (const TensorDataContainer& item : list) {
      if (item.sizes_ != first.sizes_) {
        rlt::raise<Error>(c10::str("Expected all sub-lists to have sizes: ", c10::Join(" ", first.sizes_), " (e.g. ", first,
                                   "), but got sub-list ", item, " with sizes: ", c10::Join(" ", item.sizes_)));
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
  const Scalar& scalar() const {
    expect(is_scalar(), "scalar");
    return number_;
  }
  const std::initializer_list<TensorDataContainer>& init_list() const {
    expect(is_init_list(), "init_list");
    return list_;
  }
  const Tensor& tensor() const {
    expect(is_tensor(), "tensor");
    return tensor_;
  }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  ScalarType scalar_type() const { return dtype_; }

  RLT_LAZY Tensor convert_to_tensor(TensorOptions options) const {
    if (!options.has_dtype()) options = options.dtype(inferred_dtype(dtype_));
    if (isComplexType(dtype_) && !isComplexType(options.dtype().toScalarType())) reject_imaginary(options.dtype().toScalarType());
    Tensor result = kind_ == Kind::Tensor ? tensor_ : filled();
    TensorOptions target = options.requires_grad(std::nullopt);
    return result.to(target).set_requires_grad(options.requires_grad());
  }

  friend std::ostream& operator<<(std::ostream& out, const TensorDataContainer& data) {
    if (data.is_scalar()) return out << data.number_;
    out << "{";
    const char* separator = "";
    for (int64_t i = 0; data.is_tensor() && i < data.sizes_[0]; ++i) {
      out << separator << data.tensor_[i].item();
      separator = ", ";
    }
    for (const TensorDataContainer& item : data.list_) {
      out << separator << item;
      separator = ", ";
    }
    return out << "}";
  }

 private:
  enum class Kind { Number, List, Tensor };

  void view(const void* data, size_t count, size_t element_size, ScalarType dtype) {
    sizes_.resize(1);
    sizes_[0] = static_cast<int64_t>(count);
    dtype_ = dtype;
    tensor_ = from_elements(data, count * element_size, IntArrayRef(sizes_.data(), 1), dtype);
  }

  static void expect(bool kind, const char* name) {
    TORCH_CHECK(kind, "Can only call `", name, "()` on a TensorDataContainer that has `is_", name, "() == true`");
  }
  // A complex number is converted to a real one if no information is lost; a vector of complex numbers never is.
  RLT_LAZY void reject_imaginary(ScalarType target) const {
    TORCH_CHECK(!is_tensor(), "can not do torch::tensor(complex, dtype=non-complex) because complex can not be casted to real number without loss of information");
    for (const TensorDataContainer& item : list_) item.reject_imaginary(target);
    if (!is_scalar()) return;
#define RLT_CONVERT(cpp, name, python, spelled, kind) \
  if (target == ScalarType::name) (void)number_.to<cpp>();
    RLT_FORALL_SCALAR_TYPES(RLT_CONVERT)
#undef RLT_CONVERT
  }

  // The numbers in the widest dtype of their category; `to` converts them.
  RLT_LAZY Tensor filled() const {
    if (isComplexType(dtype_)) return filled_with<c10::complex<double>>(kComplexDouble);
    if (isFloatingType(dtype_)) return filled_with<double>(kDouble);
    return filled_with<int64_t>(kLong);
  }
  template <class T>
  Tensor filled_with(ScalarType dtype) const {
    std::vector<T> elements;
    append(elements);
    return from_elements(elements.data(), elements.size() * sizeof(T), sizes_, dtype);
  }
  template <class T>
  void append(std::vector<T>& elements) const {
    if (is_scalar()) {
      elements.push_back(element<T>(number_));
    } else if (is_tensor()) {
      Tensor values = tensor_.to(CppTypeToScalarType<T>::value).contiguous();
      const T* data = values.template const_data_ptr<T>();
      for (int64_t i = 0; i < values.numel(); ++i) elements.push_back(data[i]);
    } else {
      for (const TensorDataContainer& item : list_) item.append(elements);
    }
  }
  template <class T>
  static T element(const Scalar& number) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return number.raw().i;
    } else if constexpr (std::is_same_v<T, double>) {
      return number.raw().re;
    } else {
      return T(number.raw().re, number.raw().im);
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

/// Creates a tensor from numbers: `tensor(1.5)`, `tensor({1, 2})`, `tensor({{1, 2}, {3, 4}})`, `tensor(vector)`.
RLT_LAZY Tensor tensor(detail::TensorDataContainer data, const TensorOptions& options = {}) { return data.convert_to_tensor(options); }

RLT_NAMESPACE_END
}  // namespace torch
