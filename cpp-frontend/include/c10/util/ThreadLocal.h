// c10::ThreadLocal: a thread's own object of a variable, made when the thread first uses it.
#pragma once

#include <c10/macros/Macros.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class T>
class ThreadLocal {
 public:
  /// Returns the address of the calling thread's object.
  using Accessor = T* (*)();

  explicit ThreadLocal(Accessor accessor) : accessor_(accessor) {}
  ThreadLocal(const ThreadLocal&) = delete;
  ThreadLocal& operator=(const ThreadLocal&) = delete;

  T& get() { return *accessor_(); }
  T& operator*() { return get(); }
  T* operator->() { return &get(); }

 private:
  Accessor accessor_;
};

RLT_NAMESPACE_END
}  // namespace c10

#define RLT_TLS_ACCESSOR(Type)             \
  ([]() -> Type* {                         \
    static thread_local Type rlt_variable; \
    return &rlt_variable;                  \
  })
#define C10_DEFINE_TLS_static(Type, Name) static ::c10::ThreadLocal<Type> Name(RLT_TLS_ACCESSOR(Type))
#define C10_DECLARE_TLS_class_static(Class, Type, Name) static ::c10::ThreadLocal<Type> Name
#define C10_DEFINE_TLS_class_static(Class, Type, Name) ::c10::ThreadLocal<Type> Class::Name(RLT_TLS_ACCESSOR(Type))
