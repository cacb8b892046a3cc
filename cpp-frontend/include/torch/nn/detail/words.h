// Strings for errors and for printing modules, built without streams: each `<<` costs every program compile time.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <optional>
#include <ostream>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace detail {

class Words {
 public:
  explicit Words(const char* text) : text_(text) {}

  Words& add(const char* text) {
    text_ += text;
    return *this;
  }
  Words& add(const std::string& text) {
    text_ += text;
    return *this;
  }
  Words& add(int64_t value) { return add(std::to_string(value)); }
  Words& add(double value) { return add(rlt::text_of(value)); }
  Words& add(bool value) { return add(value ? "true" : "false"); }
  Words& add(c10::IntArrayRef values) { return add_list(values); }
  Words& add(c10::ArrayRef<double> values) { return add_list(values); }

  /// `name=value`, preceded by a comma unless it is the first.
  template <class T>
  Words& named(const char* name, const T& value) {
    if (text_.back() != '(') text_ += ", ";
    return add(name).add("=").add(value);
  }
  /// One number without brackets, or several in brackets, one per dimension.
  Words& sizes(const char* name, c10::IntArrayRef values) { return values.size() == 1 ? named(name, values[0]) : named(name, values); }
  /// `name=true`, or nothing.
  Words& flag(const char* name, bool value) { return value ? named(name, value) : *this; }

  [[noreturn]] void raise() const { rlt::raise<c10::Error>(text_); }
  const std::string& text() const { return text_; }
  /// Appends the string, and the closing parenthesis.
  void close(std::ostream& stream) {
    text_ += ")";
    stream.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  }

 private:
  template <class T>
  Words& add_list(c10::ArrayRef<T> values) {
    text_ += "[";
    for (size_t i = 0; i < values.size(); ++i) {
      if (i) text_ += ", ";
      add(values[i]);
    }
    text_ += "]";
    return *this;
  }

  std::string text_;
};

}  // namespace detail
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
