// IValue: one value of any kind, as AutogradContext::saved_data keeps it.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct IValue final {
  IValue() = default;
  IValue(std::nullopt_t) {}
  IValue(at::Tensor value) : tag_(Tag::Tensor), tensor_(std::move(value)) {}
  IValue(const Scalar& value) : tag_(tag_of(value)), number_(value) {}
  IValue(double value) : IValue(Scalar(value)) {}
  IValue(float value) : IValue(Scalar(value)) {}
  IValue(int64_t value) : IValue(Scalar(value)) {}
  IValue(int32_t value) : IValue(Scalar(value)) {}
  IValue(bool value) : IValue(Scalar(value)) {}
  IValue(c10::complex<double> value) : IValue(Scalar(value)) {}
  IValue(ScalarType value) : IValue(static_cast<int64_t>(value)) {}
  RLT_LAZY IValue(std::string value) : tag_(Tag::String), object_(new std::string(std::move(value))) {}
  RLT_LAZY IValue(const char* value) : IValue(std::string(value)) {}
  RLT_LAZY IValue(std::vector<int64_t> value) : tag_(Tag::Ints), object_(new std::vector<int64_t>(std::move(value))) {}
  RLT_LAZY IValue(IntArrayRef value) : IValue(value.vec()) {}
  RLT_LAZY IValue(std::vector<double> value) : tag_(Tag::DoubleList), object_(new std::vector<double>(std::move(value))) {}
  RLT_LAZY IValue(std::vector<at::Tensor> value)
      : tag_(Tag::TensorList), object_(new std::vector<at::Tensor>(std::move(value))) {}
  template <class T>
  IValue(const std::optional<T>& value) {
    if (value) *this = IValue(*value);
  }

  bool isNone() const { return tag_ == Tag::None; }
  bool isTensor() const { return tag_ == Tag::Tensor; }
  bool isInt() const { return tag_ == Tag::Int; }
  bool isDouble() const { return tag_ == Tag::Double; }
  bool isBool() const { return tag_ == Tag::Bool; }
  bool isComplexDouble() const { return tag_ == Tag::Complex; }
  bool isScalar() const { return isInt() || isDouble() || isBool() || isComplexDouble(); }
  bool isString() const { return tag_ == Tag::String; }
  bool isIntList() const { return tag_ == Tag::Ints; }
  bool isDoubleList() const { return tag_ == Tag::DoubleList; }
  bool isTensorList() const { return tag_ == Tag::TensorList; }

  const at::Tensor& toTensor() const { return expect(Tag::Tensor, "Tensor"), tensor_; }
  int64_t toInt() const { return expect(Tag::Int, "Int"), number_.toLong(); }
  double toDouble() const { return expect(Tag::Double, "Double"), number_.toDouble(); }
  bool toBool() const { return expect(Tag::Bool, "Bool"), number_.toBool(); }
  c10::complex<double> toComplexDouble() const { return expect(Tag::Complex, "ComplexDouble"), number_.toComplexDouble(); }
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }
  Scalar toScalar() const {
    if (!isScalar()) fail("Scalar");
    return number_;
  }
  RLT_LAZY const std::string& toStringRef() const { return object<std::string>(Tag::String, "String"); }
  RLT_LAZY std::vector<int64_t> toIntVector() const { return object<std::vector<int64_t>>(Tag::Ints, "IntList"); }
  RLT_LAZY std::vector<double> toDoubleVector() const { return object<std::vector<double>>(Tag::DoubleList, "DoubleList"); }
  RLT_LAZY std::vector<at::Tensor> toTensorVector() const { return object<std::vector<at::Tensor>>(Tag::TensorList, "TensorList"); }

  RLT_LAZY std::string tagKind() const {
    static constexpr const char* names[] = {"None", "Tensor", "Int", "Double", "Bool", "ComplexDouble", "String", "IntList", "DoubleList", "TensorList"};
    return names[static_cast<int>(tag_)];
  }

 private:
  enum class Tag { None, Tensor, Int, Double, Bool, Complex, String, Ints, DoubleList, TensorList };

  static Tag tag_of(const Scalar& value) {
    if (value.isBoolean()) return Tag::Bool;
    if (value.isComplex()) return Tag::Complex;
    return value.isFloatingPoint() ? Tag::Double : Tag::Int;
  }
  [[noreturn]] RLT_COLD void fail(const char* expected) const {
    rlt::raise<Error>(std::string("Expected ") + expected + " but got " + tagKind());
  }
  void expect(Tag tag, const char* name) const {
    if (C10_UNLIKELY(tag_ != tag)) fail(name);
  }
  template <class T>
  const T& object(Tag tag, const char* name) const {
    expect(tag, name);
    return *static_cast<const T*>(object_.get());
  }

  Tag tag_ = Tag::None;
  Scalar number_;
  at::Tensor tensor_;
  std::shared_ptr<const void> object_;
};

RLT_NAMESPACE_END
}  // namespace c10

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {
using c10::IValue;
}
RLT_NAMESPACE_END
}  // namespace torch
