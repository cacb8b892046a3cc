// Vitals: attributes that a program reports at its end, as lines on stdout, if the environment variable TORCH_VITAL is set.
//
//   TORCH_VITAL_DEFINE(Training);
//   TORCH_VITAL(Training, batches) << 10;  // [TORCH_VITAL] Training.batches		 10
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/env.h>

#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace at {
RLT_NAMESPACE_BEGIN
namespace vitals {

/// Whether TORCH_VITAL is set and not empty or 0.
inline bool torchVitalEnabled() {
  auto value = c10::utils::get_env("TORCH_VITAL");
  return value && !value->empty() && *value != "0";
}

class TorchVitalAttr {
 public:
  template <class T>
  TorchVitalAttr& operator<<(const T& value) {
    return write(value, false);
  }
  /// Also writes if vitals are disabled by the environment and `force` is set.
  template <class T>
  TorchVitalAttr& write(const T& value, bool force) {
    if (force || torchVitalEnabled()) {
      std::ostringstream stream;
      stream << value;
      text_ += stream.str();
    }
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A group of attributes; the destructor prints them.
class TorchVital {
 public:
  explicit TorchVital(std::string name) : name_(std::move(name)) {}
  TorchVital(const TorchVital&) = delete;
  TorchVital(TorchVital&& other) noexcept : name_(std::move(other.name_)), attributes_(std::move(other.attributes_)) { other.attributes_.clear(); }
  ~TorchVital() {
    for (const auto& [name, attribute] : attributes_) {
      // An attribute without text was never written.
      if (!attribute.text().empty()) std::cout << "[TORCH_VITAL] " << name_ << "." << name << "\t\t " << attribute.text() << "\n";
    }
  }
  TorchVitalAttr& create(const std::string& attribute, bool = false) { return attributes_[attribute]; }

 private:
  std::string name_;
  std::map<std::string, TorchVitalAttr> attributes_;
};

/// Vitals by name, for programs that do not know the names when they are compiled.
class APIVitals {
 public:
  APIVitals() = default;
  APIVitals(const APIVitals&) = delete;
  APIVitals& operator=(const APIVitals&) = delete;
  /// Replaces the attribute. False if vitals are disabled.
  bool setVital(const std::string& vital, const std::string& attribute, const std::string& value, bool force = false) {
    if (!force && !torchVitalEnabled()) return false;
    TorchVitalAttr& entry = vitals_.try_emplace(vital, vital).first->second.create(attribute, force);
    entry = TorchVitalAttr();
    entry.write(value, force);
    return true;
  }

 private:
  std::map<std::string, TorchVital> vitals_;
};

/// The vitals of the program.
inline APIVitals VitalsAPI;

}  // namespace vitals
RLT_NAMESPACE_END
}  // namespace at

#define TORCH_VITAL_DEFINE(name) ::at::vitals::TorchVital TorchVital_##name(#name)
#define TORCH_VITAL_DECLARE(name) extern ::at::vitals::TorchVital TorchVital_##name
#define TORCH_VITAL_BASE(name) TorchVital_##name
#define TORCH_VITAL(name, attribute) TORCH_VITAL_BASE(name).create(#attribute)
