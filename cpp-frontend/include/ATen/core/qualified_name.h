// QualifiedName: a name with a prefix, such as that of a class: `__torch__.foo.Bar`.
#pragma once

#include <c10/util/Exception.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct QualifiedName {
  QualifiedName() = default;
  QualifiedName(std::string name) {
    for (size_t start = 0; start <= name.size();) {
      size_t end = name.find('.', start);
      if (end == std::string::npos) end = name.size();
      if (end == start) rlt::raise<Error>("Invalid name for qualified name: '" + name + "'");
      atoms_.push_back(name.substr(start, end - start));
      start = end + 1;
      if (end + 1 == name.size()) rlt::raise<Error>("Invalid name for qualified name: '" + name + "'");
    }
    join();
  }
  QualifiedName(const char* name) : QualifiedName(std::string(name)) {}
  explicit QualifiedName(std::vector<std::string> atoms) : atoms_(std::move(atoms)) {
    for (const std::string& atom : atoms_) check(atom);
    join();
  }
  QualifiedName(const QualifiedName& prefix, std::string name) : atoms_(prefix.atoms_) {
    check(name);
    atoms_.push_back(std::move(name));
    join();
  }

  const std::string& qualifiedName() const { return whole_; }
  const std::string& prefix() const { return prefix_; }
  const std::string& name() const { return name_; }
  const std::vector<std::string>& atoms() const { return atoms_; }
  bool isPrefixOf(const QualifiedName& other) const {
    if (atoms_.size() > other.atoms_.size()) return false;
    for (size_t i = 0; i < atoms_.size(); ++i) {
      if (atoms_[i] != other.atoms_[i]) return false;
    }
    return true;
  }
  friend bool operator==(const QualifiedName& a, const QualifiedName& b) { return a.whole_ == b.whole_; }
  friend bool operator!=(const QualifiedName& a, const QualifiedName& b) { return a.whole_ != b.whole_; }

 private:
  static void check(const std::string& atom) {
    if (atom.empty() || atom.find('.') != std::string::npos) rlt::raise<Error>("Invalid name for qualified name: '" + atom + "'");
  }
  void join() {
    for (const std::string& atom : atoms_) {
      prefix_ = whole_;
      whole_ += (whole_.empty() ? "" : ".") + atom;
    }
    if (!atoms_.empty()) name_ = atoms_.back();
  }

  std::vector<std::string> atoms_;
  std::string whole_, prefix_, name_;
};

RLT_NAMESPACE_END
}  // namespace c10

template <>
struct std::hash<c10::QualifiedName> {
  size_t operator()(const c10::QualifiedName& name) const { return std::hash<std::string>()(name.qualifiedName()); }
};
