// Element types: the enum with its frozen numbers, the C++ types behind it, promotion.
#pragma once

#include <c10/core/ScalarTypeMacros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Half.h>
#include <c10/util/half_limits.h>
#include <c10/util/complex_type.h>
#include <c10/util/quantized_types.h>
#include <rushlight/runtime.h>

#include <ostream>

// C++ type, name of c10, name in Python, kind: every element type that tensors can have.
#define RLT_FORALL_SCALAR_TYPES(_)                       \
  _(uint8_t, Byte, "uint8", "unsigned char", 1)          \
  _(int8_t, Char, "int8", "signed char", 1)              \
  _(int16_t, Short, "int16", "short int", 1)                \
  _(int32_t, Int, "int32", "int", 1)                     \
  _(int64_t, Long, "int64", "long int", 1)                  \
  _(Half, Half, "float16", "c10::Half", 2)               \
  _(float, Float, "float32", "float", 2)                 \
  _(double, Double, "float64", "double", 2)              \
  _(::c10::complex<Half>, ComplexHalf, "complex32", "c10::complex<c10::Half>", 3)     \
  _(::c10::complex<float>, ComplexFloat, "complex64", "c10::complex<float>", 3)       \
  _(::c10::complex<double>, ComplexDouble, "complex128", "c10::complex<double>", 3)   \
  _(bool, Bool, "bool", "bool", 0)                       \
  _(BFloat16, BFloat16, "bfloat16", "c10::BFloat16", 2)  \
  _(uint16_t, UInt16, "uint16", "short unsigned int", 1)     \
  _(uint32_t, UInt32, "uint32", "unsigned int", 1)       \
  _(uint64_t, UInt64, "uint64", "long unsigned int", 1)

namespace c10 {
RLT_NAMESPACE_BEGIN

/// Element type of a tensor. Files and scripts contain these numbers.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  Bits1x8 = 18,
  Bits2x4 = 19,
  Bits4x2 = 20,
  Bits8 = 21,
  Bits16 = 22,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  UInt1 = 30,
  UInt2 = 31,
  UInt3 = 32,
  UInt4 = 33,
  UInt5 = 34,
  UInt6 = 35,
  UInt7 = 36,
  Int1 = 37,
  Int2 = 38,
  Int3 = 39,
  Int4 = 40,
  Int5 = 41,
  Int6 = 42,
  Int7 = 43,
  Float8_e8m0fnu = 44,
  Undefined = 45,
  NumOptions = 46
};

constexpr ScalarType kByte = ScalarType::Byte;
constexpr ScalarType kChar = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short;
constexpr ScalarType kInt = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long;
constexpr ScalarType kHalf = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float;
constexpr ScalarType kDouble = ScalarType::Double;
constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf;
constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat;
constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble;
constexpr ScalarType kBool = ScalarType::Bool;
constexpr ScalarType kQInt8 = ScalarType::QInt8;
constexpr ScalarType kQUInt8 = ScalarType::QUInt8;
constexpr ScalarType kQInt32 = ScalarType::QInt32;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kQUInt4x2 = ScalarType::QUInt4x2;
constexpr ScalarType kQUInt2x4 = ScalarType::QUInt2x4;
constexpr ScalarType kBits1x8 = ScalarType::Bits1x8;
constexpr ScalarType kBits2x4 = ScalarType::Bits2x4;
constexpr ScalarType kBits4x2 = ScalarType::Bits4x2;
constexpr ScalarType kBits8 = ScalarType::Bits8;
constexpr ScalarType kBits16 = ScalarType::Bits16;
constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2;
constexpr ScalarType kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;
constexpr ScalarType kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz;
constexpr ScalarType kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz;
constexpr ScalarType kFloat8_e8m0fnu = ScalarType::Float8_e8m0fnu;
constexpr ScalarType kUInt1 = ScalarType::UInt1;
constexpr ScalarType kUInt2 = ScalarType::UInt2;
constexpr ScalarType kUInt3 = ScalarType::UInt3;
constexpr ScalarType kUInt4 = ScalarType::UInt4;
constexpr ScalarType kUInt5 = ScalarType::UInt5;
constexpr ScalarType kUInt6 = ScalarType::UInt6;
constexpr ScalarType kUInt7 = ScalarType::UInt7;
constexpr ScalarType kInt1 = ScalarType::Int1;
constexpr ScalarType kInt2 = ScalarType::Int2;
constexpr ScalarType kInt3 = ScalarType::Int3;
constexpr ScalarType kInt4 = ScalarType::Int4;
constexpr ScalarType kInt5 = ScalarType::Int5;
constexpr ScalarType kInt6 = ScalarType::Int6;
constexpr ScalarType kInt7 = ScalarType::Int7;
constexpr ScalarType kUInt16 = ScalarType::UInt16;
constexpr ScalarType kUInt32 = ScalarType::UInt32;
constexpr ScalarType kUInt64 = ScalarType::UInt64;
constexpr ScalarType kUInt8 = kByte;
constexpr ScalarType kInt8 = kChar;
constexpr ScalarType kInt16 = kShort;
constexpr ScalarType kInt32 = kInt;
constexpr ScalarType kInt64 = kLong;
constexpr ScalarType kFloat16 = kHalf;
constexpr ScalarType kFloat32 = kFloat;
constexpr ScalarType kFloat64 = kDouble;

/// The dtype whose elements are of type T.
template <class T>
struct CppTypeToScalarType;
namespace impl {
template <ScalarType S>
struct ScalarTypeToCPPType;
}
#define RLT_MAP(cpp, name, python, spelled, kind)                             \
  template <>                                                                 \
  struct CppTypeToScalarType<cpp> {                                           \
    static constexpr ScalarType value = ScalarType::name;                     \
  };                                                                          \
  template <>                                                                 \
  struct impl::ScalarTypeToCPPType<ScalarType::name> {                        \
    using type = cpp;                                                         \
  };
RLT_FORALL_SCALAR_TYPES(RLT_MAP)
#define RLT_MAP_QUANTIZED(cpp, name) RLT_MAP(cpp, name, , , )
AT_FORALL_QINT_TYPES(RLT_MAP_QUANTIZED)
#undef RLT_MAP_QUANTIZED
#undef RLT_MAP
template <>
struct CppTypeToScalarType<rlt::other_long> {
  static constexpr ScalarType value = sizeof(rlt::other_long) == sizeof(int64_t) ? ScalarType::Long : ScalarType::Int;
};
template <>
struct CppTypeToScalarType<std::complex<float>> {
  static constexpr ScalarType value = ScalarType::ComplexFloat;
};
template <>
struct CppTypeToScalarType<std::complex<double>> {
  static constexpr ScalarType value = ScalarType::ComplexDouble;
};

namespace impl {
template <ScalarType S>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<S>::type;

struct DtypeFacts {
  const char* name;
  const char* python;
  const char* spelled;
  size_t size;
  int kind;
};
inline DtypeFacts facts(ScalarType dtype) {
  switch (dtype) {
#define RLT_CASE(cpp, name, python, spelled, kind) \
  case ScalarType::name:                           \
    return {#name, python, spelled, sizeof(cpp), kind};
    RLT_FORALL_SCALAR_TYPES(RLT_CASE)
#undef RLT_CASE
    case ScalarType::QInt8: return {"QInt8", "qint8", "c10::qint8", 1, -1};
    case ScalarType::QUInt8: return {"QUInt8", "quint8", "c10::quint8", 1, -1};
    case ScalarType::QInt32: return {"QInt32", "qint32", "c10::qint32", 4, -1};
    case ScalarType::Float8_e5m2: return {"Float8_e5m2", "float8_e5m2", "c10::Float8_e5m2", 1, 2};
    case ScalarType::Float8_e4m3fn: return {"Float8_e4m3fn", "float8_e4m3fn", "c10::Float8_e4m3fn", 1, 2};
    case ScalarType::Float8_e5m2fnuz: return {"Float8_e5m2fnuz", "float8_e5m2fnuz", "c10::Float8_e5m2fnuz", 1, 2};
    case ScalarType::Float8_e4m3fnuz: return {"Float8_e4m3fnuz", "float8_e4m3fnuz", "c10::Float8_e4m3fnuz", 1, 2};
    case ScalarType::Undefined: return {"UNKNOWN_SCALAR", "undefined", "nullptr (uninitialized)", 0, -1};
    default: return {"UNKNOWN_SCALAR", "unknown", "unknown", 0, -1};
  }
}
}  // namespace impl

inline const char* toString(ScalarType dtype) { return impl::facts(dtype).name; }
inline size_t elementSize(ScalarType dtype) { return impl::facts(dtype).size; }
inline bool isIntegralType(ScalarType dtype, bool include_bool) {
  int kind = impl::facts(dtype).kind;
  return kind == 1 || (include_bool && kind == 0);
}
inline bool isIntegralType(ScalarType dtype) { return isIntegralType(dtype, false); }
inline bool isFloatingType(ScalarType dtype) { return impl::facts(dtype).kind == 2; }
inline bool isComplexType(ScalarType dtype) { return impl::facts(dtype).kind == 3; }
/// Whether tensors of this dtype are quantized.
inline bool isQIntType(ScalarType dtype) {
  return dtype == kQInt8 || dtype == kQUInt8 || dtype == kQInt32 || dtype == kQUInt4x2 || dtype == kQUInt2x4;
}
/// The dtype of the integers of a quantized dtype; any other dtype is its own.
inline ScalarType toUnderlying(ScalarType dtype) {
  switch (dtype) {
    case kQInt8: return kChar;
    case kQUInt8: return kByte;
    case kQInt32: return kInt;
    default: return dtype;
  }
}
/// The quantized dtype with integers of this dtype; any other dtype is its own.
inline ScalarType toQIntType(ScalarType dtype) {
  switch (dtype) {
    case kChar: return kQInt8;
    case kByte: return kQUInt8;
    case kInt: return kQInt32;
    default: return dtype;
  }
}
inline bool isFloat8Type(ScalarType dtype) {
  return dtype == ScalarType::Float8_e5m2 || dtype == ScalarType::Float8_e4m3fn || dtype == ScalarType::Float8_e5m2fnuz || dtype == ScalarType::Float8_e4m3fnuz;
}
inline bool isReducedFloatingType(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16 || isFloat8Type(dtype); }
inline bool isSignedType(ScalarType dtype) {
  return dtype != kByte && dtype != kBool && dtype != kUInt16 && dtype != kUInt32 && dtype != kUInt64 && dtype != kQUInt8;
}
inline bool isUnsignedIntType(ScalarType dtype) { return isIntegralType(dtype, false) && !isSignedType(dtype); }

/// The dtype of real and imaginary parts.
inline ScalarType toRealValueType(ScalarType dtype) {
  switch (dtype) {
    case kComplexHalf: return kHalf;
    case kComplexFloat: return kFloat;
    case kComplexDouble: return kDouble;
    default: return dtype;
  }
}
/// The complex dtype whose parts hold `dtype`.
inline ScalarType toComplexType(ScalarType dtype) {
  switch (dtype) {
    case kHalf: return kComplexHalf;
    case kFloat: return kComplexFloat;
    case kDouble: return kComplexDouble;
    default: return isComplexType(dtype) ? dtype : kComplexFloat;
  }
}
/// Whether a result of dtype `from` may be written into an output of dtype `to`.
inline bool canCast(ScalarType from, ScalarType to) {
  if (isComplexType(from) && !isComplexType(to)) return false;
  if (isFloatingType(from) && isIntegralType(to, true)) return false;
  return from == kBool || to != kBool;
}
/// The dtype to which both operands are promoted.
inline ScalarType promoteTypes(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (isQIntType(a) || isQIntType(b)) {
    rlt::raise<Error>(std::string("promoteTypes with quantized numbers is not handled yet; offending types: ") + toString(a) + " " + toString(b));
  }
  int kind_a = impl::facts(a).kind, kind_b = impl::facts(b).kind;
  if (kind_a < 0 || kind_b < 0) return ScalarType::Undefined;
  if (kind_a != kind_b) {
    ScalarType low = kind_a < kind_b ? a : b, high = kind_a < kind_b ? b : a;
    if (isComplexType(high) && isFloatingType(low)) {
      if (low == kDouble) return kComplexDouble;
      if (high == kComplexHalf && low != kHalf) return kComplexFloat;
    }
    return high;
  }
  size_t size_a = elementSize(a), size_b = elementSize(b);
  if (kind_a == 1) {
    if (a == kUInt16 || a == kUInt32 || a == kUInt64 || b == kUInt16 || b == kUInt32 || b == kUInt64) {
      rlt::raise<Error>(std::string("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ") + toString(a) +
                        " and " + toString(b));
    }
    if (size_a == size_b) return kShort;
  }
  if (kind_a == 2 && size_a == size_b) return kFloat;
  return size_a > size_b ? a : b;
}

inline std::ostream& operator<<(std::ostream& out, ScalarType dtype) { return out << toString(dtype); }

RLT_NAMESPACE_END
}  // namespace c10

namespace caffe2 {
RLT_NAMESPACE_BEGIN

namespace detail {
/// What a TypeMeta knows of a type that is not a dtype. c10/util/typeid.h has the functions.
struct TypeMetaData {
  size_t itemsize;
  void* (*create)();
  void (*construct)(void* target, size_t count);
  void (*copy)(const void* source, void* target, size_t count);
  void (*destroy)(void* target, size_t count);
  void (*free)(void* target);
  std::string_view (*name)();
  uint64_t (*id)();
};
template <class T>
struct TypeMetaDataOf;
template <class Id>
struct TypeMetaIds;
template <class T, class = void>
constexpr bool is_dtype = false;
template <class T>
constexpr bool is_dtype<T, std::void_t<decltype(c10::CppTypeToScalarType<T>::value)>> = true;
}  // namespace detail

/// The result of Tensor::dtype(): a ScalarType that prints as the C++ type and compares with ScalarType. With c10/util/typeid.h it
/// describes any type.
class TypeMeta {
 public:
  constexpr TypeMeta() = default;
  constexpr TypeMeta(c10::ScalarType dtype) : dtype_(dtype) {}
  template <class T>
  static constexpr TypeMeta Make() {
    if constexpr (detail::is_dtype<T>) return c10::CppTypeToScalarType<T>::value;
    else return TypeMeta(&detail::TypeMetaDataOf<T>::data);
  }
  static constexpr TypeMeta fromScalarType(c10::ScalarType dtype) { return dtype; }
  template <class T>
  bool Match() const {
    return *this == Make<T>();
  }

  constexpr bool isScalarType() const { return dtype_ != c10::ScalarType::Undefined; }
  constexpr bool isScalarType(c10::ScalarType dtype) const { return dtype_ == dtype; }
  constexpr c10::ScalarType toScalarType() const { return dtype_; }
  size_t itemsize() const { return data_ ? data_->itemsize : c10::elementSize(dtype_); }
  std::string_view name() const { return data_ ? data_->name() : c10::impl::facts(dtype_).spelled; }

  /// Functions for arrays of the type; nullptr for a dtype, whose elements are bytes.
  auto newFn() const noexcept { return data_ ? data_->create : nullptr; }
  auto placementNew() const noexcept { return data_ ? data_->construct : nullptr; }
  auto copy() const noexcept { return data_ ? data_->copy : nullptr; }
  auto placementDelete() const noexcept { return data_ ? data_->destroy : nullptr; }
  auto deleteFn() const noexcept { return data_ ? data_->free : nullptr; }

  template <class T>
  static constexpr size_t ItemSize() noexcept {
    return sizeof(T);
  }
  template <class T>
  static std::string_view TypeName() noexcept {
    return detail::TypeMetaDataOf<T>::name();
  }
  template <class T>
  static constexpr auto Id() noexcept {
    return detail::TypeMetaDataOf<T>::identifier();
  }
  template <class Lazy = void>
  auto id() const noexcept {
    return detail::TypeMetaIds<Lazy>::of(dtype_, data_);
  }

  friend constexpr bool operator==(TypeMeta a, TypeMeta b) { return a.dtype_ == b.dtype_ && a.data_ == b.data_; }
  friend constexpr bool operator!=(TypeMeta a, TypeMeta b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, TypeMeta type) { return out << type.name(); }

 private:
  constexpr explicit TypeMeta(const detail::TypeMetaData* data) : data_(data) {}

  c10::ScalarType dtype_ = c10::ScalarType::Undefined;
  const detail::TypeMetaData* data_ = nullptr;
};

RLT_NAMESPACE_END
}  // namespace caffe2

namespace c10 {
RLT_NAMESPACE_BEGIN

inline ScalarType typeMetaToScalarType(caffe2::TypeMeta type) { return type.toScalarType(); }
inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType dtype) { return dtype; }

/// The default floating-point dtype.
inline ScalarType get_default_dtype_as_scalartype() {
  int32_t dtype = 0;
  rlt::check(rlt_get_default_dtype(&dtype));
  return static_cast<ScalarType>(dtype);
}
inline caffe2::TypeMeta get_default_dtype() { return get_default_dtype_as_scalartype(); }
inline caffe2::TypeMeta get_default_complex_dtype() { return toComplexType(get_default_dtype_as_scalartype()); }
inline void set_default_dtype(caffe2::TypeMeta type) { rlt::check(rlt_set_default_dtype(static_cast<int32_t>(type.toScalarType()))); }

RLT_NAMESPACE_END
}  // namespace c10

namespace at {
RLT_NAMESPACE_BEGIN
using caffe2::TypeMeta;
RLT_NAMESPACE_END
}  // namespace at
