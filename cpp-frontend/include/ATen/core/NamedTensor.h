// Names of the dimensions of tensors. They are labels: the functions of this header read and write them; operators ignore
// the names of their arguments, and their results have none.
#pragma once

#include <ATen/Functions.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN

/// Whether the names of tensors are visible to this thread.
struct NamesMode {
  static bool is_enabled() { return enabled(); }
  static void set_enabled(bool on) { enabled() = on; }

 private:
  static bool& enabled() {
    static thread_local bool on = true;
    return on;
  }
};

/// Tensors have no names for this thread until the guard ends.
class NoNamesGuard {
 public:
  NoNamesGuard() { NamesMode::set_enabled(false); }
  NoNamesGuard(const NoNamesGuard&) = delete;
  NoNamesGuard& operator=(const NoNamesGuard&) = delete;
  ~NoNamesGuard() {
    if (active_) reset();
  }
  /// Ends the guard.
  void reset() {
    TORCH_INTERNAL_ASSERT(active_);
    active_ = false;
    NamesMode::set_enabled(before_);
  }

 private:
  bool before_ = NamesMode::is_enabled(), active_ = true;
};

namespace detail {

RLT_LAZY void set_names(const rlt_tensor* tensor, std::optional<DimnameList> names) {
  if (!names) return rlt::check(rlt_tensor_set_names(tensor, nullptr, 0));
  rlt::Array<const char*> strings(names->size());  // Of an empty list, too, not a null pointer, which removes the names.
  const char** next = strings.data();
  for (const Dimname& name : *names) *next++ = name.isWildcard() ? nullptr : name.symbol().toUnqualString();
  rlt::check(rlt_tensor_set_names(tensor, strings.data(), rlt::length(names->size())));
}

}  // namespace detail

/// The names of the dimensions of a tensor.
struct NamedTensorMeta final : c10::NamedTensorMetaInterface {
  enum HAS_NON_WILDCARD { HasNonWildcard };
  NamedTensorMeta(HAS_NON_WILDCARD, DimnameList names) : names_(names.begin(), names.end()) {}
  DimnameList names() const { return names_; }
  void set_on(const rlt_tensor* tensor) const override { detail::set_names(tensor, names_); }

 private:
  std::vector<Dimname> names_;
};

namespace detail {

/// The same names in an object that lives as long as the program.
RLT_LAZY const NamedTensorMeta& lasting(const std::vector<Dimname>& names) {
  static std::mutex lock;
  static std::map<std::vector<std::string>, NamedTensorMeta> lists;
  std::vector<std::string> key;
  for (const Dimname& name : names) key.emplace_back(name.symbol().toUnqualString());
  std::lock_guard<std::mutex> alone(lock);
  return lists.try_emplace(std::move(key), NamedTensorMeta::HasNonWildcard, names).first->second;
}

/// A name for each dimension; wildcards while names are invisible.
RLT_LAZY const NamedTensorMeta& names_of(const rlt_tensor* tensor) {
  int64_t count = 0;
  rlt::check(rlt_tensor_ndim(tensor, &count));
  std::vector<Dimname> names;
  for (int64_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (NamesMode::is_enabled()) rlt::check(rlt_tensor_dim_name(tensor, i, &name));
    names.push_back(name ? Dimname::fromSymbol(Symbol::dimname(name)) : Dimname::wildcard());
  }
  return detail::lasting(names);
}

/// nullptr if all names are wildcards.
RLT_LAZY const NamedTensorMeta* meta_of(const rlt_tensor* tensor) {
  const NamedTensorMeta& meta = detail::names_of(tensor);
  DimnameList names = meta.names();
  return std::any_of(names.begin(), names.end(), [](const Dimname& name) { return name.isBasic(); }) ? &meta : nullptr;
}

/// `Tensor['N', None]`
RLT_LAZY std::string named(DimnameList names) { return c10::str("Tensor", names); }

RLT_LAZY void set_names(const Tensor& tensor, std::optional<DimnameList> names) { detail::set_names(tensor.handle(), names); }

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

namespace impl {

RLT_LAZY bool has_names(const c10::TensorImpl* tensor) { return detail::meta_of(tensor->handle()) != nullptr; }
RLT_LAZY DimnameList get_names(const c10::TensorImpl* tensor) { return detail::names_of(tensor->handle()).names(); }
RLT_LAZY RLT_LATER(std::optional<DimnameList>) get_opt_names(const c10::TensorImpl* tensor) {
  const NamedTensorMeta* meta = detail::meta_of(tensor->handle());
  return meta ? std::optional<DimnameList>(meta->names()) : std::nullopt;
}

}  // namespace impl

RLT_LAZY Tensor& internal_set_names_inplace(Tensor& tensor, std::optional<DimnameList> names) {
  detail::set_names(tensor, names);
  return tensor;
}

// Tensors with names. `Names` is a type that converts to DimnameList: `{}` after the size are options, as without these functions.
#define RLT_NAMED_FACTORY(factory)                                                                     \
  template <class Names, std::enable_if_t<std::is_convertible_v<const Names&, DimnameList>, int> = 0>  \
  Tensor factory(IntArrayRef size, const Names& names, TensorOptions options = {}) {                   \
    Tensor result = at::factory(size, options);                                                        \
    return internal_set_names_inplace(result, DimnameList(names));                                     \
  }
RLT_NAMED_FACTORY(empty)
RLT_NAMED_FACTORY(ones)
RLT_NAMED_FACTORY(rand)
RLT_NAMED_FACTORY(randn)
RLT_NAMED_FACTORY(zeros)
#undef RLT_NAMED_FACTORY

/// A wildcard for each of `count` dimensions.
RLT_LAZY DimnameList default_names(size_t count) { return detail::lasting(std::vector<Dimname>(count, Dimname::wildcard())).names(); }

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
  return detail::names_of(handle()).names();
}
template <class RltLazy>
const NamedTensorMeta* Tensor::get_named_tensor_meta() const {
  return detail::meta_of(handle());
}
template <class RltLazy>
bool Tensor::has_names() const {
  return detail::meta_of(handle()) != nullptr;
}
template <class RltLazy>
std::optional<DimnameList> Tensor::opt_names() const {
  return impl::get_opt_names(unsafeGetTensorImpl());
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
