// Measures the machine's limits: multiply-adds of floats in registers, and copies of several sizes. No library is
// involved. `machine THREADS` prints a line of JSON. Compiled for the machine it runs on.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

#if defined(__aarch64__)
#define VECTOR_REGISTER "w"
#else
#define VECTOR_REGISTER "x"
#endif

#if defined(__AVX512F__)
constexpr int kVector = 64;
#elif defined(__AVX__)
constexpr int kVector = 32;
#else
constexpr int kVector = 16;
#endif
/// Sums, as many as hide the latency of two multiply-adds at a time and stay in registers; each is a variable, since compilers keep
/// an array of them in memory.
constexpr int kSums = 12;
#define EACH_SUM(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The median: clock rates vary, and the times that are compared with these rates are also medians.
double median(std::vector<double>& rates) {
  auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

/// Runs `work(thread)` on each thread at once; `work` returns its own rate. Returns the sum of the rates.
template <class Work>
double together(int threads, Work work) {
  std::atomic<int> ready{0};
  std::vector<double> rates(static_cast<size_t>(threads));
  auto body = [&](int thread) {
    ready.fetch_add(1);
    while (ready.load() < threads) {
    }
    rates[static_cast<size_t>(thread)] = work(thread);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(body, thread);
  body(0);
  for (std::thread& other : others) other.join();
  double sum = 0;
  for (double rate : rates) sum += rate;
  return sum;
}

constexpr int kRounds = 1 << 14;

/// Rounds of multiply-adds in registers. A separate function: calls in between would spill the sums to memory.
template <class Vector>
__attribute__((noinline)) void multiply_and_add(Vector factor, Vector term) {
#define DECLARE(n) Vector sum##n = term;
  EACH_SUM(DECLARE)
  for (int round = 0; round < kRounds; ++round) {
#define ADD(n)                     \
  sum##n = sum##n * factor + term; \
  asm volatile("" : "+" VECTOR_REGISTER (sum##n));  // is needed, as it is
    EACH_SUM(ADD)
  }
}

/// Multiply-adds per second, 2 operations per element.
template <class Element>
double multiply_adds() {
  typedef Element Vector __attribute__((vector_size(kVector)));
  Vector factor{}, term{};
  for (int lane = 0; lane < static_cast<int>(kVector / sizeof(Element)); ++lane) {
    factor[lane] = static_cast<Element>(0.999);
    term[lane] = static_cast<Element>(0.001);
  }
  std::vector<double> rates;
  auto start = Clock::now();
  while (seconds_since(start) < 0.06) {
    auto begin = Clock::now();
    multiply_and_add(factor, term);
    rates.push_back(2.0 * kRounds * kSums * (kVector / sizeof(Element)) / seconds_since(begin));
  }
  return median(rates);
}

/// Bytes read and written per second by copying arrays of `bytes` bytes; each thread copies its share.
double copies(int threads, size_t bytes) {
  size_t share = bytes / static_cast<size_t>(threads);
  std::vector<std::unique_ptr<char[]>> from, to;
  for (int thread = 0; thread < threads; ++thread) {
    from.emplace_back(new char[share]);
    to.emplace_back(new char[share]);
    std::memset(from.back().get(), thread + 1, share);
    std::memset(to.back().get(), 0, share);
  }
  return together(threads, [&](int thread) {
    char* source = from[static_cast<size_t>(thread)].get();
    char* target = to[static_cast<size_t>(thread)].get();
    std::vector<double> rates;
    auto start = Clock::now();
    while (seconds_since(start) < 0.06) {
      int count = static_cast<int>(std::max<size_t>(1, 400000 / share));
      auto begin = Clock::now();
      for (int i = 0; i < count; ++i) {
        std::memcpy(target, source, share);
        asm volatile("" : : "r"(target) : "memory");
      }
      rates.push_back(2.0 * static_cast<double>(share) * count / seconds_since(begin));
    }
    return median(rates);
  });
}

}  // namespace

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  std::printf("{\"threads\":%d,\"compiler\":\"%s\"", threads, __VERSION__);
  std::printf(",\"fma_f32\":%.4g", together(threads, [](int) { return multiply_adds<float>(); }));
  std::printf(",\"fma_f64\":%.4g,\"copies\":[", together(threads, [](int) { return multiply_adds<double>(); }));
  const size_t sizes[] = {4000, 40000, 400000, 4000000, 40000000};
  for (size_t i = 0; i < std::size(sizes); ++i) {
    // Read and written: an array of 4 MB is 8 MB of traffic.
    std::printf("%s{\"bytes\":%zu,\"rate\":%.4g}", i == 0 ? "" : ",", 2 * sizes[i], copies(threads, sizes[i]));
  }
  std::printf("]}\n");
}
