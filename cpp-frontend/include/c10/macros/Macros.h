// Compiler switches and the library's inline namespace. Every other header includes this one.
#pragma once

#include <cstddef>
#include <cstdint>

// The names of libtorch programs (torch::, at::, c10::) are in an inline namespace, so that the inline functions of
// this library and of a libtorch in the same process are different symbols. Programs that forward-declare our classes
// themselves can disable it.
#ifdef RLT_NO_INLINE_NAMESPACE
#define RLT_NAMESPACE_BEGIN
#define RLT_NAMESPACE_END
#else
#define RLT_NAMESPACE_BEGIN inline namespace rlt_1 {
#define RLT_NAMESPACE_END }
#endif

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define RLT_EXCEPTIONS 1
#else
#define RLT_EXCEPTIONS 0
#endif

#if defined(__cpp_rtti) || defined(__GXX_RTTI) || defined(_CPPRTTI)
#define RLT_RTTI 1
#else
#define RLT_RTTI 0
#endif

#if defined(__GNUC__) || defined(__clang__)
#define C10_LIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 1))
#define C10_UNLIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 0))
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline
#define RLT_COLD __attribute__((noinline, cold))
#else
#define C10_LIKELY(expr) (expr)
#define C10_UNLIKELY(expr) (expr)
#define C10_NOINLINE
#define C10_ALWAYS_INLINE inline
#define RLT_COLD
#endif

// Before a function that is not virtual: its body is compiled where it is called and nowhere else. The body of an ordinary
// inline function costs each program all that it instantiates, called or not. (So do the classes in the body of a template that
// do not depend on its parameters; where they are many, make them parameters with defaults.)
#define RLT_LAZY template <class RltLazy = void>
// A type that such a function names when it is instantiated, so that a class template among its variables is not instantiated before.
#define RLT_LATER(...) typename ::rlt::Later<RltLazy, __VA_ARGS__>::type

#define C10_LIKELY_OR_CONST(expr) C10_LIKELY(expr)
#define C10_UNLIKELY_OR_CONST(expr) C10_UNLIKELY(expr)
#define C10_UNUSED [[maybe_unused]]
#if defined(__GNUC__) || defined(__clang__)
#define C10_USED __attribute__((used))
#else
#define C10_USED
#endif
#define C10_NODISCARD [[nodiscard]]
#define C10_FALLTHROUGH [[fallthrough]]
#define C10_RESTRICT __restrict
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST

// Nothing is exported from a header-only library: the import and export marks are empty.
#define C10_EXPORT
#define C10_IMPORT
#define C10_API
#define TORCH_API
#define AT_API

#define C10_CONCATENATE_IMPL(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_IMPL(a, b)
#define C10_MACRO_EXPAND(args) args
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(str) C10_CONCATENATE(str, __COUNTER__)
#define AT_DISALLOW_COPY_AND_ASSIGN(Class) \
  Class(const Class&) = delete;            \
  Class& operator=(const Class&) = delete
#define C10_DISABLE_COPY_AND_ASSIGN(Class) AT_DISALLOW_COPY_AND_ASSIGN(Class)

namespace rlt {
RLT_NAMESPACE_BEGIN
template <class RltLazy, class T>
struct Later {
  using type = T;
};
/// std::exchange and std::swap without the thirty classes that those instantiate for each type.
template <class T, class U = T>
T exchange_value(T& object, U&& next) {
  T before = static_cast<T&&>(object);
  object = static_cast<U&&>(next);
  return before;
}
template <class T>
void swap_values(T& a, T& b) {
  T before = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(before);
}
/// std::is_arithmetic_v for types without const and volatile, of which the standard library instantiates seven classes for each type.
template <class T>
inline constexpr bool is_number = false;
#define RLT_NUMBER(T) \
  template <>         \
  inline constexpr bool is_number<T> = true;
RLT_NUMBER(bool)
RLT_NUMBER(char)
RLT_NUMBER(signed char)
RLT_NUMBER(unsigned char)
RLT_NUMBER(wchar_t)
RLT_NUMBER(char16_t)
RLT_NUMBER(char32_t)
#ifdef __cpp_char8_t
RLT_NUMBER(char8_t)
#endif
RLT_NUMBER(short)
RLT_NUMBER(unsigned short)
RLT_NUMBER(int)
RLT_NUMBER(unsigned)
RLT_NUMBER(long)
RLT_NUMBER(unsigned long)
RLT_NUMBER(long long)
RLT_NUMBER(unsigned long long)
RLT_NUMBER(float)
RLT_NUMBER(double)
RLT_NUMBER(long double)
#undef RLT_NUMBER
/// Of `long` and `long long`, the type that int64_t is not: `long long` on Linux; `long` on Windows, where it has 32 bits.
template <class Fixed, class Long, class LongLong>
struct OtherLong {
  using type = LongLong;
};
template <class Long, class LongLong>
struct OtherLong<LongLong, Long, LongLong> {
  using type = Long;
};
using other_long = OtherLong<int64_t, long, long long>::type;
using other_unsigned_long = OtherLong<uint64_t, unsigned long, unsigned long long>::type;
RLT_NAMESPACE_END
}  // namespace rlt
namespace c10 {
RLT_NAMESPACE_BEGIN
RLT_NAMESPACE_END
}  // namespace c10
namespace at {
RLT_NAMESPACE_BEGIN
using namespace c10;
RLT_NAMESPACE_END
}  // namespace at
namespace torch {
RLT_NAMESPACE_BEGIN
using namespace at;
RLT_NAMESPACE_END
}  // namespace torch
