// Common parts of the oracle programs: a heading per check, and the error that a statement raises.
#pragma once

#include <torch/torch.h>

#include <cstdio>
#include <iostream>
#include <string>

// Prints `== name: source text`, then the value.
#define SHOW(name, ...)                                       \
  do {                                                        \
    std::cout << "== " << name << ": " << #__VA_ARGS__ << "\n"; \
    std::cout << (__VA_ARGS__) << "\n";                       \
  } while (0)

// Prints `== name: source text`, then the exception's class and the first line of its message.
#define ERROR_OF(name, ...)                                   \
  do {                                                        \
    std::cout << "== " << name << ": " << #__VA_ARGS__ << "\n"; \
    oracle::print_error([&] { __VA_ARGS__; });                \
  } while (0)

// The same without the class: in a few places libtorch throws a bare std::runtime_error.
#define MESSAGE_OF(name, ...)                                 \
  do {                                                        \
    std::cout << "== " << name << ": " << #__VA_ARGS__ << "\n"; \
    oracle::print_message([&] { __VA_ARGS__; });              \
  } while (0)

namespace oracle {

inline void print_first_line(const char* type, const c10::Error& error) {
  std::string text = error.what_without_backtrace();
  std::cout << type << ": " << text.substr(0, text.find('\n')) << "\n";
}

template <class Body>
void print_error(Body body) {
  try {
    body();
    std::cout << "no error\n";
  } catch (const c10::IndexError& error) {
    print_first_line("IndexError", error);
  } catch (const c10::ValueError& error) {
    print_first_line("ValueError", error);
  } catch (const c10::TypeError& error) {
    print_first_line("TypeError", error);
  } catch (const c10::NotImplementedError& error) {
    print_first_line("NotImplementedError", error);
  } catch (const c10::Error& error) {
    print_first_line("Error", error);
  } catch (const std::exception& error) {
    std::string text = error.what();
    std::cout << "std::exception: " << text.substr(0, text.find('\n')) << "\n";
  }
}

template <class Body>
void print_message(Body body) {
  try {
    body();
    std::cout << "no error\n";
  } catch (const c10::Error& error) {
    print_first_line("message", error);
  } catch (const std::exception& error) {
    std::string text = error.what();
    std::cout << "message: " << text.substr(0, text.find('\n')) << "\n";
  }
}

// For results of longer computations: four decimals, so that the last bits do not matter.
inline std::string rounded(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

}  // namespace oracle
