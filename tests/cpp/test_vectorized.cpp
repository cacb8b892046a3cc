// at::vec: vectors of elements and the operations on arrays of them.
#include <ATen/cpu/vec/functional.h>
#include <ATen/cpu/vec/vec.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <vector>

namespace {

using at::vec::Vectorized;
using at::vec::VectorizedN;
using at::vec::VecMask;

template <class T>
std::vector<T> elements(const Vectorized<T>& vector) {
  std::vector<T> result(static_cast<size_t>(vector.size()));
  vector.store(result.data());
  return result;
}
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Vectorized, HoldsAsManyElementsAs32Bytes) {
  EXPECT_EQ(Vectorized<double>::size(), 4);
  EXPECT_EQ(Vectorized<c10::Half>::size(), 16);
  EXPECT_EQ(Vectorized<c10::complex<double>>::size(), 2);
  EXPECT_EQ(Vectorized<c10::qint8>::size(), 32);
}

TEST(Vectorized, ReadsAndWritesAPart) {
  const float source[3] = {1, 2, 3};
  auto vector = Vectorized<float>::loadu(source, 3);
  EXPECT_EQ(elements(vector), (std::vector<float>{1, 2, 3, 0, 0, 0, 0, 0}));
  float target[3] = {7, 7, 7};
  vector.store(target, 2);
  EXPECT_EQ(target[1], 2);
  EXPECT_EQ(target[2], 7);
}

TEST(Vectorized, IntegersWrapAround) {
  Vectorized<int32_t> largest(std::numeric_limits<int32_t>::max()), smallest(std::numeric_limits<int32_t>::min());
  EXPECT_EQ((largest + Vectorized<int32_t>(1))[0], std::numeric_limits<int32_t>::min());
  EXPECT_EQ((smallest / Vectorized<int32_t>(-1))[3], std::numeric_limits<int32_t>::min());
  EXPECT_EQ(smallest.abs()[0], std::numeric_limits<int32_t>::min());
  EXPECT_EQ((Vectorized<int16_t>(-7) / Vectorized<int16_t>(2))[0], -3);
  EXPECT_EQ((Vectorized<int16_t>(-7) % Vectorized<int16_t>(2))[0], -1);
  EXPECT_EQ((Vectorized<uint8_t>(200) * Vectorized<uint8_t>(3))[0], 600 % 256);
}

TEST(Vectorized, ShiftsBeyondTheWidth) {
  EXPECT_EQ((Vectorized<int32_t>(-8) >> Vectorized<int32_t>(1))[0], -4);
  EXPECT_EQ((Vectorized<int32_t>(-8) >> Vectorized<int32_t>(32))[0], -1);
  EXPECT_EQ((Vectorized<int32_t>(8) >> Vectorized<int32_t>(40))[0], 0);
  EXPECT_EQ((Vectorized<int32_t>(1) << Vectorized<int32_t>(31))[0], std::numeric_limits<int32_t>::min());
  EXPECT_EQ((Vectorized<int32_t>(1) << Vectorized<int32_t>(-1))[0], 0);
}

TEST(Vectorized, NaNIsTheMinimumAndTheMaximum) {
  Vectorized<float> one(1), nan(kNaN);
  EXPECT_TRUE(std::isnan(at::vec::maximum(one, nan)[0]));
  EXPECT_TRUE(std::isnan(at::vec::minimum(nan, one)[0]));
  EXPECT_EQ(at::vec::maximum(one, Vectorized<float>(2))[0], 2);
  EXPECT_TRUE(std::isnan(at::vec::clamp(nan, one, Vectorized<float>(2))[0]));
  EXPECT_EQ(at::vec::clamp(Vectorized<float>(5), one, Vectorized<float>(2))[0], 2);
  EXPECT_TRUE(nan.has_inf_nan());
  EXPECT_TRUE(Vectorized<float>(kInfinity).has_inf_nan());
  EXPECT_FALSE(one.has_inf_nan());
}

TEST(Vectorized, RoundsTiesToTheEvenNumber) {
  EXPECT_EQ(Vectorized<double>(2.5).round()[0], 2);
  EXPECT_EQ(Vectorized<double>(3.5).round()[0], 4);
  EXPECT_EQ(Vectorized<double>(-2.5).trunc()[0], -2);
  EXPECT_EQ(Vectorized<double>(-2.5).floor()[0], -3);
  EXPECT_EQ(Vectorized<double>(-2.75).frac()[0], -0.75);
}

TEST(Vectorized, ComparisonsAreMasks) {
  Vectorized<int32_t> numbers(1, 2, 3, 4, 5, 6, 7, 8), four(4);
  EXPECT_EQ(elements(numbers > four), (std::vector<int32_t>{0, 0, 0, 0, -1, -1, -1, -1}));
  EXPECT_EQ(elements(numbers.gt(four)), (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(elements(Vectorized<int32_t>::blendv(numbers, four, numbers > four)), (std::vector<int32_t>{1, 2, 3, 4, 4, 4, 4, 4}));
  EXPECT_EQ(elements(Vectorized<int32_t>::blend<0b101>(numbers, four)), (std::vector<int32_t>{4, 2, 4, 4, 5, 6, 7, 8}));
  EXPECT_EQ(elements(Vectorized<int32_t>::set(numbers, four, 2)), (std::vector<int32_t>{4, 4, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ((numbers - four).zero_mask(), 8);
}

TEST(Vectorized, SpecialFunctions) {
  // erfinv(erf(0.75)) and erfinv(erf(3)); I0(1), digamma(1) = -Euler's constant, P(1, 2) = 1 - exp(-2).
  EXPECT_NEAR(Vectorized<double>(std::erf(0.75)).erfinv()[0], 0.75, 1e-14);
  EXPECT_NEAR(Vectorized<double>(std::erf(3.0)).erfinv()[0], 3, 1e-10);
  EXPECT_NEAR(Vectorized<double>(1).i0()[0], 1.2660658777520084, 1e-14);
  EXPECT_NEAR(Vectorized<double>(30).i0e()[0], 0.0731459464822373, 1e-15);
  EXPECT_NEAR(Vectorized<double>(1).digamma()[0], -0.57721566490153286, 1e-13);
  EXPECT_NEAR(Vectorized<double>(-0.5).digamma()[0], 0.03648997397857652, 1e-12);
  EXPECT_NEAR(Vectorized<double>(1).igamma(Vectorized<double>(2))[0], 1 - std::exp(-2.0), 1e-14);
  EXPECT_NEAR(Vectorized<double>(1).igammac(Vectorized<double>(5))[0], std::exp(-5.0), 1e-15);
}

TEST(Vectorized, ComplexNumbers) {
  using Complex = c10::complex<float>;
  Vectorized<Complex> z(Complex(3, 4));
  EXPECT_EQ(z.abs()[0], Complex(5, 0));
  EXPECT_EQ(z.conj()[1], Complex(3, -4));
  EXPECT_EQ((z * z)[2], Complex(-7, 24));
  EXPECT_EQ((z / z)[3], Complex(1, 0));
  EXPECT_EQ(Vectorized<Complex>::arange(Complex(1, 1), Complex(2, 0))[3], Complex(7, 1));
}

TEST(Vectorized, HalfPrecisionRoundsAfterEachOperation) {
  // The largest half precision integer with all digits is 2048: 2049 is between two numbers.
  EXPECT_EQ(static_cast<float>((Vectorized<c10::Half>(c10::Half(2048)) + Vectorized<c10::Half>(c10::Half(1)))[0]), 2048);
  auto [first, second] = at::vec::convert_bfloat16_float(Vectorized<c10::BFloat16>::arange(c10::BFloat16(0), 1.0f));
  EXPECT_EQ(first[7], 7);
  EXPECT_EQ(second[0], 8);
  EXPECT_EQ(static_cast<float>(at::vec::convert_float_bfloat16(first, second)[15]), 15);
}

TEST(Vectorized, ConversionKeepsTheNumberOfElements) {
  auto doubles = at::vec::convert<double, 2, float, 1>(VectorizedN<float, 1>(Vectorized<float>::arange(0.5f, 1.0f)));
  EXPECT_EQ(doubles[1][3], 7.5);
  EXPECT_EQ(at::vec::convert<int32_t>(Vectorized<float>(-2.75f))[0], -2);
  EXPECT_EQ(at::vec::cast<int32_t>(Vectorized<float>(1.0f))[0], 0x3f800000);
}

TEST(Vectorized, Interleaves) {
  auto a = Vectorized<double>::arange(0.0, 1.0), b = Vectorized<double>::arange(10.0, 1.0);
  auto [first, second] = at::vec::interleave2(a, b);
  EXPECT_EQ(elements(first), (std::vector<double>{0, 10, 1, 11}));
  EXPECT_EQ(elements(second), (std::vector<double>{2, 12, 3, 13}));
  EXPECT_EQ(elements(at::vec::deinterleave2(first, second).second), elements(b));
  EXPECT_EQ(elements(at::vec::flip(a)), (std::vector<double>{3, 2, 1, 0}));
}

TEST(Vectorized, Masks) {
  const int64_t conditions[4] = {1, 0, 0, 2};
  auto mask = VecMask<int64_t, 1>::from(conditions);
  EXPECT_TRUE(mask.is_masked(3));
  EXPECT_FALSE(mask.is_masked(1));
  EXPECT_EQ(elements(mask.to<int64_t, 1>()), (std::vector<int64_t>{1, 0, 0, 1}));
  const double source[4] = {1.5, 2.5, 3.5, 4.5};
  EXPECT_EQ(elements(mask.loadu<double, 1>(source)), (std::vector<double>{1.5, 0, 0, 4.5}));
  EXPECT_TRUE((mask & ~mask).all_zero());
  EXPECT_TRUE((mask | ~mask).all_masked());
}

TEST(Vectorized, Quantizes) {
  using Quantized = Vectorized<c10::quint8>;
  Quantized::float_vec_return_type values;
  values.fill(Vectorized<float>(0.0f));
  values[0] = Vectorized<float>(2.5f, 3.5f, -100.0f, 1000.0f, 1.0f, kNaN, 0.0f, 4.0f);
  auto result = Quantized::quantize(values, 1.0f, 10, 1.0f);
  // Ties round to the even number; the limits are 0 and 255.
  const std::vector<int> expected = {12, 14, 0, 255, 11, 0, 10, 14};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(result[i], expected[static_cast<size_t>(i)]) << i;
  auto back = result.dequantize(Vectorized<float>(0.5f), Vectorized<float>(10.0f));
  EXPECT_EQ(back[0][3], 122.5f);
  EXPECT_EQ(result.widening_subtract(Quantized(c10::quint8(20)))[0][2], -20);
  EXPECT_EQ(result.relu6(Quantized(c10::quint8(11)), Quantized(c10::quint8(13)))[0], 12);
}

TEST(Vectorized, Prints) {
  std::ostringstream out;
  out << Vectorized<c10::qint32>(c10::qint32(7)) << VectorizedN<double, 2>(0.5);
  EXPECT_EQ(out.str(), "vec[7, 7, 7, 7, 7, 7, 7, 7]vec_n[vec[0.5, 0.5, 0.5, 0.5], vec[0.5, 0.5, 0.5, 0.5]]");
}

TEST(VectorizedArrays, MapAndReduceAnyLength) {
  std::vector<float> x(19), y(19);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  at::vec::map2<float>([](auto a, auto b) { return a * b; }, y.data(), x.data(), x.data(), 19);
  EXPECT_EQ(y[18], 324);
  auto sum = [](auto a, auto b) { return a + b; };
  auto largest = [](auto a, auto b) { return at::vec::maximum(a, b); };
  EXPECT_EQ(at::vec::reduce_all<float>(sum, x.data(), 19), 171);
  EXPECT_EQ(at::vec::reduce_all<float>(sum, x.data(), 3), 3);
  EXPECT_EQ(at::vec::reduce2_all<float>(sum, largest, x.data(), 11), std::make_pair(55.0f, 10.0f));
  // 0^2 + 1^2 + ... + 18^2
  EXPECT_EQ(at::vec::map_reduce_all<float>([](auto a) { return a * a; }, sum, x.data(), 19), 2109);
  // The sum of half precision numbers is computed as float: 4097 ones, where half precision would stop at 2048.
  std::vector<c10::Half> ones(4097, c10::Half(1));
  EXPECT_EQ(at::vec::reduce_all<c10::Half>(sum, ones.data(), 4097), 4097);
}

}  // namespace
