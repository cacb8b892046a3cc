// Names of dimensions (ATen/core/NamedTensor.h).
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// A name in a namespace: `dimname::N`.
class Symbol {
 public:
  static Symbol fromQualString(const std::string& text) {
    TORCH_CHECK(text.find("::") != std::string::npos, "Symbol::fromQualString: expected a name in a namespace, but got \"", text, "\"");
    return Symbol(text);
  }
  static Symbol aten(const std::string& name) { return Symbol("aten::" + name); }
  static Symbol prim(const std::string& name) { return Symbol("prim::" + name); }
  static Symbol attr(const std::string& name) { return Symbol("attr::" + name); }
  static Symbol dimname(const std::string& name) { return Symbol("dimname::" + name); }
  const char* toQualString() const { return text_.c_str(); }
  const char* toUnqualString() const { return text_.c_str() + text_.rfind(':') + 1; }
  bool is_dimname() const { return text_.rfind("dimname::", 0) == 0; }
  bool is_aten() const { return text_.rfind("aten::", 0) == 0; }
  bool is_prim() const { return text_.rfind("prim::", 0) == 0; }
  bool is_attr() const { return text_.rfind("attr::", 0) == 0; }
  friend bool operator==(const Symbol& a, const Symbol& b) { return a.text_ == b.text_; }
  friend bool operator!=(const Symbol& a, const Symbol& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const Symbol& symbol) { return out << symbol.text_; }

 private:
  explicit Symbol(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

RLT_NAMESPACE_END
}  // namespace c10

namespace at {
RLT_NAMESPACE_BEGIN

using c10::Symbol;

enum class NameType : uint8_t { BASIC, WILDCARD };

/// The name of a dimension: an identifier, or the wildcard `*`, which matches every name.
class Dimname {
 public:
  static Dimname fromSymbol(Symbol name) {
    TORCH_INTERNAL_ASSERT(name.is_dimname());
    std::string text = name.toUnqualString();
    if (text == "*") return wildcard();
    TORCH_CHECK(isValidName(text), "Invalid name: a valid identifier contains only digits, alphabetical characters, and/or underscore and starts "
                "with a non-digit. got: '", text, "'.");
    return Dimname(std::move(name), NameType::BASIC);
  }
  static Dimname wildcard() { return Dimname(Symbol::dimname("*"), NameType::WILDCARD); }
  /// Letters, digits and underscores; the first is not a digit.
  static bool isValidName(const std::string& name) {
    auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    for (char c : name) {
      if (!letter(c) && !(c >= '0' && c <= '9')) return false;
    }
    return !name.empty() && letter(name[0]);
  }

  const Symbol& symbol() const { return symbol_; }
  NameType type() const { return type_; }
  bool isBasic() const { return type_ == NameType::BASIC; }
  bool isWildcard() const { return type_ == NameType::WILDCARD; }
  bool matches(const Dimname& other) const { return unify(other).has_value(); }
  /// The name of both, if they match.
  std::optional<Dimname> unify(const Dimname& other) const {
    if (other.isWildcard()) return *this;
    if (isWildcard() || symbol_ == other.symbol_) return other;
    return std::nullopt;
  }

  friend bool operator==(const Dimname& a, const Dimname& b) { return a.symbol_ == b.symbol_; }
  friend bool operator!=(const Dimname& a, const Dimname& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const Dimname& name) {
    if (name.isWildcard()) return out << "None";
    return out << "'" << name.symbol_.toUnqualString() << "'";
  }

 private:
  Dimname(Symbol name, NameType type) : symbol_(std::move(name)), type_(type) {}
  Symbol symbol_;
  NameType type_;
};
using DimnameList = ArrayRef<Dimname>;

RLT_NAMESPACE_END
}  // namespace at
