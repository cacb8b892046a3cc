// WorkerException: an exception of a worker, for the thread that waits for its batch.
#pragma once

#include <c10/macros/Macros.h>

#include <exception>
#include <string>
#include <utility>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {

struct WorkerException : public std::exception {
  explicit WorkerException(std::exception_ptr original)
      : original_exception(std::move(original)), message("Caught exception in DataLoader worker thread.") {
#if RLT_EXCEPTIONS
    try {
      std::rethrow_exception(original_exception);
    } catch (const std::exception& error) {
      message += std::string(" Original message: ") + error.what();
    } catch (...) {
    }
#endif
  }
  const char* what() const noexcept override { return message.c_str(); }

  std::exception_ptr original_exception;
  std::string message;
};

namespace detail {
/// Rethrows the exception of a worker.
[[noreturn]] RLT_COLD inline void throw_worker_exception(std::exception_ptr original) {
#if RLT_EXCEPTIONS
  throw WorkerException(std::move(original));
#else
  (void)original;
  std::terminate();
#endif
}
}  // namespace detail

}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
