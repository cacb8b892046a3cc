// AT_FORALL_...: calls a macro with the C++ type and the name of each element type of a group.
#pragma once

#define AT_FORALL_INT_TYPES(_) \
  _(uint8_t, Byte)             \
  _(int8_t, Char)              \
  _(int16_t, Short)            \
  _(int, Int)                  \
  _(int64_t, Long)
#define AT_FORALL_SCALAR_TYPES(_) \
  AT_FORALL_INT_TYPES(_)          \
  _(float, Float)                 \
  _(double, Double)
#define AT_FORALL_COMPLEX_TYPES(_)     \
  _(c10::complex<float>, ComplexFloat) \
  _(c10::complex<double>, ComplexDouble)
#define AT_FORALL_QINT_TYPES(_) \
  _(c10::qint8, QInt8)          \
  _(c10::quint8, QUInt8)        \
  _(c10::qint32, QInt32)        \
  _(c10::quint4x2, QUInt4x2)    \
  _(c10::quint2x4, QUInt2x4)

#define RLT_FORALL_NAMED(_, name) _(::c10::impl::ScalarTypeToCPPType<::c10::ScalarType::name>::type, name)
#define AT_FORALL_SCALAR_TYPES_AND(name, _) AT_FORALL_SCALAR_TYPES(_) RLT_FORALL_NAMED(_, name)
#define AT_FORALL_SCALAR_TYPES_AND2(name1, name2, _) AT_FORALL_SCALAR_TYPES_AND(name1, _) RLT_FORALL_NAMED(_, name2)
#define AT_FORALL_SCALAR_TYPES_AND3(name1, name2, name3, _) AT_FORALL_SCALAR_TYPES_AND2(name1, name2, _) RLT_FORALL_NAMED(_, name3)

#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_EXCEPT_COMPLEX_HALF(_) \
  AT_FORALL_SCALAR_TYPES(_)                                        \
  _(c10::Half, Half)                                               \
  AT_FORALL_COMPLEX_TYPES(_)                                       \
  _(bool, Bool)                                                    \
  _(c10::BFloat16, BFloat16)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(_)               \
  AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_EXCEPT_COMPLEX_HALF(_) \
  _(c10::complex<c10::Half>, ComplexHalf)
