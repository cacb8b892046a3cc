// torch::indexing: x.index({0, Slice(1, None), "...", None, mask}).
//
// Integers, slices, None and Ellipsis create views; the remaining entries (tensors, and booleans as tensors) go to the
// operators index and index_put_.
#pragma once

#include <ATen/Functions.h>
#include <rushlight/ops/indexing.h>

#include <ostream>

namespace at {
RLT_NAMESPACE_BEGIN
namespace indexing {

constexpr int64_t INDEX_MIN = INT64_MIN / 2;
constexpr int64_t INDEX_MAX = -(INDEX_MIN + 1);

enum class TensorIndexType { None, Ellipsis, SymInt, Boolean, Slice, Tensor };

constexpr std::nullopt_t None = std::nullopt;

struct EllipsisIndexType final {
  constexpr EllipsisIndexType() {}
};
inline constexpr EllipsisIndexType Ellipsis{};

/// start, start + step, ... below stop; a missing bound is the end of the dimension.
struct Slice final {
  Slice(std::optional<c10::SymInt> start = std::nullopt, std::optional<c10::SymInt> stop = std::nullopt,
        std::optional<c10::SymInt> step = std::nullopt)
      : step_(step.value_or(1)) {
    if (step_ == 0) rlt::raise<ValueError>("slice step cannot be zero");
    start_ = start.value_or(step_ < 0 ? INDEX_MAX : 0);
    stop_ = stop.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX);
  }
  c10::SymInt start() const { return start_; }
  c10::SymInt stop() const { return stop_; }
  c10::SymInt step() const { return step_; }

 private:
  c10::SymInt start_;
  c10::SymInt stop_;
  c10::SymInt step_;
};

inline std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ":" << slice.stop() << ":" << slice.step();
}

/// One entry of an index.
struct TensorIndex final {
  TensorIndex(std::nullopt_t) : type_(TensorIndexType::None) {}
  TensorIndex(EllipsisIndexType) : type_(TensorIndexType::Ellipsis) {}
  TensorIndex(const char* text) : TensorIndex(Ellipsis) {
    if (std::string_view(text) != "...") {
      rlt::raise<Error>(std::string("Expected \"...\" to represent an ellipsis index, but got \"") + text + "\"");
    }
  }
  TensorIndex(int64_t integer) : type_(TensorIndexType::SymInt), integer_(integer) {}
  TensorIndex(c10::SymInt integer) : TensorIndex(integer.expect_int()) {}
  TensorIndex(int integer) : TensorIndex(static_cast<int64_t>(integer)) {}
  // Only an exact bool: a pointer or a number is not a mask.
  template <class T, std::enable_if_t<std::is_same_v<bool, T>, bool> = true>
  TensorIndex(T boolean) : type_(TensorIndexType::Boolean), integer_(boolean) {}
  TensorIndex(Slice slice) : type_(TensorIndexType::Slice), slice_(slice) {}
  TensorIndex(Tensor tensor) : type_(TensorIndexType::Tensor), tensor_(std::move(tensor)) {}

  bool is_none() const { return type_ == TensorIndexType::None; }
  bool is_ellipsis() const { return type_ == TensorIndexType::Ellipsis; }
  bool is_integer() const { return type_ == TensorIndexType::SymInt; }
  bool is_boolean() const { return type_ == TensorIndexType::Boolean; }
  bool is_slice() const { return type_ == TensorIndexType::Slice; }
  bool is_tensor() const { return type_ == TensorIndexType::Tensor; }
  c10::SymInt integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  TensorIndexType type_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};

inline std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  if (index.is_none()) return out << "None";
  if (index.is_ellipsis()) return out << "...";
  if (index.is_integer()) return out << index.integer();
  if (index.is_boolean()) return out << (index.boolean() ? "true" : "false");
  if (index.is_slice()) return out << index.slice();
  return out << index.tensor();
}
inline std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  return out << "(" << c10::Join(", ", indices) << ")";
}

namespace impl {

/// A view selected by the plain entries, and the remaining tensors for each of its dimensions.
struct Sliced {
  Tensor view;
  std::vector<Tensor> tensors;
  bool advanced = false;
};

inline Tensor select(const Tensor& self, int64_t dim, int64_t index, int64_t position) {
  IntArrayRef sizes = self.sizes();
  if (sizes.empty()) {
    rlt::raise<IndexError>(
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a "
        "number");
  }
  int64_t size = sizes[static_cast<size_t>(dim)];
  if (index < -size || index >= size) {
    rlt::raise<IndexError>("index " + std::to_string(index) + " is out of bounds for dimension " + std::to_string(position) +
                           " with size " + std::to_string(size));
  }
  return self.select(dim, index);
}

/// A boolean as indices in a dimension of size 1: all of it, or nothing.
inline Tensor places_of(bool all, const Tensor& self) { return at::zeros({all ? 1 : 0}, TensorOptions(kLong).device(self.device())); }

inline Sliced apply(const Tensor& self, ArrayRef<TensorIndex> indices) {
  int64_t consumed = 0;
  for (const TensorIndex& index : indices) {
    if (index.is_none() || index.is_ellipsis() || index.is_boolean()) continue;
    bool mask = index.is_tensor() && index.tensor().defined() && (index.tensor().scalar_type() == kBool || index.tensor().scalar_type() == kByte);
    consumed += mask ? index.tensor().dim() : 1;
  }
  Sliced result{self, {}, false};
  int64_t dims = self.dim();
  if (consumed > dims && dims > 0) rlt::raise<IndexError>("too many indices for tensor of dimension " + std::to_string(dims));
  int64_t dim = 0;
  int64_t position = 0;
  // A mask of several dimensions is one entry of the list.
  int64_t behind_masks = 0;
  auto keep = [&](Tensor tensor) {
    result.tensors.resize(static_cast<size_t>(dim - behind_masks));
    result.tensors.push_back(std::move(tensor));
    result.advanced = true;
    ++dim;
  };
  for (const TensorIndex& index : indices) {
    if (index.is_none()) {
      result.view = result.view.unsqueeze(dim++);
    } else if (index.is_ellipsis()) {
      dim += dims - consumed;
    } else if (index.is_integer()) {
      result.view = select(result.view, dim, index.integer().expect_int(), position);
    } else if (index.is_slice()) {
      const Slice& slice = index.slice();
      if (result.view.dim() == 0) rlt::raise<IndexError>("slice() cannot be applied to a 0-dim tensor.");
      if (slice.step() <= 0) rlt::raise<ValueError>("step must be greater than zero");
      int64_t start = slice.start().expect_int(), stop = slice.stop().expect_int(), step = slice.step().expect_int();
      bool everything = start == 0 && stop == INDEX_MAX && step == 1;
      if (!everything) result.view = result.view.slice(dim, start, stop, step);
      ++dim;
    } else if (index.is_boolean()) {
      result.view = result.view.unsqueeze(dim);
      keep(places_of(index.boolean(), self));
    } else if (index.tensor().dim() == 0 && isIntegralType(index.tensor().scalar_type(), false) && index.tensor().scalar_type() != kByte) {
      result.view = select(result.view, dim, index.tensor().item<int64_t>(), position);
    } else {
      ScalarType dtype = index.tensor().scalar_type();
      bool mask = dtype == kBool || dtype == kByte;
      int64_t width = index.tensor().dim();
      if (mask && width == 0) {
        result.view = result.view.unsqueeze(dim);
        keep(places_of(index.tensor().item().to<bool>(), self));
        ++position;
        continue;
      }
      if (dtype == kByte) rlt::warn_of_byte_mask();
      keep(index.tensor());
      if (mask) {
        dim += width - 1;
        behind_masks += width - 1;
      }
    }
    ++position;
  }
  return result;
}

/// Reads at the indices given by the remaining tensors; missing ones are undefined tensors, which mean None.
inline Tensor read(const Sliced& sliced) {
  rlt_tensor* out = nullptr;
  rlt::check(rlt_tensor_index_Tensor(sliced.view.handle(), rlt::handles(sliced.tensors), rlt::length(sliced.tensors.size()), &out));
  return Tensor(out);
}

/// Writes at these indices.
inline void write(const Sliced& sliced, const Tensor& value) {
  rlt::check(rlt_tensor_index_put_(sliced.view.handle(), rlt::handles(sliced.tensors), rlt::length(sliced.tensors.size()), value.handle(), 0));
}

inline Tensor get(const Tensor& self, ArrayRef<TensorIndex> indices) {
  if (indices.empty()) rlt::raise<IndexError>("Passing an empty index list to Tensor::index() is not valid syntax");
  Sliced sliced = apply(self, indices);
  if (sliced.advanced) return read(sliced);
  return sliced.view.is_same(self) ? self.alias() : sliced.view;
}

inline void reject_empty(ArrayRef<TensorIndex> indices) {
  if (indices.empty()) rlt::raise<IndexError>("Passing an empty index list to Tensor::index_put_() is not valid syntax");
}

/// A value may have more leading dimensions of size one than its target.
inline Tensor drop_leading_ones(const Tensor& value, int64_t dims) {
  Tensor result = value;
  while (result.dim() > dims && result.size(0) == 1) result = result.squeeze(0);
  return result;
}

inline void set(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value) {
  reject_empty(indices);
  Sliced sliced = apply(self, indices);
  if (!sliced.advanced) {
    sliced.view.copy_(drop_leading_ones(value, sliced.view.dim()));
    return;
  }
  write(sliced, drop_leading_ones(value, 0));
}

inline void set(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value) {
  reject_empty(indices);
  Sliced sliced = apply(self, indices);
  if (!sliced.advanced) {
    sliced.view.fill_(value);
    return;
  }
  write(sliced, at::full({}, value, self.options()));
}

}  // namespace impl
}  // namespace indexing

inline Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const { return indexing::impl::get(*this, indices); }
inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return indexing::impl::get(*this, ArrayRef<indexing::TensorIndex>(indices));
}
inline Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& value) {
  indexing::impl::set(*this, indices, value);
  return *this;
}
inline Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value) {
  indexing::impl::set(*this, indices, value);
  return *this;
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value) {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), value);
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), value);
}

RLT_NAMESPACE_END
}  // namespace at

namespace torch {
RLT_NAMESPACE_BEGIN
namespace indexing {
using namespace at::indexing;
}
RLT_NAMESPACE_END
}  // namespace torch
