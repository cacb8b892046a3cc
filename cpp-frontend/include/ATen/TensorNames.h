// at::namedinference: which names of dimensions two tensors have together.
#pragma once

#include <ATen/core/Dimname.h>

#include <algorithm>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN
namespace namedinference {

/// One of the names of a tensor; it prints with its index.
class TensorName {
 public:
  TensorName(DimnameList names, int64_t dim) : names_(names.vec()), dim_(dim < 0 ? dim + static_cast<int64_t>(names.size()) : dim) {
    TORCH_CHECK(dim_ >= 0 && dim_ < static_cast<int64_t>(names.size()), "TensorName: dim ", dim, " is out of range for ", names.size(), " names");
  }
  /// The name of both; an error that names `operation` if they differ, or if a name is at another distance from the end.
  const TensorName& unify(const TensorName& other, const char* operation) const {
    TORCH_CHECK(name().matches(other.name()), operation, ": Expected ", *this, " to match ", other, ".");
    if (name().isBasic()) other.check_position(name(), *this, operation);
    else check_position(other.name(), other, operation);
    return name().isWildcard() ? other : *this;
  }
  Dimname toDimname() const { return name(); }
  const Dimname& name() const { return names_[static_cast<size_t>(dim_)]; }

  friend std::ostream& operator<<(std::ostream& out, const TensorName& tensor_name) {
    out << tensor_name.name() << " (index " << tensor_name.dim_ << " of [";
    for (size_t i = 0; i < tensor_name.names_.size(); ++i) out << (i ? ", " : "") << tensor_name.names_[i];
    return out << "])";
  }

 private:
  void check_position(const Dimname& wanted, const TensorName& found, const char* operation) const {
    if (wanted.isWildcard() || name() == wanted) return;
    TORCH_CHECK(std::find(names_.begin(), names_.end(), wanted) == names_.end(), operation, ": Cannot match ", found, " with ", *this,
                " because the latter names already have ", wanted, ". Are your tensors misaligned?");
  }

  std::vector<Dimname> names_;
  int64_t dim_;
};

/// The names of a tensor.
class TensorNames {
 public:
  explicit TensorNames(DimnameList names) : TensorNames(names, 0, static_cast<int64_t>(names.size())) {}
  TensorNames(DimnameList names, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) names_.emplace_back(names, i);
  }
  /// Unifies names at the same distance from the end; the longer list of names determines the others.
  TensorNames& unifyFromRightInplace(const TensorNames& other, const char* operation = "unify") {
    if (names_.size() < other.names_.size()) {
      names_.insert(names_.begin(), other.names_.begin(), other.names_.begin() + static_cast<std::ptrdiff_t>(other.names_.size() - names_.size()));
    }
    size_t ahead = names_.size() - other.names_.size();
    for (size_t i = 0; i < other.names_.size(); ++i) names_[ahead + i] = names_[ahead + i].unify(other.names_[i], operation);
    return *this;
  }
  /// An error if a name occurs twice.
  void checkUnique(const char* operation) const {
    for (size_t i = 0; i < names_.size(); ++i) {
      for (size_t j = i + 1; j < names_.size(); ++j) {
        TORCH_CHECK(names_[i].name().isWildcard() || names_[i].name() != names_[j].name(), operation,
                    ": Attempted to propagate dims ", names_[i], " and ", names_[j], " to the output, but that would create a tensor with duplicate names.");
      }
    }
  }
  void append(TensorName name) { names_.push_back(std::move(name)); }
  std::vector<Dimname> toDimnameVec() const {
    std::vector<Dimname> result;
    for (const TensorName& name : names_) result.push_back(name.toDimname());
    return result;
  }

 private:
  std::vector<TensorName> names_;
};

}  // namespace namedinference

/// The names of a result of two tensors whose dimensions are aligned at the end.
inline std::vector<Dimname> unify_from_right(DimnameList names, DimnameList other, const char* operation = "broadcast") {
  return namedinference::TensorNames(names).unifyFromRightInplace(namedinference::TensorNames(other), operation).toDimnameVec();
}

RLT_NAMESPACE_END
}  // namespace at
