// Names of the dimensions of tensors. They are labels: the functions of this header read and write them; operators ignore
// the names of their arguments, and their results have none.
#pragma once

#include <ATen/Functions.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN
namespace detail {

/// The same names in a list that lives as long as the program.
RLT_LAZY DimnameList lasting(std::vector<Dimname> names) {
  static std::mutex lock;
  static std::map<std::vector<std::string>, std::vector<Dimname>> lists;
  std::vector<std::string> key;
  for (const Dimname& name : names) key.emplace_back(name.symbol().toUnqualString());
  std::lock_guard<std::mutex> alone(lock);
  return lists.emplace(std::move(key), std::move(names)).first->second;
}

/// `Tensor['N', None]`
RLT_LAZY std::string named(DimnameList names) { return c10::str("Tensor", names); }

RLT_LAZY void set_names(const Tensor& tensor, std::optional<DimnameList> names) {
  if (!names) return rlt::check(rlt_tensor_set_names(tensor.handle(), nullptr, 0));
  std::vector<const char*> texts;
  for (const Dimname& name : *names) texts.push_back(name.isWildcard() ? nullptr : name.symbol().toUnqualString());
  texts.push_back(nullptr);  // An empty list is a list: without this, its pointer may be null, which removes the names.
  rlt::check(rlt_tensor_set_names(tensor.handle(), texts.data(), rlt::length(names->size())));
}

RLT_LAZY Tensor with_names(const Tensor& tensor, std::optional<DimnameList> names) {
  Tensor view = tensor.alias();
  detail::set_names(view, names);
  return view;
}

/// The names with those of `count` dimensions from `first` on replaced.
RLT_LAZY std::vector<Dimname> replaced(DimnameList names, int64_t first, int64_t count, DimnameList inserted) {
  std::vector<Dimname> result(names.begin(), names.begin() + first);
  result.insert(result.end(), inserted.begin(), inserted.end());
  result.insert(result.end(), names.begin() + first + count, names.end());
  return result;
}

}  // namespace detail

/// A wildcard for each of `count` dimensions.
RLT_LAZY DimnameList default_names(size_t count) { return detail::lasting(std::vector<Dimname>(count, Dimname::wildcard())); }

/// The dimension with this name.
RLT_LAZY int64_t dimname_to_position(const Tensor& tensor, Dimname dim) {
  TORCH_CHECK(dim.isBasic(), "Please look up dimensions by name, got: name = None.");
  DimnameList names = tensor.names();
  auto found = std::find(names.begin(), names.end(), dim);
  TORCH_CHECK(found != names.end(), "Name ", dim, " not found in ", detail::named(names), ".");
  return found - names.begin();
}

RLT_LAZY std::vector<int64_t> dimnames_to_positions(const Tensor& tensor, DimnameList dims) {
  std::vector<int64_t> positions;
  for (const Dimname& dim : dims) positions.push_back(dimname_to_position(tensor, dim));
  return positions;
}

template <class RltLazy>
DimnameList Tensor::names() const {
  std::vector<Dimname> names;
  int64_t count = dim();
  for (int64_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    rlt::check(rlt_tensor_dim_name(handle(), i, &name));
    names.push_back(name ? Dimname::fromSymbol(Symbol::dimname(name)) : Dimname::wildcard());
  }
  return detail::lasting(std::move(names));
}
template <class RltLazy>
bool Tensor::has_names() const {
  DimnameList all = names();
  return std::any_of(all.begin(), all.end(), [](const Dimname& name) { return name.isBasic(); });
}
template <class RltLazy>
std::optional<DimnameList> Tensor::opt_names() const {
  return has_names() ? std::optional<DimnameList>(names()) : std::nullopt;
}
template <class RltLazy>
Tensor Tensor::rename(std::optional<DimnameList> names) const {
  return detail::with_names(*this, names);
}
template <class RltLazy>
Tensor& Tensor::rename_(std::optional<DimnameList> names) const {
  detail::set_names(*this, names);
  return const_cast<Tensor&>(*this);
}

template <class RltLazy>
Tensor Tensor::refine_names(DimnameList wanted) const {
  DimnameList found = names();
  TORCH_CHECK(found.size() == wanted.size(), "refine_names: cannot coerce ", detail::named(found), " to ", detail::named(wanted),
              " due to different number of dims (", found.size(), " and ", wanted.size(), " respectively)");
  for (size_t i = 0; i < found.size(); ++i) {
    TORCH_CHECK(found[i].isWildcard() || found[i] == wanted[i], "refine_names: cannot coerce ", detail::named(found), " to ", detail::named(wanted),
                " because ", found[i], " is different from ", wanted[i], " at index ", i);
  }
  return detail::with_names(*this, wanted);
}

template <class RltLazy>
Tensor Tensor::align_to(DimnameList order) const {
  DimnameList found = names();
  std::vector<int64_t> present;
  for (const Dimname& name : order) {
    TORCH_CHECK(name.isBasic(), "align_to: the desired order of dimensions cannot contain a None name, got: ", detail::named(order));
    auto place = std::find(found.begin(), found.end(), name);
    if (place != found.end()) present.push_back(place - found.begin());
  }
  for (const Dimname& name : found) {
    TORCH_CHECK(name.isBasic(), "align_to: All input dims must be named. Found unnamed dim in ", detail::named(found));
    TORCH_CHECK(std::find(order.begin(), order.end(), name) != order.end(), "align_to: Could not align ", detail::named(found), " to ",
                detail::named(order), " because ", name, " is not among the latter.");
  }
  Tensor result = permute(present);
  for (size_t i = 0; i < order.size(); ++i) {
    if (std::find(found.begin(), found.end(), order[i]) == found.end()) result = result.unsqueeze(static_cast<int64_t>(i));
  }
  detail::set_names(result, order);
  return result;
}
template <class RltLazy>
Tensor Tensor::align_to(DimnameList order, int64_t ellipsis_idx) const {
  DimnameList found = names();
  TORCH_CHECK(ellipsis_idx >= 0 && ellipsis_idx <= static_cast<int64_t>(order.size()), "align_to: the ellipsis is at ", ellipsis_idx,
              " of ", order.size(), " names");
  std::vector<Dimname> full(order.begin(), order.begin() + ellipsis_idx);
  for (const Dimname& name : found) {
    if (std::find(order.begin(), order.end(), name) == order.end()) full.push_back(name);
  }
  full.insert(full.end(), order.begin() + ellipsis_idx, order.end());
  for (const Dimname& name : order) dimname_to_position(*this, name);
  return align_to(full);
}
template <class RltLazy>
Tensor Tensor::align_as(const Tensor& other) const {
  return align_to(other.names());
}

template <class RltLazy>
Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim, Dimname out_dim) const {
  Tensor result = flatten(start_dim, end_dim);
  int64_t count = dim(), start = start_dim < 0 ? start_dim + count : start_dim, end = end_dim < 0 ? end_dim + count : end_dim;
  // Without dimensions, the result has one.
  detail::set_names(result, count == 0 ? std::vector<Dimname>{out_dim} : detail::replaced(names(), start, end - start + 1, out_dim));
  return result;
}
template <class RltLazy>
Tensor Tensor::flatten(Dimname start_dim, Dimname end_dim, Dimname out_dim) const {
  return flatten(dimname_to_position(*this, start_dim), dimname_to_position(*this, end_dim), out_dim);
}
template <class RltLazy>
Tensor Tensor::flatten(DimnameList dims, Dimname out_dim) const {
  std::vector<int64_t> positions = dimnames_to_positions(*this, dims);
  TORCH_CHECK(!positions.empty(), "flatten(tensor, dims, out_dim): dims cannot be empty");
  for (size_t i = 1; i < positions.size(); ++i) {
    TORCH_CHECK(positions[i] == positions[i - 1] + 1, "flatten(tensor, dims, out_dim): dims ", detail::named(dims), " must be consecutive in ",
                detail::named(names()));
  }
  return flatten(positions.front(), positions.back(), out_dim);
}
template <class RltLazy>
Tensor Tensor::unflatten(Dimname dim, IntArrayRef sizes, DimnameList names_of_sizes) const {
  TORCH_CHECK(sizes.size() == names_of_sizes.size(), "unflatten: Attempted to unflatten dimension ", dim, " into ", sizes.size(), " sizes with ",
              names_of_sizes.size(), " names");
  int64_t position = dimname_to_position(*this, dim);
  Tensor result = unflatten(position, sizes);
  detail::set_names(result, detail::replaced(names(), position, 1, names_of_sizes));
  return result;
}

RLT_NAMESPACE_END
}  // namespace at
