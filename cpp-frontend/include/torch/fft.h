// torch::fft: discrete Fourier transforms. Each is an operator fft_NAME.
#pragma once

#include <ATen/ATen.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace fft {

// Along one dimension: of `n` elements, or as many as the input has.
#define RLT_FFT_LINE(name)                                                                                      \
  inline Tensor name(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,             \
                     std::optional<std::string_view> norm = std::nullopt) {                                     \
    return at::fft_##name(self, n, dim, norm);                                                                  \
  }
RLT_FFT_LINE(fft)
RLT_FFT_LINE(ifft)
RLT_FFT_LINE(rfft)
RLT_FFT_LINE(irfft)
RLT_FFT_LINE(hfft)
RLT_FFT_LINE(ihfft)
#undef RLT_FFT_LINE

// Along two dimensions, the last ones by default.
#define RLT_FFT_PLANE(name)                                                                                     \
  inline Tensor name(const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1},      \
                     std::optional<std::string_view> norm = std::nullopt) {                                     \
    return at::fft_##name(self, s, dim, norm);                                                                  \
  }
RLT_FFT_PLANE(fft2)
RLT_FFT_PLANE(ifft2)
RLT_FFT_PLANE(rfft2)
RLT_FFT_PLANE(irfft2)
RLT_FFT_PLANE(hfft2)
RLT_FFT_PLANE(ihfft2)
// As in libtorch, two dimensions by default.
RLT_FFT_PLANE(hfftn)
RLT_FFT_PLANE(ihfftn)
#undef RLT_FFT_PLANE

// Along several dimensions, all of them by default.
#define RLT_FFT_VOLUME(name)                                                                                    \
  inline Tensor name(const Tensor& self, OptionalIntArrayRef s = std::nullopt,                                  \
                     OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt) { \
    return at::fft_##name(self, s, dim, norm);                                                                  \
  }
RLT_FFT_VOLUME(fftn)
RLT_FFT_VOLUME(ifftn)
RLT_FFT_VOLUME(rfftn)
RLT_FFT_VOLUME(irfftn)
#undef RLT_FFT_VOLUME

inline Tensor fftfreq(int64_t n, double d, const TensorOptions& options = {}) { return at::fft_fftfreq(n, d, options); }
inline Tensor fftfreq(int64_t n, const TensorOptions& options = {}) { return at::fft_fftfreq(n, 1.0, options); }
inline Tensor rfftfreq(int64_t n, double d, const TensorOptions& options = {}) { return at::fft_rfftfreq(n, d, options); }
inline Tensor rfftfreq(int64_t n, const TensorOptions& options = {}) { return at::fft_rfftfreq(n, 1.0, options); }
inline Tensor fftshift(const Tensor& x, OptionalIntArrayRef dim = std::nullopt) { return at::fft_fftshift(x, dim); }
inline Tensor ifftshift(const Tensor& x, OptionalIntArrayRef dim = std::nullopt) { return at::fft_ifftshift(x, dim); }

}  // namespace fft
RLT_NAMESPACE_END
}  // namespace torch
