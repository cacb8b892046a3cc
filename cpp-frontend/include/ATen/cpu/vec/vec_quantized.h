// Vectorized<T> of the quantized types: integers with a scale and a zero point.
#pragma once

#include <ATen/cpu/vec/vec_base.h>
#include <ATen/native/quantized/AffineQuantizerBase.h>

namespace at {
RLT_NAMESPACE_BEGIN
namespace vec {

template <>
struct Vectorized<c10::qint32>;

namespace detail {
/// Vectorized<qint32>, which is defined after the templates that use it.
template <class Q>
struct Widened {
  using type = Vectorized<c10::qint32>;
};

/// 32 bytes of integers; Q is the quantized type, Self the vector of it.
template <class Q, class Self>
class Quantized {
 public:
  using value_type = typename Q::underlying;
  using size_type = int;
  static constexpr size_type kSize = VECTOR_WIDTH / static_cast<int>(sizeof(value_type));
  static constexpr size_type size() { return kSize; }
  static constexpr int float_num_vecs() { return kSize / Vectorized<float>::size(); }
  static constexpr int int_num_vecs() { return float_num_vecs(); }
  using float_vec_return_type = std::array<Vectorized<float>, static_cast<size_t>(float_num_vecs())>;
  using Wide = typename Widened<Q>::type;
  using int_vec_return_type = std::array<Wide, static_cast<size_t>(int_num_vecs())>;

  Quantized() = default;
  Quantized(Q value) : integers_(value.val_) {}
  explicit Quantized(const Vectorized<value_type>& integers) : integers_(integers) {}

  static Self loadu(const void* source) { return Self(Vectorized<value_type>::loadu(source)); }
  static Self loadu(const void* source, int64_t count) { return Self(Vectorized<value_type>::loadu(source, count)); }
  void store(void* target, int count = kSize) const { integers_.store(target, count); }
  const Vectorized<value_type>& integers() const { return integers_; }
  value_type operator[](int index) const { return integers_[index]; }

  /// (integer - zero_point) * scale
  float_vec_return_type dequantize(const Vectorized<float>& scale, const Vectorized<float>& zero_point) const {
    float_vec_return_type result;
    constexpr int part = Vectorized<float>::size();
    for (int i = 0; i < kSize; ++i) {
      result[static_cast<size_t>(i / part)][i % part] = (static_cast<float>(integers_[i]) - zero_point[i % part]) * scale[i % part];
    }
    return result;
  }
  /// The product of scale and zero point is for processors that add it to integer * scale in one instruction.
  float_vec_return_type dequantize(const Vectorized<float>& scale, const Vectorized<float>& zero_point, const Vectorized<float>&) const {
    return dequantize(scale, zero_point);
  }
  /// round(value * inverse_scale) + zero_point, limited to the numbers of the type. Ties round to the even number.
  static Self quantize(const float_vec_return_type& values, float, int32_t zero_point, float inverse_scale) {
    Vectorized<value_type> result;
    constexpr int part = Vectorized<float>::size();
    for (int i = 0; i < kSize; ++i) {
      float rounded = std::nearbyint(values[static_cast<size_t>(i / part)][i % part] * inverse_scale);
      result[i] = native::detail::saturated<Q>(static_cast<float>(zero_point) + rounded).val_;
    }
    return Self(result);
  }
  /// round(integer * multiplier) + zero_point
  static Self requantize_from_int(const int_vec_return_type& values, float multiplier, int32_t zero_point) {
    Vectorized<value_type> result;
    constexpr int part = Vectorized<int32_t>::size();
    for (int i = 0; i < kSize; ++i) {
      float rounded = std::nearbyint(static_cast<float>(values[static_cast<size_t>(i / part)].integers()[i % part]) * multiplier);
      result[i] = native::detail::saturated<Q>(static_cast<double>(rounded) + zero_point).val_;
    }
    return Self(result);
  }
  /// The difference as 32 bit integers.
  int_vec_return_type widening_subtract(const Self& other) const {
    int_vec_return_type result;
    constexpr int part = Vectorized<int32_t>::size();
    for (int v = 0; v < int_num_vecs(); ++v) {
      Vectorized<int32_t> a, b;
      for (int i = 0; i < part; ++i) {
        a[i] = integers_[v * part + i];
        b[i] = other.integers()[v * part + i];
      }
      result[static_cast<size_t>(v)] = Wide(a - b);
    }
    return result;
  }

  Self maximum(const Self& other) const { return Self(vec::maximum(integers_, other.integers())); }
  Self minimum(const Self& other) const { return Self(vec::minimum(integers_, other.integers())); }
  /// The zero point is 0.
  Self relu(const Self& zero_point) const { return maximum(zero_point); }
  Self relu6(const Self& zero_point, const Self& six) const { return maximum(zero_point).minimum(six); }

  friend std::ostream& operator<<(std::ostream& out, const Self& vector) { return out << vector.integers(); }

 private:
  Vectorized<value_type> integers_;
};
}  // namespace detail

#define RLT_QUANTIZED(Q)                                              \
  template <>                                                         \
  struct Vectorized<Q> : detail::Quantized<Q, Vectorized<Q>> {        \
    using detail::Quantized<Q, Vectorized<Q>>::Quantized;             \
    Vectorized() = default;                                           \
  };                                                                  \
  inline Vectorized<Q> maximum(const Vectorized<Q>& a, const Vectorized<Q>& b) { return a.maximum(b); } \
  inline Vectorized<Q> minimum(const Vectorized<Q>& a, const Vectorized<Q>& b) { return a.minimum(b); }
RLT_QUANTIZED(c10::qint32)
RLT_QUANTIZED(c10::qint8)
RLT_QUANTIZED(c10::quint8)
#undef RLT_QUANTIZED

/// Sums and products of 32 bit integers, such as the products of 8 bit integers add up to. They wrap around.
inline Vectorized<c10::qint32> operator+(const Vectorized<c10::qint32>& a, const Vectorized<c10::qint32>& b) {
  return Vectorized<c10::qint32>(a.integers() + b.integers());
}
inline Vectorized<c10::qint32> operator*(const Vectorized<c10::qint32>& a, const Vectorized<c10::qint32>& b) {
  return Vectorized<c10::qint32>(a.integers() * b.integers());
}

}  // namespace vec
RLT_NAMESPACE_END
}  // namespace at
