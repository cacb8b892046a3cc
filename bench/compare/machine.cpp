// What the machine can do, measured: multiply-adds of floats in registers, and copies of several sizes. No library is involved.
// `machine THREADS` prints a line of JSON. Compiled for the machine it runs on.
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
constexpr int kVector = 64, kSums = 16;
#elif defined(__AVX__)
constexpr int kVector = 32, kSums = 12;
#else
constexpr int kVector = 16, kSums = 16;
#endif

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Runs `work(thread)` on each thread at once; `work` returns its own rate. The sum of the rates.
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

/// Sums in registers, as many as hide the latency: 2 operations per element.
template <class Element>
double multiply_adds() {
  typedef Element Vector __attribute__((vector_size(kVector)));
  constexpr int kRounds = 1 << 14;
  Vector factor{}, term{}, sums[kSums];
  for (int lane = 0; lane < static_cast<int>(kVector / sizeof(Element)); ++lane) {
    factor[lane] = static_cast<Element>(0.999);
    term[lane] = static_cast<Element>(0.001);
  }
  for (Vector& sum : sums) sum = term;
  double best = 0;
  auto start = Clock::now();
  while (seconds_since(start) < 0.06) {
    auto begin = Clock::now();
    for (int round = 0; round < kRounds; ++round) {
      asm volatile("" : "+" VECTOR_REGISTER (factor), "+" VECTOR_REGISTER (term));  // the same numbers, but the compiler cannot know
#pragma GCC unroll 16
      for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * factor + term;
    }
    double time = seconds_since(begin);
    best = std::max(best, 2.0 * kRounds * kSums * (kVector / sizeof(Element)) / time);
  }
  for (Vector& sum : sums) asm volatile("" : : VECTOR_REGISTER (sum));
  return best;
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
    double best = 0;
    auto start = Clock::now();
    while (seconds_since(start) < 0.06) {
      int count = static_cast<int>(std::max<size_t>(1, 400000 / share));
      auto begin = Clock::now();
      for (int i = 0; i < count; ++i) {
        std::memcpy(target, source, share);
        asm volatile("" : : "r"(target) : "memory");
      }
      best = std::max(best, 2.0 * static_cast<double>(share) * count / seconds_since(begin));
    }
    return best;
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
