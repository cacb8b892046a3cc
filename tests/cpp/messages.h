// What tests of errors share.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <string>

/// The message of the error that `body` throws, without the backtrace.
template <class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}
