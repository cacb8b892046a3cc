// Scalar: one number of any dtype, as operators take it.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/core/SymInt.h>
#include <rushlight/tensor.h>

#include <limits>
#include <ostream>
#include <type_traits>

namespace c10 {
RLT_NAMESPACE_BEGIN

class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  // Only of bool itself: a pointer would convert to it.
  template <class T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
  Scalar(T value) : raw_{RLT_SCALAR_BOOL, 0, value, 0, 0} {}
  template <class T, std::enable_if_t<rlt::is_number<T> && !std::is_same_v<T, bool>, bool> = true>
  Scalar(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      raw_ = {RLT_SCALAR_FLOAT, 0, 0, static_cast<double>(value), 0};
    } else {
      // An unsigned number that int64_t holds is an ordinary integer.
      bool wide = std::is_unsigned_v<T> && static_cast<int64_t>(value) < 0;
      raw_ = {wide ? RLT_SCALAR_UINT : RLT_SCALAR_INT, 0, static_cast<int64_t>(value), 0, 0};
    }
  }
  Scalar(const SymInt& value) : Scalar(value.expect_int()) {}
  Scalar(const SymFloat& value) : Scalar(value.expect_float()) {}
  Scalar(const SymBool& value) : Scalar(value.as_bool_unchecked()) {}
  Scalar(Half value) : Scalar(static_cast<double>(static_cast<float>(value))) {}
  Scalar(BFloat16 value) : Scalar(static_cast<double>(static_cast<float>(value))) {}
  template <class T>
  Scalar(const complex<T>& value) : raw_{RLT_SCALAR_COMPLEX, 0, 0, static_cast<double>(value.real()), static_cast<double>(value.imag())} {}
  template <class T>
  Scalar(const std::complex<T>& value) : Scalar(complex<T>(value)) {}
  explicit Scalar(const rlt_scalar& raw) : raw_(raw) {}

  bool isFloatingPoint() const { return raw_.tag == RLT_SCALAR_FLOAT; }
  bool isIntegral(bool include_bool) const {
    return raw_.tag == RLT_SCALAR_INT || raw_.tag == RLT_SCALAR_UINT || (include_bool && isBoolean());
  }
  bool isIntegral() const { return isIntegral(false); }
  bool isComplex() const { return raw_.tag == RLT_SCALAR_COMPLEX; }
  bool isBoolean() const { return raw_.tag == RLT_SCALAR_BOOL; }
  bool isSymbolic() const { return false; }
  ScalarType type() const {
    switch (raw_.tag) {
      case RLT_SCALAR_COMPLEX: return kComplexDouble;
      case RLT_SCALAR_FLOAT: return kDouble;
      case RLT_SCALAR_UINT: return kUInt64;
      case RLT_SCALAR_BOOL: return kBool;
      default: return kLong;
    }
  }

  /// The number as a T; an error when T cannot hold it.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, complex<double>> || std::is_same_v<T, complex<float>> || std::is_same_v<T, complex<Half>>) {
      using Part = typename T::value_type;
      return T(static_cast<Part>(static_cast<float>(0)) + convert<Part>(real_part()), convert<Part>(raw_.tag == RLT_SCALAR_COMPLEX ? raw_.im : 0.0));
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      return static_cast<T>(to<complex<typename T::value_type>>());
    } else if constexpr (std::is_same_v<T, Scalar>) {
      return *this;
    } else {
      if (isComplex() && raw_.im != 0) overflow(name_of<T>());
      switch (raw_.tag) {
        case RLT_SCALAR_FLOAT:
        case RLT_SCALAR_COMPLEX: return convert<T>(raw_.re);
        case RLT_SCALAR_UINT: return convert<T>(static_cast<uint64_t>(raw_.i));
        default: return convert<T>(raw_.i);
      }
    }
  }
#define RLT_TO(cpp, name, python, spelled, kind) \
  cpp to##name() const { return to<cpp>(); }
  RLT_FORALL_SCALAR_TYPES(RLT_TO)
#undef RLT_TO
  SymInt toSymInt() const { return toLong(); }
  SymFloat toSymFloat() const { return toDouble(); }
  SymBool toSymBool() const { return toBool(); }

  Scalar operator-() const {
    if (isBoolean()) rlt::raise<Error>("torch boolean negative, the `-` operator, is not supported.");
    Scalar result = *this;
    result.raw_.i = static_cast<int64_t>(-static_cast<uint64_t>(raw_.i));
    result.raw_.re = -raw_.re;
    result.raw_.im = isComplex() ? -raw_.im : 0;
    return result;
  }
  Scalar conj() const {
    Scalar result = *this;
    if (isComplex()) result.raw_.im = -raw_.im;
    return result;
  }

  /// Whether the scalar is equal to this number. A boolean equals booleans only; an integer that T cannot represent
  /// equals no T.
  template <class T>
  bool equal(T number) const {
    if constexpr (std::is_same_v<T, bool>) return isBoolean() && (raw_.i != 0) == number;
    if (isComplex()) return raw_.im == 0 && raw_.re == static_cast<double>(number);
    if (isFloatingPoint()) return raw_.re == static_cast<double>(number);
    return !isBoolean() && equals_integer(number);
  }
  template <class T>
  bool equal(complex<T> number) const {
    if (isComplex()) return raw_.re == static_cast<double>(number.real()) && raw_.im == static_cast<double>(number.imag());
    return static_cast<double>(number.imag()) == 0 && equal(number.real());
  }
  template <class T>
  bool equal(std::complex<T> number) const {
    return equal(complex<T>(number));
  }

  const rlt_scalar& raw() const { return raw_; }
  rlt_scalar* raw_out() { return &raw_; }

  friend std::ostream& operator<<(std::ostream& out, const Scalar& value) {
    switch (value.raw_.tag) {
      case RLT_SCALAR_FLOAT: return out << value.raw_.re;
      case RLT_SCALAR_COMPLEX: return out << complex<double>(value.raw_.re, value.raw_.im);
      case RLT_SCALAR_BOOL: return out << (value.raw_.i ? "true" : "false");
      case RLT_SCALAR_UINT: return out << static_cast<uint64_t>(value.raw_.i);
      default: return out << value.raw_.i;
    }
  }

 private:
  double real_part() const {
    switch (raw_.tag) {
      case RLT_SCALAR_FLOAT:
      case RLT_SCALAR_COMPLEX: return raw_.re;
      case RLT_SCALAR_UINT: return static_cast<double>(static_cast<uint64_t>(raw_.i));
      default: return static_cast<double>(raw_.i);
    }
  }

  /// Compares the integer that this is with a number.
  template <class T>
  bool equals_integer(T number) const {
    bool negative = raw_.tag == RLT_SCALAR_INT && raw_.i < 0;
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>) {
        if ((number < 0) != negative) return false;
      } else if (negative) {
        return false;
      }
      return static_cast<uint64_t>(raw_.i) == static_cast<uint64_t>(number);
    } else {
      if constexpr (std::is_same_v<T, double>) return real_part() == number;
      float rounded = raw_.tag == RLT_SCALAR_UINT ? static_cast<float>(static_cast<uint64_t>(raw_.i)) : static_cast<float>(raw_.i);
      if (real_part() > largest<T> || real_part() < -largest<T>) return false;
      return static_cast<float>(static_cast<T>(rounded)) == static_cast<float>(number);
    }
  }

  template <class T>
  static const char* name_of() {
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, rlt::other_long>) return sizeof(T) == sizeof(int64_t) ? "int64_t" : "int";
    else if constexpr (std::is_same_v<T, int32_t>) return "int";
    else if constexpr (std::is_same_v<T, int16_t>) return "int16_t";
    else if constexpr (std::is_same_v<T, int8_t>) return "int8_t";
    else if constexpr (std::is_same_v<T, uint8_t>) return "uint8_t";
    else if constexpr (std::is_same_v<T, uint16_t>) return "uint16_t";
    else if constexpr (std::is_same_v<T, uint32_t>) return "uint32_t";
    else if constexpr (std::is_same_v<T, uint64_t>) return "uint64_t";
    else if constexpr (std::is_same_v<T, bool>) return "bool";
    else if constexpr (std::is_same_v<T, float>) return "float";
    else if constexpr (std::is_same_v<T, double>) return "double";
    else if constexpr (std::is_same_v<T, Half>) return "at::Half";
    else return "at::BFloat16";
  }

  /// The largest finite number of float, Half or BFloat16.
  template <class T>
  static constexpr double largest = std::is_same_v<T, Half>    ? 65504.0
                                    : std::is_same_v<T, float> ? 3.4028234663852886e38
                                                               : 3.3895313892515355e38;

  [[noreturn]] RLT_COLD static void overflow(const char* name) {
    rlt::raise<rlt::OverflowError>(std::string("value cannot be converted to type ") + name + " without overflow");
  }

  // Floating targets accept infinities and NaN; an integer target requires a number within its range.
  template <class T, class F>
  static T convert(F value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value != 0;
    } else if constexpr (std::is_same_v<T, double>) {
      return static_cast<double>(value);
    } else if constexpr (!std::is_integral_v<T>) {
      double number = static_cast<double>(value);
      bool finite = number - number == 0;
      if (finite && (number > largest<T> || number < -largest<T>)) overflow(name_of<T>());
      return static_cast<T>(static_cast<float>(number));
    } else if constexpr (std::is_floating_point_v<F>) {
      // 2^digits is exact in a double, the largest integer may not be.
      double limit = 2.0 * static_cast<double>(uint64_t{1} << (std::numeric_limits<T>::digits - 1));
      double least = std::is_signed_v<T> ? -limit : -limit + 1;
      if (!(value < limit && value >= least)) overflow(name_of<T>());
      return static_cast<T>(std::is_signed_v<T> || value >= 0 ? static_cast<T>(value) : static_cast<T>(static_cast<int64_t>(value)));
    } else if constexpr (std::is_unsigned_v<F>) {
      if (value > static_cast<uint64_t>(std::numeric_limits<T>::max())) overflow(name_of<T>());
      return static_cast<T>(value);
    } else if constexpr (std::is_signed_v<T>) {
      if (value < static_cast<int64_t>(std::numeric_limits<T>::min()) || value > static_cast<int64_t>(std::numeric_limits<T>::max())) overflow(name_of<T>());
      return static_cast<T>(value);
    } else {
      // A negative number wraps into an unsigned dtype as long as its magnitude fits.
      uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
      if (magnitude > static_cast<uint64_t>(std::numeric_limits<T>::max())) overflow(name_of<T>());
      return static_cast<T>(value);
    }
  }

  rlt_scalar raw_;
};

RLT_NAMESPACE_END
}  // namespace c10
