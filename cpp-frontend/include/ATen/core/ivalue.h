// IValue for programs: the values (ATen/core/ivalue_all.h), and what torch/torch.h leaves out: the classes of their types, weak
// references, and values that only few programs keep.
#pragma once

#include <ATen/core/blob.h>
#include <ATen/core/ivalue_all.h>
#include <ATen/core/jit_type.h>
#include <ATen/core/tuple_elements.h>
#include <ATen/core/weak_ivalue.h>
#include <c10/core/Stream.h>
#include <c10/util/DimVector.h>
#include <torch/csrc/jit/api/compilation_unit.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class RltLazy>
IValue::IValue(Stream stream) {
  rlt_value value{};
  value.tag = RLT_VALUE_STREAM;
  value.as.stream.device = stream.device().raw();
  value.as.stream.id = stream.id();
  *this = of_boxed(value);
}
template <class RltLazy>
Stream IValue::toStream() const {
  expect(Tag::Stream, "Stream");
  const rlt_stream& stream = boxed().as.stream;
  return Stream(Stream::UNSAFE, Device(stream.device), stream.id);
}
template <class RltLazy>
IValue::IValue(intrusive_ptr<caffe2::Blob> value) : tag_(Tag::Blob), object_(std::move(value)) {}
template <class RltLazy>
intrusive_ptr<caffe2::Blob> IValue::toBlob() const {
  return as<caffe2::Blob>(Tag::Blob, "Blob");
}

namespace detail {
template <class RltLazy>
struct DimVectorOf {
  using type = DimVector;
};
}  // namespace detail
template <class RltLazy>
typename detail::DimVectorOf<RltLazy>::type IValue::toDimVector() const {
  std::vector<int64_t> values = toIntVector();
  return DimVector(values.begin(), values.end());
}

RLT_NAMESPACE_END
}  // namespace c10
