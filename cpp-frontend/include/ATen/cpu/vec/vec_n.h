// VectorizedN<T, N>: N vectors as one, so that conversions between types of different sizes keep the number of elements.
#pragma once

#include <ATen/cpu/vec/vec_functions.h>

#include <algorithm>

namespace at {
RLT_NAMESPACE_BEGIN
namespace vec {

template <class T, int N>
class VectorizedN {
  using Part = Vectorized<T>;

 public:
  using value_type = T;
  using size_type = int;
  static constexpr size_type size_T = sizeof(T);
  static constexpr size_type size() { return Part::size() * N; }

  VectorizedN() = default;
  explicit VectorizedN(T value) { parts_.fill(Part(value)); }
  template <int L = N, std::enable_if_t<L == 1, bool> = true>
  VectorizedN(const Part& part) : parts_{part} {}
  template <int L = N, std::enable_if_t<L == 2, bool> = true>
  VectorizedN(const Part& first, const Part& second) : parts_{first, second} {}
  template <int L = N, std::enable_if_t<L == 1, bool> = true>
  operator Part() const {
    return parts_[0];
  }

  const Part& operator[](int index) const { return parts_[static_cast<size_t>(index)]; }
  Part& operator[](int index) { return parts_[static_cast<size_t>(index)]; }

  /// A function of vectors, applied to the N vectors of each argument.
  template <class Function, class... Others>
  static VectorizedN each(Function function, const Others&... others) {
    VectorizedN result;
    for (int i = 0; i < N; ++i) result[i] = function(others[i]...);
    return result;
  }
  template <class Function>
  VectorizedN unary_op(Function function) const {
    return each(function, *this);
  }
  template <class Function>
  VectorizedN binary_op(const VectorizedN& other, Function function) const {
    return each(function, *this, other);
  }
  template <class Function>
  VectorizedN ternary_op(const VectorizedN& other, const VectorizedN& third, Function function) const {
    return each(function, *this, other, third);
  }

  /// Each vector has the same mask.
  template <int64_t Mask>
  static VectorizedN blend(const VectorizedN& a, const VectorizedN& b) {
    return each([](const Part& x, const Part& y) { return Part::template blend<Mask>(x, y); }, a, b);
  }
  static VectorizedN blendv(const VectorizedN& a, const VectorizedN& b, const VectorizedN& mask) {
    return each([](const Part& x, const Part& y, const Part& m) { return Part::blendv(x, y, m); }, a, b, mask);
  }
  template <class Step = T>
  static VectorizedN arange(T base = T(0), Step step = Step(1)) {
    VectorizedN result;
    for (int i = 0; i < N; ++i) result[i] = Part::arange(static_cast<T>(base + step * static_cast<Step>(i * Part::size())), step);
    return result;
  }
  static VectorizedN set(const VectorizedN& a, const VectorizedN& b, int64_t count = size()) {
    VectorizedN result;
    for (int i = 0; i < N; ++i) result[i] = Part::set(a[i], b[i], count - i * Part::size());
    return result;
  }

  static VectorizedN loadu(const void* source, int64_t count = size()) {
    VectorizedN result;
    for (int i = 0; i < N && count > i * Part::size(); ++i) result[i] = Part::loadu(static_cast<const T*>(source) + i * Part::size(), count - i * Part::size());
    return result;
  }
  void store(void* target, int count = size()) const {
    for (int i = 0; i < N && count > i * Part::size(); ++i) (*this)[i].store(static_cast<T*>(target) + i * Part::size(), count - i * Part::size());
  }
  bool has_inf_nan() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.has_inf_nan(); });
  }
  template <class Function, std::enable_if_t<std::is_invocable_r_v<T, Function, T>, bool> = true>
  VectorizedN map(Function function) const {
    return each([&](const Part& part) { return part.map(function); }, *this);
  }

#define RLT_FUNCTION(name) \
  VectorizedN name() const { return each([](const Part& part) { return part.name(); }, *this); }
  RLT_FUNCTION(isnan)
  RLT_FUNCTION(abs)
  RLT_FUNCTION(sgn)
  RLT_FUNCTION(angle)
  RLT_FUNCTION(real)
  RLT_FUNCTION(imag)
  RLT_FUNCTION(conj)
  RLT_FUNCTION(acos)
  RLT_FUNCTION(acosh)
  RLT_FUNCTION(asin)
  RLT_FUNCTION(asinh)
  RLT_FUNCTION(atan)
  RLT_FUNCTION(atanh)
  RLT_FUNCTION(erf)
  RLT_FUNCTION(erfc)
  RLT_FUNCTION(erfinv)
  RLT_FUNCTION(exp)
  RLT_FUNCTION(exp2)
  RLT_FUNCTION(expm1)
  RLT_FUNCTION(exp_u20)
  RLT_FUNCTION(frac)
  RLT_FUNCTION(log)
  RLT_FUNCTION(log10)
  RLT_FUNCTION(log1p)
  RLT_FUNCTION(log2)
  RLT_FUNCTION(ceil)
  RLT_FUNCTION(cos)
  RLT_FUNCTION(cosh)
  RLT_FUNCTION(floor)
  RLT_FUNCTION(i0)
  RLT_FUNCTION(i0e)
  RLT_FUNCTION(digamma)
  RLT_FUNCTION(neg)
  RLT_FUNCTION(round)
  RLT_FUNCTION(sin)
  RLT_FUNCTION(sinh)
  RLT_FUNCTION(tan)
  RLT_FUNCTION(tanh)
  RLT_FUNCTION(trunc)
  RLT_FUNCTION(lgamma)
  RLT_FUNCTION(sqrt)
  RLT_FUNCTION(reciprocal)
  RLT_FUNCTION(rsqrt)
#undef RLT_FUNCTION
#define RLT_FUNCTION(name) \
  VectorizedN name(const VectorizedN& other) const { return each([](const Part& a, const Part& b) { return a.name(b); }, *this, other); }
  RLT_FUNCTION(atan2)
  RLT_FUNCTION(copysign)
  RLT_FUNCTION(fmod)
  RLT_FUNCTION(hypot)
  RLT_FUNCTION(igamma)
  RLT_FUNCTION(igammac)
  RLT_FUNCTION(nextafter)
  RLT_FUNCTION(pow)
  RLT_FUNCTION(eq)
  RLT_FUNCTION(ne)
  RLT_FUNCTION(gt)
  RLT_FUNCTION(ge)
  RLT_FUNCTION(lt)
  RLT_FUNCTION(le)
  RLT_FUNCTION(operator==)
  RLT_FUNCTION(operator!=)
  RLT_FUNCTION(operator>)
  RLT_FUNCTION(operator>=)
  RLT_FUNCTION(operator<)
  RLT_FUNCTION(operator<=)
#undef RLT_FUNCTION

 private:
  std::array<Part, N> parts_;
};

#define RLT_OPERATOR(op)                                                                                          \
  template <class T, int N>                                                                                       \
  VectorizedN<T, N> operator op(const VectorizedN<T, N>& a, const VectorizedN<T, N>& b) {                         \
    return a.binary_op(b, [](const Vectorized<T>& x, const Vectorized<T>& y) { return x op y; });                 \
  }
RLT_OPERATOR(+)
RLT_OPERATOR(-)
RLT_OPERATOR(*)
RLT_OPERATOR(/)
RLT_OPERATOR(%)
RLT_OPERATOR(||)
RLT_OPERATOR(&&)
RLT_OPERATOR(<<)
RLT_OPERATOR(>>)
RLT_OPERATOR(&)
RLT_OPERATOR(|)
RLT_OPERATOR(^)
#undef RLT_OPERATOR
#define RLT_OPERATOR(op)                                                                     \
  template <class T, int N>                                                                  \
  VectorizedN<T, N>& operator op##=(VectorizedN<T, N>& a, const VectorizedN<T, N>& b) {      \
    return a = a op b;                                                                       \
  }
RLT_OPERATOR(+)
RLT_OPERATOR(-)
RLT_OPERATOR(*)
RLT_OPERATOR(/)
RLT_OPERATOR(%)
RLT_OPERATOR(<<)
RLT_OPERATOR(>>)
#undef RLT_OPERATOR
template <class T, int N>
VectorizedN<T, N> operator~(const VectorizedN<T, N>& a) {
  return a.unary_op([](const Vectorized<T>& x) { return ~x; });
}

#define RLT_FUNCTION(name)                                                                                \
  template <class T, int N>                                                                               \
  VectorizedN<T, N> name(const VectorizedN<T, N>& a, const VectorizedN<T, N>& b) {                        \
    return a.binary_op(b, [](const Vectorized<T>& x, const Vectorized<T>& y) { return vec::name(x, y); }); \
  }
RLT_FUNCTION(maximum)
RLT_FUNCTION(minimum)
RLT_FUNCTION(clamp_max)
RLT_FUNCTION(clamp_min)
#undef RLT_FUNCTION
#define RLT_FUNCTION(name)                                                                                              \
  template <class T, int N>                                                                                             \
  VectorizedN<T, N> name(const VectorizedN<T, N>& a, const VectorizedN<T, N>& b, const VectorizedN<T, N>& c) {          \
    return a.ternary_op(b, c, [](const Vectorized<T>& x, const Vectorized<T>& y, const Vectorized<T>& z) { return vec::name(x, y, z); }); \
  }
RLT_FUNCTION(clamp)
RLT_FUNCTION(fmadd)
RLT_FUNCTION(fmsub)
#undef RLT_FUNCTION

template <class T, int N>
std::ostream& operator<<(std::ostream& out, const VectorizedN<T, N>& vector) {
  out << "vec_n[";
  for (int i = 0; i < N; ++i) out << (i > 0 ? ", " : "") << vector[i];
  return out << ']';
}

}  // namespace vec
RLT_NAMESPACE_END
}  // namespace at
