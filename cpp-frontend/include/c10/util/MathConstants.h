// Mathematical constants of any floating-point type: c10::pi<double> and similar.
#pragma once

#include <c10/macros/Macros.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

// The base of the natural logarithm, and Euler's constant.
template <class T>
constexpr T e = static_cast<T>(2.718281828459045235360287471352662498L);
template <class T>
constexpr T euler = static_cast<T>(0.577215664901532860606512090082402431L);
template <class T>
constexpr T frac_1_pi = static_cast<T>(0.318309886183790671537767526745028724L);
template <class T>
constexpr T frac_1_sqrt_pi = static_cast<T>(0.564189583547756286948079451560772586L);
template <class T>
constexpr T frac_sqrt_2 = static_cast<T>(0.707106781186547524400844362104849039L);
template <class T>
constexpr T frac_sqrt_3 = static_cast<T>(0.577350269189625764509148780501957456L);
/// The golden ratio.
template <class T>
constexpr T golden_ratio = static_cast<T>(1.618033988749894848204586834365638118L);
template <class T>
constexpr T ln_10 = static_cast<T>(2.302585092994045684017991454684364208L);
template <class T>
constexpr T ln_2 = static_cast<T>(0.693147180559945309417232121458176568L);
template <class T>
constexpr T log_10_e = static_cast<T>(0.434294481903251827651128918916605082L);
template <class T>
constexpr T log_2_e = static_cast<T>(1.442695040888963407359924681001892137L);
template <class T>
constexpr T pi = static_cast<T>(3.141592653589793238462643383279502884L);
template <class T>
constexpr T sqrt_2 = static_cast<T>(1.414213562373095048801688724209698079L);
template <class T>
constexpr T sqrt_3 = static_cast<T>(1.732050807568877293527446341505872367L);

RLT_NAMESPACE_END
}  // namespace c10
