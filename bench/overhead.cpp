// Measures the cost of a call through C++: add on 4 floats, without and with recording a gradient. Prints two numbers,
// ns per call.
#include <torch/torch.h>

#include <cstdio>
#include <ctime>

namespace {

constexpr int kCalls = 200000;

// CPU time, not wall time: other programs on the machine do not count.
double seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Call>
double nanoseconds(Call call) {
  for (int i = 0; i < kCalls / 10; ++i) call();
  double start = seconds();
  for (int i = 0; i < kCalls; ++i) call();
  return (seconds() - start) * 1e9 / kCalls;
}

}  // namespace

int main() {
  auto a = torch::ones({4}), b = torch::ones({4});
  auto recorded = torch::ones({4}).set_requires_grad(true);
  double plain = nanoseconds([&] { auto c = torch::add(a, b); });
  double gradient = nanoseconds([&] { auto c = torch::add(recorded, b); });
  std::printf("%.1f %.1f\n", plain, gradient);
}
