// torch::jit::compile: functions of TorchScript from source code.
#pragma once

#include <torch/csrc/jit/api/method.h>

#include <memory>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

/// Functions and classes that were compiled together.
class CompilationUnit {
 public:
  CompilationUnit() = default;
  explicit CompilationUnit(const std::string& source) {
    rlt_script* script = nullptr;
    rlt::check(rlt_script_compile(source.c_str(), &script));
    script_ = std::shared_ptr<rlt_script>(script, rlt_script_free);
  }
  /// Calls a function.
  template <class... Values>
  c10::IValue run_method(const std::string& name, Values&&... values) const {
    if (!script_) rlt::raise<c10::Error>("the compilation unit has no function '" + name + "'");
    return detail::Arguments({c10::IValue(std::forward<Values>(values))...}, {}).call([&](auto... arguments) {
      return rlt_script_run(script_.get(), name.c_str(), arguments...);
    });
  }

 private:
  std::shared_ptr<rlt_script> script_;
};

/// Compiles functions and classes.
inline std::shared_ptr<CompilationUnit> compile(const std::string& source) { return std::make_shared<CompilationUnit>(source); }

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
