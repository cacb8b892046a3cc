// Dimension names, as programs write them. Tensors do not support them: functions that take names throw.
#pragma once

#include <c10/macros/Macros.h>

#include <string>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// A name in a namespace: `dimname::N`.
class Symbol {
 public:
  static Symbol dimname(const std::string& name) { return Symbol("dimname::" + name); }
  const char* toQualString() const { return text_.c_str(); }
  const char* toUnqualString() const { return text_.c_str() + text_.rfind(':') + 1; }
  friend bool operator==(const Symbol& a, const Symbol& b) { return a.text_ == b.text_; }
  friend bool operator!=(const Symbol& a, const Symbol& b) { return a.text_ != b.text_; }

 private:
  explicit Symbol(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

RLT_NAMESPACE_END
}  // namespace c10

namespace at {
RLT_NAMESPACE_BEGIN

using c10::Symbol;

/// The name of a dimension.
class Dimname {
 public:
  static Dimname fromSymbol(Symbol name) { return Dimname(std::move(name)); }
  const Symbol& symbol() const { return symbol_; }

 private:
  explicit Dimname(Symbol name) : symbol_(std::move(name)) {}
  Symbol symbol_;
};

RLT_NAMESPACE_END
}  // namespace at
