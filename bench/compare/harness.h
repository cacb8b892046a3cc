// Times calls and prints one line of JSON per case; the groups of cases are the other files of this folder.
//
// A case calls its function by its plain name on arguments whose type is a template parameter. A library without the
// function therefore still compiles, and the case is reported as missing.
#pragma once

#include <torch/torch.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace compare {

/// The measured code. The driver evaluates cases by `group`, `name` and `size`; `work` distinguishes rates from times.
struct Case {
  std::string group, name, size;
  /// Minimum number of bytes read and written, and of floating-point (or integer) operations; 0 if not meaningful.
  double bytes = 0, operations = 0;

  std::string id() const { return group + '/' + name + '/' + size; }
};

/// Nanoseconds per call.
struct Times {
  double median = 0, least = 0;
};

/// The command-line options.
struct Settings {
  /// Small cases only, each a few times: a check that everything runs, not a measurement.
  bool brief = false;
  /// Prints the names of the cases without running them.
  bool list = false;
  /// Adds a number computed from the result, which the driver compares among the libraries.
  bool check = false;
};

const Settings& settings();

/// Whether this case was requested.
bool wanted(const Case& c);

void report(const Case& c, Times times, const double* checksum);
void report_missing(const Case& c, const std::string& reason);
void report_failure(const Case& c, const std::string& reason);

/// An argument that is created when the first case requests it, with separate random numbers: its values are the same
/// with both libraries, whichever cases run.
class Lazy {
 public:
  template <class Make>
  explicit Lazy(Make make) : make_(std::move(make)), seed_(made_++) {}
  torch::Tensor& get() {
    if (!tensor_.defined()) {
      torch::manual_seed(seed_);
      tensor_ = make_();
    }
    return tensor_;
  }

 private:
  static inline uint64_t made_ = 0;
  std::function<torch::Tensor()> make_;
  uint64_t seed_;
  torch::Tensor tensor_;
};

/// Blocks of calls, each block at least 2 ms long; the first blocks only warm up.
Times time_calls(const std::function<void(int64_t)>& calls);

// A number that depends on the whole result.
inline bool checksum(const torch::Tensor& result, double* sum) {
  torch::Tensor wide = result.detach().to(torch::kDouble);
  *sum = (wide * wide).sum().item<double>();
  return true;
}
template <class... Tensors>
bool checksum(const std::tuple<Tensors...>& results, double* sum) {
  return checksum(std::get<0>(results), sum);
}

/// Times `call(arguments...)`. `call` is a lambda made by one of the macros below.
template <class Call, class... Arguments>
void measure(const Case& c, Call call, Arguments&... arguments) {
  if (!wanted(c)) return;
  if constexpr (!std::is_invocable_v<Call&, decltype((arguments.get()))...>) {
    report_missing(c, "no such function");
  } else {
    try {
      const double* sum = nullptr;
      double value = 0;
      auto run = [&](auto&... operands) {
        using Result = decltype(call(operands...));
        if constexpr (std::is_void_v<Result>) {
          call(operands...);
        } else {
          auto&& result = call(operands...);
          if (settings().check && checksum(result, &value)) sum = &value;
        }
        return time_calls([&](int64_t count) {
          for (int64_t i = 0; i < count; ++i) call(operands...);
        });
      };
      Times times = run(arguments.get()...);
      report(c, times, sum);
    } catch (const c10::NotImplementedError& error) {
      report_missing(c, error.what());
    } catch (const std::exception& error) {
      report_failure(c, error.what());
    }
  }
}

// The expression over tensors x, y, z; it need not compile.
#define UNARY(expression) [=](auto& x) -> decltype(expression) { return expression; }
#define BINARY(expression) [=](auto& x, auto& y) -> decltype(expression) { return expression; }
#define TERNARY(expression) [=](auto& x, auto& y, auto& z) -> decltype(expression) { return expression; }

/// "10^3" for 1000.
std::string power_of_ten(int64_t exponent);
int64_t ten_to(int64_t exponent);

/// The sweep of elementwise operators and reductions: 10^2 to 10^7 elements.
constexpr int64_t kFirstExponent = 2, kLastExponent = 7;

// The groups.
void calls();
void elementwise();
void reductions();
void transforms();
void decompositions();
void selection();
void products();
void rows();
void optimizers();
void convolution();
void pooling();
void sweep();
void models();
void networks();
void saved();

}  // namespace compare
