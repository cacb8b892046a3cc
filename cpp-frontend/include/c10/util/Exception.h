// Exceptions, TORCH_CHECK and similar macros, warnings.
//
// A failed call of the C ABI arrives here as a status: rlt::check turns it into the exception of its kind. Programs
// built with -fno-exceptions get the failure handler instead.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Backtrace.h>
#include <c10/util/Lazy.h>
#include <c10/util/StringUtil.h>
#include <rushlight/core.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Base of everything that this library throws.
class Error : public std::exception {
 public:
  static constexpr int32_t code = RLT_ERROR_RUNTIME;

  using Backtrace = std::shared_ptr<const LazyValue<std::string>>;

  explicit Error(std::string message) : message_(std::move(message)) { refresh(); }
  Error(SourceLocation, std::string message) : Error(std::move(message)) {}
  /// The backtrace is computed when `what` needs it.
  Error(std::string message, Backtrace backtrace, const void* caller = nullptr)
      : message_(std::move(message)), backtrace_(std::move(backtrace)), caller_(caller) {
    refresh();
  }
  template <class Text, std::enable_if_t<std::is_convertible_v<Text, std::string> && !std::is_null_pointer_v<Text>, bool> = true>
  Error(std::string message, const Text& backtrace, const void* caller = nullptr)
      : Error(std::move(message), Backtrace(std::make_shared<const PrecomputedLazyValue<std::string>>(backtrace)), caller) {}

  /// Adds a line with the context of the error.
  void add_context(std::string line) {
    context_.push_back(std::move(line));
    refresh();
  }
  const std::string& msg() const { return message_; }
  const std::vector<std::string>& context() const { return context_; }
  const Backtrace& backtrace() const { return backtrace_; }
  const void* caller() const noexcept { return caller_; }
  const char* what() const noexcept override {
    if (!backtrace_) return what_without_backtrace();
#if RLT_EXCEPTIONS
    try {
      return with_backtrace();
    } catch (...) {
      return what_without_backtrace();
    }
#else
    return with_backtrace();
#endif
  }
  const char* what_without_backtrace() const noexcept { return without_backtrace_.c_str(); }

 private:
  /// One line of context is within the message's line, several have a line each.
  void refresh() {
    without_backtrace_ = message_;
    if (context_.size() == 1) without_backtrace_ += " (" + context_[0] + ")";
    else for (const std::string& line : context_) without_backtrace_ += "\n  " + line;
    what_.reset();
  }
  const char* with_backtrace() const {
    const std::string& trace = backtrace_->get();
    if (trace.empty()) return what_without_backtrace();
    return what_.ensure([this, &trace] { return without_backtrace_ + "\n" + trace; }).c_str();
  }

  std::string message_;
  std::vector<std::string> context_;
  Backtrace backtrace_;
  std::string without_backtrace_;
  mutable OptimisticLazy<std::string> what_;
  const void* caller_ = nullptr;
};

#define RLT_DEFINE_ERROR(Name, number)           \
  class Name : public Error {                    \
   public:                                       \
    static constexpr int32_t code = number;      \
    using Error::Error;                          \
  }

/// An index or dimension out of range.
RLT_DEFINE_ERROR(IndexError, RLT_ERROR_INDEX);
/// An invalid argument value.
RLT_DEFINE_ERROR(ValueError, RLT_ERROR_VALUE);
/// An argument of the wrong type or dtype.
RLT_DEFINE_ERROR(TypeError, RLT_ERROR_TYPE);
/// No kernel for this combination of operator, dtype and device.
RLT_DEFINE_ERROR(NotImplementedError, RLT_ERROR_NOT_IMPLEMENTED);
/// An allocation failed.
RLT_DEFINE_ERROR(OutOfMemoryError, RLT_ERROR_OUT_OF_MEMORY);
/// A decomposition did not converge or met a singular matrix.
RLT_DEFINE_ERROR(LinAlgError, RLT_ERROR_LINALG);
RLT_DEFINE_ERROR(EnforceFiniteError, RLT_ERROR_RUNTIME);
RLT_DEFINE_ERROR(SyntaxError, RLT_ERROR_RUNTIME);
RLT_DEFINE_ERROR(DistError, RLT_ERROR_RUNTIME);
RLT_DEFINE_ERROR(AcceleratorError, RLT_ERROR_RUNTIME);
#undef RLT_DEFINE_ERROR

RLT_NAMESPACE_END
}  // namespace c10

namespace rlt {
RLT_NAMESPACE_BEGIN

/// A number that does not fit into the target type of a conversion. As in libtorch, it is a std::runtime_error, not a
/// c10::Error.
class OverflowError : public std::runtime_error {
 public:
  static constexpr int32_t code = RLT_ERROR_RUNTIME;
  using std::runtime_error::runtime_error;
};

/// A position or key that a list or dict does not have. As in libtorch, it is a std::out_of_range, not a c10::Error.
class RangeError : public std::out_of_range {
 public:
  static constexpr int32_t code = RLT_ERROR_INDEX;
  using std::out_of_range::out_of_range;
};

/// A number as a stream writes it.
inline std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

/// Called instead of throwing in a program built without exceptions. It may end the thread or jump out; when it
/// returns, the process ends, because the interrupted call has no result.
using FailureHandler = void (*)(int32_t code, const char* message);

inline FailureHandler& failure_handler() {
  static FailureHandler handler = nullptr;
  return handler;
}

/// Sets the failure handler and returns the previous one (nullptr: the message is written to stderr).
inline FailureHandler set_failure_handler(FailureHandler handler) {
  return rlt::exchange_value(failure_handler(), handler);
}

template <class E>
[[noreturn]] RLT_COLD void raise(std::string message) {
#if RLT_EXCEPTIONS
  if constexpr (std::is_base_of_v<c10::Error, E>) {
    if (c10::detail::shows_stacktraces()) throw E(std::move(message), c10::get_backtrace());
  }
  throw E(std::move(message));
#else
  if (FailureHandler handler = failure_handler()) {
    handler(E::code, message.c_str());
  } else {
    std::fprintf(stderr, "%s\n", message.c_str());
  }
  std::abort();
#endif
}

#if RLT_EXCEPTIONS
/// Frees the exception that an error carries: one that a C++ callback threw while native code was below it on the
/// stack. The callback's trampoline attaches it to the error, and rlt::check rethrows it above the native code, on any
/// thread.
inline void drop_exception(void* kept) { delete static_cast<std::exception_ptr*>(kept); }
#endif

/// "rlt_tensor_add_Scalar: argument `self` is NULL" in libtorch's words.
RLT_COLD inline std::string undefined_argument(std::string message) {
  size_t start = message.find('`'), end = message.find('`', start + 1);
  if (start == std::string::npos || end == std::string::npos) return message;
  std::string name = message.substr(start + 1, end - start - 1);
  return "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument " + std::string(name == "self" ? "#0 " : "") + "'" +
         name + "'\n" + message;
}

/// Emits the notes of the last error as warnings.
inline void warn_of_notes();

/// Throws the exception for the last error of this thread.
[[noreturn]] RLT_COLD inline void raise_last_error(int32_t status) {
#if RLT_EXCEPTIONS
  if (void* kept = rlt_last_error_payload(&drop_exception)) {
    std::exception_ptr exception = *static_cast<std::exception_ptr*>(kept);
    rlt_error* error = nullptr;
    if (rlt_last_error_take(&error) == RLT_OK) rlt_error_free(error);
    std::rethrow_exception(std::move(exception));
  }
#endif
  const char* text = rlt_last_error_message();
  std::string message = text ? text : "";
  warn_of_notes();
  switch (status) {
    // A null handle is an undefined Tensor; the C interface reports which argument it was.
    case RLT_ERROR_NULL_POINTER: raise<c10::Error>(undefined_argument(std::move(message)));
    case RLT_ERROR_INDEX: raise<c10::IndexError>(std::move(message));
    case RLT_ERROR_VALUE: raise<c10::ValueError>(std::move(message));
    case RLT_ERROR_TYPE: raise<c10::TypeError>(std::move(message));
    case RLT_ERROR_NOT_IMPLEMENTED: raise<c10::NotImplementedError>(std::move(message));
    case RLT_ERROR_OUT_OF_MEMORY: raise<c10::OutOfMemoryError>(std::move(message));
    case RLT_ERROR_LINALG: raise<c10::LinAlgError>(std::move(message));
    default: raise<c10::Error>(std::move(message));
  }
}

/// Throws unless a C call succeeded.
inline void check(int32_t status) {
  if (C10_UNLIKELY(status != RLT_OK)) raise_last_error(status);
}

#if RLT_EXCEPTIONS
/// Makes the exception that is being handled the last error.
RLT_COLD inline int32_t fail_with_exception(const char* message) {
  return rlt_set_last_error_carrying(RLT_ERROR_CALLBACK, message, new (std::nothrow) std::exception_ptr(std::current_exception()), &drop_exception);
}
#endif

/// Runs a C++ callback below native code: nothing may unwind, so an exception is stored for rlt::check and reported as
/// a status.
template <class Body>
int32_t trampoline(Body&& body) {
#if RLT_EXCEPTIONS
  try {
    body();
    return RLT_OK;
  } catch (const std::exception& error) {
    return fail_with_exception(error.what());
  } catch (...) {
    return fail_with_exception("a C++ callback threw an exception that is not a std::exception");
  }
#else
  body();
  return RLT_OK;
#endif
}

RLT_NAMESPACE_END
}  // namespace rlt

namespace c10 {
RLT_NAMESPACE_BEGIN

class Warning {
 public:
  class UserWarning {};
  class DeprecationWarning {};
  Warning(std::string message, const SourceLocation& location) : message_(std::move(message)), location_(location) {}
  const std::string& msg() const { return message_; }
  const SourceLocation& source_location() const { return location_; }

 private:
  std::string message_;
  SourceLocation location_;
};

/// Receives warnings. The default one prints them to stderr.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning) {
    std::fprintf(stderr, "[W %s:%u] Warning: %s (function %s)\n", warning.source_location().file, warning.source_location().line,
                 warning.msg().c_str(), warning.source_location().function);
  }
};

namespace WarningUtils {
inline WarningHandler*& current_handler() {
  static thread_local WarningHandler* handler = nullptr;
  return handler;
}
inline bool& always() {
  static bool value = false;
  return value;
}
inline WarningHandler* get_warning_handler() {
  static WarningHandler default_handler;
  return current_handler() ? current_handler() : &default_handler;
}
inline void set_warning_handler(WarningHandler* handler) { current_handler() = handler; }
inline void set_warnAlways(bool value) { always() = value; }
inline bool get_warnAlways() { return always(); }

class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : before_(current_handler()) { current_handler() = handler; }
  ~WarningHandlerGuard() { current_handler() = before_; }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler* before_;
};

struct WarnAlways {
  explicit WarnAlways(bool value = true) : before_(always()) { always() = value; }
  ~WarnAlways() { always() = before_; }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;

 private:
  bool before_;
};
}  // namespace WarningUtils

RLT_COLD inline void warn(const Warning& warning) { WarningUtils::get_warning_handler()->process(warning); }

namespace detail {
template <class E>
[[noreturn]] RLT_COLD void torch_check_fail(const char* condition, const char* file, uint32_t line, std::string message) {
  (void)file, (void)line;
  if (message.empty()) {
    message = std::string("Expected ") + condition +
              " to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement "
              "request to PyTorch.)";
  }
  rlt::raise<E>(std::move(message));
}
[[noreturn]] RLT_COLD inline void internal_assert_fail(const char* condition, const char* file, uint32_t line,
                                                       const std::string& message) {
  std::string text = std::string(condition) + " INTERNAL ASSERT FAILED at \"" + file + "\":" + std::to_string(line) +
                     ", please report a bug. " + message;
  rlt::raise<Error>(std::move(text));
}
/// Ends the process, like assert in a kernel.
[[noreturn]] RLT_COLD inline void kernel_assert_fail(const char* condition, const char* file, uint32_t line, const char* function) {
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, static_cast<unsigned>(line), function, condition);
  std::abort();
}
/// The message of a failed TORCH_CHECK_EQ and similar, with the text that the program adds.
struct CheckText {
  explicit CheckText(const char* start) : text(start) {}
  template <class T>
  CheckText&& operator<<(const T& value) && {
    text += c10::str(value);
    return std::move(*this);
  }
  std::string text;
};
/// Raises the error; `&` has lower precedence than `<<`, so that the message is complete.
struct FailCheck {
  [[noreturn]] RLT_COLD void operator&(CheckText&& check) const { rlt::raise<Error>(std::move(check.text)); }
};
}  // namespace detail

RLT_NAMESPACE_END
}  // namespace c10

// A check is an if statement with braces, as in libtorch: a semicolon after it is allowed and not needed.
#define TORCH_CHECK_WITH(Type, condition, ...)                                                                                   \
  if (C10_UNLIKELY(!(condition))) {                                                                                              \
    ::c10::detail::torch_check_fail<::c10::Type>(#condition, __FILE__, static_cast<uint32_t>(__LINE__), ::c10::str(__VA_ARGS__)); \
  }
#define TORCH_CHECK_WITH_MSG(Type, condition, type, ...) TORCH_CHECK_WITH(Type, condition, __VA_ARGS__)
#define TORCH_CHECK(condition, ...) TORCH_CHECK_WITH(Error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK_WITH(IndexError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK_WITH(ValueError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK_WITH(TypeError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) TORCH_CHECK_WITH(LinAlgError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) TORCH_CHECK_WITH(NotImplementedError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_ARG(condition, argument, ...) TORCH_CHECK(condition, "invalid argument ", argument, ": ", __VA_ARGS__)
#define TORCH_CHECK_ALWAYS_SHOW_CPP_STACKTRACE(condition, ...) TORCH_CHECK_WITH(Error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_IF_NOT_ON_CUDA(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_TENSOR_ALL(condition, ...) TORCH_CHECK((condition)._is_all_true().item<bool>(), ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) \
  if (C10_UNLIKELY(!(condition))) {           \
    ::c10::detail::internal_assert_fail(#condition, __FILE__, static_cast<uint32_t>(__LINE__), ::c10::str(__VA_ARGS__)); \
  }
// In kernels, where nothing can be thrown.
#define CUDA_KERNEL_ASSERT(condition)           \
  if (C10_UNLIKELY(!(condition))) {             \
    ::c10::detail::kernel_assert_fail(#condition, __FILE__, static_cast<uint32_t>(__LINE__), __func__); \
  }
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
// An expression to which `<<` adds text.
#define TORCH_CHECK_OP(left, right, op)                                                                          \
  C10_LIKELY((left)op(right)) ? (void)0                                                                          \
                              : ::c10::detail::FailCheck() &                                                     \
          ::c10::detail::CheckText("Check failed: " #left " " #op " " #right " (") << (left) << " vs. " << (right) << "). "
#define TORCH_CHECK_EQ(left, right) TORCH_CHECK_OP(left, right, ==)
#define TORCH_CHECK_NE(left, right) TORCH_CHECK_OP(left, right, !=)
#define TORCH_CHECK_LE(left, right) TORCH_CHECK_OP(left, right, <=)
#define TORCH_CHECK_LT(left, right) TORCH_CHECK_OP(left, right, <)
#define TORCH_CHECK_GE(left, right) TORCH_CHECK_OP(left, right, >=)
#define TORCH_CHECK_GT(left, right) TORCH_CHECK_OP(left, right, >)
#ifdef NDEBUG
#define TORCH_DCHECK_OP(left, right, op) \
  while (false) TORCH_CHECK_OP(left, right, op)
#else
#define TORCH_DCHECK_OP(left, right, op) TORCH_CHECK_OP(left, right, op)
#endif
#define TORCH_DCHECK_EQ(left, right) TORCH_DCHECK_OP(left, right, ==)
#define TORCH_DCHECK_NE(left, right) TORCH_DCHECK_OP(left, right, !=)
#define TORCH_DCHECK_LE(left, right) TORCH_DCHECK_OP(left, right, <=)
#define TORCH_DCHECK_LT(left, right) TORCH_DCHECK_OP(left, right, <)
#define TORCH_DCHECK_GE(left, right) TORCH_DCHECK_OP(left, right, >=)
#define TORCH_DCHECK_GT(left, right) TORCH_DCHECK_OP(left, right, >)
#define C10_BUILD_ERROR(Type, message) ::c10::Type(RLT_SOURCE_LOCATION, message)
#define C10_THROW_ERROR(Type, message) ::rlt::raise<::c10::Type>(message)
#define AT_ERROR(...) ::rlt::raise<::c10::Error>(std::string(::c10::str(__VA_ARGS__)))
// Single statements that require a semicolon, as in libtorch: they can be used between an if and its else without
// braces.
#define AT_ASSERT(...)                  \
  do {                                  \
    TORCH_INTERNAL_ASSERT(__VA_ARGS__); \
  } while (false)
#define AT_ASSERTM(condition, ...) AT_ASSERT(condition, __VA_ARGS__)
#define TORCH_RETHROW(error, ...)              \
  do {                                         \
    error.add_context(::c10::str(__VA_ARGS__)); \
    throw;                                     \
  } while (false)
#define AT_INDEX_ERROR(...) ::rlt::raise<::c10::IndexError>(std::string(::c10::str(__VA_ARGS__)))

namespace rlt {
RLT_NAMESPACE_BEGIN
inline void warn_of_notes() {
  std::vector<std::string> notes;
  while (const char* note = rlt_last_error_note(static_cast<int64_t>(notes.size()))) notes.emplace_back(note);
  for (std::string& note : notes) {
    c10::warn(c10::Warning(std::move(note), {"backward", __FILE__, static_cast<uint32_t>(__LINE__)}));
  }
}
RLT_NAMESPACE_END
}  // namespace rlt

#define RLT_SOURCE_LOCATION (::c10::SourceLocation{__func__, __FILE__, static_cast<uint32_t>(__LINE__)})
// Warnings include their semicolon, as in libtorch.
#define TORCH_WARN(...) ::c10::warn(::c10::Warning(::c10::str(__VA_ARGS__), RLT_SOURCE_LOCATION));
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN(__VA_ARGS__)
#define TORCH_WARN_ONCE(...)                                         \
  {                                                                  \
    static bool rlt_warned = false;                                  \
    if (!rlt_warned || ::c10::WarningUtils::get_warnAlways()) {      \
      rlt_warned = true;                                             \
      TORCH_WARN(__VA_ARGS__)                                        \
    }                                                                \
  }
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
