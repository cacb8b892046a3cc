// Vectorized<T>: as many elements as 32 bytes hold, with element-wise operations.
//
// Operations are loops of a constant length over an aligned array, which compilers turn into vector instructions of the
// processor that the program is compiled for. The free functions are in vec_functions.h, the quantized types in vec_quantized.h.
#pragma once

#include <ATen/native/Math.h>
#include <ATen/native/cpu/zmath.h>
#include <c10/util/TypeCast.h>
#include <c10/util/bit_cast.h>
#include <c10/util/copysign.h>

#include <array>
#include <climits>
#include <cstring>
#include <functional>
#include <ostream>
#include <type_traits>
#include <utility>

#define VECTOR_WIDTH 32
#define __at_align__ alignas(VECTOR_WIDTH)

namespace at {
RLT_NAMESPACE_BEGIN
namespace vec {

template <class T>
struct is_reduced_floating_point : std::is_reduced_floating_point<T> {};
template <class T>
constexpr bool is_reduced_floating_point_v = is_reduced_floating_point<T>::value;
template <class T>
struct is_floating_point : std::bool_constant<std::is_floating_point_v<T> || is_reduced_floating_point_v<T>> {};
template <class T>
constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T>
struct is_8bit_integer : std::bool_constant<std::is_same_v<T, unsigned char> || std::is_same_v<T, signed char>> {};
template <class T>
constexpr bool is_8bit_integer_v = is_8bit_integer<T>::value;

template <size_t Bytes>
struct int_of_size;
template <>
struct int_of_size<1> {
  using type = int8_t;
};
template <>
struct int_of_size<2> {
  using type = int16_t;
};
template <>
struct int_of_size<4> {
  using type = int32_t;
};
template <>
struct int_of_size<8> {
  using type = int64_t;
};
template <class T>
using int_same_size_t = typename int_of_size<sizeof(T)>::type;

namespace detail {
template <class T>
inline constexpr bool is_complex = c10::is_complex<T>::value;

/// Arithmetic of one element: integers wrap around, half precision is computed as float.
template <class T>
struct Element {
  // A type at least as wide as int, without a sign: it wraps around where T would overflow.
  template <class Operation>
  static T apply(Operation operation, T a, T b) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
      return static_cast<T>(operation(static_cast<Wide>(a), static_cast<Wide>(b)));
    } else {
      return static_cast<T>(operation(a, b));
    }
  }
  /// Integers round towards 0. The smallest integer divided by -1 is itself.
  static T divide(T a, T b) {
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
      if (b == T(-1)) return apply(std::minus<>(), T(0), a);
    }
    return static_cast<T>(a / b);
  }
  static T negate(T value) {
    if constexpr (std::is_integral_v<T>) return apply(std::minus<>(), T(0), value);
    else return -value;
  }
  static T magnitude(T value) {
    if constexpr (is_complex<T>) return T(std::abs(value));
    else if constexpr (std::is_unsigned_v<T>) return value;
    else if constexpr (std::is_integral_v<T>) return value < 0 ? negate(value) : value;
    else return std::fabs(value);
  }
};

// As integers, so that compilers find the vector instructions for masks.
/// All bits set, or none.
template <class T>
T mask_of(bool condition) {
  if constexpr (sizeof(T) <= 8) {
    return c10::bit_cast<T>(static_cast<int_same_size_t<T>>(-static_cast<int>(condition)));
  } else {
    T result;
    std::memset(static_cast<void*>(&result), condition ? 0xff : 0, sizeof result);
    return result;
  }
}
/// The lowest bit decides.
template <class T>
bool is_set(const T& mask) {
  if constexpr (sizeof(T) <= 8) return (c10::bit_cast<int_same_size_t<T>>(mask) & 1) != 0;
  else return (*reinterpret_cast<const unsigned char*>(&mask) & 1) != 0;
}
}  // namespace detail

template <class T>
struct Vectorized {
  using value_type = T;
  using size_type = int;
  static constexpr size_type kSize = VECTOR_WIDTH / static_cast<int>(sizeof(T));
  static constexpr size_type size() { return kSize; }

  /// Zeros.
  Vectorized() : values_{} {}
  Vectorized(T value) {
    for (int i = 0; i < kSize; ++i) values_[i] = value;
  }
  template <class... Values, std::enable_if_t<sizeof...(Values) == kSize && (kSize > 1), bool> = true>
  Vectorized(Values... values) : values_{static_cast<T>(values)...} {}
  Vectorized(const T (&values)[kSize]) { std::memcpy(static_cast<void*>(values_), values, sizeof values_); }

  const T& operator[](int index) const { return values_[index]; }
  T& operator[](int index) { return values_[index]; }
  const char* as_bytes() const { return reinterpret_cast<const char*>(values_); }

  /// The address need not be aligned.
  static Vectorized loadu(const void* source) {
    Vectorized result;
    std::memcpy(static_cast<void*>(result.values_), source, sizeof result.values_);
    return result;
  }
  /// Reads the first `count` elements; the others are 0.
  static Vectorized loadu(const void* source, int64_t count) {
    Vectorized result;
    if (count > 0) std::memcpy(static_cast<void*>(result.values_), source, static_cast<size_t>(count < kSize ? count : kSize) * sizeof(T));
    return result;
  }
  /// Reads 8 bytes; the other elements are 0.
  static Vectorized loadu_one_fourth(const void* source) {
    static_assert(is_8bit_integer_v<T>, "loadu_one_fourth is for bytes");
    return loadu(source, 8);
  }
  void store(void* target, int count = kSize) const {
    if (count > 0) std::memcpy(target, static_cast<const void*>(values_), static_cast<size_t>(count < kSize ? count : kSize) * sizeof(T));
  }

  /// Element i of b where bit i of the mask is set, otherwise of a.
  template <int64_t Mask>
  static Vectorized blend(const Vectorized& a, const Vectorized& b) {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) result.values_[i] = (Mask >> i) & 1 ? b.values_[i] : a.values_[i];
    return result;
  }
  /// Elements of b where the mask is set; a mask is the result of a comparison.
  static Vectorized blendv(const Vectorized& a, const Vectorized& b, const Vectorized& mask) {
    if constexpr (sizeof(T) <= 8) {
      using Integer = int_same_size_t<T>;
      Integer first[kSize], second[kSize], condition[kSize];
      a.store(first);
      b.store(second);
      mask.store(condition);
      for (int i = 0; i < kSize; ++i) {
        Integer chosen = static_cast<Integer>(-(condition[i] & 1));
        first[i] = static_cast<Integer>((first[i] & ~chosen) | (second[i] & chosen));
      }
      return loadu(first);
    } else {
      Vectorized result;
      for (int i = 0; i < kSize; ++i) result.values_[i] = detail::is_set(mask.values_[i]) ? b.values_[i] : a.values_[i];
      return result;
    }
  }
  /// base, base + step, base + 2 step, ...
  template <class Step = T>
  static Vectorized arange(T base = T(0), Step step = Step(1)) {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) {
      if constexpr (detail::is_complex<T>) result.values_[i] = base + T(step) * T(static_cast<typename T::value_type>(i));
      else result.values_[i] = static_cast<T>(base + static_cast<Step>(i) * step);
    }
    return result;
  }
  /// The first `count` elements of b, then those of a.
  static Vectorized set(const Vectorized& a, const Vectorized& b, int64_t count = kSize) {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) result.values_[i] = i < count ? b.values_[i] : a.values_[i];
    return result;
  }

  /// Bit i is set if element i is 0.
  int zero_mask() const {
    unsigned mask = 0;
    for (int i = 0; i < kSize; ++i) mask |= static_cast<unsigned>(values_[i] == T(0)) << i;
    return static_cast<int>(mask);
  }
  Vectorized isnan() const {
    return map([](T x) { return detail::mask_of<T>(native::detail::number_is_nan(x)); });
  }
  bool has_inf_nan() const {
    bool found = false;
    for (int i = 0; i < kSize; ++i) {
      // The difference of an infinity to itself is NaN.
      if constexpr (!std::is_integral_v<T>) found |= native::detail::number_is_nan(static_cast<T>(values_[i] - values_[i]));
    }
    return found;
  }

  /// Applies a function to each element.
  template <class Function, std::enable_if_t<std::is_invocable_r_v<T, Function, T>, bool> = true>
  Vectorized map(Function function) const {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) result.values_[i] = function(values_[i]);
    return result;
  }
  template <class Function>
  Vectorized map2(const Vectorized& other, Function function) const {
    Vectorized result;
    for (int i = 0; i < kSize; ++i) result.values_[i] = function(values_[i], other.values_[i]);
    return result;
  }

  Vectorized abs() const { return map(&detail::Element<T>::magnitude); }
  Vectorized neg() const { return map(&detail::Element<T>::negate); }
  Vectorized sgn() const { return map(&native::sgn_impl<T>); }
  Vectorized angle() const { return map(&native::angle_impl<T>); }
  Vectorized conj() const { return map(&native::conj_impl<T>); }
  Vectorized real() const {
    if constexpr (detail::is_complex<T>) return map([](T x) { return T(x.real()); });
    else return *this;
  }
  Vectorized imag() const {
    if constexpr (detail::is_complex<T>) return map([](T x) { return T(x.imag()); });
    else return Vectorized();
  }

#define RLT_VECTORIZED_FUNCTION(name) \
  Vectorized name() const {           \
    return map([](T x) { return static_cast<T>(std::name(x)); }); \
  }
  RLT_VECTORIZED_FUNCTION(acos)
  RLT_VECTORIZED_FUNCTION(acosh)
  RLT_VECTORIZED_FUNCTION(asin)
  RLT_VECTORIZED_FUNCTION(asinh)
  RLT_VECTORIZED_FUNCTION(atan)
  RLT_VECTORIZED_FUNCTION(atanh)
  RLT_VECTORIZED_FUNCTION(cos)
  RLT_VECTORIZED_FUNCTION(cosh)
  RLT_VECTORIZED_FUNCTION(erf)
  RLT_VECTORIZED_FUNCTION(erfc)
  RLT_VECTORIZED_FUNCTION(exp)
  RLT_VECTORIZED_FUNCTION(expm1)
  RLT_VECTORIZED_FUNCTION(lgamma)
  RLT_VECTORIZED_FUNCTION(log)
  RLT_VECTORIZED_FUNCTION(log10)
  RLT_VECTORIZED_FUNCTION(log1p)
  RLT_VECTORIZED_FUNCTION(log2)
  RLT_VECTORIZED_FUNCTION(sin)
  RLT_VECTORIZED_FUNCTION(sinh)
  RLT_VECTORIZED_FUNCTION(sqrt)
  RLT_VECTORIZED_FUNCTION(tan)
  RLT_VECTORIZED_FUNCTION(tanh)
#undef RLT_VECTORIZED_FUNCTION
  Vectorized exp2() const {
    if constexpr (detail::is_complex<T>) return (*this * Vectorized(T(0.693147180559945309417232121458176568))).exp();
    else return map([](T x) { return static_cast<T>(std::exp2(x)); });
  }
  /// PyTorch's faster exp with an error of up to 20 units in the last place; here it is exp.
  Vectorized exp_u20() const { return exp(); }
  Vectorized ceil() const { return map(&native::ceil_impl<T>); }
  Vectorized floor() const { return map(&native::floor_impl<T>); }
  Vectorized round() const { return map(&native::round_impl<T>); }
  Vectorized trunc() const { return map(&native::trunc_impl<T>); }
  Vectorized frac() const {
    return map([](T x) { return static_cast<T>(x - native::trunc_impl(x)); });
  }
  Vectorized reciprocal() const {
    return map([](T x) { return static_cast<T>(T(1) / x); });
  }
  Vectorized rsqrt() const {
    return map([](T x) { return static_cast<T>(T(1) / std::sqrt(x)); });
  }
  Vectorized erfinv() const { return map(&calc_erfinv<T>); }
  Vectorized i0() const { return map(&calc_i0<T>); }
  Vectorized i0e() const { return map(&calc_i0e<T>); }
  Vectorized digamma() const { return map(&calc_digamma<T>); }
  Vectorized igamma(const Vectorized& x) const { return map2(x, &calc_igamma<T>); }
  Vectorized igammac(const Vectorized& x) const { return map2(x, &calc_igammac<T>); }

#define RLT_VECTORIZED_FUNCTION(name)                 \
  Vectorized name(const Vectorized& other) const {    \
    return map2(other, [](T a, T b) { return static_cast<T>(std::name(a, b)); }); \
  }
  RLT_VECTORIZED_FUNCTION(atan2)
  RLT_VECTORIZED_FUNCTION(fmod)
  RLT_VECTORIZED_FUNCTION(hypot)
  RLT_VECTORIZED_FUNCTION(nextafter)
  RLT_VECTORIZED_FUNCTION(pow)
#undef RLT_VECTORIZED_FUNCTION
  Vectorized copysign(const Vectorized& sign) const {
    return map2(sign, [](T a, T b) { return static_cast<T>(c10::copysign(a, b)); });
  }

  // All bits of an element are set where the comparison is true. The methods return 1 there.
#define RLT_VECTORIZED_COMPARISON(op, name)                                                  \
  Vectorized operator op(const Vectorized& other) const {                                    \
    return map2(other, [](const T& a, const T& b) { return detail::mask_of<T>(a op b); });   \
  }                                                                                          \
  Vectorized name(const Vectorized& other) const {                                           \
    return map2(other, [](const T& a, const T& b) { return static_cast<T>(a op b ? 1 : 0); }); \
  }
  RLT_VECTORIZED_COMPARISON(==, eq)
  RLT_VECTORIZED_COMPARISON(!=, ne)
  RLT_VECTORIZED_COMPARISON(<, lt)
  RLT_VECTORIZED_COMPARISON(<=, le)
  RLT_VECTORIZED_COMPARISON(>, gt)
  RLT_VECTORIZED_COMPARISON(>=, ge)
#undef RLT_VECTORIZED_COMPARISON

 private:
  __at_align__ T values_[kSize];
};

}  // namespace vec
RLT_NAMESPACE_END
}  // namespace at
