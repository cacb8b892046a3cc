// Cancellation of the calls of a thread, which libtorch does not have.
#pragma once

#include <c10/util/Exception.h>
#include <rushlight/cancel.h>

#include <chrono>
#include <utility>

namespace torch {
RLT_NAMESPACE_BEGIN

// Cancels the calls of those threads that have entered it with a CancelScope. Copies are the same token.
class CancelToken {
 public:
  CancelToken() { rlt::check(rlt_cancel_token_new(&handle_)); }
  CancelToken(const CancelToken& other) { rlt::check(rlt_cancel_token_retain(other.handle_, &handle_)); }
  CancelToken(CancelToken&& other) noexcept : handle_(rlt::exchange_value(other.handle_, nullptr)) {}
  CancelToken& operator=(CancelToken other) noexcept {
    rlt::swap_values(handle_, other.handle_);
    return *this;
  }
  ~CancelToken() { rlt_cancel_token_free(handle_); }

  // For good. Any thread may call it.
  void cancel() const { rlt::check(rlt_cancel_token_cancel(handle_)); }
  // Cancels the token when this much time has passed from now.
  void set_timeout(std::chrono::nanoseconds timeout) const {
    rlt::check(rlt_cancel_token_set_timeout(handle_, timeout.count() < 0 ? 0 : timeout.count()));
  }
  // Removes the deadline.
  void clear_timeout() const { rlt::check(rlt_cancel_token_set_timeout(handle_, -1)); }
  // Whether the token is cancelled or its deadline has passed.
  bool is_cancelled() const {
    int32_t cancelled = 0;
    rlt::check(rlt_cancel_token_is_cancelled(handle_, &cancelled));
    return cancelled != 0;
  }
  const rlt_cancel_token* handle() const noexcept { return handle_; }

 private:
  rlt_cancel_token* handle_ = nullptr;
};

// While it lives, calls of this thread throw c10::Error once the token is cancelled or its deadline has passed. Scopes nest.
class CancelScope {
 public:
  explicit CancelScope(CancelToken token) : token_(std::move(token)) { rlt::check(rlt_cancel_token_enter(token_.handle())); }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
  ~CancelScope() { rlt_cancel_token_leave(token_.handle()); }

 private:
  CancelToken token_;
};

RLT_NAMESPACE_END
}  // namespace torch
