// CAFFE_ENFORCE and similar checks, and the streams of LOG.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/logging_is_not_google_glog.h>

#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

RLT_NAMESPACE_BEGIN
/// A failed CAFFE_ENFORCE ends the process instead of throwing.
inline bool FLAGS_caffe2_use_fatal_for_enforce = false;
/// The least severity that LOG prints.
inline int FLAGS_caffe2_log_level = 1;
RLT_NAMESPACE_END

namespace c10 {
RLT_NAMESPACE_BEGIN

enum LogSeverity : int { GLOG_INFO = 0, GLOG_WARNING = 1, GLOG_ERROR = 2, GLOG_FATAL = 3 };

/// One line of the log: it is printed to stderr at the end of the statement. GLOG_FATAL ends the process.
class MessageLogger {
 public:
  MessageLogger(const char* file, int line, int severity) : severity_(severity) {
    const char* slash = std::strrchr(file, '/');
    stream_ << '[' << (severity < 0 ? 'V' : "IWEF"[severity > 3 ? 3 : severity]) << ' ' << (slash ? slash + 1 : file) << ':' << line << "] ";
  }
  MessageLogger(const MessageLogger&) = delete;
  MessageLogger& operator=(const MessageLogger&) = delete;
  ~MessageLogger() {
    if (severity_ < FLAGS_caffe2_log_level && severity_ != GLOG_FATAL) return;
    std::string line = stream_.str() + "\n";
    std::fputs(line.c_str(), stderr);
    if (severity_ == GLOG_FATAL) std::abort();
  }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
  int severity_;
};

/// Makes the two branches of a conditional expression void. `&` has lower precedence than `<<`.
struct LoggerVoidify {
  void operator&(const std::ostream&) const {}
};

template <class T>
T& CheckNotNull(const char* file, int line, const char* names, T& pointer) {
  if (pointer == nullptr) MessageLogger(file, line, GLOG_FATAL).stream() << names;
  return pointer;
}

inline bool InitCaffeLogging(int*, char**) { return true; }
inline void UpdateLoggingLevelsFromFlags() {}
inline void ShowLogInfoToStderr() { FLAGS_caffe2_log_level = GLOG_INFO; }

/// The file's name without its folders.
inline std::string StripBasename(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

[[noreturn]] RLT_COLD inline void ThrowEnforceNotMet(const char* file, int line, const char* condition, const std::string& message,
                                                     const void* caller = nullptr) {
  std::string text = "[enforce fail at " + StripBasename(file) + ":" + std::to_string(line) + "] " + condition + ". " + message;
  if (FLAGS_caffe2_use_fatal_for_enforce) {
    MessageLogger(file, line, GLOG_FATAL).stream() << text;
  }
#if RLT_EXCEPTIONS
  throw Error(std::move(text), Error::Backtrace(), caller);
#else
  (void)caller;
  rlt::raise<Error>(std::move(text));
#endif
}

namespace enforce_detail {
template <class T, class = void>
struct is_printable : std::false_type {};
template <class T>
struct is_printable<T, std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>> : std::true_type {};

/// A container is printed like an ArrayRef: `[1, 2]`.
template <class T>
void print(std::ostream& out, const T& value) {
  if constexpr (is_printable<T>::value) {
    out << value;
  } else {
    const char* separator = "[";
    for (const auto& item : value) {
      out << separator;
      print(out, item);
      separator = ", ";
    }
    out << (*separator == '[' ? "[]" : "]");
  }
}

/// The operands live as long as the call, so they are never copied.
template <class Predicate, class A, class B, class Message>
void enforce_that(const Predicate& predicate, const A& a, const B& b, const char* file, int line, const char* condition, const void* caller,
                  const Message& message) {
  if (C10_LIKELY(predicate(a, b))) return;
  std::ostringstream text;
  print(text, a);
  text << " vs ";
  print(text, b);
  text << ". " << message();
  ThrowEnforceNotMet(file, line, condition, text.str(), caller);
}
}  // namespace enforce_detail

using EnforceNotMet = Error;

/// Receives the names of the functions that a program uses, once each. Without a receiver they are dropped.
using APIUsageLogger = std::function<void(const std::string&)>;
namespace detail {
inline APIUsageLogger& api_usage_logger() {
  static APIUsageLogger logger;
  return logger;
}
inline bool log_usage(const std::string& name) {
  if (api_usage_logger()) api_usage_logger()(name);
  return true;
}
}  // namespace detail
inline void SetAPIUsageLogger(APIUsageLogger logger) { detail::api_usage_logger() = std::move(logger); }
inline void LogAPIUsage(const std::string& name) { detail::log_usage(name); }

RLT_NAMESPACE_END
}  // namespace c10

#define C10_LOG_API_USAGE_ONCE(name) [[maybe_unused]] static bool C10_ANONYMOUS_VARIABLE(logged_) = ::c10::detail::log_usage(name);

#define CAFFE_ENFORCE(condition, ...)                                                            \
  do {                                                                                           \
    if (C10_UNLIKELY(!(condition))) {                                                            \
      ::c10::ThrowEnforceNotMet(__FILE__, __LINE__, #condition, ::c10::str(__VA_ARGS__));        \
    }                                                                                            \
  } while (false)
#define CAFFE_ENFORCE_WITH_CALLER(condition, ...)                                                \
  do {                                                                                           \
    if (C10_UNLIKELY(!(condition))) {                                                            \
      ::c10::ThrowEnforceNotMet(__FILE__, __LINE__, #condition, ::c10::str(__VA_ARGS__), this);  \
    }                                                                                            \
  } while (false)
#define CAFFE_THROW(...) ::c10::ThrowEnforceNotMet(__FILE__, __LINE__, "", ::c10::str(__VA_ARGS__))

#define RLT_ENFORCE_THAT(predicate, op, a, b, condition, caller, ...) \
  ::c10::enforce_detail::enforce_that(predicate, a, b, __FILE__, __LINE__, condition, caller, [&] { return ::c10::str(__VA_ARGS__); })
#define CAFFE_ENFORCE_THAT(predicate, op, a, b, ...) RLT_ENFORCE_THAT(predicate, op, a, b, #a " " #op " " #b, nullptr, ##__VA_ARGS__)
#define RLT_ENFORCE_OP(predicate, op, a, b, ...) RLT_ENFORCE_THAT(std::predicate<void>(), op, a, b, #a " " #op " " #b, nullptr, ##__VA_ARGS__)
#define RLT_ENFORCE_OP_WITH_CALLER(predicate, op, a, b, ...) RLT_ENFORCE_THAT(std::predicate<void>(), op, a, b, #a " " #op " " #b, this, ##__VA_ARGS__)

#define CAFFE_ENFORCE_EQ(a, b, ...) RLT_ENFORCE_OP(equal_to, ==, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_NE(a, b, ...) RLT_ENFORCE_OP(not_equal_to, !=, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_LE(a, b, ...) RLT_ENFORCE_OP(less_equal, <=, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_LT(a, b, ...) RLT_ENFORCE_OP(less, <, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_GE(a, b, ...) RLT_ENFORCE_OP(greater_equal, >=, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_GT(a, b, ...) RLT_ENFORCE_OP(greater, >, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_EQ_WITH_CALLER(a, b, ...) RLT_ENFORCE_OP_WITH_CALLER(equal_to, ==, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_NE_WITH_CALLER(a, b, ...) RLT_ENFORCE_OP_WITH_CALLER(not_equal_to, !=, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_LE_WITH_CALLER(a, b, ...) RLT_ENFORCE_OP_WITH_CALLER(less_equal, <=, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_LT_WITH_CALLER(a, b, ...) RLT_ENFORCE_OP_WITH_CALLER(less, <, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_GE_WITH_CALLER(a, b, ...) RLT_ENFORCE_OP_WITH_CALLER(greater_equal, >=, a, b, ##__VA_ARGS__)
#define CAFFE_ENFORCE_GT_WITH_CALLER(a, b, ...) RLT_ENFORCE_OP_WITH_CALLER(greater, >, a, b, ##__VA_ARGS__)

// A program with its own logging macros keeps them.
#ifndef LOG
#define LOG(severity)                                            \
  ::c10::GLOG_##severity < ::FLAGS_caffe2_log_level              \
      ? (void)0                                                  \
      : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, ::c10::GLOG_##severity).stream()
#define LOG_IF(severity, condition) \
  !(condition) ? (void)0 : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, ::c10::GLOG_##severity).stream()
#define VLOG(level) \
  -(level) < ::FLAGS_caffe2_log_level ? (void)0 : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, -(level)).stream()
#endif
#ifndef LOG_AT_FILE_LINE
#define LOG_AT_FILE_LINE(severity, file, line) \
  ::c10::GLOG_##severity < ::FLAGS_caffe2_log_level ? (void)0 : ::c10::LoggerVoidify() & ::c10::MessageLogger(file, line, ::c10::GLOG_##severity).stream()
#endif
#ifndef VLOG_IS_ON
#define VLOG_IS_ON(level) (-(level) >= ::FLAGS_caffe2_log_level)
#endif
#ifndef VLOG_IF
#define VLOG_IF(level, condition) \
  !(condition) ? (void)0 : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, -(level)).stream()
#endif

// A condition that does not hold ends the process.
#ifndef FATAL_IF
#define FATAL_IF(condition) \
  condition ? (void)0 : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, ::c10::GLOG_FATAL).stream()
#endif
#ifndef CHECK
#define CHECK(condition) FATAL_IF((condition)) << "Check failed: " #condition " "
#endif
#ifdef NDEBUG
#ifndef DCHECK
#define DCHECK(condition) \
  while (false) FATAL_IF((condition)) << "Check failed: " #condition " "
#endif
#ifndef DLOG
#define DLOG(severity) true ? (void)0 : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, ::c10::GLOG_##severity).stream()
#endif
#else
#ifndef DCHECK
#define DCHECK(condition) FATAL_IF((condition)) << "Check failed: " #condition " "
#endif
#ifndef DLOG
#define DLOG(severity) LOG(severity)
#endif
#endif

/// The pointer, which must not be null.
#define TORCH_CHECK_NOTNULL(value) ::c10::CheckNotNull(__FILE__, __LINE__, "Check failed: '" #value "' Must be non NULL", (value))
#ifdef NDEBUG
#define TORCH_DCHECK_NOTNULL(value) \
  while (false) TORCH_CHECK_NOTNULL(value)
#else
#define TORCH_DCHECK_NOTNULL(value) TORCH_CHECK_NOTNULL(value)
#endif
