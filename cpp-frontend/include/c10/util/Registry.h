// c10::Registry: functions that create objects, by a key. The macros fill one before main starts.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/Type.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rlt {
RLT_NAMESPACE_BEGIN
/// A key that is registered twice. As in libtorch, it is a std::runtime_error, not a c10::Error.
class RegistrationError : public std::runtime_error {
 public:
  static constexpr int32_t code = RLT_ERROR_RUNTIME;
  using std::runtime_error::runtime_error;
};
RLT_NAMESPACE_END
}  // namespace rlt

namespace c10 {
RLT_NAMESPACE_BEGIN

enum RegistryPriority {
  REGISTRY_FALLBACK = 1,
  REGISTRY_DEFAULT = 2,
  REGISTRY_PREFERRED = 3,
};

template <class Key>
std::string KeyStrRepr(const Key&) {
  return "[key type printing not supported]";
}
template <>
inline std::string KeyStrRepr(const std::string& key) {
  return key;
}

/// A key that is registered twice is an error: it is thrown, or ends the process while it starts ("terminate").
template <class SrcType, class ObjectPtrType, class... Args>
class Registry {
 public:
  using Creator = std::function<ObjectPtrType(Args...)>;

  explicit Registry(bool warning = true) : warning_(warning) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// A function of a higher priority replaces one of a lower priority.
  void Register(const SrcType& key, Creator creator, RegistryPriority priority = REGISTRY_DEFAULT) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = entries_.find(key);
    if (found == entries_.end()) {
      entries_.emplace(key, Entry{std::move(creator), priority, {}});
      return;
    }
    if (priority == found->second.priority) return fail("Key already registered with the same priority: " + KeyStrRepr(key));
    bool replaces = priority > found->second.priority;
    if (replaces) {
      found->second.creator = std::move(creator);
      found->second.priority = priority;
    }
    if (warning_) {
      std::string message = (replaces ? "Overwriting already registered item for key " : "Higher priority item already registered, skipping registration of ") + KeyStrRepr(key);
      std::fprintf(stderr, "%s\n", message.c_str());
    }
  }
  void Register(const SrcType& key, Creator creator, const std::string& help, RegistryPriority priority = REGISTRY_DEFAULT) {
    Register(key, std::move(creator), priority);
    std::lock_guard<std::mutex> lock(mutex_);
    entries_.at(key).help = help;
  }
  bool Has(const SrcType& key) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_.count(key) != 0;
  }
  /// nullptr if nothing is registered for the key.
  ObjectPtrType Create(const SrcType& key, Args... args) const {
    Creator creator;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto found = entries_.find(key);
      if (found == entries_.end()) return nullptr;
      creator = found->second.creator;
    }
    return creator(std::forward<Args>(args)...);
  }
  std::vector<SrcType> Keys() const {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<SrcType> keys;
    for (const auto& entry : entries_) keys.push_back(entry.first);
    return keys;
  }
  /// nullptr if the key has no explanation.
  const char* HelpMessage(const SrcType& key) const {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = entries_.find(key);
    return found == entries_.end() || found->second.help.empty() ? nullptr : found->second.help.c_str();
  }
  void SetTerminate(bool terminate) { terminate_ = terminate; }

 private:
  struct Entry {
    Creator creator;
    RegistryPriority priority;
    std::string help;
  };

  void fail(const std::string& message) const {
    if (terminate_) {
      std::fprintf(stderr, "%s\n", message.c_str());
      std::exit(1);
    }
    rlt::raise<rlt::RegistrationError>(message);
  }

  mutable std::mutex mutex_;
  std::unordered_map<SrcType, Entry> entries_;
  bool terminate_ = true;
  const bool warning_;
};

/// Registers a function when it is constructed.
template <class SrcType, class ObjectPtrType, class... Args>
class Registerer {
 public:
  using Target = Registry<SrcType, ObjectPtrType, Args...>;
  Registerer(const SrcType& key, Target* registry, typename Target::Creator creator, const std::string& help = "") {
    registry->Register(key, std::move(creator), help);
  }
  Registerer(const SrcType& key, RegistryPriority priority, Target* registry, typename Target::Creator creator, const std::string& help = "") {
    registry->Register(key, std::move(creator), help, priority);
  }
  template <class Derived>
  static ObjectPtrType DefaultCreator(Args... args) {
    return ObjectPtrType(new Derived(args...));
  }
};

RLT_NAMESPACE_END
}  // namespace c10

#define C10_DECLARE_TYPED_REGISTRY(Name, Key, Object, Pointer, ...)                \
  ::c10::Registry<Key, Pointer<Object>, ##__VA_ARGS__>* Name();                    \
  using Registerer##Name = ::c10::Registerer<Key, Pointer<Object>, ##__VA_ARGS__>
#define RLT_DEFINE_REGISTRY(Name, warning, Key, Object, Pointer, ...)                                  \
  ::c10::Registry<Key, Pointer<Object>, ##__VA_ARGS__>* Name() {                                       \
    static auto* registry = new ::c10::Registry<Key, Pointer<Object>, ##__VA_ARGS__>(warning);         \
    return registry;                                                                                   \
  }
#define C10_DEFINE_TYPED_REGISTRY(Name, Key, Object, Pointer, ...) RLT_DEFINE_REGISTRY(Name, true, Key, Object, Pointer, ##__VA_ARGS__)
#define C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(Name, Key, Object, Pointer, ...) \
  RLT_DEFINE_REGISTRY(Name, false, Key, Object, Pointer, ##__VA_ARGS__)

#define C10_DECLARE_REGISTRY(Name, Object, ...) C10_DECLARE_TYPED_REGISTRY(Name, std::string, Object, std::unique_ptr, ##__VA_ARGS__)
#define C10_DEFINE_REGISTRY(Name, Object, ...) C10_DEFINE_TYPED_REGISTRY(Name, std::string, Object, std::unique_ptr, ##__VA_ARGS__)
#define C10_DEFINE_REGISTRY_WITHOUT_WARNING(Name, Object, ...) \
  C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(Name, std::string, Object, std::unique_ptr, ##__VA_ARGS__)
#define C10_DECLARE_SHARED_REGISTRY(Name, Object, ...) C10_DECLARE_TYPED_REGISTRY(Name, std::string, Object, std::shared_ptr, ##__VA_ARGS__)
#define C10_DEFINE_SHARED_REGISTRY(Name, Object, ...) C10_DEFINE_TYPED_REGISTRY(Name, std::string, Object, std::shared_ptr, ##__VA_ARGS__)

#define C10_REGISTER_TYPED_CREATOR(Name, key, ...) \
  static Registerer##Name C10_ANONYMOUS_VARIABLE(g_##Name)(key, Name(), ##__VA_ARGS__)
#define C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(Name, key, priority, ...) \
  static Registerer##Name C10_ANONYMOUS_VARIABLE(g_##Name)(key, priority, Name(), ##__VA_ARGS__)
#define C10_REGISTER_TYPED_CLASS(Name, key, ...) \
  static Registerer##Name C10_ANONYMOUS_VARIABLE(g_##Name)(key, Name(), Registerer##Name::DefaultCreator<__VA_ARGS__>, ::c10::demangle_type<__VA_ARGS__>())
#define C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(Name, key, priority, ...)                                                            \
  static Registerer##Name C10_ANONYMOUS_VARIABLE(g_##Name)(key, priority, Name(), Registerer##Name::DefaultCreator<__VA_ARGS__>, \
                                                           ::c10::demangle_type<__VA_ARGS__>())
#define C10_REGISTER_CREATOR(Name, key, ...) C10_REGISTER_TYPED_CREATOR(Name, #key, __VA_ARGS__)
#define C10_REGISTER_CREATOR_WITH_PRIORITY(Name, key, priority, ...) C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(Name, #key, priority, __VA_ARGS__)
#define C10_REGISTER_CLASS(Name, key, ...) C10_REGISTER_TYPED_CLASS(Name, #key, __VA_ARGS__)
#define C10_REGISTER_CLASS_WITH_PRIORITY(Name, key, priority, ...) C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(Name, #key, priority, __VA_ARGS__)
