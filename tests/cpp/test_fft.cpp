// torch::fft, stft and istft: against the defining sums, and inverses and gradients against one another.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>
#include <vector>

#include "messages.h"

namespace {

namespace fft = torch::fft;
constexpr double kTau = 6.283185307179586;

/// The matrix exp(sign 2 pi i j k / n), whose product with a vector is a transform.
torch::Tensor matrix(int64_t n, double sign) {
  auto index = torch::arange(n, torch::kDouble);
  auto turn = torch::outer(index, index).remainder(n) * (sign * kTau / static_cast<double>(n));
  return torch::complex(turn.cos(), turn.sin());
}

torch::Tensor complex_numbers(torch::IntArrayRef sizes) {
  torch::manual_seed(1);
  return torch::randn(sizes, torch::kComplexDouble);
}

torch::Tensor real_numbers(torch::IntArrayRef sizes) {
  torch::manual_seed(2);
  return torch::randn(sizes, torch::kDouble);
}

const std::vector<int64_t> kLengths = {1, 2, 3, 8, 15, 31, 97, 128, 1000};

TEST(Fft, TransformsHaveTheDefiningSum) {
  for (int64_t n : kLengths) {
    auto signal = complex_numbers({n});
    EXPECT_TRUE(torch::allclose(fft::fft(signal), matrix(n, -1).mv(signal))) << n;
    EXPECT_TRUE(torch::allclose(fft::ifft(signal), matrix(n, 1).mv(signal) / n)) << n;
  }
}

TEST(Fft, RealSignalsHaveHalfSpectra) {
  for (int64_t n : kLengths) {
    auto signal = real_numbers({n});
    auto spectrum = fft::fft(signal.to(torch::kComplexDouble));
    EXPECT_TRUE(torch::allclose(fft::fft(signal), spectrum)) << n;
    EXPECT_TRUE(torch::allclose(fft::rfft(signal), spectrum.slice(0, 0, n / 2 + 1))) << n;
    EXPECT_TRUE(torch::allclose(fft::irfft(fft::rfft(signal), n), signal)) << n;
    EXPECT_TRUE(torch::allclose(fft::hfft(fft::ihfft(signal), n), signal)) << n;
    EXPECT_TRUE(torch::allclose(fft::ihfft(signal), spectrum.slice(0, 0, n / 2 + 1).conj() / n)) << n;
  }
}

TEST(Fft, TheLengthCutsOrPads) {
  auto signal = complex_numbers({3, 10});
  EXPECT_TRUE(torch::allclose(fft::fft(signal, 16), fft::fft(torch::constant_pad_nd(signal, {0, 6}))));
  EXPECT_TRUE(torch::allclose(fft::fft(signal, 4), fft::fft(signal.slice(1, 0, 4))));
  EXPECT_TRUE(torch::allclose(fft::fft(signal, 7, 0), fft::fft(signal.t(), 7).t()));
}

TEST(Fft, NormalizationHasThreeNames) {
  auto signal = complex_numbers({12});
  auto plain = fft::fft(signal);
  EXPECT_TRUE(torch::allclose(fft::fft(signal, {}, -1, "backward"), plain));
  EXPECT_TRUE(torch::allclose(fft::fft(signal, {}, -1, "forward") * 12, plain));
  EXPECT_TRUE(torch::allclose(fft::fft(signal, {}, -1, "ortho") * std::sqrt(12.0), plain));
  EXPECT_TRUE(torch::allclose(fft::ifft(plain, {}, -1, "forward") / 12, signal));
}

TEST(Fft, SeveralDimensionsAreOneAfterAnother) {
  auto block = complex_numbers({4, 6, 5});
  auto strided = block.permute({2, 0, 1});
  EXPECT_TRUE(torch::allclose(fft::fftn(strided), fft::fft(fft::fft(fft::fft(strided, {}, 0), {}, 1), {}, 2)));
  EXPECT_TRUE(torch::allclose(fft::fft2(block), fft::fft(fft::fft(block, {}, 1), {}, 2)));
  EXPECT_TRUE(torch::allclose(fft::ifftn(fft::fftn(block)), block));
  auto real = real_numbers({4, 6, 5});
  EXPECT_TRUE(torch::allclose(fft::rfftn(real), fft::fftn(real).slice(2, 0, 3)));
  EXPECT_TRUE(torch::allclose(fft::irfftn(fft::rfftn(real), torch::IntArrayRef{4, 6, 5}), real));
  EXPECT_TRUE(torch::allclose(fft::hfftn(fft::ihfftn(real, {}, {0, 1, 2}), torch::IntArrayRef{4, 6, 5}, {0, 1, 2}), real));
  EXPECT_TRUE(torch::equal(fft::ihfftn(real), fft::ihfft2(real)));
  EXPECT_TRUE(torch::allclose(fft::irfft2(fft::rfft2(real), torch::IntArrayRef{6, 5}), real));
  EXPECT_TRUE(torch::allclose(fft::hfft2(fft::ihfft2(real), torch::IntArrayRef{6, 5}), real));
}

TEST(Fft, OutReceivesTheResult) {
  auto signal = real_numbers({3, 8});
  auto out = torch::empty({0}, torch::kComplexDouble);
  torch::fft_rfft_out(out, signal);
  EXPECT_TRUE(torch::equal(out, fft::rfft(signal)));
  auto columns = torch::empty({8, 3}, torch::kComplexDouble).t();
  torch::fft_fft_out(columns, signal);
  EXPECT_TRUE(torch::equal(columns, fft::fft(signal)));
  // The input is also the output.
  auto both = complex_numbers({6, 6});
  auto expected = fft::fft2(both);
  torch::fft_fft2_out(both, both);
  EXPECT_TRUE(torch::allclose(both, expected));
  auto real = torch::empty({0});
  EXPECT_EQ(message_of([&] { torch::fft_fft_out(real, signal); }), "fft expects a complex output tensor, but got Float");
}

TEST(Fft, DtypesArePromoted) {
  EXPECT_EQ(fft::fft(torch::ones({4}, torch::kInt)).scalar_type(), torch::kComplexFloat);
  EXPECT_EQ(fft::irfft(torch::ones({4}, torch::kBool)).scalar_type(), torch::kFloat);
  EXPECT_EQ(message_of([] { fft::fft(torch::ones({4}, torch::kHalf)); }), "Unsupported dtype Half");
  EXPECT_EQ(fft::fft(torch::ones({4}, torch::TensorOptions(torch::kHalf).device(torch::kMeta))).scalar_type(), torch::kComplexHalf);
}

TEST(Fft, BadArgumentsAreErrors) {
  auto signal = real_numbers({2, 8});
  EXPECT_EQ(message_of([&] { fft::fft(signal, 0); }), "Invalid number of data points (0) specified");
  EXPECT_EQ(message_of([&] { fft::rfft(complex_numbers({4})); }), "rfft expects a real input tensor, but got ComplexDouble");
  EXPECT_EQ(message_of([&] { fft::fft(signal, {}, -1, "orto"); }), "Invalid normalization mode: \"orto\"");
  EXPECT_EQ(message_of([&] { fft::fftn(signal, {}, torch::IntArrayRef{0, -2}); }), "FFT dims must be unique");
  EXPECT_EQ(message_of([&] { fft::fft2(signal, torch::IntArrayRef{3}); }), "When given, dim and shape arguments must have the same length");
  EXPECT_EQ(message_of([&] { fft::rfftn(signal, {}, torch::IntArrayRef{}); }), "rfftn must transform at least one axis");
  EXPECT_EQ(message_of([] { fft::fft(torch::tensor(1.0)); }), "Dimension specified as -1 but tensor has no dimensions");
}

TEST(Fft, NoLinesHaveNoSpectra) {
  EXPECT_EQ(fft::fft(torch::ones({0, 5})).sizes(), torch::IntArrayRef({0, 5}));
  EXPECT_EQ(fft::irfft2(torch::ones({0, 4, 3})).sizes(), torch::IntArrayRef({0, 4, 4}));
}

TEST(Fft, FrequenciesAndShifts) {
  auto frequencies = fft::fftfreq(5, 0.5);
  EXPECT_TRUE(torch::allclose(frequencies, torch::tensor({0.0f, 0.4f, 0.8f, -0.8f, -0.4f})));
  EXPECT_TRUE(torch::allclose(fft::rfftfreq(6), torch::arange(4) / 6.0));
  EXPECT_TRUE(torch::equal(fft::fftshift(frequencies), std::get<0>(frequencies.sort())));
  EXPECT_TRUE(torch::equal(fft::ifftshift(fft::fftshift(frequencies)), frequencies));
}

TEST(Fft, GradientsAreTransforms) {
  auto signal = real_numbers({2, 9}).requires_grad_();
  auto weight = complex_numbers({2, 5});
  torch::real(fft::rfft(signal) * weight).sum().backward();
  auto expected = torch::real(fft::fft(torch::constant_pad_nd(weight, {0, 4})));
  EXPECT_TRUE(torch::allclose(signal.grad(), expected));

  // Twice the energy of a real signal is the energy of its spectrum: each element's second derivative is 2 n.
  auto line = real_numbers({6}).requires_grad_();
  auto first = torch::autograd::grad({fft::fft(line).abs().square().sum()}, {line}, {}, true, true)[0];
  EXPECT_TRUE(torch::allclose(first, 12 * line));
  EXPECT_TRUE(torch::allclose(torch::autograd::grad({first.sum()}, {line})[0], torch::full({6}, 12.0, torch::kDouble)));
}

TEST(Spectrogram, FramesAreWindowedTransforms) {
  auto signal = real_numbers({2, 40});
  auto window = torch::hann_window(16, torch::kDouble);
  auto spectra = torch::stft(signal, 16, 6, 16, window, /*center=*/false, "reflect", false, true, true);
  ASSERT_EQ(spectra.sizes(), torch::IntArrayRef({2, 9, 5}));
  for (int64_t frame = 0; frame < 5; ++frame) {
    auto expected = fft::rfft(signal.slice(1, 6 * frame, 6 * frame + 16) * window);
    EXPECT_TRUE(torch::allclose(spectra.select(2, frame), expected)) << frame;
  }
}

TEST(Spectrogram, TheInverseRestoresTheSignal) {
  auto signal = real_numbers({2, 100});
  auto window = torch::hamming_window(12, torch::kDouble);
  for (bool normalized : {false, true}) {
    auto spectra = torch::stft(signal, 16, 4, 12, window, true, "reflect", normalized, std::nullopt, true);
    auto restored = torch::istft(spectra, 16, 4, 12, window, true, normalized, std::nullopt, 100);
    EXPECT_TRUE(torch::allclose(restored, signal)) << normalized;
  }
}

TEST(Spectrogram, BadArgumentsAreErrors) {
  auto signal = torch::ones({40});
  EXPECT_EQ(message_of([&] { torch::stft(signal, 16); }),
            "stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a "
            "future PyTorch release.");
  EXPECT_EQ(message_of([&] { torch::stft(signal, 16, 0, 16, {}, false, "reflect", false, true, true); }),
            "stft(CPUFloatType[40], n_fft=16, hop_length=0, win_length=16, window=None, normalized=0, onesided=1, return_complex=1, "
            "align_to_window=None) : expected hop_length > 0, but got hop_length=0");
  auto spectra = torch::stft(signal, 16, 4, 16, {}, true, "reflect", false, true, true);
  auto message = message_of([&] { torch::istft(spectra, 16, 4, 16, torch::zeros({16})); });
  EXPECT_NE(message.find("window overlap add min"), std::string::npos) << message;
  EXPECT_EQ(message_of([&] { torch::istft(torch::view_as_real(spectra), 16); }),
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True.");
}

}  // namespace
