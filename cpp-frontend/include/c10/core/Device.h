// Devices: the kind with its frozen number, and the kind with an index.
#pragma once

#include <c10/util/Exception.h>
#include <rushlight/tensor.h>

#include <atomic>
#include <ostream>
#include <string>

namespace c10 {
RLT_NAMESPACE_BEGIN

enum class DeviceType : int8_t {
  CPU = 0,
  CUDA = 1,
  MKLDNN = 2,
  OPENGL = 3,
  OPENCL = 4,
  IDEEP = 5,
  HIP = 6,
  FPGA = 7,
  MAIA = 8,
  XLA = 9,
  Vulkan = 10,
  Metal = 11,
  XPU = 12,
  MPS = 13,
  Meta = 14,
  HPU = 15,
  VE = 16,
  Lazy = 17,
  IPU = 18,
  MTIA = 19,
  PrivateUse1 = 20,
  COMPILE_TIME_MAX_DEVICE_TYPES = 21
};

constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kHIP = DeviceType::HIP;
constexpr DeviceType kFPGA = DeviceType::FPGA;
constexpr DeviceType kMAIA = DeviceType::MAIA;
constexpr DeviceType kXLA = DeviceType::XLA;
constexpr DeviceType kVulkan = DeviceType::Vulkan;
constexpr DeviceType kMetal = DeviceType::Metal;
constexpr DeviceType kXPU = DeviceType::XPU;
constexpr DeviceType kHPU = DeviceType::HPU;
constexpr DeviceType kVE = DeviceType::VE;
constexpr DeviceType kLazy = DeviceType::Lazy;
constexpr DeviceType kIPU = DeviceType::IPU;
constexpr DeviceType kMTIA = DeviceType::MTIA;
constexpr DeviceType kMPS = DeviceType::MPS;
constexpr DeviceType kMeta = DeviceType::Meta;
constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;

namespace detail {
/// The lower-case name that a program gave to PrivateUse1; nullptr before.
inline std::atomic<const std::string*>& privateuse1_name() {
  static std::atomic<const std::string*> name{nullptr};
  return name;
}
}  // namespace detail

inline bool is_privateuse1_backend_registered() { return detail::privateuse1_name().load() != nullptr; }
/// The name of PrivateUse1: the one that a program registered, or "privateuseone".
inline std::string get_privateuse1_backend(bool lower_case = true) {
  const std::string* registered = detail::privateuse1_name().load();
  std::string name = registered ? *registered : "privateuseone";
  for (char& letter : name) {
    if (!lower_case && letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return name;
}

inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  if (type == DeviceType::PrivateUse1) return get_privateuse1_backend(lower_case);
  static constexpr const char* names[] = {"CPU",    "CUDA",  "MKLDNN", "OPENGL", "OPENCL", "IDEEP", "HIP",
                                          "FPGA",   "MAIA",  "XLA",    "VULKAN", "METAL",  "XPU",   "MPS",
                                          "META",   "HPU",   "VE",     "LAZY",   "IPU",    "MTIA",  "PRIVATEUSEONE"};
  std::string name = names[static_cast<int>(type)];
  if (lower_case) {
    for (char& letter : name) letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}
/// Names PrivateUse1, once in a program. The names of other devices are taken.
RLT_LAZY
void register_privateuse1_backend(const std::string& name) {
  for (int i = 0; i < static_cast<int>(DeviceType::PrivateUse1); ++i) {
    TORCH_CHECK(name != DeviceTypeName(static_cast<DeviceType>(i), true), "Cannot register privateuse1 backend with in-tree device name: ", name);
  }
  const std::string* before = nullptr;
  const std::string* added = new std::string(name);
  if (detail::privateuse1_name().compare_exchange_strong(before, added)) return;
  delete added;
  TORCH_CHECK(*before == name, "torch.register_privateuse1_backend() has already been set! Current backend: ", *before);
}
inline std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << DeviceTypeName(type, true); }

using DeviceIndex = int8_t;

/// The device of a tensor. Index -1 is the current device of the kind.
struct Device final {
  using Type = DeviceType;

  Device(DeviceType type, DeviceIndex index = -1) : raw_{static_cast<int32_t>(type), index} {
    if (C10_UNLIKELY(index < -1)) {
      rlt::raise<Error>("Device index must be -1 or non-negative, got " + std::to_string(index));
    }
    if (C10_UNLIKELY(type == DeviceType::CPU && index > 0)) {
      rlt::raise<Error>("CPU device index must be -1 or zero, got " + std::to_string(index));
    }
  }
  /// `cpu`, `cuda`, `cuda:1`
  Device(const std::string& text) : Device(parse(text)) {}
  Device(const char* text) : Device(parse(text)) {}
  explicit Device(const rlt_device& raw) : raw_(raw) {}

  DeviceType type() const noexcept { return static_cast<DeviceType>(raw_.type); }
  DeviceIndex index() const noexcept { return static_cast<DeviceIndex>(raw_.index); }
  bool has_index() const noexcept { return raw_.index != -1; }
  void set_index(DeviceIndex index) { raw_.index = index; }
  bool is_cpu() const noexcept { return type() == DeviceType::CPU; }
  bool is_cuda() const noexcept { return type() == DeviceType::CUDA; }
  bool is_meta() const noexcept { return type() == DeviceType::Meta; }
  bool is_mps() const noexcept { return type() == DeviceType::MPS; }
  bool is_xpu() const noexcept { return type() == DeviceType::XPU; }
  std::string str() const {
    std::string text = DeviceTypeName(type(), true);
    return has_index() ? text + ":" + std::to_string(raw_.index) : text;
  }
  const rlt_device& raw() const { return raw_; }

  friend bool operator==(const Device& a, const Device& b) { return a.raw_.type == b.raw_.type && a.raw_.index == b.raw_.index; }
  friend bool operator!=(const Device& a, const Device& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

 private:
  static Device parse(const std::string& text) {
    size_t colon = text.find(':');
    std::string name = text.substr(0, colon);
    if (text.empty()) rlt::raise<Error>("Device string must not be empty");
    int type = -1;
    for (int i = 0; i < static_cast<int>(DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES); ++i) {
      if (name == DeviceTypeName(static_cast<DeviceType>(i), true)) type = i;
    }
    if (type < 0) {
      rlt::raise<Error>(
          "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, "
          "mtia, privateuseone device type at start of device string: " +
          name);
    }
    if (colon == std::string::npos) return Device(static_cast<DeviceType>(type));
    std::string digits = text.substr(colon + 1);
    bool valid = !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string::npos &&
                 (digits.size() == 1 || digits[0] != '0');
    if (!valid) rlt::raise<Error>("Invalid device string: '" + text + "'");
    return Device(static_cast<DeviceType>(type), static_cast<DeviceIndex>(std::atoi(digits.c_str())));
  }

  rlt_device raw_;
};

RLT_NAMESPACE_END
}  // namespace c10

namespace std {
template <>
struct hash<c10::Device> {
  size_t operator()(const c10::Device& device) const noexcept {
    return static_cast<size_t>(device.raw().type) << 16 | static_cast<uint16_t>(device.raw().index);
  }
};
}  // namespace std
