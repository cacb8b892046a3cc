// at::DynamicLibrary: a shared library that is loaded at run time.
#pragma once

#include <ATen/Utils.h>
#include <c10/util/Exception.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#include <string>

namespace c10 {
RLT_NAMESPACE_BEGIN

class DynamicLibraryError : public Error {
  using Error::Error;
};

RLT_NAMESPACE_END
}  // namespace c10

namespace at {
RLT_NAMESPACE_BEGIN

class DynamicLibrary {
 public:
  /// Loads `name` or, if there is no such library, `alternative`. With `leak` it stays loaded.
  explicit DynamicLibrary(const char* name, const char* alternative = nullptr, bool leak = false) : leak_(leak) {
    handle_ = open(name);
    if (!handle_ && alternative) handle_ = open(alternative);
    if (!handle_) rlt::raise<c10::DynamicLibraryError>("Error in dlopen: " + message(name));
  }
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;
  ~DynamicLibrary() {
    if (leak_) return;
#if defined(_WIN32)
    FreeLibrary(static_cast<HMODULE>(handle_));
#else
    dlclose(handle_);
#endif
  }

  /// The address of a symbol.
  void* sym(const char* name) {
#if defined(_WIN32)
    void* address = reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
#else
    void* address = dlsym(handle_, name);
#endif
    if (!address) rlt::raise<c10::DynamicLibraryError>("Error in dlsym: " + message(name));
    return address;
  }

 private:
  static void* open(const char* name) {
#if defined(_WIN32)
    return LoadLibraryA(name);
#else
    return dlopen(name, RTLD_LOCAL | RTLD_NOW);
#endif
  }
  static std::string message(const char* name) {
#if defined(_WIN32)
    return std::string(name) + ": error " + std::to_string(GetLastError());
#else
    const char* text = dlerror();
    return text ? text : name;
#endif
  }

  bool leak_;
  void* handle_ = nullptr;
};

RLT_NAMESPACE_END
}  // namespace at
