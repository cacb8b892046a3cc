// Fourier transforms of lines: powers of two, primes, and products of small primes; planes; and a spectrogram.
#include "harness.h"

namespace compare {
namespace {

void of_length(int64_t n, const std::string& size) {
  auto named = [&](const std::string& name) {
    return Case{"fft", name, size, 16 * static_cast<double>(n), 5 * static_cast<double>(n) * std::log2(static_cast<double>(n))};
  };
  Lazy single([=] { return torch::randn({n}, torch::kComplexFloat); });
  Lazy wide([=] { return torch::randn({n}, torch::kComplexDouble); });
  Lazy real([=] { return torch::randn({n}); });
  Lazy half([=] { return torch::randn({n / 2 + 1}, torch::kComplexFloat); });

  measure(named("fft c64"), UNARY(fft_fft(x)), single);
  measure(named("ifft c64"), UNARY(fft_ifft(x)), single);
  measure(named("fft c128"), UNARY(fft_fft(x)), wide);
  measure(named("rfft f32"), UNARY(fft_rfft(x)), real);
  measure(named("irfft c64"), UNARY(fft_irfft(x, n)), half);
}

}  // namespace

void transforms() {
  const int64_t longest = settings().brief ? 10 : 20;
  for (int64_t exponent = 4; exponent <= longest; ++exponent) of_length(int64_t{1} << exponent, "2^" + std::to_string(exponent));
  for (int64_t prime : {17, 127, 1009, 10007, 100003, 1000003}) {
    if (!settings().brief || prime < 2000) of_length(prime, std::to_string(prime));
  }
  for (int64_t smooth : {60, 1000, 44100}) {
    if (!settings().brief || smooth < 2000) of_length(smooth, std::to_string(smooth));
  }
  Lazy rows([] { return torch::randn({256, 1024}, torch::kComplexFloat); });
  Lazy plane([] { return torch::randn({512, 512}); });
  Lazy signal([] { return torch::randn({16000}); });
  measure(Case{"fft", "fft dim 1", "256x1024"}, UNARY(fft_fft(x)), rows);
  measure(Case{"fft", "fft dim 0", "256x1024"}, UNARY(fft_fft(x, 256, 0)), rows);
  measure(Case{"fft", "rfft2", "512x512"}, UNARY(fft_rfft2(x)), plane);
  measure(Case{"fft", "stft", "16000"},
          UNARY(stft(x, 400, 160, 400, torch::hann_window(400), true, "reflect", false, true, true)), signal);
}

}  // namespace compare
