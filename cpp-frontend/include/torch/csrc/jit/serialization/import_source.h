// torch::jit::SourceImporter: classes from the source code of a saved program, loaded when they are asked for.
#pragma once

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/frontend/resolver.h>

#include <functional>
#include <set>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

/// Returns the source of a module, such as `__torch__`; null if there is none.
using SourceLoader = std::function<std::shared_ptr<Source>(const std::string&)>;

class SourceImporter : public Resolver {
 public:
  /// Classes are added to the unit. The constants of saved programs have no meaning for classes without them; a table with values is
  /// an error.
  SourceImporter(std::shared_ptr<CompilationUnit> unit, const std::vector<c10::IValue>* constants, SourceLoader loader, size_t = 0)
      : unit_(std::move(unit)), loader_(std::move(loader)) {
    TORCH_CHECK(!constants || constants->empty(), "SourceImporter: a table of constants is not supported; torch::jit::load reads files that have one");
  }

  /// An error if the source does not define the type.
  c10::TypePtr loadType(const c10::QualifiedName& name) {
    c10::TypePtr type = find(name);
    TORCH_CHECK(type, "Couldn't find type '", name.qualifiedName(), "' in the source");
    return type;
  }
  c10::TypePtr resolveType(const std::string& name, const SourceRange&) override { return find(c10::QualifiedName(name)); }

 private:
  c10::TypePtr find(const c10::QualifiedName& name) {
    if (c10::TypePtr known = unit_->get_type(name)) return known;
    if (loaded_.insert(name.prefix()).second) {
      std::shared_ptr<Source> source = loader_(name.prefix());
      if (source) unit_->define_module(name.prefix(), source->text());
    }
    return unit_->get_type(name);
  }

  std::shared_ptr<CompilationUnit> unit_;
  SourceLoader loader_;
  std::set<std::string> loaded_;
};

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
